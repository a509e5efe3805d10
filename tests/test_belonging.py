"""A figure of the shipped entries stated of another row of the same table is no answer, however few words the draft has."""

from __future__ import annotations

from datetime import date
from functools import cache
from pathlib import Path

import pytest

from agent.grounding import Supported, ground
from agent.ingest import register
from agent.ingest.chunks import cut
from agent.testing import german
from agent.values import Complaint, Draft, Evidence, Hit, Origin, Period, Reason

KB = Path(__file__).parents[1] / "wissensbasis"
DE = german()
DAY = Period.day(date(2026, 11, 30))
WERTE, SAETZE = "pv-sv-werte-2026", "pv-sv-saetze-2026"
GRENZE = "Wie hoch ist die Geringfügigkeitsgrenze 2026?"
HBG = "Wie hoch ist die Höchstbeitragsgrundlage 2026?"
ANTEIL = "Wie hoch ist der SV-Dienstnehmeranteil 2026?"
EIGEN = "Ich verdiene 600 EUR. Wie hoch ist die Geringfügigkeitsgrenze 2026?"


@cache
def evidence() -> Evidence:
    entries = [entry for entry in register.admitted(KB).entries if entry.info.id in (WERTE, SAETZE)]
    return Evidence(tuple(Hit(chunk, entry.info, 1.0) for entry in entries for chunk in cut(entry, DE)))


def grounded(question: str, text: str) -> object:
    return ground(Draft(text, Origin.POINT), evidence(), DE, question=question, period=DAY)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (EIGEN, f"Ja, die Geringfügigkeitsgrenze beträgt 600 EUR [{WERTE}]."),
        (EIGEN, f"Ja, denn die Grenze beträgt 2026 600 EUR im Monat [{WERTE}]."),
        (ANTEIL, f"Der SV-Dienstnehmeranteil vom laufenden Bezug beträgt 2026 20,98 % [{SAETZE}]."),
        (ANTEIL, f"In Wien beträgt der SV-Dienstnehmeranteil 2026 18,07 % [{SAETZE}]."),
        (ANTEIL, f"Der Dienstnehmer zahlt 20,98 %, der Dienstgeber 18,07 % [{SAETZE}]."),
        (GRENZE, f"Sie beträgt 826,65 EUR [{WERTE}]."),
        (GRENZE, f"826,65 EUR [{WERTE}]."),
        (GRENZE, f"Antwort: 8.085 EUR [{WERTE}]"),
        (GRENZE, f"Die Geringfügigkeitsgrenze beträgt 1,5 × 551,10 EUR = 826,65 EUR [{WERTE}]."),
        (HBG, f"Sie liegt bei 8.085 EUR monatlich [{WERTE}]."),
        (HBG, f"Die Höchstbeitragsgrundlage beträgt 2026 monatlich nicht 6.930 EUR [{WERTE}]."),
        (HBG, f"Die Höchstbeitragsgrundlage beträgt monatlich sechstausendneunhundertfünfzig Euro [{WERTE}]."),
        (ANTEIL, f"Der SV-Dienstnehmeranteil beträgt 2026 in Wien 18,07 % [{WERTE}]."),
        (HBG, f"Es sind 13.860 EUR [{WERTE}]."),
    ],
)
def test_the_figure_of_another_thing_is_refused(question: str, text: str) -> None:
    outcome = grounded(question, text)
    assert isinstance(outcome, Complaint)
    assert outcome.reason is Reason.FIGURES_UNSUPPORTED


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (GRENZE, f"Die Geringfügigkeitsgrenze beträgt 2026 monatlich 551,10 EUR [{WERTE}]."),
        (GRENZE, f"Sie beträgt 551,10 EUR [{WERTE}]."),
        (GRENZE, f"551,10 EUR [{WERTE}]."),
        (GRENZE, f"Die Grenze liegt 2026 bei 551,10 € im Monat [{WERTE}]."),
        (GRENZE, f"Im Jahr sind das 12 × 551,10 EUR = 6.613,20 EUR [{WERTE}]."),
        (HBG, f"Die HBG beträgt 2026 6.930 EUR monatlich [{WERTE}]."),
        (ANTEIL, f"Der SV-Dienstnehmeranteil vom laufenden Bezug beträgt 2026 18,07 % [{SAETZE}]."),
        (ANTEIL, f"In Wien beträgt der SV-Dienstnehmeranteil 2026 18,32 % [{SAETZE}]."),
    ],
)
def test_the_right_one_is_not(question: str, text: str) -> None:
    assert isinstance(grounded(question, text), Supported)


def test_a_shown_calculation_keeps_the_unit_of_its_result() -> None:
    entry = next(entry for entry in register.admitted(KB).entries if entry.info.id == "pv-teilpension")
    held = Evidence(tuple(Hit(chunk, entry.info, 1.0) for chunk in cut(entry, DE)))
    right = "Beispielrechnung Arbeitszeitreduktion: (40 − 20) / 40 × 100 = 50 %"
    assert isinstance(ground(Draft(f"{right} [pv-teilpension].", Origin.POINT), held, DE, question="", period=DAY), Supported)
    wrong = right.replace("%", "EUR")
    assert isinstance(ground(Draft(f"{wrong} [pv-teilpension].", Origin.POINT), held, DE, question="", period=DAY), Complaint)


def test_a_citation_alone_says_nothing() -> None:
    outcome = grounded(GRENZE, f"[{WERTE}]")
    assert isinstance(outcome, Complaint)
    assert outcome.reason is Reason.EMPTY_DRAFT
