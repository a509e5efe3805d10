"""What the shadow runs of a log say about the reviewed chain, and whether its answers may be switched on.

The rewriting is judged on questions of the goldset: the entries the answering role was shown, against those it would have been shown
without it. Nicer prose is no reason to switch on: context precision or recall must be better beyond noise, and neither worse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agent.eval import statistics
from agent.eval.goldset import Case
from agent.review.contracts import same
from agent.review.roles import ROLES
from agent.values import Origin
from agent.wiring import Bench

Run = Mapping[str, Any]
"""A row of `RunLog.listed` with its review."""

LEAST = 20
"""Paired questions below which no verdict is given: a bootstrap over fewer is too narrow."""
PUBLISHED = frozenset(
    {Origin.AGENT2_REVIEWED, Origin.AGENT2_UNREVIEWED, Origin.AGENT2_MINOR_REVISION, Origin.AGENT4_CORRECTED}  # what the roles wrote
)
CHANGED = frozenset({Origin.AGENT2_MINOR_REVISION, Origin.AGENT4_CORRECTED})


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether `reviewed_answer` may be switched on, and the name of the reason (a word of the table `shadow.<language>`)."""

    switch_on: bool
    reason: str


def runs(bench: Bench, since: str = "") -> list[Run]:
    """The logged shadow runs, oldest first."""
    rows = bench.runs.listed(where={"mode": "shadow"}, limit=1_000_000)
    return [row for row in reversed(rows) if row["started"] >= since]


def unasked(cases: Iterable[Case], logged: Sequence[Run]) -> list[Case]:
    """The questions of the goldset that have no shadow run yet."""
    return [case for case in cases if _run_of(case, logged) is None]


def report(logged: Sequence[Run], cases: Sequence[Case]) -> dict[str, Any]:
    """The report as JSON (schema `shadow`). `cases` are the goldset's; a question asked twice counts with its newest run."""
    pairs = {case.id: pair for case in cases if (pair := _pair(case, logged))}
    compared = statistics.compare({qid: plain for qid, (plain, _) in pairs.items()}, {qid: used for qid, (_, used) in pairs.items()})
    reviews = [run["review"] for run in logged]
    verdict = judged(compared, len(pairs))
    return {
        "schema_version": 1,
        "runs": len(logged),
        "since": logged[0]["started"] if logged else None,
        "context": {"questions": len(pairs), "measures": {name: _measure(name, pairs, found) for name, found in compared.items()}},
        "answers": _answers(reviews),
        "fallback_reasons": dict(Counter(review["fallback_reason"] for review in reviews if review["fallback_reason"]).most_common()),
        "rewriting_failed": dict(Counter(review["status"]["agent1"] for review in reviews if review["status"]["agent1"] != "valid")),
        "latency_ms": _latency([float(review["ms"]) for review in reviews]),
        "roles": {role.name: _cost(role.name, reviews) for role in ROLES},
        "verdict": asdict(verdict),
    }


def judged(compared: Mapping[str, statistics.Comparison], questions: int) -> Verdict:
    """May answers of the chain be published: only where the context got better beyond noise, and in no respect worse."""
    verdicts = {found.verdict for found in compared.values()}
    if questions < LEAST:
        return Verdict(False, "too_few")
    if statistics.Verdict.REAL_DROP in verdicts:
        return Verdict(False, "worse")
    return Verdict(True, "better") if statistics.Verdict.REAL_GAIN in verdicts else Verdict(False, "not_shown")


# --- the context with and without the rewriting -----------------------------------------------------


def _run_of(case: Case, logged: Sequence[Run]) -> Run | None:
    """The newest run of a case's question on its day."""
    day = case.stichtag.isoformat()
    return next((run for run in reversed(logged) if run["stichtag"] == day and same(run["question"], case.question)), None)


def _pair(case: Case, logged: Sequence[Run]) -> tuple[dict[str, float], dict[str, float]] | None:
    """The measures of a case's context without and with the rewriting; None where the chain chose none, or nothing is expected."""
    run = _run_of(case, logged) if not case.refuse else None
    context = run["review"]["context"] if run else {}
    if not case.sources or not context.get("plain") or not context.get("used"):
        return None
    return context_measures(context["plain"], case), context_measures(context["used"], case)


def context_measures(entries: Sequence[str], case: Case) -> dict[str, float]:
    """Context precision, the share of the shown entries that are expected, and recall, the share of the expected that are shown.

    Where any one of several sources is enough, one of them is full recall.
    """
    expected = set(case.sources)
    shown = len(expected.intersection(entries))
    recall = min(shown, 1) if case.need == "any" else shown / len(expected)
    return {"context-precision": shown / len(set(entries)), "context-recall": float(recall)}


def _measure(name: str, pairs: Mapping[str, tuple[dict[str, float], dict[str, float]]], found: statistics.Comparison) -> dict[str, Any]:
    sides = ([pair[place][name] for pair in pairs.values()] for place in (0, 1))
    without, with_it = (statistics.mean(values) for values in sides)
    return {
        "without": asdict(without) if without else None,
        "with": asdict(with_it) if with_it else None,
        "difference": asdict(found.difference),
        "p": found.p,
        "verdict": found.verdict.value,
    }


# --- what the answers would have been ----------------------------------------------------------------


def _answers(reviews: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How often the chain would have published, said something else, been changed or been stopped by its reviewer; with intervals."""
    seen = [review for review in reviews if review["verdict"] is not None]
    origins = [review["text_origin"] for review in reviews]
    return {
        "origins": dict(Counter(origins).most_common()),
        "published": _share(sum(origin in PUBLISHED for origin in origins), len(reviews)),
        "different": _share(sum(bool(review["changed"]) for review in reviews), len(reviews)),
        "reviewed": len(seen),
        "changed_by_review": _share(sum(review["text_origin"] in CHANGED for review in seen), len(seen)),
        "stopped_by_review": _share(sum(review["text_origin"] not in PUBLISHED for review in seen), len(seen)),
    }


def _share(count: int, n: int) -> dict[str, Any] | None:
    found = statistics.share(count, n)
    return {"count": count, **asdict(found)} if found else None


def _latency(times: Sequence[float]) -> dict[str, float | None]:
    return {"median": statistics.quantile(times, 0.5), "p95": statistics.quantile(times, 0.95)}


def _cost(role: str, reviews: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A role's calls, time and tokens. Counts the server did not tell are counted as missing, and never as nothing."""
    calls = [call for review in reviews for call in review["calls"] if call["role"] == role]
    return {
        "calls": len(calls),
        "status": dict(Counter(call["status"] for call in calls).most_common()),
        "suspected_cut": sum(call["suspected_cut"] for call in calls),
        "latency_ms": _latency([call["ms"] for call in calls]),
        **{f"{side}_tokens": _tokens([call["tokens"][side] for call in calls]) for side in ("prompt", "completion")},
    }


def _tokens(counts: Sequence[int | None]) -> dict[str, int | None]:
    told = [count for count in counts if count is not None]
    return {"sum": sum(told) if told else None, "told": len(told), "missing": len(counts) - len(told)}


# --- asking what has not been asked ------------------------------------------------------------------


def asked(bench: Bench, cases: Sequence[Case]) -> Iterator[Case]:
    """Asks each case in mode `shadow` and runs its review; yields each when it is logged."""
    for case in cases:
        shadow = bench.asked(case.question, case.stichtag, review="shadow").shadow
        if shadow:
            shadow.run()
        yield case
