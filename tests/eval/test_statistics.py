"""Intervals keep their promise, comparisons are symmetric, and a run compared with itself shows nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from agent.eval import statistics
from agent.eval.statistics import Verdict, compare, difference, holm, mcnemar, minimum_detectable, sign_flip, verdict

values = st.lists(st.integers(0, 20).map(lambda twentieth: twentieth / 20), min_size=1, max_size=40)
pairs = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)).map(lambda pair: (pair[0] / 10, pair[1] / 10)), min_size=1, max_size=30)
few = settings(max_examples=40, deadline=None)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_scipys_and_contains_its_share(counts: tuple[int, int]) -> None:
    hits, n = counts
    found = statistics.share(hits, n)
    assert found is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    reference = stats.binomtest(hits, n).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((reference.low, reference.high), abs=1e-9)
    mirrored = statistics.share(n - hits, n)
    assert mirrored is not None
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - found.high, 1 - found.low))


@given(values, st.randoms())
@few
def test_a_bootstrap_interval_contains_its_mean_whatever_the_order(data: list[float], random: object) -> None:
    found = statistics.mean(data)
    assert found is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    shuffled = list(data)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert statistics.mean(shuffled) == found


def test_more_questions_give_a_narrower_interval() -> None:
    small, large = statistics.mean([0.0, 1.0, 0.5] * 10), statistics.mean([0.0, 1.0, 0.5] * 100)
    assert small is not None
    assert large is not None
    assert (large.high - large.low) < (small.high - small.low) / 2


def test_nothing_scored_has_no_interval() -> None:
    assert statistics.share(0, 0) is None
    assert statistics.mean([]) is None
    assert difference([], []) is None


def test_estimate_takes_the_interval_that_suits_the_measure() -> None:
    assert statistics.estimate([1.0, 0.0, 1.0], share_of=True) == statistics.share(2, 3)
    assert statistics.estimate([1.0, 0.5], share_of=False) == statistics.mean([1.0, 0.5])


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    random = np.random.default_rng(7)
    rounds = 400
    shares = [statistics.share(int(hits), 60) for hits in random.binomial(60, 0.85, rounds)]
    means = [statistics.mean(list(row), rounds=1000) for row in random.beta(2, 1, (rounds, 60))]
    paired = [difference(list(a), list(np.clip(a + 0.05 + noise, -1, 2))) for a, noise in _normal_pairs(random, 60)]
    for intervals, truth in ((shares, 0.85), (means, 2 / 3), (paired, 0.05)):
        covered = [found.low <= truth <= found.high for found in intervals if found is not None]
        assert 0.90 <= sum(covered) / len(covered) <= 0.99


def _normal_pairs(random: np.random.Generator, rounds: int) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(random.uniform(0.3, 0.7, 60), random.normal(0, 0.1, 60)) for _ in range(rounds)]


@given(values, st.floats(0, 1))
def test_a_quantile_is_a_value_that_enough_do_not_exceed(data: list[float], q: float) -> None:
    found = statistics.quantile(data, q)
    assert found in data
    assert sum(value <= found for value in data) >= q * len(data)
    assert statistics.quantile([], q) is None


@given(pairs)
@few
def test_swapping_the_runs_turns_the_difference_round(data: list[tuple[float, float]]) -> None:
    old, new = [before for before, _ in data], [after for _, after in data]
    there, back = difference(old, new), difference(new, old)
    assert there is not None
    assert back is not None
    assert (back.value, back.low, back.high) == (-there.value, -there.high, -there.low)
    assert (back.p, back.better, back.worse) == (there.p, there.worse, there.better)
    assert there.low <= there.value <= there.high


@given(st.dictionaries(st.text("abc", min_size=1), st.tuples(st.sampled_from([0.0, 1.0]), st.floats(0, 1)), min_size=1, max_size=30))
@few
def test_a_run_compared_with_itself_shows_nothing(rows: dict[str, tuple[float, float]]) -> None:
    run = {qid: {"hit@1": hit, "nDCG@10": gain} for qid, (hit, gain) in rows.items()}
    for comparison in compare(run, run).values():
        assert comparison.verdict is Verdict.NO_DIFFERENCE_SHOWN
        assert comparison.p == 1
        assert (comparison.difference.low, comparison.difference.value, comparison.difference.high) == (0, 0, 0)


def test_runs_of_unequal_length_are_no_pairs() -> None:
    with pytest.raises(ValueError, match="shorter"):
        difference([1.0], [])


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_exact_binomial_test(better: int, worse: int) -> None:
    expected = stats.binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert mcnemar(better, worse) == pytest.approx(expected)


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), max_size=13))
@few
def test_mcnemar_is_the_sign_flip_test_on_shares(changes: list[float]) -> None:
    assert sign_flip(changes) == pytest.approx(mcnemar(changes.count(1.0), changes.count(-1.0)))


def test_a_sampled_sign_flip_is_near_the_exact_one() -> None:
    changes = [0.1, 0.2, -0.1, 0.3, 0.05, -0.02, 0.15, 0.1, -0.2, 0.25]
    assert sign_flip(changes, rounds=1000) == pytest.approx(sign_flip(changes, rounds=2000), abs=0.05)


def test_three_equal_gains_prove_nothing() -> None:
    found = difference([0.5, 0.5, 0.5], [0.75, 0.75, 0.75])
    assert found is not None
    assert found.p == 0.25
    assert verdict(found) is Verdict.NO_DIFFERENCE_SHOWN


def test_noise_is_called_a_difference_as_rarely_as_alpha_says() -> None:
    random = np.random.default_rng(3)
    called = 0
    for _ in range(100):
        found = difference(list(random.beta(2, 1, 40)), list(random.beta(2, 1, 40)))
        assert found is not None
        called += verdict(found) is not Verdict.NO_DIFFERENCE_SHOWN
    assert called <= 12


def test_a_real_drop_is_one_and_for_a_measure_where_less_is_better_a_gain() -> None:
    old = {str(number): {"hit@1": 1.0, "false-refusals": 1.0} for number in range(20)}
    new = {str(number): {"hit@1": float(number > 9), "false-refusals": float(number > 9)} for number in range(20)}
    found = compare(old, new, lower_is_better=frozenset({"false-refusals"}))
    assert found["hit@1"].verdict is Verdict.REAL_DROP
    assert found["false-refusals"].verdict is Verdict.REAL_GAIN
    assert found["hit@1"].difference.value == -0.5


def test_only_questions_and_measures_of_both_runs_are_compared() -> None:
    found = compare({"a": {"x": 1.0, "y": 1.0}, "b": {"x": 1.0}}, {"a": {"x": 0.0}, "c": {"x": 0.0}})
    assert list(found) == ["x"]
    assert found["x"].difference.n == 1


def test_holm_by_hand() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}) == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})


@given(st.dictionaries(st.text("abcd", min_size=1, max_size=3), st.floats(0, 1), max_size=8))
def test_holm_never_lowers_a_p_and_keeps_their_order(ps: dict[str, float]) -> None:
    adjusted = holm(ps)
    assert adjusted.keys() == ps.keys()
    assert all(ps[name] <= adjusted[name] <= 1 for name in ps)
    by_p = sorted(ps, key=lambda name: ps[name])
    assert [adjusted[name] for name in by_p] == sorted(adjusted.values())


def test_the_minimum_detectable_difference_is_found_about_as_often_as_promised() -> None:
    n, changing = 200, 0.2
    delta = minimum_detectable(n, changing=changing)
    random = np.random.default_rng(5)
    gained = (changing + delta) / 2
    draws = random.multinomial(n, [gained, changing - gained, 1 - changing], 1000)
    found = sum(mcnemar(int(better), int(worse)) < 0.05 for better, worse, _ in draws)
    assert 0.70 <= found / 1000 <= 0.88  # the exact test is a little more careful than the approximation


def test_the_minimum_detectable_difference_falls_with_the_questions() -> None:
    assert minimum_detectable(0) == 1
    assert minimum_detectable(60) > minimum_detectable(120) > minimum_detectable(1000) > 0
