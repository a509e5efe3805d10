"""Fits the weights by which a search orders its candidates, and says what they are worth on questions they were not fitted on.

The model is linear and its loss that of a list (softmax over a question's candidates, the right ones taken together: Cao et al. 2007),
minimised by Newton's method with a small ridge. No weight may turn negative: every feature is one of which more is better. Each set counts
alike, whatever its size, so that the largest does not speak for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent import rescoring
from agent.eval import collection, goldset, measures, statistics
from agent.eval.beir import TestSet
from agent.eval.goldset import Case
from agent.i18n import noted, tr
from agent.ingest.embed import Progress
from agent.plan import by_dates
from agent.settings import Settings, changed
from agent.values import Hit, Period, SubQuery
from agent.wiring import Bench

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FOLDS = 5
RIDGE = 0.005
"""Against the mean loss over sets; the features are standardised."""
MEASURE = "nDCG@10"

Rankings = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Example:
    """One question: the candidates its search brought together, in the order of rank fusion, and which documents are right."""

    id: str
    hits: tuple[Hit, ...]
    features: tuple[rescoring.Features, ...]
    judged: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Scored:
    """What one way of ranking one set is worth."""

    set: str
    way: str
    estimate: statistics.Interval
    recall: float
    """Recall among the first 8."""
    against_best_leg: statistics.Difference | None


def examples(test_set: TestSet, bench: Bench) -> tuple[Example, ...]:
    """The candidates for every judged question of a set, as the product's search brings them together."""
    day = Period.day(bench.today())
    found = ((query, bench.wissensbasis.candidates(SubQuery(query.text, day))) for query in test_set.queries)
    return tuple(Example(query.id, each.hits, each.features, test_set.qrels[query.id]) for query, each in found)


def of_goldset(bench: Bench, cases: Sequence[Case]) -> tuple[Example, ...]:
    """The candidates for the goldset's answerable questions, each by the first search of its plan."""
    found = []
    for case in (case for case in cases if not case.refuse):
        (first, *_) = by_dates(bench.question(case.question, case.stichtag), bench.language).subqueries
        each = bench.wissensbasis.candidates(first)
        found.append(Example(case.id, each.hits, each.features, dict.fromkeys(case.sources, 1)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Fit:
    """The weights for one kind of search, and what they are worth."""

    kind: str
    weights: Mapping[str, float]
    scored: Sequence[Scored]


def fit(
    sets: Sequence[tuple[TestSet, str]], settings: Settings, own: Bench | None = None, *, vectors: Path, progress: Progress
) -> Iterator[Fit]:
    """The weights with vectors, then those by words alone, over (set, language) pairs; vectors are kept under `vectors`.

    `own` is a knowledge base whose goldset is fitted to as well, without the half that is held back.
    """
    hybrid: dict[str, Sequence[Example]] = {}
    lexical: dict[str, Sequence[Example]] = {}
    if own is not None:
        tuning = [case for case in goldset.read(own.place.goldset).cases if not case.held]
        hybrid["goldset"] = of_goldset(own, tuning)
        lexical["goldset"] = of_goldset(own.under(changed(settings, embed_off=True)), tuning)
    for test_set, language in sets:
        with collection.opened(test_set, settings, language=language, vectors=vectors, progress=progress) as bench:
            hybrid[test_set.name] = examples(test_set, bench)
            lexical[test_set.name] = examples(test_set, bench.under(changed(settings, embed_off=True)))
    for kind, found, names in (("hybrid", hybrid, rescoring.HYBRID), ("lexical", lexical, rescoring.LEXICAL)):
        yield Fit(kind, fitted(found.values(), names), all_compared(found, names))


# --- the model ------------------------------------------------------------------------------------


def fitted(sets: Iterable[Sequence[Example]], names: Sequence[str]) -> dict[str, float]:
    """The weight of each feature, from all examples in which a right document is among the candidates."""
    import numpy as np

    data = [part for examples in sets for part in _prepared(examples, names)]
    weights = np.zeros(len(names))
    for _ in range(100):
        gradient, curvature = -RIDGE * weights, RIDGE * np.eye(len(names))
        for x, right, share in data:
            p = _softmax(x @ weights)
            among_right = p * right / (p @ right)
            mean = p @ x
            gradient += share * ((among_right - p) @ x)
            curvature += share * ((x.T * p) @ x - np.outer(mean, mean))
        step = np.clip(np.linalg.solve(curvature, gradient), -0.5, 0.5)
        after = np.maximum(weights + step, 0.0)
        if float(np.abs(after - weights).max()) < 1e-6:
            break
        weights = after
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}


def _prepared(examples: Sequence[Example], names: Sequence[str]) -> list[tuple[Array, Array, float]]:
    """(standardised features, 1 where right, weight of the question), of the questions that teach anything."""
    import numpy as np

    made = []
    for example in examples:
        right = np.array([float(example.judged.get(hit.entry.id, 0) > 0) for hit in example.hits])
        if 0 < right.sum() < len(right):
            columns = [rescoring.standardised([each[name] for each in example.features]) for name in names]
            made.append((np.array(columns).T, right))
    return [(x, right, 1 / len(made)) for x, right in made]


def _softmax(scores: Array) -> Array:
    import numpy as np

    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum())


