"""Dated values: strictly read, and written as an Austrian table writes them. Synonyms: read and analysed."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agent import texts
from agent.ingest import synonyms, werte
from agent.ingest.werte import Notation, Wert
from agent.values import Period
from tests.ingest.samples import GERMAN

NOTATION = Notation(texts.table("kb.de"))


def wert(value: Decimal | str, unit: str | None = None, period: str | None = None, **known: object) -> Wert:
    fields: dict[str, object] = {
        "key": "k", "row": None, "label": "L", "value": value, "unit": unit, "period": period, "valid_from": date(2026, 1, 1),
        "valid_to": None, "norm": None, "source": ("a",), "note": None, "voraussichtlich": False, "seit_ungeprueft": False, "line": 1,
    }  # fmt: skip
    return Wert(**{**fields, **known})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (wert(Decimal("551.10"), "EUR", "monatlich"), "551,10 EUR monatlich"),
        (wert(Decimal("551.1"), "EUR"), "551,10 EUR"),
        (wert(Decimal(6930), "EUR", "monatlich"), "6.930 EUR monatlich"),
        (wert(Decimal("1234567.5"), "EUR"), "1.234.567,50 EUR"),
        (wert(Decimal("0.0125"), "EUR"), "0,0125 EUR"),
        (wert(Decimal("0.5"), "EUR/km"), "0,50 EUR/km"),
        (wert(Decimal("3.7"), "%"), "3,7 %"),
        (wert(Decimal("3.70"), "%"), "3,70 %"),
        (wert(Decimal(30), "Tage"), "30 Tage"),
        (wert(Decimal(1), "Monate"), "1 Monat"),
        (wert(Decimal(2026)), "2026"),
        (wert(Decimal("-5.25"), "%"), "-5,25 %"),
        (wert("keine", None, "täglich"), "keine"),
        (wert(Decimal("14.50"), "EUR", voraussichtlich=True), "14,50 EUR (voraussichtlich)"),
    ],
)
def test_a_value_as_austrians_write_it(value: Wert, written: str) -> None:
    assert NOTATION.value(value) == written


@pytest.mark.parametrize(
    ("known", "written"),
    [
        ({"valid_to": date(2026, 12, 31)}, "1.1.2026 bis 31.12.2026"),
        ({}, "ab 1.1.2026"),
        ({"seit_ungeprueft": True}, "laufend"),
        ({"seit_ungeprueft": True, "valid_to": date(2024, 12, 31)}, "bis 31.12.2024"),
    ],
)
def test_a_span_as_it_is_written(known: dict[str, Any], written: str) -> None:
    assert NOTATION.period(wert(Decimal(1), **known)) == written


def test_a_table_of_values() -> None:
    old = wert(Decimal(1), "EUR", key="a", row="x", valid_from=date(2025, 1, 1), valid_to=date(2025, 12, 31))
    new = wert(Decimal(2), "EUR", key="a", row="x", label="L|M")
    other = wert(Decimal(3), "EUR", key="b", norm="§ 1")
    assert NOTATION.table([old, new, other], ["b", "a"], Period.year(2026)) == (
        "| Bezeichnung | Wert | Zeitraum | Norm | Schlüssel |\n| --- | --- | --- | --- | --- |\n"
        "| L | 3 EUR | ab 1.1.2026 | § 1 | b |\n| L\\|M | 2 EUR | ab 1.1.2026 |  | a/x |"
    )


GOOD = {"key": "sv.x", "label": "L", "value": "1.50", "unit": "EUR", "valid_from": "2026-01-01", "source": "[a]"}


def rows(kb: Path, *rows: dict[str, str | None]) -> tuple[tuple[Wert, ...], list[str]]:
    lines = []
    for row in rows:
        fields = [f"{name}: {value}" for name, value in {**GOOD, **row}.items() if value is not None]
        lines += [f"{'- ' if n == 0 else '  '}{field}" for n, field in enumerate(fields)]
    (kb / "werte.yaml").write_text("\n".join(lines), encoding="utf-8")
    found, problems = werte.read(kb)
    return found, [str(problem).removeprefix(f"{kb / 'werte.yaml'}:") for problem in problems]


def test_a_value_is_read_as_it_is_written(tmp_path: Path) -> None:
    (first, second), problems = rows(
        tmp_path, {"row": "a", "valid_to": "null"}, {"row": "b", "value": '"keine"', "voraussichtlich": "true"}
    )
    assert problems == []
    assert (first.value, str(first.value), first.valid_to, first.name) == (Decimal("1.5"), "1.50", None, "sv.x/a")
    assert (second.value, second.voraussichtlich, second.seit_ungeprueft) == ("keine", True, False)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"value": "1,50"}, "3: `value` is written '1,50'. Write a number as 1234.50"),
        ({"value": "1.234.567"}, "3: `value` is written"),
        ({"value": None}, "1: The field `value` is missing."),
        ({"source": "[]"}, "1: The field `source` is missing."),
        ({"key": "ä b"}, "1: `key` is 'ä b'."),
        ({"valid_from": "2026-13-01"}, "5: `valid_from` is no day of the calendar"),
        ({"valid_from": "1.1.2026"}, "5: `valid_from` is no date: '1.1.2026'. Write it as 2026-01-31."),
        ({"valid_to": "2025-01-01"}, "7: `valid_to` lies before `valid_from`."),
        ({"valid_too": "2025-01-01"}, "7: There is no field `valid_too`. Did you mean `valid_to`?"),
        ({"voraussichtlich": "ja"}, "7: `voraussichtlich` is 'ja'. Write true or false."),
        ({"norm": "[a]"}, "7: `norm` is a list where one value belongs."),
        ({"note": "x\n  note: y"}, "8: The field `note` is given twice."),
    ],
)
def test_a_value_that_is_wrong(tmp_path: Path, row: dict[str, str | None], problem: str) -> None:
    found, problems = rows(tmp_path, row, {"key": "sv.good"})
    assert [value.key for value in found] == ["sv.good"]
    assert [line.startswith(problem) for line in problems] == [True], problems


def test_no_two_values_for_one_day(tmp_path: Path) -> None:
    _, problems = rows(
        tmp_path,
        {"valid_from": "2026-07-01"},
        {"valid_from": "2026-01-01", "valid_to": "2026-07-01"},
        {"row": "anders"},
        {"valid_from": "2025-01-01", "valid_to": "2025-12-31"},
    )
    assert problems == [
        "1: `sv.x` has two values on 2026-07-01 (the other stands in line 7). Let `valid_to` of the earlier one end the day before."
    ]


def test_no_values_at_all(tmp_path: Path) -> None:
    assert werte.read(tmp_path) == ((), ())
    (tmp_path / "werte.yaml").write_text("# noch keine\n", encoding="utf-8")
    assert werte.read(tmp_path) == ((), ())
    (tmp_path / "werte.yaml").write_text("a: b", encoding="utf-8")
    assert "no list" in str(werte.read(tmp_path)[1][0])


def test_synonyms_both_ways_and_one_way(tmp_path: Path) -> None:
    (tmp_path / "synonyme.yaml").write_text('- [SZ, Sonderzahlung, "13. Gehalt"]\n- Chef: [Dienstgeber]\n- [HBG, der]\n', encoding="utf-8")
    found = synonyms.read(tmp_path)
    assert isinstance(found, dict)
    assert found["13. Gehalt"] == ("SZ", "Sonderzahlung")
    assert synonyms.analysed(found, GERMAN) == {
        "13 gehalt": ("sz", "sonderzahl"),
        "chef": ("dienstgeb",),
        "sonderzahl": ("sz", "13 gehalt"),
        "sz": ("sonderzahl", "13 gehalt"),
    }


def test_synonyms_as_a_mapping(tmp_path: Path) -> None:
    assert synonyms.read(tmp_path) == {}
    (tmp_path / "synonyme.yaml").write_text("SZ: Sonderzahlung\nDG: [Dienstgeber, Arbeitgeber]\n", encoding="utf-8")
    assert synonyms.read(tmp_path) == {"SZ": ("Sonderzahlung",), "DG": ("Dienstgeber", "Arbeitgeber")}


@pytest.mark.parametrize(
    ("text", "line"),
    [("- [SZ]", 1), ("a: b\n- c", 2), ("SZ:", 1), ("wort", 1), ("- [a, [b]]", 1), ("SZ: a\nSZ: b", 2), ("- [a, b]\n- wort", 2)],
)
def test_synonyms_that_are_wrong(tmp_path: Path, text: str, line: int) -> None:
    (tmp_path / "synonyme.yaml").write_text(text, encoding="utf-8")
    found = synonyms.read(tmp_path)
    assert isinstance(found, list)
    assert found[0].line == line
