"""What a question sets side by side."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import texts
from agent.language import Language
from agent.language.splitting import parts, says
from agent.testing import german

DE = german()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "Was ist der Unterschied zwischen Regel alt und Regel neu bei Kündigung?",
            ("Was ist der Unterschied zwischen Regel alt bei Kündigung?", "Was ist der Unterschied zwischen Regel neu bei Kündigung?"),
        ),
        ("Teilzeit oder Karenz: Wie viel Geld gibt es?", ("Teilzeit: Wie viel Geld gibt es?", "Karenz: Wie viel Geld gibt es?")),
        ("Frist Arbeiter vs. Angestellte 2026", ("Frist Arbeiter", "Frist Angestellte 2026")),
        ("Teilzeit im Vergleich zur Karenz: wie lange?", ("Teilzeit: wie lange?", "Karenz: wie lange?")),
        (
            "Gilt das für Arbeiter, Angestellte und Lehrlinge im Jahr 2026?",
            ("Gilt das für Arbeiter im Jahr 2026?", "Gilt das für Angestellte im Jahr 2026?", "Gilt das für Lehrlinge im Jahr 2026?"),
        ),
        ("Satz im Blockmodell und im Teilmodell", ("Satz im Blockmodell", "Satz im Teilmodell")),
        (
            "45 km. Was gilt als Pauschale für Pendler und was kommt pro Kilometer an Pendlereuro dazu?",
            ("45 km. Was gilt als Pauschale für Pendler", "45 km. was kommt pro Kilometer an Pendlereuro dazu?"),
        ),
        (
            "Unterschied zwischen dem kleinen und dem großen Pauschale",
            ("Unterschied zwischen dem kleinen Pauschale", "Unterschied zwischen dem großen Pauschale"),
        ),
    ],
)
def test_each_thing_gets_the_question_s_other_words(text: str, found: tuple[str, ...]) -> None:
    assert parts(text, DE) == found


@pytest.mark.parametrize(
    "text",
    [
        "Wie hoch ist die Grenze?",
        "Unterschied zwischen 2025 und 2026",
        "2022, 2023, 2024 und 2025 im Vergleich",
        "vom 1.1.2025 bis 30.6.2025",
        "Urlaubsgeld und Weihnachtsgeld machen zusammen 16.000 Euro aus. Wie viel ist frei?",
        "Wie lange ist die Frist des Chefs und wie lange müsste ich, wenn ich gehe?",
        "Was geht, ohne dass Steuer und Beitrag anfallen?",
        "Pflichten gegenüber dem Amt und dem Betrieb",
        "",
    ],
)
def test_what_names_one_thing_stays_whole(text: str) -> None:
    assert parts(text, DE) == (text,)


@pytest.mark.parametrize(
    ("code", "text", "found"),
    [
        ("en", "difference between sick leave and holiday pay", ("difference between sick leave", "difference between holiday pay")),
        ("sv", "skillnad mellan sjuklön och semesterlön", ("skillnad mellan sjuklön", "skillnad mellan semesterlön")),
    ],
)
def test_other_languages_from_the_same_code(code: str, text: str, found: tuple[str, ...]) -> None:
    assert parts(text, Language(texts.table(f"language.{code}"))) == found


def test_words_are_whole_words() -> None:
    assert says("Gibt es eine Liste?", ["liste"])
    assert not says("Wartelisten-Regel", ["liste"])
    assert not says("fallweise", ["alle"])


@given(st.text(alphabet="Aab ,.:?-2und oder", max_size=60))
def test_no_part_is_empty_or_has_new_words(text: str) -> None:
    for part in parts(text, DE):
        assert part.strip() or part == text
        assert set(DE.terms(part)) <= set(DE.terms(text)) | set(part.split())
