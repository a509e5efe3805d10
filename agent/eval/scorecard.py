"""Turns what was measured question by question into a result: figures with intervals by leg, part and tag, refusals, times; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from agent.errors import AgentError
from agent.eval import measures, statistics
from agent.eval.report import Change, Estimate, Point, Result, Row, Score
from agent.i18n import tr

ANSWERS: Mapping[str, bool] = {
    "refusal-correct": True,
    "source-cited": True,
    "figure-present": True,
    "figure-alone": True,
    "sentence-support": False,
    "citation-precision": False,
    "regenerated": True,
    "model-calls": False,
    "tokens-in": False,
    "tokens-out": False,
}
"""The measures of answers in the order they are shown, and whether each is a share of questions (0 or 1 each)."""

COSTS = frozenset({"regenerated", "model-calls", "tokens-in", "tokens-out"})
"""Measures of which less is better."""

SHARES = frozenset(name for name, measure in measures.MEASURES.items() if measure.share) | {
    name for name, share in ANSWERS.items() if share
}

COMPARED = (
    "fused:hit-rate@8", "fused:recall@8", "fused:MRR@10", "fused:nDCG@10",
    "answers:refusal-correct", "answers:false-refusal", "answers:source-cited", "answers:figure-present", "answers:figure-alone",
    "answers:sentence-support", "answers:citation-precision",
)  # fmt: skip
"""What two runs are compared by: what a user notices. Every further measure would make a real change harder to show (Holm)."""

LOWER_IS_BETTER = frozenset({"false-refusal"})
REFUSALS = ("precision", "recall", "false_refusals", "auroc")


def scored(runs: Sequence[Sequence[Row]]) -> Result:
    """The figures of one setting; `runs` are its repetitions, each over the same questions. The questions shown are the first run's."""
    rows = _merged(runs)
    answerable, unanswerable = _evidence_scores(rows)
    return {
        "schema_version": 1,
        "scores": list(_scores(rows)),
        "headline": "hit-rate@8",
        "refusal": _refusals(runs, answerable, unanswerable),
        "refusal_curve": [_point(point) for point in measures.refusal_curve(answerable, unanswerable)],
        "latencies_ms": [ms for run in runs for row in run if row.get("outcome") != "not_scored" and (ms := row.get("ms")) is not None],
        "questions": [_shown(row) for row in rows],
    }


def _merged(runs: Sequence[Sequence[Row]]) -> list[Row]:
    """The first run's rows, each with the mean of what the runs measured of it."""
    merged: list[Row] = []
    for rows in zip(*runs, strict=True):
        names = dict.fromkeys(name for row in rows for name in row.get("values", {}))
        columns = {name: [row["values"][name] for row in rows if name in row.get("values", {})] for name in names}
        row = rows[0].copy()
        row["values"] = {name: fsum(column) / len(column) for name, column in columns.items()}
        merged.append(row)
    return merged


def _shown(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "ranked"}  # type: ignore[return-value]


# --- scores ---------------------------------------------------------------------------------------


def _scores(rows: Sequence[Row]) -> Iterator[Score]:
    parts: dict[str, list[Row]] = {"": list(rows)}
    if any(row.get("held") for row in rows):
        parts |= {"tuning": [row for row in rows if not row.get("held")], "held": [row for row in rows if row.get("held")]}
    for part, members in parts.items():
        yield from _of(members, part=part)
    for tag in dict.fromkeys(tag for row in rows for tag in row.get("tags", [])):
        yield from _of([row for row in rows if tag in row.get("tags", [])], tag=tag)


def _of(rows: Sequence[Row], *, part: str = "", tag: str = "") -> Iterator[Score]:
    legs = dict.fromkeys(name.partition(":")[0] for row in rows for name in row.get("values", {}))
    for leg in legs:
        for measure in ANSWERS if leg == "answers" else measures.MEASURES:
            values = [row["values"][f"{leg}:{measure}"] for row in rows if f"{leg}:{measure}" in row.get("values", {})]
            found = statistics.estimate(values, share_of=measure in SHARES and set(values) <= {0.0, 1.0})
            if found is not None:
                yield {"measure": measure, "leg": leg, "tag": tag, "part": part, **estimated(found)}


def estimated(found: statistics.Interval | None) -> Estimate:
    """An interval in the form of a result; None becomes "not scored"."""
    if found is None:
        return {"value": None, "low": None, "high": None, "n": 0}
    return {"value": found.value, "low": found.low, "high": found.high, "n": found.n}


# --- refusals -------------------------------------------------------------------------------------


def _refusals(runs: Sequence[Sequence[Row]], answerable: Sequence[float], unanswerable: Sequence[float]) -> dict[str, Estimate]:
    decided = [(row["should_refuse"], bool(row["refused"])) for run in runs for row in run if row.get("refused") is not None]
    if not decided:
        return {}
    counts = measures.refusals(decided)
    refused = counts.rightly_refused + counts.wrongly_refused
    return {
        "precision": estimated(statistics.share(counts.rightly_refused, refused)),
        "recall": estimated(statistics.share(counts.rightly_refused, counts.rightly_refused + counts.wrongly_answered)),
        "false_refusals": estimated(statistics.share(counts.wrongly_refused, counts.wrongly_refused + counts.rightly_answered)),
        "auroc": estimated(statistics.auroc(answerable, unanswerable)),
    }


