"""Spellings of dialect and shorthand: how they are read from a file, and how a question is read with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.ingest import readings
from agent.language.reading import read

KB = Path(__file__).parents[2] / "wissensbasis"


def written(tmp_path: Path, text: str) -> Path:
    (tmp_path / readings.FILE).write_text(text, encoding="utf-8")
    return tmp_path


def test_words_are_read_whatever_their_case_and_the_rest_stays(tmp_path: Path) -> None:
    known = readings.read(written(tmp_path, "Muaß: muss\nwivü: wie viel\nmtl: monatlich\n"))
    assert isinstance(known, dict)
    assert read("Wivü muaß i zahlen (mtl.), muaßt du?", known) == "wie viel muss i zahlen (monatlich.), muaßt du?"


def test_an_abbreviation_is_read_in_its_own_capitals_and_in_a_compound(tmp_path: Path) -> None:
    table = "NÖ: Niederösterreich\nStmk: Steiermark\nKiBe: Kinderbetreuung\nwos: was\n"
    table += "K/6: Kontrollsechstel\nTG-Platz: Garagenplatz\nTG: Taggeld\n"
    known = readings.read(written(tmp_path, table))
    assert isinstance(known, dict)
    assert read("K/6, TG-Platz, TG-Höhe? wos/TG", known) == "Kontrollsechstel, Garagenplatz, Taggeld-Höhe? was/Taggeld"
    assert read("NÖ-Satz, KiBe-Zuschuss in NÖ?", known) == "Niederösterreich-Satz, Kinderbetreuung-Zuschuss in Niederösterreich?"
    assert read("nö, kibe, NÖs, WOS, a-wos", known) == "nö, kibe, NÖs, WOS, a-wos"
    assert read("in der Stmk oder stmk", known) == "in der Steiermark oder Steiermark"


def test_no_file_is_no_reading(tmp_path: Path) -> None:
    assert readings.read(tmp_path) == {}


@given(st.text())
def test_without_readings_a_question_stays_to_the_character(text: str) -> None:
    assert read(text, {}) == text
    assert read(text, {"muasszzz": "muss"}) == text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("- muaß\n", 1),
        ("wia: wie\nmuaß: [muss]\n", 2),
        ("wia: wie\nmuaß i: muss ich\n", 2),
        ("wia: wie\nwia: wo\n", 2),
        ("wia: wie\nWia: wo\n", 2),
        ("wia:\n", 1),
        ("wia: [\n", 2),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    found = readings.read(written(tmp_path, text))
    assert isinstance(found, list)
    assert found[0].line == line


def test_the_shipped_spellings_leave_the_entries_own_words_alone() -> None:
    """A spelling that an entry writes as a word of its own would make the question say something else."""
    known = readings.read(KB)
    assert isinstance(known, dict)
    assert len(known) > 100
    entries = "\n".join(path.read_text(encoding="utf-8") for path in (KB / "dokumente").glob("*.md")).split("\n")
    prose = [line for line in entries if line[:1].isupper() and not line.startswith(("|", "-", "#"))]
    assert [line for line in prose if read(line, known) != line] == []


@pytest.mark.parametrize(
    "question",
    [
        "Was gilt nach § 23 Abs 1 lit i AngG?",
        "Fällt am Di oder Mi Taggeld an, u. a. in San Marino?",
        "Muss ich beim Kommen und Gehen stempeln?",
        "Hat Frau Mei oder Herr Mau de facto gekündigt?",
    ],
)
def test_written_german_stays_as_it_is(question: str) -> None:
    known = readings.read(KB)
    assert isinstance(known, dict)
    assert read(question, known) == question
