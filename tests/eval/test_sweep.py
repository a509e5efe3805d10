"""The choice among settings: figures out of fold only, ties for what is set now, and grids as they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.eval.experiment import grid
from agent.eval.statistics import Verdict
from agent.eval.sweep import chosen

ids = [f"q{n:02}" for n in range(20)]


def test_a_setting_that_is_better_everywhere_wins() -> None:
    choice = chosen({"now": dict.fromkeys(ids, 0.0), "k=10": dict.fromkeys(ids, 1.0)}, folds=5, share_of=True)
    assert (choice.winner, choice.verdict) == ("k=10", Verdict.REAL_GAIN)
    assert {fold.chosen for fold in choice.folds} == {"k=10"}
    assert choice.chosen.value == 1


def test_a_fold_never_sees_its_own_questions() -> None:
    # each of five settings is perfect on one fold and worthless on the others: fitted on all it would shine, out of fold it must not
    values = {"now": dict.fromkeys(ids, 0.1)}
    for part in range(5):
        values[f"s{part}"] = {qid: float(place % 5 == part) for place, qid in enumerate(ids)}
    choice = chosen(values, folds=5, share_of=False)
    assert choice.chosen.value == 0
    assert choice.verdict is not Verdict.REAL_GAIN


@given(st.lists(st.floats(0, 1), min_size=4, max_size=12))
def test_equal_settings_change_nothing(values: list[float]) -> None:
    column = {f"q{n}": value for n, value in enumerate(values)}
    choice = chosen({"now": column, "same": column}, folds=2, share_of=False)
    assert (choice.winner, choice.difference.value, choice.verdict) == ("now", 0.0, Verdict.NO_DIFFERENCE_SHOWN)


def test_too_few_questions() -> None:
    with pytest.raises(UsageError, match="2 questions cannot make 5 folds"):
        chosen({"now": {"a": 1.0, "b": 0.0}}, folds=5, share_of=True)


def test_a_grid_holds_what_is_set_now_and_every_combination() -> None:
    settings = grid(["rrf_k=10,20", "dense_weight=1"])
    assert [setting.name for setting in settings] == ["now", "rrf_k=10 dense_weight=1", "rrf_k=20 dense_weight=1"]
    assert settings[1].changes == {"rrf_k": "10", "dense_weight": "1"}


@pytest.mark.parametrize("conditions", [["rrf_k"], ["rrf_k="], ["=3"], [], ["a=1", "a=2"]])
def test_what_is_no_grid(conditions: list[str]) -> None:
    with pytest.raises(UsageError):
        grid(conditions)
