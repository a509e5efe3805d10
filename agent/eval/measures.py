"""How good a ranking and a refusal decision are: one small function a measure, all of them in one table.

A run is {question id: [document ids, best first]}, judgements (qrels) are {question id: {document id: grade}}; a grade above 0 is
relevant. Values are per question first, means are taken of them. Definitions are trec_eval's, so that anyone can check them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log2

Ranking = Sequence[str]
Judged = Mapping[str, int]
Run = Mapping[str, Ranking]
Qrels = Mapping[str, Judged]
PerQuery = dict[str, dict[str, float]]

# --- rankings -------------------------------------------------------------------------------------


def hit_rate(ranking: Ranking, judged: Judged, k: int) -> float:
    """Whether a relevant document is among the first k. Share of questions; 0 or 1 each (trec_eval's success)."""
    return float(any(judged.get(doc, 0) > 0 for doc in ranking[:k]))


def recall(ranking: Ranking, judged: Judged, k: int) -> float:
    """The part of the relevant documents that is among the first k. Mean of shares (Cleverdon 1967)."""
    relevant = [doc for doc, grade in judged.items() if grade > 0]
    return sum(doc in relevant for doc in ranking[:k]) / len(relevant)


def all_gold(ranking: Ranking, judged: Judged, k: int) -> float:
    """Whether every relevant document is among the first k: what an answer over several hops needs. Share of questions; 0 or 1 each."""
    return float(recall(ranking, judged, k) == 1)


def reciprocal_rank(ranking: Ranking, judged: Judged, k: int) -> float:
    """One over the rank of the first relevant document, 0 where none is among the first k. Mean (Voorhees 1999)."""
    return next((1 / rank for rank, doc in enumerate(ranking[:k], 1) if judged.get(doc, 0) > 0), 0.0)


def ndcg(ranking: Ranking, judged: Judged, k: int) -> float:
    """Gain (the grade) discounted by log2(rank + 1), over that of the best possible order. Mean (Järvelin and Kekäläinen 2002)."""
    best = sorted((grade for grade in judged.values() if grade > 0), reverse=True)
    return _discounted([max(judged.get(doc, 0), 0) for doc in ranking[:k]]) / _discounted(best[:k])


def _discounted(gains: Iterable[int]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure at a depth. `share` says that its values are 0 or 1, so that a Wilson interval and McNemar's test apply."""

    of: Callable[[Ranking, Judged, int], float]
    k: int
    share: bool = False


EVERYTHING = 1_000_000_000
"""The depth of a measure that reads the whole ranking."""

MEASURES: Mapping[str, Measure] = {
    "hit@1": Measure(hit_rate, 1, share=True),
    "hit-rate@8": Measure(hit_rate, 8, share=True),
    "recall@8": Measure(recall, 8),
    "all-gold@8": Measure(all_gold, 8, share=True),
    "MRR@10": Measure(reciprocal_rank, 10),
    "MRR": Measure(reciprocal_rank, EVERYTHING),
    "nDCG@10": Measure(ndcg, 10),
}


def per_query(run: Run, qrels: Qrels, *, measures: Mapping[str, Measure] = MEASURES) -> PerQuery:
    """{question id: {measure: value}} for every question with a relevant document; one the run does not hold scores 0.

    A document named twice in a ranking counts where it stands first and takes no second place.
    """
    values: PerQuery = {}
    for qid, judged in qrels.items():
        if not any(grade > 0 for grade in judged.values()):
            continue
        ranking = list(dict.fromkeys(run.get(qid, ())))
        values[qid] = {name: measure.of(ranking, judged, measure.k) for name, measure in measures.items()}
    return values


def mean(values: PerQuery, measure: str) -> float | None:
    """The mean of one measure over the questions; None where there is none: not scored is not 0."""
    column = [row[measure] for row in values.values()]
    return fsum(column) / len(column) if column else None


# --- refusals -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Refusals:
    """The four counts of a refusal decision; "positive" is a refusal."""

    rightly_refused: int = 0
    wrongly_refused: int = 0
    wrongly_answered: int = 0
    rightly_answered: int = 0

    @property
    def precision(self) -> float | None:
        """The share of the refusals that were right; None without a refusal."""
        return _share(self.rightly_refused, self.wrongly_refused)

    @property
    def recall(self) -> float | None:
        """The share of the unanswerable questions that were refused; None without such a question."""
        return _share(self.rightly_refused, self.wrongly_answered)

    @property
    def false_refusals(self) -> float | None:
        """The share of the answerable questions that were refused; None without such a question."""
        return _share(self.wrongly_refused, self.rightly_answered)


def _share(these: int, others: int) -> float | None:
    return these / (these + others) if these + others else None


def refusals(decisions: Iterable[tuple[bool, bool]]) -> Refusals:
    """The counts over (should have been refused, was refused) of each question."""
    seen = list(decisions)
    return Refusals(seen.count((True, True)), seen.count((False, True)), seen.count((True, False)), seen.count((False, False)))


def auroc(answerable: Sequence[float], unanswerable: Sequence[float]) -> float | None:
    """The chance that an answerable question scores above an unanswerable one, ties counting half; None if either is missing.

    The area under the ROC curve as a rank statistic (Mann and Whitney 1947; Hanley and McNeil 1982). 0.5 is no signal.
    """
    if not answerable or not unanswerable:
        return None
    low = sorted(unanswerable)
    wins = sum(bisect_left(low, score) + bisect_right(low, score) for score in answerable)
    return wins / (2 * len(answerable) * len(unanswerable))


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What refusing every question that scores below `threshold` would give."""

    threshold: float
    precision: float | None
    recall: float | None
    false_refusals: float | None


def refusal_curve(answerable: Sequence[float], unanswerable: Sequence[float]) -> tuple[CurvePoint, ...]:
    """Precision and recall of refusing below a threshold, one point for each score seen, from refusing none to refusing nearly all."""
    good, bad = sorted(answerable), sorted(unanswerable)
    points = []
    for threshold in sorted({*good, *bad}):
        wrongly, rightly = bisect_left(good, threshold), bisect_left(bad, threshold)
        counts = Refusals(rightly, wrongly, len(bad) - rightly, len(good) - wrongly)
        points.append(CurvePoint(threshold, counts.precision, counts.recall, counts.false_refusals))
    return tuple(points)
