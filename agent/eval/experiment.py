"""An experiment: every setting over every question, as often as wanted; an evaluation, a bake-off and a sweep are one each.

An evaluation has one setting, a bake-off one a model, a sweep one a point of its grid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from agent.errors import AgentError, UsageError
from agent.eval.journal import Journal
from agent.eval.report import Row
from agent.i18n import noted, tr
from agent.ingest.embed import Progress

Examiner = Callable[[str], Row]
"""What one question, by its id, gives under one setting."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A name, and what it changes in the settings at hand."""

    name: str
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Experiment:
    """Settings × questions × repetitions. `examiner` is called once a setting; an AgentError from it leaves that setting out."""

    settings: tuple[Setting, ...]
    questions: tuple[str, ...]
    examiner: Callable[[Setting], Examiner]
    repeat: int = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """The rows of one setting, a list a repetition; or why there are none."""

    setting: Setting
    runs: tuple[tuple[Row, ...], ...] = ()
    error: str = ""


def carried_out(experiment: Experiment, journal: Journal, *, resume: bool, retry: bool = False, progress: Progress) -> list[Outcome]:
    """The outcome of every setting, in order. Raises KeyboardInterrupt as it comes: what was measured is in the journal by then."""
    known = journal.begun(resume=resume, retry=retry)
    total = len(experiment.settings) * experiment.repeat * len(experiment.questions)
    done = 0
    outcomes = []
    for setting in experiment.settings:
        try:
            examine = _lazily(experiment.examiner, setting)
            runs = []
            for repetition in range(experiment.repeat):
                rows = []
                for qid in experiment.questions:
                    key = (setting.name, repetition, qid)
                    if key not in known:
                        known[key] = examine(qid)
                        journal.add(key, known[key])
                    rows.append(known[key])
                    done += 1
                    progress(done, total, noted("questions"))
                runs.append(tuple(rows))
            outcomes.append(Outcome(setting, tuple(runs)))
        except AgentError as error:
            if len(experiment.settings) == 1:
                raise
            outcomes.append(Outcome(setting, error=str(error)))
    return outcomes


def _lazily(make: Callable[[Setting], Examiner], setting: Setting) -> Examiner:
    """The examiner of a setting, made with the first question: a setting that is known already needs none."""
    made: list[Examiner] = []

    def examine(qid: str) -> Row:
        if not made:
            made.append(make(setting))
        return made[0](qid)

    return examine


def grid(values: Sequence[str]) -> tuple[Setting, ...]:
    """The settings of `name=a,b,c` conditions: what is set now, then every combination. Raises UsageError on a condition that is none."""
    axes: dict[str, list[str]] = {}
    for condition in values:
        name, equals, listed = condition.partition("=")
        points = [point.strip() for point in listed.split(",") if point.strip()]
        if not (name.strip() and equals and points):
            raise UsageError(
                tr("--set {condition!r} sets nothing.", condition=condition), tr("Write --set name=value,value such as rrf_k=10,20,60.")
            )
        if name.strip() in axes:
            raise UsageError(tr("--set names {name!r} twice.", name=name.strip()), tr("Give all its values at once: name=value,value."))
        axes[name.strip()] = points
    if not axes:
        raise UsageError(tr("A sweep needs something to vary."), tr("Write --set rrf_k=10,20,60."))
    changes = [dict(zip(axes, combination, strict=True)) for combination in product(*axes.values())]
    return (Setting("now"), *(Setting(" ".join(f"{name}={value}" for name, value in change.items()), change) for change in changes))
