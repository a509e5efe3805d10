"""The second stage: its features say what they claim, its scores keep their order under shifts and scales, and the shipped table fits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import rescoring, texts
from agent.language import grams

finite = st.floats(-100, 100)


def candidate(body: str, head: str = "") -> rescoring.Candidate:
    return rescoring.Candidate(head, body, (), len(body))


def asked(**terms: float) -> rescoring.Asked:
    return rescoring.Asked(terms, {})


def feature(name: str, question: rescoring.Asked, body: str, head: str = "") -> float:
    value = rescoring.features(question, candidate(body, head))[name]
    assert value is not None
    return value


@given(st.lists(finite, min_size=1, max_size=12), st.floats(0.1, 10), finite)
def test_standardised_values_heed_neither_scale_nor_shift(values: list[float], scale: float, shift: float) -> None:
    first, again = rescoring.standardised(values), rescoring.standardised([scale * value + shift for value in values])
    if max(values) - min(values) > 1e-3:
        assert again == pytest.approx(first, abs=1e-6)
        assert sum(first) == pytest.approx(0, abs=1e-9)


def test_what_is_missing_stands_in_the_middle() -> None:
    assert rescoring.standardised([1.0, None, 3.0]) == [-1.0, 0.0, 1.0]
    assert rescoring.standardised([None, None]) == [0.0, 0.0]
    assert rescoring.standardised([2.0, 2.0]) == [0.0, 0.0]


@given(st.lists(st.tuples(finite, finite), min_size=1, max_size=12))
def test_scores_lie_between_0_and_1_and_more_of_every_feature_is_never_worse(rows: list[tuple[float, float]]) -> None:
    found = [{"words": words, "grams": pieces} for words, pieces in rows]
    scores = rescoring.scores(found, {"words": 1.0, "grams": 0.5})
    assert all(0 <= score <= 1 for score in scores)
    for (a, one), (b, other) in zip(zip(rows, scores, strict=True), list(zip(rows, scores, strict=True))[1:], strict=False):
        if a[0] >= b[0] and a[1] >= b[1]:
            assert one >= other - 1e-12


def test_words_count_more_the_rarer_the_shorter_the_text_and_in_the_head() -> None:
    question = asked(urlaub=3.0, tag=0.5)
    assert feature("words", question, "urlaub x") > feature("words", question, "tag x") > feature("words", question, "x y") == 0
    assert feature("words", question, "urlaub") > feature("words", question, "urlaub" + " x" * 300)
    assert feature("words", question, "x", head="urlaub") > feature("words", question, "urlaub x")


def test_a_relative_counts_for_a_term_that_is_not_there_and_less_than_it() -> None:
    question = rescoring.Asked({"sz": 2.0}, {}, {"sz": {"sonderzahl": 0.8, "13 gehalt": 0.8}})
    said, meant, phrase, half = (feature("words", question, body) for body in ("sz x", "sonderzahl x", "13 gehalt", "gehalt x"))
    assert said > meant > 0
    assert phrase > 0
    assert half == 0


def test_the_window_sees_terms_that_stand_together_and_counts_each_once() -> None:
    question = asked(a=1.0, b=2.0)
    near = feature("window", question, "x a x b x")
    assert near == 3.0
    assert feature("window", question, "a" + " x" * rescoring.WINDOW + " b") == 2.0
    assert feature("window", question, "b b b b") == 2.0
    assert feature("window", question, "x") == 0.0


def test_the_window_knows_what_names_the_same() -> None:
    question = rescoring.Asked({"uz": 2.0, "lst": 1.0}, {}, {"uz": {"urlaubszuschuss": 0.8, "urlaub": 0.4}})
    assert feature("window", question, "lst urlaubszuschuss") == pytest.approx(2.6)
    assert feature("window", question, "lst urlaub") == 1.0


@given(st.lists(st.sampled_from("abcx"), max_size=40))
def test_the_window_agrees_with_looking_at_every_window(body: list[str]) -> None:
    weights = {"a": 1.0, "b": 2.0, "c": 4.0}
    every = (body[start : start + rescoring.WINDOW] for start in range(max(1, len(body))))
    best = max((sum(weights[term] for term in set(window) & weights.keys()) for window in every), default=0.0)
    assert feature("window", asked(**weights), " ".join(body)) == pytest.approx(best)


def test_grams_find_a_word_mistyped() -> None:
    layout = grams.laid_out("Geringfügigkeitsgrenze")
    wanted = grams.grams(layout)
    question = rescoring.Asked({}, dict.fromkeys(wanted, 1.0))

    def found(text: str) -> float:
        (counts,) = grams.counted([grams.laid_out(text)], wanted)
        value = rescoring.features(question, rescoring.Candidate("", "", counts, len(text)))["grams"]
        assert value is not None
        return value

    assert found("Geringfügigkeitsgrenze") > found("Gringfügigkeitsgrenze") > found("Urlaubsanspruch") == 0


def test_the_shipped_table_weighs_the_features_there_are() -> None:
    table = texts.table("ranking")
    assert set(table["hybrid"]) == set(rescoring.HYBRID)
    assert set(table["lexical"]) == set(rescoring.LEXICAL)
    assert all(weight >= 0 for kind in ("hybrid", "lexical") for weight in table[kind].values())
    assert set(rescoring.features(asked(), candidate("x"))) == set(rescoring.HYBRID)
