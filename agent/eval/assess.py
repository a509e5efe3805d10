"""Holds an answer against what its question expects: decision, sources, figures, support; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.eval.figures import Figures
from agent.eval.goldset import Case
from agent.eval.support import Neighbours, of_case, support
from agent.values import Answer, Grounded, Refused


@dataclass(frozen=True, slots=True)
class Assessment:
    """`values` by measure, `wrong` as codes of the report, each expected figure and whether it is there, and the figures found beside."""

    values: Mapping[str, float]
    wrong: tuple[str, ...]
    figures: Mapping[str, bool] = field(default_factory=dict)
    beside: tuple[str, ...] = ()


def assessed(case: Case, answer: Answer, figures: Figures, forbidden: Neighbours) -> Assessment:
    """What an answer is worth; `forbidden` are the values of other rows and times that it must not give."""
    if case.refuse:
        return _unanswerable(answer)
    if isinstance(answer, Refused):
        values = {"refusal-correct": 0.0, "false-refusal": 1.0, "source-cited": 0.0}
        absent = dict.fromkeys(case.figures, False)
        return Assessment(values | ({"figure-present": 0.0} if absent else {}), ("refused_wrongly",), absent)
    cited = {citation.id for citation in answer.citations} if isinstance(answer, Grounded) else set[str]()
    wanted = all if case.need == "all" else any
    values = {"refusal-correct": 1.0, "false-refusal": 0.0, "source-cited": float(wanted(name in cited for name in case.sources))}
    carried = support(answer.text, case.question, answer.trace.evidence.hits, figures)
    if carried.share is not None:
        values["sentence-support"] = carried.share
    present = of_case(case, answer.text, figures)
    beside = (*forbidden.said(answer.text, case.figures, figures), *carried.foreign)
    if present:
        values |= {"figure-present": float(all(present.values())), "figure-alone": float(not beside)}
    wrong = {
        "source_not_cited": not values["source-cited"],
        "figure_missing": not all(present.values()),
        "figure_foreign": bool(beside),
        "sentence_unsupported": bool(carried.unsupported),
    }
    return Assessment(values, tuple(code for code, holds in wrong.items() if holds), present, beside)


def _unanswerable(answer: Answer) -> Assessment:
    refused = isinstance(answer, Refused)
    return Assessment({"refusal-correct": float(refused)}, () if refused else ("answered_wrongly",))
