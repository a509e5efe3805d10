"""Opposites, exceptions, special rules and conditions: told apart where a question names them, and left alone where it does not."""

from __future__ import annotations

import pytest

from agent.language import contrast
from agent.testing import german

DE = german()


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("Bonus für ein Kind unter 18?", "Für ein Kind ab 18 Jahren: 58,34 EUR", True),
        ("Bonus für ein Kind unter 18?", "Für ein Kind unter 18 Jahren: 166,68 EUR", False),
        ("Bonus für ein Kind bis 18?", "Für ein Kind unter 18 Jahren: 166,68 EUR", False),
        ("Bonus für ein Kind?", "Für ein Kind ab 18 Jahren: 58,34 EUR", False),
        ("Grundbetrag mit Sonderzahlungen?", "Grundbetrag ohne Anspruch auf Sonderzahlungen", True),
        ("Grundbetrag mit Sonderzahlungen?", "Mit Sonderzahlungen 1.308, ohne Sonderzahlungen 1.526", False),
        ("Grundbetrag mit Sonderzahlungen?", "Ohne Antrag gilt der Grundbetrag", False),
        ("Wie hoch ist die Grenze monatlich?", "Die Grenze beträgt täglich 231 EUR", True),
        ("Wie hoch ist die Grenze monatlich?", "Die Grenze beträgt 6.930 EUR", False),
        ("Wie hoch ist die Grenze?", "Die Grenze beträgt täglich 231 EUR", False),
        ("Ab wann gelten 41 %?", "Obergrenze der Stufe mit 41 %: 62.080 EUR", True),
        ("Bis zu welchem Einkommen gelten 41 %?", "Obergrenze der Stufe mit 41 %: 62.080 EUR", False),
    ],
)
def test_the_other_side(question: str, text: str, expected: bool) -> None:
    assert contrast.opposed(question, text, DE) is expected


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("Beitrag in Wien?", "Beitrag (alle Länder außer Wien): 0,50 %", True),
        ("Beitrag in Tirol?", "Beitrag (alle Länder außer Wien): 0,50 %", False),
        ("Beitrag außer in Wien?", "Beitrag (alle Länder außer Wien): 0,50 %", False),
        ("Beitrag außer in Wien?", "Beitrag in Wien: 0,75 %", True),
    ],
)
def test_what_a_text_leaves_out(question: str, text: str, expected: bool) -> None:
    assert contrast.excepted(question, text, DE) is expected


def test_a_special_rule_is_one_only_for_those_who_do_not_ask_for_it() -> None:
    text = "Dienstgeberbeitrag: ermäßigter Satz 3,70 %"
    assert contrast.special("Wie hoch ist der Dienstgeberbeitrag?", text, DE)
    assert not contrast.special("Wie hoch ist der ermäßigte Dienstgeberbeitrag?", text, DE)
    assert not contrast.special("Wie hoch ist der Dienstgeberbeitrag?", "Dienstgeberbeitrag: 3,90 %", DE)
    assert contrast.special("Wie hoch ist der ermäßigte Dienstgeberbeitrag?", "Dienstgeberbeitrag: 3,90 %", DE)


@pytest.mark.parametrize(
    ("asked", "text", "expected"),
    [
        (("Tirol",), "In Wien beträgt der Beitrag 0,75 %", True),
        (("Tirol",), "In Tirol und Wien beträgt der Beitrag 0,75 %", False),
        (("Tirol",), "Der Beitrag beträgt 0,50 % (alle Länder außer Wien)", False),
        (("Tirol", "Wien"), "In Wien beträgt der Beitrag 0,75 %", False),
        ((), "In Wien beträgt der Beitrag 0,75 %", False),
    ],
)
def test_what_holds_for_another_of_several_alternatives(asked: tuple[str, ...], text: str, expected: bool) -> None:
    countries = frozenset(term for name in ("Tirol", "Wien", "Salzburg") for term in DE.terms(name))
    terms = frozenset(term for name in asked for term in DE.terms(name))
    assert contrast.alternative(terms, text, (countries,), DE) is expected


def test_a_condition_is_told_by_the_first_word() -> None:
    assert contrast.conditional("Werden Bezüge nach dem 15. Jänner ausgezahlt, gilt anderes.", DE)
    assert not contrast.conditional("Bezüge werden monatlich ausgezahlt.", DE)
    assert not contrast.conditional("", DE)
