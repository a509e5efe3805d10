"""Chooses the best of many settings by k-fold cross-validation, so that the figure reported is never the one that was fitted; pure.

Each fold is scored with the setting that is best on all the others (Stone 1974). What is reported is what that choice gives on questions
it has not seen, beside what the settings at hand give on the same questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from agent.errors import UsageError
from agent.eval import statistics
from agent.i18n import tr


@dataclass(frozen=True, slots=True)
class Fold:
    """Which setting was chosen without these questions."""

    chosen: str
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """`winner` is the best over all questions; every figure is out of fold. `now` is what the settings at hand give."""

    winner: str
    folds: tuple[Fold, ...]
    chosen: statistics.Interval
    now: statistics.Interval
    difference: statistics.Difference
    verdict: statistics.Verdict


def chosen(values: Mapping[str, Mapping[str, float]], *, folds: int, share_of: bool, lower_is_better: bool = False) -> Choice:
    """The choice among `values`, {setting: {question: value}}; the first setting is the one at hand and wins ties.

    Raises UsageError where there are too few questions for so many folds.
    """
    names = list(values)
    questions = sorted(set.intersection(*(set(column) for column in values.values())))
    if not 2 <= folds <= len(questions):
        raise UsageError(
            tr("{count} questions cannot make {folds} folds.", count=len(questions), folds=folds),
            tr("Take --folds between 2 and {most}.", most=max(2, len(questions))),
        )
    parts = [tuple(questions[place::folds]) for place in range(folds)]
    sign = -1 if lower_is_better else 1

    def best(over: Sequence[str]) -> str:
        return max(names, key=lambda name: (sign * fsum(values[name][qid] for qid in over), -names.index(name)))

    made = tuple(Fold(best([qid for qid in questions if qid not in part]), part) for part in parts)
    out_of_fold = {qid: values[fold.chosen][qid] for fold in made for qid in fold.questions}
    now, new = [values[names[0]][qid] for qid in questions], [out_of_fold[qid] for qid in questions]
    difference = statistics.difference(now, new)
    before, after = statistics.estimate(now, share_of=share_of), statistics.estimate(new, share_of=share_of)
    if difference is None or before is None or after is None:
        raise UsageError(tr("No question was scored under every setting."), tr("Vary fewer settings, or look at `pv-agent eval`."))
    verdict = statistics.verdict(difference, higher_is_better=not lower_is_better)
    return Choice(best(questions), made, after, before, difference, verdict)
