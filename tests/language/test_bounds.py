"""The step of a table that a case's own figures fall into."""

from __future__ import annotations

import pytest

from agent.language.bounds import stated, suits
from agent.testing import german

N = german().notation


@pytest.mark.parametrize(
    ("case", "right", "wrong"),
    [
        ("nach sieben Dienstjahren", "ab 5 vollendeten Dienstjahren: 3 Monate", "ab 2 vollendeten Dienstjahren: 2 Monate"),
        ("nach sieben Dienstjahren", "ab 5 vollendeten Dienstjahren: 3 Monate", "ab 15 vollendeten Dienstjahren: 4 Monate"),
        ("bei 2.300 EUR", "über 2.225 bis 2.427 EUR: 1 %", "bis 2.225 EUR: 0 %"),
        ("bei 2.300 EUR", "über 2.225 bis 2.427 EUR: 1 %", "über 2.630 EUR: 2,95 %"),
        ("45 km", "über 40 bis 60 km: 113 EUR", "20 bis 40 km: 58 EUR"),
        ("Kind unter 18 Jahren", "unter 18 Jahren: 166 EUR", "ab 18 Jahren: 58 EUR"),
        ("Kind ab 18 Jahren", "ab 18 Jahren: 58 EUR", "unter 18 Jahren: 166 EUR"),
        ("über 40 bis 60 km", "über 40 bis 60 km: 113 EUR", "über 60 km: 168 EUR"),
        ("über 40 bis 60 km", "über 40 bis 60 km: 113 EUR", "20 bis 40 km: 58 EUR"),
        ("80 DN", "bei 25 bis 99 Dienstnehmern: 344 EUR", "bei 100 bis 399 Dienstnehmern: 485 EUR"),
    ],
)
def test_the_right_step_suits_better(case: str, right: str, wrong: str) -> None:
    figures = stated(case, N)
    assert suits(figures, right, N) > max(0.0, suits(figures, wrong, N))


def test_what_counts_something_else_says_nothing() -> None:
    assert suits(stated("nach sieben Jahren", N), "ab 100 EUR", N) == 0.0
    assert suits([], "ab 5 Jahren", N) == 0.0
