"""The strict lint and the stats: what a curated knowledge base must not have, and where it has gaps."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from agent import render, texts
from agent.ingest.alike import pairs
from agent.ingest.crossrefs import circles
from agent.ingest.importing.run import bring
from agent.ingest.importing.writing import Terms
from agent.ingest.lint import lint
from agent.ingest.problems import Severity
from agent.ingest.stats import stats
from agent.language import Language
from agent.testing import german
from tests.ingest.samples import put

DE = german()
TODAY = date(2026, 11, 30)
WERTE = """\
- {key: sv.grenze, label: Grenze, value: 518.44, unit: EUR, period: monatlich, valid_from: 2024-01-01, valid_to: 2024-12-31, source: [a]}
- {key: sv.grenze, label: Grenze, value: 551.10, unit: EUR, period: monatlich, valid_from: 2025-01-01, valid_to: 2026-12-31, source: [a]}
- {key: sv.grenze, label: Grenze, value: 560.00, unit: EUR, period: monatlich, valid_from: 2027-01-01, source: [a]}
- {key: lst.frei, row: a, label: Frei, value: 10, unit: EUR, valid_from: 2026-01-01, source: [a]}
"""
ROW = (
    "## Kernwerte\n\n| Bezeichnung | Wert | Zeitraum | Norm | Schlüssel |\n|---|---|---|---|---|\n"
    "| Grenze | 551,10 EUR monatlich | 1.1.2025 bis 31.12.2026 | | sv.grenze |\n\n"
)
BODY = "## Zusammenfassung\n\n{text}\n\n{row}## Details\n\n- Mehr.\n\n## Verweise\n\n- pv-b: anderes"


def body(text: str = "Die Grenze beträgt 551,10 EUR monatlich.", row: str = ROW) -> str:
    return BODY.format(text=text, row=row)


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    (tmp_path / "werte.yaml").write_text(WERTE, encoding="utf-8")
    put(tmp_path, "pv-b", body("Anderes.", ""), cross_refs="[pv-a]")
    return tmp_path


def found(kb: Path, *, today: date = TODAY) -> list[str]:
    problems = lint(kb, DE, strict=True, today=today)
    told = [str(one).removeprefix(f"{kb / 'dokumente'}/") for one in problems if one.severity is Severity.PROBLEM]
    return [line for line in told if "not registered" not in line]


def test_a_good_entry_is_silent(kb: Path) -> None:
    put(kb, "pv-a", body(), cross_refs="[pv-b]", stand="2026-01-31", quellen='["werte.yaml: sv.grenze"]')
    assert found(kb) == []


def test_notices_count_except_that_two_entries_may_refer_to_each_other(kb: Path) -> None:
    put(kb, "pv-a", body() + "\n\n## Anhang\n\nText.", cross_refs="[pv-b]")
    problems = lint(kb, DE, strict=True, today=TODAY)
    assert [problem.message for problem in problems if problem.severity is Severity.NOTICE] == [
        "The references go round: pv-a -> pv-b -> pv-a."
    ]
    assert any("The section `Anhang`" in problem.message for problem in problems if problem.severity is Severity.PROBLEM)
    assert [problem.message for problem in problems if "not registered" in problem.message] == ["The entry is not registered."] * 2


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Die Grenze beträgt 552 EUR.", "pv-a.md:12: The figure `552 EUR` stands in no table row, source line"),
        ("Das gilt für drei Monate.", "pv-a.md:12: The figure `drei Monate` stands in no table row"),
        ("Es sind 2 × 551,10 = 1.102,30 EUR.", "pv-a.md:12: The calculation `2 × 551,10 = 1.102,30 EUR` is not right. It gives 1102.20."),
    ],
)  # fmt: skip
def test_figures_that_rest_on_nothing_and_calculations_that_are_wrong(kb: Path, text: str, line: str) -> None:
    path = put(kb, "pv-a", body(text), cross_refs="[pv-b]")
    assert path.read_text(encoding="utf-8").split("\n")[11] == text
    told = found(kb)
    assert len(told) == 1
    assert told[0].startswith(line)


def test_a_line_of_an_example_that_nobody_recomputes(kb: Path) -> None:
    put(kb, "pv-a", body() + "\n\n## Beispiel\n\nAnnahme: 3 Tage.\n\n- Lohn 100 EUR = siehe oben", cross_refs="[pv-b]")
    assert [line for line in found(kb) if "cannot be read" in line] == [
        "pv-a.md:32: `- Lohn 100 EUR = siehe oben` cannot be read as a calculation. Write it as a × b = c."
    ]


def test_a_stand_older_than_a_value_that_is_cited(kb: Path) -> None:
    path = put(kb, "pv-a", body(), cross_refs="[pv-b]", stand="2024-12-31")
    stale = "pv-a.md:4: The Stand 2024-12-31 is older than `sv.grenze`, which it cites, of 2025-01-01."
    assert [line for line in found(kb) if line.startswith(stale)] != []
    put(kb, "pv-a", body(), cross_refs="[pv-b]", stand="2025-01-01")
    assert found(kb) == [], path
    assert len(found(kb, today=date(2027, 1, 1))) == 1, "the value of 2027 has begun"
    put(kb, "pv-a", body(row=""), cross_refs="[pv-b]", quellen='["werte.yaml: lst.frei, sv.grenze"]', stand="2025-06-01")
    assert [line.split(",")[0] for line in found(kb) if "older" in line] == ["pv-a.md:4: The Stand 2025-06-01 is older than `lst.frei/a`"]


def test_missing_sections(kb: Path) -> None:
    put(kb, "pv-a", "## Zusammenfassung\n\nText.\n\n## Details\n\nText.", cross_refs="[pv-b]", quellen='["werte.yaml: lst.frei"]')
    assert [line.split(": ")[1] for line in found(kb)] == ["The section `Kernwerte` is missing. Add `## Kernwerte`.",
                                                           "The section `Verweise` is missing. Add `## Verweise`."]  # fmt: skip


def test_near_duplicates(kb: Path) -> None:
    text = " ".join(f"Der Satz Nummer {chr(97 + n)} sagt etwas über Gegenstand {chr(122 - n)}." for n in range(12))
    for name, said in (("pv-a", text), ("pv-c", text.replace("Satz Nummer c", "Punkt c")), ("pv-d", "Ganz anderes. " * 3)):
        put(kb, name, body(said, ""), cross_refs="[pv-b]")
    told = [line for line in found(kb) if "nearly" in line]
    assert len(told) == 1
    assert told[0].startswith("pv-c.md:1: The entry says nearly the same as pv-a (")


def test_no_pair_is_told_twice_and_short_entries_not_at_all(kb: Path) -> None:
    from agent.ingest import folder

    for n in range(4):
        put(kb, f"pv-x{n}", body("Kurz.", ""))
    entries = [file.entry for file in folder.documents(kb) if file.entry]
    assert list(pairs(entries, DE)) == []


def test_references_a_reader_sees_and_closed_circles(kb: Path) -> None:
    put(kb, "pv-a", body().replace("- pv-b: anderes", "- pv-bb: anderes"), cross_refs="[pv-b]")
    put(kb, "pv-c", body("Ein Wort.", ""), cross_refs="[pv-d]")
    put(kb, "pv-d", body("Zwei Worte.", ""), cross_refs="[pv-c]")
    for n in range(4):
        put(kb, f"pv-e{n}", body("Noch eines.", ""), cross_refs="[pv-a]")
    assert [line for line in found(kb) if "nearly" not in line] == [
        "pv-a.md:26: There is no entry pv-bb. Did you mean `pv-b`?",
        "pv-c.md:1: These entries refer to one another only: pv-c, pv-d. Refer from one of them to an entry outside.",
    ]


def test_circles() -> None:
    graph = {"a": ["b"], "b": ["a"], "c": ["d", "e"], "d": ["c"], "e": ["f"], "f": ["e"], "g": ["c", "a"], "h": []}
    assert circles(graph) == [("a", "b")], "most end in e and f"
    assert circles(graph | {"e": ["f", "g"]}) == [], "now most end in a and b"
    assert circles({}) == []


def test_an_imported_document_keeps_its_sections_and_figures(kb: Path, tmp_path: Path) -> None:
    put(kb, "pv-a", body(), cross_refs="[pv-b]")
    folder = tmp_path / "texte"
    folder.mkdir()
    (folder / "g.txt").write_text("Gesetz\n\nStand: 1.1.2026\n\n§ 1. Es gebühren 777 EUR.\n\n§ 2. Ende.", encoding="utf-8")
    language = Language(texts.table("language.de"), texts.table("figures.de"))
    assert bring(kb, folder, Terms("frei", TODAY, "ris"), language=language).added == ("ris-g",)
    assert [line for line in found(kb) if "ris-g" in line] == []


def test_stats(kb: Path) -> None:
    put(kb, "pv-a", body(), cross_refs="[pv-b]", thema="SV", gueltig_ab="2025-01-01")
    put(kb, "pv-c", body("Text.", ""), cross_refs="[pv-b]", thema="SV", gueltig_bis="2024-12-31")
    put(kb, "pv-kaputt", stand="x")
    told = stats(kb, range(2024, 2028), asked={"pv-a", "pv-fremd"})
    assert (told.entries, told.unread, told.years) == (3, 1, (2024, 2025, 2026, 2027))
    assert [(topic.name, topic.entries) for topic in told.topics] == [("", 1), ("SV", 2)]
    assert told.topics[1].holding == {2024: 1, 2025: 1, 2026: 1, 2027: 1}
    assert told.topics[1].values == {2024: 1, 2025: 1, 2026: 1, 2027: 1}
    assert (told.orphans, told.uncited, told.unasked) == (("pv-c",), ("lst.frei",), ("pv-b", "pv-c"))
    shown = render.stats(told.document())
    assert "SV     2        1 / 1  1 / 1  1 / 1  1 / 1" in shown
    assert "Values without an entry: 1\n  lst.frei" in shown
    assert stats(kb, [2026], asked=None).unasked is None
    assert "Entries without a goldset question: there is no goldset" in render.stats(stats(kb, [2026], asked=None).document())
