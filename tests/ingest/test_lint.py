"""Lint: every problem by file and line, notices apart."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from agent.errors import KnowledgeBaseError, UsageError
from agent.ingest.build import build
from agent.ingest.crossrefs import cycles
from agent.ingest.lint import lint
from agent.ingest.new import new
from agent.ingest.problems import Severity
from tests.ingest.samples import GERMAN, put

WERTE = """\
- key: sv.grenze
  label: Grenze
  value: 551.10
  unit: EUR
  period: monatlich
  valid_from: 2026-01-01
  valid_to: 2026-12-31
  norm: § 5 Abs 2 ASVG
  source: [a]
"""

HEAD = "## Zusammenfassung\n\nText.\n\n## Kernwerte\n\n| Bezeichnung | Wert | Zeitraum | Norm | Schlüssel |\n|---|---|---|---|---|\n"


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    (tmp_path / "werte.yaml").write_text(WERTE, encoding="utf-8")
    return tmp_path


def told(kb: Path, severity: Severity = Severity.PROBLEM) -> list[str]:
    if severity is Severity.PROBLEM:
        found = lint(kb, GERMAN)
    else:
        build(kb, GERMAN, licence="x")
        found = lint(kb, GERMAN)
    return [str(problem).removeprefix(f"{kb / 'dokumente'}/") for problem in found if problem.severity is severity]


def test_a_good_entry_is_silent(kb: Path) -> None:
    put(kb, "pv-a", HEAD + "| Grenze | 551,10 EUR monatlich | 1.1.2026 bis 31.12.2026 | § 5 | `sv.grenze` |\n| frei | 1 | x | | |")
    assert told(kb) == []
    assert told(kb, Severity.NOTICE) == []


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (
            "| Grenze | 551,10 EUR | 1.1.2026 bis 31.12.2026 | | sv.grenze |",
            "given as `551,10 EUR`. The dated values say `551,10 EUR monatlich`",
        ),
        (
            "| Grenze | 551,10 EUR monatlich | ab 1.1.2026 | | sv.grenze |",
            "no value for `ab 1.1.2026`. It has values for `1.1.2026 bis 31.12.2026`",
        ),
        ("| Grenze | 551,10 EUR monatlich | 1.1.2026 bis 31.12.2026 | | sv.grenzen |", "no value `sv.grenzen`. Did you mean `sv.grenze`?"),
        ("| Grenze | 551,10 | EUR |", "The row has 3 cells, and the table's head has 5."),
        ("| Gren\\|ze | 1 | x | y | | z |", "The row has 6 cells"),
    ],
)
def test_a_table_that_contradicts_the_values(kb: Path, row: str, problem: str) -> None:
    put(kb, "pv-a", HEAD + row)
    (line,) = told(kb)
    assert line.startswith("pv-a.md:17: ")
    assert problem in line


def test_a_table_without_a_rule_and_one_in_code(kb: Path) -> None:
    put(kb, "pv-a", "## Zusammenfassung\n\n| a | b |\n| 1 | 2 |\n\n```\n| a |\n| b | c |\n```")
    assert [line.split(": ")[1] for line in told(kb)] == ["The table has no rule below its head. Add a line `| --- | --- |`."]


def test_the_form_of_an_entry(kb: Path) -> None:
    (kb / "kb.json").write_text(json.dumps({"version": 1, "language": "de", "prefixes": ["pv"], "bereiche": ["gesetz", "kv"]}))
    put(kb, "pv-a", bereich="gesetze").rename(kb / "dokumente" / "pv-b.md")
    put(kb, "XY", "## Details\n\nx\n\n## Detials\n\ny")
    assert told(kb) == [
        "XY.md:1: The section `Zusammenfassung` is missing. Add `## Zusammenfassung`.",
        "XY.md:2: The id XY is a bare word, which no answer can cite. Give it a hyphen or a digit, as XY-1.",
        "pv-b.md:2: The id pv-a is not the file's name. Rename the file to pv-a.md.",
        "pv-b.md:6: There is no bereich 'gesetze'. Did you mean `gesetz`?",
    ]
    notices = told(kb, Severity.NOTICE)
    assert "XY.md:2: The id XY has none of the known prefixes. Prefixes are pv (kb.json)." in notices
    assert "XY.md:2: The id XY is not in lower case, digits and hyphens. Rename the entry." in notices
    assert "XY.md:13: The section `Detials` is not among the usual ones. Did you mean `Details`?" in notices


def test_references(kb: Path) -> None:
    put(kb, "pv-a", cross_refs="\n  - pv-a\n  - pv-neben\n  - pv-b\n  - pv-b")
    put(kb, "pv-b", cross_refs="[pv-a, pv-kaputt]")
    put(kb, "pv-nebel")
    put(kb, "pv-kaputt", stand="x")
    assert [line for line in told(kb) if "kaputt" not in line] == [
        "pv-a.md:8: The entry refers to itself. Take the reference out.",
        "pv-a.md:9: There is no entry pv-neben. Did you mean `pv-nebel`?",
        "pv-a.md:10: The reference to pv-b is given 2 times. Keep one.",
    ]
    assert "pv-a.md:1: The references go round: pv-a -> pv-b -> pv-a." in told(kb, Severity.NOTICE)


def test_cycles_are_found_once_and_shortest() -> None:
    assert cycles({"a": ["b"], "b": ["c", "x"], "c": ["a", "b"], "d": ["d", "a"]}) == [("a", "b", "c"), ("b", "c")]
    assert cycles({"a": ["b"], "b": []}) == []


def test_what_the_gate_would_say_is_a_notice(kb: Path) -> None:
    put(kb, "pv-a")
    assert told(kb) == []
    found = [problem for problem in lint(kb, GERMAN) if problem.severity is Severity.NOTICE]
    assert [problem.message for problem in found] == ["The entry is not registered."]


def test_values_and_synonyms_are_linted_too(kb: Path) -> None:
    put(kb, "pv-a")
    (kb / "werte.yaml").write_text(WERTE + WERTE, encoding="utf-8")
    (kb / "synonyme.yaml").write_text("- [SZ]\n", encoding="utf-8")
    assert [line.removeprefix(f"{kb}/").split(": ")[0] for line in told(kb)] == ["synonyme.yaml:1", "werte.yaml:10"]


def test_a_new_entry_is_unfit_until_it_is_written_and_never_overwrites(kb: Path) -> None:
    path = new(kb, "pv-neu", title='Was "neu" ist: alles', language=GERMAN, today=date(2026, 5, 1))
    assert path == kb / "dokumente" / "pv-neu.md"
    unfit = told(kb)
    assert unfit
    assert all("still the skeleton's" in line for line in unfit)
    written = path.read_text(encoding="utf-8").replace("Noch zu schreiben.", "Ein Satz.")
    path.write_text(written, encoding="utf-8")
    assert told(kb) == []
    assert 'titel: "Was \\"neu\\" ist: alles"' in path.read_text(encoding="utf-8")
    with pytest.raises(KnowledgeBaseError, match="there already"):
        new(kb, "pv-neu", title="x", language=GERMAN)
    for wrong in ("../pv", "PV-A", "pv a", ""):
        with pytest.raises(UsageError, match="cannot be an id"):
            new(kb, wrong, title="x", language=GERMAN)
