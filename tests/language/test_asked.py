"""What kind of figure a question asks for, and whether a statement gives one."""

from __future__ import annotations

import pytest

from agent import texts
from agent.language import Language
from agent.language.asked import LIKELY, asked, meets, own_figures

GERMAN = Language(texts.table("language.de"), texts.table("figures.de"))
SWEDISH = Language(texts.table("language.sv"), texts.table("figures.sv"))


@pytest.mark.parametrize(
    ("question", "sure"),
    [
        ("Wie hoch ist die Grenze?", 1),
        ("Bis wann ist zu melden?", 1),
        ("Was kostet das den Betrieb?", 1),
        ("Grenze 2025", LIKELY),
        ("Abmeldefrist", LIKELY),
        ("Warum wird abgezogen?", 0),
        ("Muss ich das melden?", 0),
        ("Was ist ein Zuschlag?", 0),
        ("Ab welchem Bezug ist alles pfändbar?", 1),
        ("Ab wie vielen Stunden muss man fragen?", 1),
        ("Im Urlaub krank gewesen. Sind die Tage verloren?", 0),
        ("Zahlen wir für ihn noch Beiträge?", 0),
        ("Unser Arbeiter ist 63. Kriegt er noch etwas?", 0),
        ("Meldung zu spät, welcher Zuschlag?", LIKELY),
    ],
)
def test_how_surely_a_figure_is_wanted(question: str, sure: float) -> None:
    assert asked(question, GERMAN).sure == sure


@pytest.mark.parametrize(
    ("question", "statement", "worth"),
    [
        ("Wie viele Wochen dauert das?", "Es dauert 8 Wochen.", 1),
        ("Wie viele Wochen dauert das?", "Es kostet 8 EUR.", -1),
        ("Wie hoch ist der Prozentsatz?", "Der Zuschlag beträgt 50 %.", 0.5),
        ("Wie hoch ist der Prozentsatz?", "Der Zuschlag beträgt 50 EUR.", -0.5),
        ("Wie hoch ist das?", "Es beträgt 50 EUR.", 0),
        ("Bis wann?", "Bis zum 15. des Folgemonats.", 0.5),
        ("Höchstens pro Jahr?", "Frei sind 300 EUR jährlich.", 0.5),
        ("Höchstens pro Jahr?", "Frei sind 3 EUR täglich.", -0.5),
        ("Höchstens pro Jahr?", "Frei sind 3 EUR täglich, 300 EUR jährlich.", 0.5),
        ("Was gilt im Jahr 2026?", "Frei sind 3 EUR täglich.", 0),
        ("Wie viele Tage im Jahr?", "Es sind 100 Tage jährlich.", 1.5),
    ],
)
def test_a_figure_of_the_unit_or_kind_that_is_asked_for_counts(question: str, statement: str, worth: float) -> None:
    wanted = asked(question, GERMAN)
    assert meets(wanted, own_figures(statement, wanted, GERMAN)) == worth


def test_a_figure_that_the_question_brings_along_answers_nothing() -> None:
    wanted = asked("Was gilt bei 25 Dienstjahren und 3.000 EUR?", GERMAN)
    assert own_figures("Bei 25 Dienstjahren sind 3.000 EUR frei.", wanted, GERMAN) == ()
    assert [figure.text for figure in own_figures("Im Jahr 2026 sind nach § 67 Abs 1 EStG 620 EUR frei.", wanted, GERMAN)] == ["620 EUR"]


def test_swedish_goes_the_same_way() -> None:
    wanted = asked("Hur många veckor gäller det?", SWEDISH)
    assert (wanted.sure, meets(wanted, own_figures("Det gäller i 4 veckor.", wanted, SWEDISH))) == (1, 1)