def _evidence_scores(rows: Sequence[Row]) -> tuple[list[float], list[float]]:
    """The gate's scores of the answerable and of the unanswerable questions."""
    known = [(row["should_refuse"], score) for row in rows if (score := row.get("evidence_score")) is not None and "should_refuse" in row]
    return [score for refuse, score in known if not refuse], [score for refuse, score in known if refuse]


def _point(point: measures.CurvePoint) -> Point:
    return {
        "threshold": point.threshold,
        "precision": point.precision,
        "recall": point.recall,
        "false_refusals": point.false_refusals,
    }


# --- two results ----------------------------------------------------------------------------------


def compared(old: Result, new: Result) -> list[Change]:
    """What changed, over the questions that are the same in both. Raises AgentError where the two share none."""
    before, after = _values(old), _values(new)
    shared = [key for key in after if key in before]
    if not shared:
        raise AgentError(tr("The two results have no question in common."), tr("Compare runs over the same questions."))
    found = statistics.compare(
        {qid: before[qid, mark] for qid, mark in shared},
        {qid: after[qid, mark] for qid, mark in shared},
        lower_is_better=LOWER_IS_BETTER,
    )
    changes: list[Change] = []
    for name in (measure.partition(":")[2] for measure in COMPARED):
        if name in found:
            change = found[name]
            pairs = [(before[key][name], after[key][name]) for key in shared if name in before[key] and name in after[key]]
            changes.append(
                {
                    "measure": name,
                    "old": fsum(value for value, _ in pairs) / len(pairs),
                    "new": fsum(value for _, value in pairs) / len(pairs),
                    "low": change.difference.low,
                    "high": change.difference.high,
                    "p": change.p,
                    "n": change.difference.n,
                    "verdict": change.verdict.value,
                }
            )
    return changes


def _values(result: Result) -> dict[tuple[str, str], dict[str, float]]:
    """{(question, fingerprint): {measure: value}} of what is compared."""
    return {
        (row["id"], row.get("fingerprint", "")): {
            name.partition(":")[2]: value for name, value in row.get("values", {}).items() if name in COMPARED
        }
        for row in result.get("questions", [])
    }


# --- the gate -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gate:
    """Why the gate is closed; open where there is no reason."""

    reasons: tuple[str, ...] = ()

    @property
    def closed(self) -> bool:
        return bool(self.reasons)


def gate(result: Result, floors: Mapping[str, float]) -> Gate:
    """Closed by a drop that the comparison in the result calls real, and by a figure below its floor; a floor is held to all questions."""
    reasons = [
        tr(
            "{measure} went from {old:.3f} to {new:.3f} (difference {change:+.3f}, {low:+.3f} to {high:+.3f}, p {p:.4f})",
            change=change["new"] - change["old"],
            **{name: change[name] for name in ("measure", "old", "new", "low", "high", "p")},
        )
        for change in result.get("comparison", [])
        if change["verdict"] == statistics.Verdict.REAL_DROP
    ]
    figures = figures_of(result)
    for name, floor in floors.items():
        value = figures.get(name)
        if value is None:
            reasons.append(tr("{name} was not scored and has the floor {floor:g}", name=name, floor=floor))
        elif value < floor:
            reasons.append(tr("{name} is {value:.3f}, below its floor {floor:g}", name=name, value=value, floor=floor))
    return Gate(tuple(reasons))


def figures_of(result: Result) -> dict[str, float | None]:
    """{measure: value} over all questions: of the fused ranking, the answers, and the refusals (`refusal-precision`, …)."""
    figures = {
        score["measure"]: score.get("value")
        for score in result.get("scores", [])
        if not score.get("tag") and not score.get("part") and score.get("leg") in ("fused", "answers")
    }
    return figures | {f"refusal-{name}": estimate.get("value") for name, estimate in result.get("refusal", {}).items()}


def check_floors(floors: Mapping[str, float]) -> None:
    """Raises AgentError on a floor under a measure that nobody knows, or under one of which less is better."""
    known = [
        *measures.MEASURES,
        *(name for name in ANSWERS if name not in COSTS),
        *(f"refusal-{name}" for name in REFUSALS if name != "false_refusals"),
    ]
    for name in floors:
        if name not in known:
            raise AgentError(
                tr("The goldset sets a floor for {name!r}, which is no measure.", name=name), tr("Known: {known}.", known=", ".join(known))
            )


def alone(result: Result) -> Result:
    """The result without a text of anybody: small enough to be committed, and enough to compare with."""
    kept = (
        "id",
        "tags",
        "held",
        "should_refuse",
        "refused",
        "outcome",
        "wrong",
        "values",
        "label",
        "said",
        "evidence_score",
        "fingerprint",
    )
    rows: list[Row] = [{name: row[name] for name in kept if name in row} for row in result.get("questions", [])]  # type: ignore[literal-required,misc]
    return {**result, "questions": rows}
