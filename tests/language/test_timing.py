"""Which days a text speaks of, and whether a statement holds in a period."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.language.timing import fits, mentions
from agent.testing import german, swedish
from agent.values import Period

DE = german()
Y2024, Y2026 = Period.year(2024), Period.year(2026)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("im Jahr 2023", date(2023, 1, 1), date(2023, 12, 31)),
        ("am 1.7.2025", date(2025, 7, 1), date(2025, 7, 1)),
        ("1. Jänner 2026", date(2026, 1, 1), date(2026, 1, 1)),
        ("im Februar 2024", date(2024, 2, 1), date(2024, 2, 29)),
        ("2026-01-31", date(2026, 1, 31), date(2026, 1, 31)),
        ("1.1.2026 bis 30.6.2026", date(2026, 1, 1), date(2026, 6, 30)),
        ("Jahreswechsel 2025/26", date(2025, 1, 1), date(2026, 12, 31)),
    ],
)
def test_a_mention(text: str, start: date, end: date) -> None:
    assert [mention.period for mention in mentions(text, DE)] == [Period(start, end)]


@pytest.mark.parametrize(
    ("text", "start", "end", "opened"),
    [
        ("den 24 maj 2018", date(2018, 5, 24), date(2018, 5, 24), ""),
        ("från och med den 1 juli 2018", date(2018, 7, 1), date(2018, 7, 1), "since"),
        ("t.o.m. 2018", date(2018, 1, 1), date(2018, 12, 31), "until"),
        ("från den 24 oktober 1998 till och med den 24 maj 2018", date(1998, 10, 24), date(2018, 5, 24), "range"),
        ("1998-10-24 till 2018-05-24", date(1998, 10, 24), date(2018, 5, 24), "range"),
    ],
)
def test_a_swedish_mention(text: str, start: date, end: date, opened: str) -> None:
    assert [(mention.period, mention.open) for mention in mentions(text, swedish())] == [(Period(start, end), opened)]


@pytest.mark.parametrize("text", ["lagen (2021:890)", "SFS 2018:1801", "2000 kr", "2020 kronor i timmen", "kl. 20:15"])
def test_no_swedish_mention(text: str) -> None:
    assert mentions(text, swedish()) == ()


@pytest.mark.parametrize("text", ["2.026 EUR", "2026 EUR", "BGBl I 62/2026", "Rz 20261", "31.2.2026", "keine Zeit", "2026,50"])
def test_no_mention(text: str) -> None:
    assert mentions(text, DE) == ()


@pytest.mark.parametrize(
    ("text", "fit"),
    [
        ("Der Wert beträgt 2026 monatlich 551,10 EUR.", 1.0),
        ("Der Wert betrug 2024 monatlich 518,44 EUR.", 0.0),
        ("Seit 2003 gilt die Regel.", 1.0),
        ("Ab 1.1.2027 gilt eine andere Regel.", 0.0),
        ("Bis 31.12.2027 gilt die Regel.", 1.0),
        ("1.1.2026 bis 31.12.2026", 1.0),
        ("Ohne Zeitangabe.", 1.0),
        ("2025 war es mehr, 2026 ist es weniger.", 0.5),
    ],
)
def test_fits_2026(text: str, fit: float) -> None:
    assert fits(text, Y2026, DE) == fit


def test_the_same_statement_fits_its_own_year() -> None:
    assert fits("Der Wert betrug 2024 monatlich 518,44 EUR.", Y2024, DE) == 1.0


@given(st.text(max_size=300))
def test_never_raises(text: str) -> None:
    for mention in mentions(text, DE):
        assert mention.period.start <= mention.period.end
