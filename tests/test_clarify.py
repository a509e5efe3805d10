"""The question asked back: only where the cited text hangs on a fact, only where the question leaves it open, and never more than one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.clarify import question_back
from agent.ingest import limits
from agent.testing import german

DE = german()
FACTS: Any = limits.read(Path(__file__).parents[1] / "wissensbasis")
LAND = "Der Zuschlag ist nach Bundesland verschieden."
KV = "Die Fälligkeit des Urlaubszuschusses regelt der Kollektivvertrag."
OLD = "Die Regelung gilt nur für Arbeitsverhältnisse, die vor dem 1.1.2003 begonnen haben."


def asked_back(question: str, *cited: str) -> str | None:
    return question_back(question, cited, DE, FACTS)


@pytest.mark.parametrize(
    ("question", "cited", "word"),
    [
        ("Wie hoch ist der Zuschlag?", LAND, "Bundesland"),
        ("Wann ist der Urlaubszuschuss fällig?", KV, "Kollektivvertrag"),
        ("Wie viel Abfertigung bekommt sie?", OLD, "1.1.2003"),
    ],
)
def test_an_open_fact_is_asked_back(question: str, cited: str, word: str) -> None:
    assert word in (asked_back(question, "Ein anderer Satz.", cited) or "")


@pytest.mark.parametrize(
    ("question", "cited"),
    [
        ("Wie hoch ist der Zuschlag in Tirol?", LAND),
        ("Wie hoch ist der Zuschlag in den Bundesländern?", LAND),
        ("Wann ist der Urlaubszuschuss im Handel fällig?", KV),
        ("Wie viel Abfertigung bekommt sie bei Eintritt 2001?", OLD),
        ("Wie viel Abfertigung bekommt sie, wenn sie am 1.4.2002 anfing?", OLD),
        ("Wie hoch ist der Zuschlag?", "Der Zuschlag beträgt 3 %."),
        ("Wie hoch ist der Zuschlag?", "Das Bundesland hebt ihn ein."),
    ],
)
def test_a_named_fact_or_a_text_that_hangs_on_none_is_not(question: str, cited: str) -> None:
    assert asked_back(question, cited) is None


def test_one_question_at_most_the_first_of_the_table() -> None:
    assert asked_back("Wie hoch ist das?", KV, LAND, OLD) == FACTS["facts"][0]["question"]


@pytest.mark.parametrize("fact", FACTS["facts"], ids=lambda fact: str(fact["name"]))
def test_every_fact_is_whole(fact: dict[str, Any]) -> None:
    assert fact["question"].endswith("?")
    assert fact["values"]
    assert all(asked_back("Wie ist das?", mark) for mark in fact["marks"])
    assert all(asked_back(f"Wie ist das, {value}?", mark) != fact["question"] for mark in fact["marks"] for value in fact["values"])
