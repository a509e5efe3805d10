"""What the benchmark of the lists says of a loss."""

from __future__ import annotations

import pytest

from benchmarks import legs

ALL = dict.fromkeys(legs.SHOWN, 1.0)
NONE = dict.fromkeys(legs.SHOWN, 0.0)


def test_a_loss_is_parted_into_candidates_and_order() -> None:
    values = {"perfect order": {"a": ALL, "b": ALL, "c": NONE, "d": ALL}, "default": {"a": ALL, "b": NONE, "c": NONE, "d": NONE}}
    assert legs.loss(values) == {name: pytest.approx((0.25, 0.5)) for name in legs.SHOWN}
