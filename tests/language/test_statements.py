"""A sentence cut into what it says of each figure; its lines where it is written over several; digits of any writing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.language.digits import plain, roman
from agent.language.statements import lines, statements
from agent.testing import german

DE = german()


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("Der Dienstnehmer zahlt 18,07 %, der Dienstgeber 20,98 %.", ["Der Dienstnehmer zahlt 18,07 %", ", der Dienstgeber 20,98 %."]),
        ("Bei 2.500 EUR beträgt der Satz 2 %.", ["Bei 2.500 EUR beträgt der Satz 2 %."]),
        ("Das Kind ist (anders, 2026) 20, 30 und 40 Tage frei.", ["Das Kind ist (anders, 2026) 20, 30 und 40 Tage frei."]),
        ("Ohne Zahl.", ["Ohne Zahl."]),
        ("", []),
    ],
)
def test_each_statement_holds_its_own_clause(sentence: str, said: list[str]) -> None:
    assert [statement.text for statement in statements(sentence, DE)] == said


def test_what_leads_in_goes_with_the_later_ones() -> None:
    first, second = statements("Der Satz beträgt in Wien 18,32 % und außerhalb 18,07 %.", DE)
    assert (first.lead, second.lead) == ("", "Der Satz beträgt in Wien")


@given(st.text(max_size=60))
def test_no_figure_is_lost(text: str) -> None:
    found = statements(text, DE)
    whole = "".join(f"{s.clause}{s.tail}".replace(" ", "") for s in found)
    assert sum(character.isalnum() for character in whole) == sum(character.isalnum() for character in text)


def test_a_list_is_read_item_by_item_and_a_table_cell_by_cell() -> None:
    assert lines("So:\n- A: 1 EUR\n- B: 2 EUR", DE) == [("So:", ""), ("A: 1 EUR", "So:"), ("B: 2 EUR", "So:")]
    table = "| X | A | B |\n|---|---|---|\n| C | 1 % | 2 % |"
    assert [text for text, _ in lines(table, DE)] == ["C, A: 1 %", "C, B: 2 %"]


@pytest.mark.parametrize(("written", "read"), [("６.９３０", "6.930"), ("③⑥ m²", "36 m²"), ("½", "½"), ("٣", "3"), ("a1", "a1")])
def test_digits_are_plain(written: str, read: str) -> None:
    assert plain(written) == read


@pytest.mark.parametrize(
    ("word", "value"), [("XXXVI", 36), ("IV", 4), ("XC", 90), ("V", None), ("CIVIL", None), ("IIII", None), ("vi", None)]
)
def test_roman_numerals(word: str, value: int | None) -> None:
    assert roman(word) == value
