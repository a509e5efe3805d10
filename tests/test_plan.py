"""The plan without a model: dates, relative years, surveys."""

from __future__ import annotations

from datetime import date

import pytest

from agent.plan import by_rules
from agent.testing import STICHTAG, german
from agent.values import Period, Question

DE = german()


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("Wie hoch ist die Grenze?", [Period.day(STICHTAG)]),
        ("Wie hoch ist die Grenze heuer?", [Period.day(STICHTAG)]),
        ("Wie hoch war die Grenze 2024?", [Period.year(2024)]),
        ("Wie hoch war die Grenze im Vorjahr?", [Period.year(2025)]),
        ("Unterschied zwischen 2025 und 2026", [Period.year(2025), Period.year(2026)]),
        ("Kilometergeld im März 2025?", [Period(date(2025, 3, 1), date(2025, 3, 31))]),
        ("Was gilt am 1.7.2025?", [Period.day(date(2025, 7, 1))]),
        ("2022, 2023, 2024 und 2025 im Vergleich", [Period(date(2022, 1, 1), date(2025, 12, 31))]),
        ("vom 1.1.2025 bis 30.6.2025", [Period(date(2025, 1, 1), date(2025, 6, 30))]),
        ("Bezug von 2.026 Euro nach BGBl I 62/2026", [Period.day(STICHTAG)]),
    ],
)
def test_periods(text: str, periods: list[Period]) -> None:
    plan = by_rules(Question(text, STICHTAG), DE)
    assert [subquery.period for subquery in plan.subqueries] == periods
    assert all(subquery.query == text for subquery in plan.subqueries)


@pytest.mark.parametrize(("text", "kind"), [("Welche Neuerungen gibt es 2027?", "survey"), ("Wie hoch ist die Grenze?", "specific")])
def test_survey(text: str, kind: str) -> None:
    assert by_rules(Question(text, STICHTAG), DE).type == kind
