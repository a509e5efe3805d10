"""Calculations shown in a text are found and done again."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import texts
from agent.language.calculations import calculations
from agent.language.figures import Notation, format_number

DE, EN = (Notation.of(texts.table(f"figures.{language}")) for language in ("de", "en"))


@pytest.mark.parametrize(
    "text",
    [
        "14 × 551,10 = 7.715,40",
        "14 x 551,10 EUR = 7.715,40 EUR",
        "14x551,10 = 7.715,40",
        "(14 × 551,10 = 7.715,40)",
        "Das sind im Jahr 14 · 551,10 = 7.715,40 EUR.",
        "(1.400 − 1.095) × 3,7 % = 11,29 EUR",
        "2.500 EUR * 6 %  = 150 EUR",
        "6 % von 2.500 EUR = 150 EUR",
        "100 : 4 = 25",
        "3.000 / 22 × 10 = 1.363,64 EUR",
        "1.690,60 + 2.211,24 − 496 = 3.405,84",
        "2.500 EUR − 18,07 % = 2.048,25 EUR",
        "18,07 % − 2 % = 16,07 %",
        "305 / 1.400 = 21,79 %",
        "(40 − 20) / 40 × 100 = 50 %",
        "590 × (30 % + 2 × 10 %) = 295 EUR",
        "1/12 × 6.000 EUR = 500 EUR",
        "100 − 250 = −150",
        "−(2 + 3) × 4 = −20",
        "((1 + 2) × (3 + 4)) / 2 = 10,5",
        "10 / 8 = 1,3",
        "300 EUR / 12 Monate = 25 EUR pro Monat",
        "**14 × 551,10 EUR = 7.715,40 EUR**",
        "Ergebnis (1 %): 2.400 EUR × 1 % = 24,00 EUR",
    ],
)
def test_right(text: str) -> None:
    assert [found.right for found in calculations(text, DE)] == [True]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("14 × 551,10 = 7.715,41", "7715.40"),
        ("14 × 551,10 = 7.715", "7715"),
        ("2 + 3 × 4 = 20", "14"),
        ("(1.400 − 1.095) × 3,7 % = 11,28 EUR", "11.29"),
        ("10 / 8 = 1,2", "1.3"),
        ("18,07 % − 2 % = 16 %", "16"),
        ("1 / 0 = 0", None),
    ],
)
def test_recomputed(text: str, value: str | None) -> None:
    (found,) = calculations(text, DE)
    assert found.value == (None if value is None else Decimal(value))
    assert found.right is (found.value == found.result.value)


@pytest.mark.parametrize(
    "text",
    [
        *("", "551,10 EUR", "a = b", "x = 5", "= 5", "1 +", "1 + = 2", "(1 + 2 = "),
        *("Der Wert 2026: 551,10 EUR", "§ 5 = § 6", "1 2 = 3", ") + 1 ="),
    ],
)
def test_no_calculation(text: str) -> None:
    assert calculations(text, DE) == []


def test_a_chain_is_checked_at_each_equals_sign() -> None:
    found = calculations("(1.400 − 1.095) × 3,7 % = 305 × 3,7 % = 11,28", DE)
    assert [step.right for step in found] == [True, False]


def test_figures_and_spans() -> None:
    text = "Im Jahr sind das 14 × 551,10 EUR = 7.715,40 EUR brutto."
    (found,) = calculations(text, DE)
    assert [figure.value for figure in found.figures] == [14, Decimal("551.10")]
    assert (found.result.value, found.result.unit) == (Decimal("7715.40"), "EUR")
    assert text[slice(*found.span)] == found.text == "14 × 551,10 EUR = 7.715,40 EUR"
    assert all(text[slice(*figure.span)] == figure.text for figure in (*found.figures, found.result))


def test_english() -> None:
    assert [found.right for found in calculations("14 × EUR 551.10 = EUR 7,715.40; 6 % of 2,500 = 150", EN)] == [True, True]


NUMBER = st.decimals(min_value=1, max_value=99999, places=2)


@given(first=NUMBER, second=NUMBER, third=NUMBER, sign=st.sampled_from("+−×"), other=st.sampled_from("+−×"))
def test_a_true_sum_is_right_and_an_altered_one_is_not(first: Decimal, second: Decimal, third: Decimal, sign: str, other: str) -> None:
    """Python's own precedence is the oracle."""
    applied = {"+": lambda a, b: a + b, "−": lambda a, b: a - b, "×": lambda a, b: a * b}
    value = applied[sign](first, applied[other](second, third)) if other == "×" else applied[other](applied[sign](first, second), third)
    shown = f"{format_number(first, DE)} {sign} {format_number(second, DE)} {other} {format_number(third, DE)} = "
    (right,) = calculations(shown + format_number(value, DE), DE)
    (wrong,) = calculations(shown + format_number(value + Decimal("0.01"), DE), DE)
    assert right.right
    assert not wrong.right


@given(text=st.one_of(st.text(max_size=80), st.text(alphabet="0123456789 +-*/()=,.%x×:", max_size=60)))
def test_any_text(text: str) -> None:
    assert all(text[slice(*found.span)] == found.text for found in calculations(text, DE))


@pytest.mark.parametrize("piece", ["(", "1+", "1=", "1*1*1=", "((1", "x", "1 ÷ 0 = "])
def test_a_long_hostile_text_is_read_to_its_end(piece: str) -> None:
    text = piece * (100_000 // len(piece)) + "\nund: 2 × 3 = 6"
    assert calculations(text, DE)[-1].right
