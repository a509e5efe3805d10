"""Two statements are cases of one thing where they differ in for whom they hold and in their value, and in nothing else."""

from __future__ import annotations

import pytest

from agent.language.cases import open_cases
from agent.language.pieces import Piece, pieces
from agent.testing import german

DE = german()
ROWS = "| Bezeichnung | Wert |\n| --- | --- |\n"


def said(*texts: str) -> list[Piece]:
    return list(pieces("Bonus", "\n\n".join(texts), DE))


def open_for(question: str, first: str, *others: str) -> list[str]:
    best, *rest = said(first, *others)
    asked = dict.fromkeys(DE.query_terms(question), ())
    return [piece.text for piece in open_cases(question, best, rest, asked, DE)]


YOUNG, OLD = (
    "Der Bonus beträgt für Kinder unter 18 Jahren 166 EUR monatlich.",
    "Der Bonus beträgt für Kinder ab 18 Jahren 58 EUR monatlich.",
)


def test_the_other_side_of_an_opposition_is_a_case() -> None:
    assert open_for("Wie hoch ist der Bonus?", YOUNG, OLD) == [OLD]


def test_a_question_that_names_two_cases_gets_both() -> None:
    first, other = "Der Bonus beträgt für Kinder 166 EUR monatlich.", "Der Bonus beträgt für Lehrlinge 58 EUR monatlich."
    assert open_for("Bonus für Kinder, Bonus für Lehrlinge?", first, other) == [other]
    assert open_for("Bonus für Lehrlinge?", first, other) == []


@pytest.mark.parametrize("question", ["Wie hoch ist der Bonus mit 20 Jahren?", "Wie hoch ist der Bonus für Kinder unter 18?"])
def test_a_figure_in_the_question_settles_the_case(question: str) -> None:
    assert open_for(question, YOUNG, OLD) == []


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("Der Bonus beträgt für Kinder 166 EUR monatlich.", "Der Bonus beträgt für Lehrlinge 2.000 EUR jährlich."),
        ("Der Bonus beträgt für Kinder 166 EUR monatlich.", "Der Bonus beträgt für Lehrlinge 5 % monatlich."),
        ("Der Bonus beträgt für Kinder 166 EUR monatlich.", "Für Lehrlinge beträgt der Bonus ebenfalls 166 EUR monatlich."),
        ("Der Bonus beträgt 166 EUR monatlich.", "Der Bonus beträgt nach dem Einschleifen bei Lehrlingen 12 EUR monatlich."),
        ("Der Bonus beträgt für Kinder 166 EUR monatlich.", "Für einen Antrag sind im Amt 30 EUR monatlich zu zahlen."),
        ("Der Bonus beträgt für Kinder 166 EUR monatlich.", "Der erhöhte Bonus beträgt für Lehrlinge 200 EUR monatlich."),
        ("Der Bonus steht Kindern zu.", "Der Bonus beträgt für Lehrlinge 200 EUR monatlich."),
    ],
)
def test_another_form_or_thing_is_no_case(first: str, other: str) -> None:
    assert open_for("Wie hoch ist der Bonus?", first, other) == []


def test_rows_are_compared_by_their_value_and_not_by_the_figures_of_their_label() -> None:
    low, high = said(ROWS + "| Satz bis 620 EUR | 0 % |\n| Satz über 620 EUR | 6 % |")
    assert open_cases("Welche Sätze gelten?", low, [low, high], {"satz": ()}, DE) == [high]
