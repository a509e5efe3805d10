"""Fitting the second stage: it finds the feature that matters, never sees the fold it is judged on, and its figures add up."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from agent import rescoring
from agent.eval import fitting
from agent.testing import hit

NAMES = ("words", "grams")


def example(number: int, *, telling: str, candidates: int = 12) -> fitting.Example:
    """A question whose right document scores high in one feature, while the other is noise."""
    noise = random.Random(number)
    hits, features = [], []
    for place in range(candidates):
        right = place == number % candidates
        told = {name: noise.random() for name in NAMES}
        told[telling] += 1.5 * right
        hits.append(replace(hit(f"d{place}", ""), score=1 / (1 + place), lexical_rank=place + 1, dense_rank=candidates - place))
        features.append(told)
    return fitting.Example(f"q{number}", tuple(hits), tuple(features), {f"d{number % candidates}": 1})


def examples(telling: str, count: int = 40) -> list[fitting.Example]:
    return [example(number, telling=telling) for number in range(count)]


def test_the_telling_feature_gets_the_weight() -> None:
    weights = fitting.fitted([examples("grams")], NAMES)
    assert weights["grams"] > 5 * weights["words"]


def test_no_weight_is_negative() -> None:
    plain = examples("grams")
    against = [replace(each, features=tuple({**told, "words": -(told["grams"] or 0)} for told in each.features)) for each in plain]
    assert fitting.fitted([against], NAMES)["words"] == 0


def test_every_set_counts_alike() -> None:
    large, small = examples("grams", 80), examples("words", 20)
    weights = fitting.fitted([large, small], NAMES)
    assert weights["words"] == pytest.approx(weights["grams"], rel=0.35)


def test_a_question_without_a_right_candidate_teaches_nothing() -> None:
    blind = [replace(each, judged={"elsewhere": 1}) for each in examples("words")]
    assert fitting.fitted([examples("grams")], NAMES) == fitting.fitted([[*examples("grams"), *blind]], NAMES)


def test_a_question_is_ranked_by_weights_that_have_not_seen_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[str]] = []

    def spied(sets: object, names: object) -> dict[str, float]:
        seen.append({each.id for one in sets for each in one})  # type: ignore[attr-defined]
        return dict.fromkeys(NAMES, 1.0)

    monkeypatch.setattr(fitting, "fitted", spied)
    ranked = fitting.out_of_fold({"a": examples("grams", 17)}, NAMES)
    assert set(ranked["a"]) == {f"q{n}" for n in range(17)}
    left_out = [{f"q{n}" for n in range(17)} - fold for fold in seen]
    assert sorted(one for fold in left_out for one in fold) == sorted(f"q{n}" for n in range(17))


def test_the_legs_and_the_ceiling_are_what_they_say() -> None:
    ways = fitting.legs(example(3, telling="grams", candidates=4))
    assert ways["words"] == ways["rank fusion"] == ["d0", "d1", "d2", "d3"]
    assert ways["meaning"] == ["d3", "d2", "d1", "d0"]
    assert ways["perfect order"][0] == "d3"


def test_figures_of_every_way_beside_the_best_leg() -> None:
    sets = {"one": examples("grams"), "two": examples("grams", 30)}
    scored = fitting.all_compared(sets, NAMES)
    by = {(each.set, each.way): each for each in scored}
    assert by["one", "rescored"].estimate.value > by["one", "rank fusion"].estimate.value
    assert by["one", "perfect order"].estimate.value == 1.0
    best = max(("words", "meaning"), key=lambda way: by["one", way].estimate.value)
    assert by["one", best].against_best_leg is None
    better = by["one", "better leg each time"].against_best_leg
    assert better is not None
    assert better.value >= 0
    assert len(fitting.lines(scored)) == len(scored) + 2


def test_scores_are_those_of_the_search() -> None:
    each = example(5, telling="grams")
    weights = {"words": 0.2, "grams": 1.0}
    scores = rescoring.scores(each.features, weights)
    ranked = fitting.rescored(each, weights)
    assert ranked[0] == each.hits[max(range(len(scores)), key=scores.__getitem__)].entry.id
