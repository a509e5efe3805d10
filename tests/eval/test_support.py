"""Support sentence by sentence, expected figures, and figures of another time or case."""

from __future__ import annotations

from datetime import date

import pytest

from agent.eval.figures import Figures
from agent.eval.goldset import Case
from agent.eval.support import Dated, Neighbours, neighbours, of_case, support
from agent.testing import german, hit

FIGURES = Figures(german())
HITS = [
    hit("pv-grenze", "Die Geringfügigkeitsgrenze beträgt 2026 monatlich 551,10 EUR."),
    hit("pv-urlaub", "Im Jahr gebühren 30 Werktage Urlaub."),
]
ROWS = [
    Dated("grenze", "551,10 EUR monatlich", date(2025, 1, 1), date(2026, 12, 31)),
    Dated("grenze", "518,44 EUR monatlich", date(2024, 1, 1), date(2024, 12, 31)),
    Dated("anderes", "700 EUR", None, None),
]


@pytest.mark.parametrize(
    ("answer", "unsupported", "foreign"),
    [
        ("Die Geringfügigkeitsgrenze beträgt 551,10 EUR monatlich [pv-grenze].", 0, 0),
        ("Die Geringfügigkeitsgrenze beträgt 651,10 EUR monatlich [pv-grenze].", 1, 1),
        ("Die Geringfügigkeitsgrenze beträgt 551,10 EUR monatlich.", 1, 1),
        ("Die Geringfügigkeitsgrenze beträgt 551,10 EUR monatlich [pv-urlaub].", 1, 1),
        ("Dienstwagen sind jährlich dem Betriebsrat vorzuführen [pv-urlaub].", 1, 0),
        ("Im Jahr gebühren 30 Werktage Urlaub [pv-urlaub]. Die Grenze beträgt 99 EUR [pv-grenze].", 1, 1),
    ],
)
def test_support_of_sentences(answer: str, unsupported: int, foreign: int) -> None:
    found = support(answer, "", HITS, FIGURES)
    assert (len(found.unsupported), len(found.foreign)) == (unsupported, foreign)


def test_a_figure_of_the_question_and_a_right_calculation_vouch_for_themselves() -> None:
    asked = "Ich verdiene 400 EUR im Monat, gilt die Geringfügigkeitsgrenze?"
    assert not support("Mit 400 EUR liegt man unter der Geringfügigkeitsgrenze [pv-grenze].", asked, HITS, FIGURES).foreign
    assert not support("Im Jahr sind das 12 × 551,10 EUR = 6.613,20 EUR [pv-grenze].", "", HITS, FIGURES).foreign
    assert support("Im Jahr sind das 12 × 551,10 EUR = 6.613,30 EUR [pv-grenze].", "", HITS, FIGURES).foreign


def test_values_of_another_time_are_those_of_the_same_thing_only() -> None:
    case = Case("g1", "Wie hoch ist die Grenze 2026?", date(2026, 11, 30), ("pv-grenze",), figures=("551,10 EUR",))
    forbidden = neighbours(case, ROWS, FIGURES, lambda key: key == "grenze")
    assert forbidden == Neighbours(times=("518,44 EUR monatlich",))
    assert forbidden.said("Sie beträgt 551,10 EUR (2024: 518,44 EUR) [pv-grenze].", case.figures, FIGURES) == forbidden.times
    assert forbidden.said("Sie beträgt 551,10 EUR [pv-grenze].", case.figures, FIGURES) == ()
    assert neighbours(case, ROWS, FIGURES, lambda key: False) == Neighbours()


def test_values_of_other_rows_are_wrong_unless_the_sentence_has_the_right_one_too() -> None:
    rows = [Dated("bonus", "166 EUR", None, None), Dated("bonus", "58 EUR", None, None)]
    case = Case("g1", "Bonus mit 10 Jahren?", date(2026, 11, 30), ("pv-bonus",), figures=("166 EUR",))
    forbidden = neighbours(case, rows, FIGURES, lambda key: True)
    assert forbidden == Neighbours(rows=("58 EUR",))
    assert forbidden.said("Bis 18 Jahre 166 EUR, danach 58 EUR [pv-bonus].", case.figures, FIGURES) == ()
    assert forbidden.said("Bis 18 Jahre 166 EUR [pv-bonus]. Danach 58 EUR [pv-bonus].", case.figures, FIGURES) == ("58 EUR",)
    assert forbidden.said("Ab 18 Jahren 58 EUR [pv-bonus].", case.figures, FIGURES) == ("58 EUR",)


def test_a_value_that_is_expected_too_is_not_forbidden() -> None:
    case = Case("g1", "Grenze 2024 und 2026?", date(2026, 11, 30), ("pv-grenze",), figures=("551,10 EUR", "518,44 EUR"))
    assert neighbours(case, ROWS, FIGURES, lambda key: True) == Neighbours()


def test_expected_figures() -> None:
    case = Case("g1", "?", date(2026, 11, 30), figures=("551,10", "30 Werktage"))
    assert of_case(case, "551,10 EUR und 30 Arbeitstage [pv-30]", FIGURES) == {"551,10": True, "30 Werktage": False}