def out_of_fold(sets: Mapping[str, Sequence[Example]], names: Sequence[str]) -> dict[str, Rankings]:
    """Every question's ranking by weights fitted without its fold; folds are taken in turn over the questions in the order of their ids."""
    folds = {name: {example.id: n % FOLDS for n, example in enumerate(sorted(each, key=lambda e: e.id))} for name, each in sets.items()}
    found: dict[str, Rankings] = {name: {} for name in sets}
    for fold in range(FOLDS):
        weights = fitted(([e for e in each if folds[name][e.id] != fold] for name, each in sets.items()), names)
        for name, each in sets.items():
            found[name].update((e.id, rescored(e, weights)) for e in each if folds[name][e.id] == fold)
    return found


def without_set(sets: Mapping[str, Sequence[Example]], names: Sequence[str]) -> dict[str, Rankings]:
    """Every set's rankings by weights fitted on the other sets alone: what to expect of a knowledge base nobody has fitted to."""
    found = {}
    for name, each in sets.items():
        weights = fitted((others for other, others in sets.items() if other != name), names)
        found[name] = {example.id: rescored(example, weights) for example in each}
    return found


# --- rankings -------------------------------------------------------------------------------------


def rescored(example: Example, weights: Mapping[str, float]) -> list[str]:
    """The documents as a search with these weights ranks them."""
    scores = rescoring.scores(example.features, weights) if example.hits else []
    return _entries(example, lambda place: -scores[place])


def _entries(example: Example, key: Callable[[int], float]) -> list[str]:
    """The documents in the order of their best candidate."""
    order = sorted(range(len(example.hits)), key=lambda place: (key(place), place))
    return list(dict.fromkeys(example.hits[place].entry.id for place in order))


def legs(example: Example) -> dict[str, list[str]]:
    """The rankings by each list alone, by rank fusion, and the best one that any order of the candidates could give."""

    def by(rank: Callable[[Hit], int | None]) -> list[str]:
        found = sorted((place, hit) for hit in example.hits if (place := rank(hit)) is not None)
        return list(dict.fromkeys(hit.entry.id for _, hit in found))

    return {
        noted("words"): by(lambda hit: hit.lexical_rank),
        noted("meaning"): by(lambda hit: hit.dense_rank),
        noted("rank fusion"): _entries(example, lambda place: -example.hits[place].score),
        noted("perfect order"): _entries(example, lambda place: -example.judged.get(example.hits[place].entry.id, 0)),
    }


def compared(name: str, examples: Sequence[Example], fitted_ways: Mapping[str, Rankings]) -> list[Scored]:
    """One set's figures for every way of ranking: the legs, fusion, the `fitted_ways`, and the two ceilings."""
    qrels = {example.id: example.judged for example in examples}
    ways: dict[str, Rankings] = {}
    for example in examples:
        for way, ranked in legs(example).items():
            ways.setdefault(way, {})[example.id] = ranked
    perfect = ways.pop("perfect order")
    values = {way: measures.per_query(run, qrels) for way, run in {**ways, **fitted_ways, "perfect order": perfect}.items()}
    single = {way: values[way] for way in ("words", "meaning") if any(ways[way].values())}
    best = max(single, key=lambda way: measures.mean(single[way], MEASURE) or 0.0)
    oracle = {qid: max((each[qid] for each in single.values()), key=lambda row: row[MEASURE]) for qid in qrels}
    found = []
    for way, rows in {**values, noted("better leg each time"): oracle}.items():
        column = [rows[qid][MEASURE] for qid in qrels]
        estimate = statistics.mean(column)
        if estimate is not None and (way not in ("words", "meaning") or way in single):
            against = statistics.difference([single[best][qid][MEASURE] for qid in qrels], column) if way != best else None
            found.append(Scored(name, way, estimate, measures.mean(rows, "recall@8") or 0.0, against))
    return found


def lines(scored: Sequence[Scored]) -> list[str]:
    """The figures as a Markdown table."""
    head = [
        tr("| set | way | {measure} (95 %) | R@8 | against the best leg |", measure=MEASURE),
        "| --- | --- | --- | --- | --- |",
    ]
    return head + [
        f"| {each.set} | {tr(each.way)} | "
        f"{each.estimate.value:.3f} [{each.estimate.low:.3f}, {each.estimate.high:.3f}] | {each.recall:.3f} | "
        + (f"{d.value:+.3f} [{d.low:+.3f}, {d.high:+.3f}]" if (d := each.against_best_leg) else "")
        + " |"
        for each in scored
    ]


def all_compared(sets: Mapping[str, Sequence[Example]], names: Sequence[str]) -> list[Scored]:
    """The figures of every set, the model's out of fold and by the other sets alone."""
    folded, foreign = out_of_fold(sets, names), without_set(sets, names) if len(sets) > 1 else {}
    return [
        line
        for name, examples in sets.items()
        for line in compared(
            name, examples, {noted("rescored"): folded[name]} | ({noted("by other sets"): foreign[name]} if foreign else {})
        )
    ]
