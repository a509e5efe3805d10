"""Import: every document becomes an entry or is named; the same documents change nothing; a changed one keeps its id; all or nothing."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import texts
from agent.errors import KnowledgeBaseError, UsageError
from agent.ingest import register, tables
from agent.ingest.entries import parse
from agent.ingest.importing import html, swap
from agent.ingest.importing.draft import Reader, titled
from agent.ingest.importing.files import LARGEST, Source
from agent.ingest.importing.outline import outline
from agent.ingest.importing.run import Outcome, bring, slugged
from agent.ingest.importing.writing import Terms, entry_text, origin_of
from agent.ingest.lint import lint
from agent.ingest.problems import EntryProblem
from agent.ingest.werte import Notation
from agent.language import Language
from agent.values import Entry
from tests.ingest.samples import put

DE = Language(texts.table("language.de"), texts.table("figures.de"))
SV = Language(texts.table("language.sv"), texts.table("figures.sv"))
TERMS = Terms("gemeinfrei", date(2026, 11, 30), "ris")
READER = Reader(DE)
MARKS = READER._marks
ROOT = Path(__file__).parents[2]

STATUTE = """\
Urlaubsgesetz (UrlG)

Stand: 31.1.2026

Erster Abschnitt

Urlaubsausmaß

§ 2. (1) Dem Arbeitnehmer gebührt ein Urlaub von 30 Werktagen.

(2) Der Anspruch entsteht nach sechs Monaten.

Verjährung

§ 4. Der Urlaub verjährt nach zwei Jahren. § 29 Abs. 1 AngG bleibt unberührt.
"""


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    folder = tmp_path / "kb"
    (folder / "dokumente").mkdir(parents=True)
    return folder


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return folder


def take(kb: Path, source: Path, terms: Terms = TERMS, language: Language = DE) -> Outcome:
    return bring(kb, source, terms, language=language)


def sections(kb: Path, entry_id: str) -> dict[str, str]:
    (entry,) = (entry for entry in register.admitted(kb).entries if entry.info.id == entry_id)
    return {section.name: section.text for section in entry.sections}


def said(outcome: Outcome) -> list[str]:
    return [f"{problem.path.name}: {problem.message}" for problem in outcome.problems]


# --- what becomes of a document -------------------------------------------------------------------


def test_a_statute_in_plain_text(kb: Path, tmp_path: Path) -> None:
    outcome = take(kb, write(tmp_path / "gesetze", UrlG__txt=STATUTE))
    assert (outcome.added, said(outcome)) == (("ris-urlg",), [])
    admission = register.admitted(kb)
    assert admission.problems == ()
    (entry,) = admission.entries
    assert (entry.info.title, entry.info.stand, entry.info.tags) == ("Urlaubsgesetz (UrlG)", date(2026, 1, 31), ("UrlG",))
    assert list(sections(kb, "ris-urlg")) == ["", "§ 2 Urlaubsausmaß", "§ 4 Verjährung"]
    assert sections(kb, "ris-urlg")["§ 4 Verjährung"].startswith("§ 4. Der Urlaub verjährt")
    assert [finding.message for finding in lint(kb, DE)] == []
    known = register.load(kb)
    assert known is not None
    assert [entry.licence for entry in known.entries] == ["gemeinfrei"]


def test_a_page(kb: Path, tmp_path: Path) -> None:
    page = """<html><head><title>Reisekosten | Amt</title><meta name="date" content="2025-03-04"><style>p{}</style></head><body>
    <nav><a href=x>Start</a></nav><header><p>Menü</p></header><article><header><h1>Reisekosten</h1></header>
    <h2>Taggeld</h2><p>Das Taggeld steht f&uuml;r <b>Reisen</b> zu.<br>Es wird<script>x()</script> gekürzt.
    <table><tr><th>Art<th>Betrag<tr><td>Tag | Inland<td>30 EUR<tr><td>Nacht</table>
    <h3>Ausland</h3><ul><li>erstens<li>zweitens</ul><span class="sr-only">Paragraf vier</span>
    <h2>Leer</h2></article><footer>Impressum</footer></body></html>"""
    assert take(kb, write(tmp_path / "web", reise__html=page)).added == ("ris-reise",)
    (entry,) = register.admitted(kb).entries
    assert (entry.info.title, entry.info.stand) == ("Reisekosten", date(2025, 3, 4))
    found = sections(kb, "ris-reise")
    assert list(found) == ["Taggeld", "Leer"]
    assert "Das Taggeld steht für Reisen zu.\nEs wird gekürzt." in found["Taggeld"]
    assert "| Art | Betrag |\n| --- | --- |\n| Tag \\| Inland | 30 EUR |\n| Nacht |  |" in found["Taggeld"]
    assert "### Ausland\n\n- erstens\n- zweitens" in found["Taggeld"]
    whole = " ".join(found.values())
    assert not any(word in whole for word in ("Menü", "Impressum", "x()", "Start", "Paragraf vier"))


def test_a_statute_as_its_publisher_shows_it(kb: Path, tmp_path: Path) -> None:
    page = """<html><head><title>RIS - Urlaubsgesetz - Bundesrecht konsolidiert, Fassung vom 30.11.2026</title></head><body>
    <h1>Bundesrecht konsolidiert: Gesamte Rechtsvorschrift für Urlaubsgesetz, Fassung vom 30.11.2026</h1>
    <h2>Langtitel</h2><p>Bundesgesetz betreffend den Urlaub</p><h2>Text</h2><h4>Artikel I</h4><h4>ABSCHNITT 1</h4>
    <h4>Geltungsbereich</h4><div><h5><span class="sr-only">Paragraph eins,</span><span>§ 1.</span></h5>(1) Es gilt.</div>
    <ol><li><div>1.</div><div>hier,</div></li><li>dort.</li></ol><h4>§ 1a (aufgehoben)</h4>
    <h4>Urlaub</h4><div><h5>§ 2.</h5> Er gebührt.</div></body>"""
    take(kb, write(tmp_path / "ris", UrlG__html=page))
    (entry,) = register.admitted(kb).entries
    assert (entry.info.title, entry.info.stand, entry.info.tags) == ("Urlaubsgesetz", date(2026, 11, 30), ("UrlG",))
    assert sections(kb, "ris-urlg") == {
        "Langtitel": "Bundesgesetz betreffend den Urlaub",
        "§ 1 Geltungsbereich": "### Text\n\n### Artikel I\n\n### ABSCHNITT 1\n\n(1) Es gilt.\n\n1. hier,\n2. dort.",
        "§ 1a (aufgehoben)": "§ 1a (aufgehoben)",
        "§ 2 Urlaub": "Er gebührt.",
    }


def test_markdown_with_front_matter_and_sections_of_one_name(kb: Path, tmp_path: Path) -> None:
    text = (
        "---\nTitle: Test\njurabk: TestG\nstand: 2024-05-06\nquelle: Blatt 7\n---\n# Testgesetz (TestG)\n\nEingang.\n\n"
        "## § 1 Zweck\n\nA.\n\n## Anlage 1\n\n### § 1 Zweck\n\nB.\n\n## Anlage 2\n\n### § 1 Zweck\n\nC.\n\n"
        "```\n## kein Abschnitt\n```\n\n| a | b |\n| 1 |\n\n## Schluß\n"
    )
    take(kb, write(tmp_path / "x", testg__md=text))
    assert {name: body.split("\n")[0] for name, body in sections(kb, "ris-testg").items()} == {
        "": "Eingang.",
        "§ 1 Zweck": "A.",
        "§ 1 Zweck · Anlage 1": "### Anlage 1",
        "§ 1 Zweck · Anlage 2": "### Anlage 2",
        "Schluß": "Schluß",
    }
    assert "| a | b |\n| --- | --- |\n| 1 |  |" in sections(kb, "ris-testg")["§ 1 Zweck · Anlage 2"]
    (entry,) = register.admitted(kb).entries
    assert entry.info.stand == date(2024, 5, 6)
    assert entry.info.sources == ("Blatt 7", "Importiertes Dokument: x/testg.md")


@settings(max_examples=150)
@given(st.lists(st.sampled_from(["# T", "## A", "### B", "§ 1. (1) Text.", "§ 2 Titel", "Ein Satz.", "", "| a | b |", "```", "---", "===",
                                 "- x", "##", "Titel", "    eingerückt"]), max_size=14))  # fmt: skip
def test_no_word_is_lost(rows: list[str]) -> None:
    text = "\n".join(rows)
    found = outline(text, MARKS)
    whole = " ".join([found.title, *(f"{name} {body}" for name, body in found.sections)])
    for word in {word for row in rows for word in row.split() if word.isalpha()}:
        assert word in whole
    names = [name for name, _ in found.sections]
    assert len(names) == len(set(names))
    assert all(body.strip() for _, body in found.sections)
    assert "" not in names[1:]


PIECES = [
    "# T\n",
    "## A\n",
    "## |a|b|\n",
    "### B\n",
    "§ 1. Text.\n",
    "§ 2 Titel\n\n",
    "<p>",
    "<table><tr><td>",
    "</table>",
    "|a|b|\n",
    "---\n",
    "```\n",
    "===\n",
    "\n\n",
    "Stand: 1.1.2026\n",
    "<h1>",
    "<h2>x</h2>",
    "\x00",
    "\u2028",
    "Artikel 3\n",
    "titel: [\n",
    '"',
    "\\",
    "<li>",
    "<!--",
    "-->",
    "a" * 130,
    "## \n",
    "    code\n",
    ": x\n",
    "\r\n",
    "<pre>",
    "<b>",
    "*",
    "<ol>",
    "1. x",
    "}",
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=30), st.sampled_from(["md", "html"]))
def test_whatever_a_document_holds_becomes_a_sound_entry_or_is_named(pieces: list[str], ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{ending}"
        path.write_text("".join(pieces), encoding="utf-8", newline="")
        draft = READER.read(Source(path, f"x/a.{ending}", "html" if ending == "html" else "text"))
    if isinstance(draft, EntryProblem):
        return
    text = entry_text(draft, "ris-a", (), replace(TERMS, bereich="gesetz"), READER.table)
    entry = parse(text, path)
    assert isinstance(entry, Entry), entry
    assert [(section.name, section.text) for section in entry.sections] == [(name, body.rstrip()) for name, body in draft.sections]
    assert [str(problem) for problem in tables.problems(path, text, None, Notation(texts.table("kb.de")))] == []
    imported = origin_of(text)
    assert imported is not None
    assert (imported.origin, imported.edited) == (draft.origin, False)


@pytest.mark.parametrize(
    ("text", "stand"),
    [
        ("Stand: 31. Jänner 2026\n\nText.", date(2026, 1, 31)),
        ("# T (Stand 2025)\n\nText.", date(2025, 1, 1)),
        ("Gesamte Rechtsvorschrift für X, Fassung vom 05.02.2026\n\nText.", date(2026, 2, 5)),
        ("# T\n\nNeugefasst durch\n:   Bek. v. 25.8.1969 I 1317\n\nZuletzt geändert durch\n: Art. 2 G v. 14.6.2021\n", date(2021, 6, 14)),
        ("Der Stand der Technik gilt seit 1.1.2020.", None),
        ("Kein Tag.", None),
    ],
)  # fmt: skip
def test_the_stand_a_document_states(kb: Path, tmp_path: Path, text: str, stand: date | None) -> None:
    folder = write(tmp_path / "x", a__txt=text)
    outcome = take(kb, folder)
    if stand is None:
        assert said(outcome) == ["a.txt: The document states no Stand."]
        outcome, stand = take(kb, folder, replace(TERMS, stand=date(2022, 6, 1))), date(2022, 6, 1)
    assert outcome.added == ("ris-a",)
    assert register.admitted(kb).entries[0].info.stand == stand


def test_norms_become_references_to_the_entries_that_hold_them(kb: Path, tmp_path: Path) -> None:
    put(kb, "ris-angg-29", titel='"§ 29 AngG: Kündigungsentschädigung"')
    folder = write(
        tmp_path / "x",
        UrlG__txt=STATUTE,
        AngG__txt="Angestelltengesetz (AngG)\n\nStand: 1.1.2026\n\n§ 1. Siehe das Urlaubsgesetz, § 4 UrlG.",
    )
    take(kb, folder)
    refs = {entry.info.id: entry.info.cross_refs for entry in register.admitted(kb).entries}
    assert refs == {"ris-urlg": ("ris-angg-29",), "ris-angg": ("ris-urlg",)}


def test_a_paragraph_a_file(kb: Path, tmp_path: Path) -> None:
    texts_of = {
        "ASVG-31d": "# § 31d ASVG Elektronische Gesundheitsakte (ELGA)\n\nStand: 5.2.2026\n\n(1) Die ELGA. Siehe § 23a Abs. 2 AngG.",
        "AngG-23a": "# § 23a AngG\n\nStand: 5.2.2026\n\n§ 23a. (1) Die Abfertigung gebührt nach § 31d ASVG und nach § 4 ASVG.",
    }
    outcome = take(kb, write(tmp_path / "x", **{f"{name}__md": text for name, text in texts_of.items()}))
    assert said(outcome) == []
    found = {entry.info.id: (entry.info.title, entry.info.tags, entry.info.cross_refs) for entry in register.admitted(kb).entries}
    assert found == {
        "ris-angg-23a": ("§ 23a AngG", (), ("ris-asvg-31d",)),
        "ris-asvg-31d": ("§ 31d ASVG Elektronische Gesundheitsakte (ELGA)", (), ("ris-angg-23a",)),
    }


def test_a_file_that_is_not_what_it_is_called(kb: Path, tmp_path: Path) -> None:
    other = "Stand: 1.1.2026\n\nText des Gesetzes."
    folder = write(
        tmp_path / "x",
        EStG__txt=f"Umsatzsteuergesetz 1994 (UStG 1994)\n\n{other}",
        AngG__txt=f"Gesetz über das Dienstverhältnis der Privatangestellten\n\n{other}",
        UrlG__txt=f"Urlaubsgesetz\n\n{other}",
        asvg__md=f"# Allgemeines Sozialversicherungsgesetz\n\n{other}",
        titel__md=f"---\ntitle: Das EStG im Ganzen\n---\n# UStG 1994\n\n{other}",
    )
    outcome = take(kb, folder)
    assert outcome.added == ("ris-asvg", "ris-urlg")
    assert said(outcome) == [
        "AngG.txt: The file is called AngG, and its text is „Gesetz über das Dienstverhältnis der Privatangestellten“.",
        "EStG.txt: The file is called EStG, and its text is „Umsatzsteuergesetz 1994 (UStG 1994)“.",
        "titel.md: The title says EStG, and its text is „UStG 1994“.",
    ]


# --- what is kept out -----------------------------------------------------------------------------


def test_every_file_is_an_entry_or_is_named(kb: Path, tmp_path: Path) -> None:
    folder = write(tmp_path / "x", gut__txt="Stand: 2026\n\nGut.", leer__md="", blank__txt=" \n\n", bild__png="x")
    (folder / "_.txt").write_text("Stand: 2026\n\nText.", encoding="utf-8")
    (folder / "latin.txt").write_bytes("Stand: 1.1.2026\n\nÄnderung für Öfen".encode("cp1252"))
    (folder / "sechzehn.txt").write_bytes("Stand: 1.1.2026\n\nÄnderung".encode("utf-16"))
    (folder / "binaer.txt").write_bytes(b"\x00\x01\x02" * 50)
    (folder / "wirr.txt").write_bytes(b"Text \x81\x8d\x8f\x90")
    (folder / "alt.html").write_bytes('<meta charset="iso-8859-1"><h1>Öl</h1><p>Stand: 1.1.2026<p>Für Öl.'.encode("latin-1"))
    with (folder / "riesig.txt").open("wb") as file:
        file.truncate(LARGEST + 1)
    for name in (".ris", ".git", "unter"):
        (folder / name).mkdir()
        (folder / name / "a.txt").write_text("Stand: 2026\n\nText.", encoding="utf-8")
    (tmp_path / "fremd.txt").write_text("Stand: 2026\n\nGeheim.", encoding="utf-8")
    (folder / "link.txt").symlink_to(tmp_path / "fremd.txt")
    (folder / "nirgends.txt").symlink_to(tmp_path / "nichts")
    outcome = take(kb, folder)
    assert outcome.added == ("ris-a", "ris-alt", "ris-gut", "ris-latin", "ris-sechzehn")
    assert sorted(said(outcome)) == [
        ".ris: This is a Layer-1 folder of licensed texts, and is never imported.",
        "_.txt: No id can be made of the name.",
        "bild.png: This is no Markdown, HTML or plain text.",
        "binaer.txt: The file is no text in an encoding known here.",
        "blank.txt: The file is empty.",
        "leer.md: The file is empty.",
        "link.txt: This leads out of x/ and is never indexed.",
        "nirgends.txt: This leads out of x/ and is never indexed.",
        f"riesig.txt: The file has {LARGEST + 1:,} bytes.",
        "wirr.txt: The file is no text in an encoding known here.",
    ]
    assert [notice.message for notice in outcome.notices if notice.path.name == "latin.txt"] == ["The file was read as windows-1252."]
    assert "Für Öl." in sections(kb, "ris-alt")[""]
    assert "Änderung" in sections(kb, "ris-sechzehn")[""]


def test_a_layer_1_folder_is_refused_whatever_leads_there(kb: Path, tmp_path: Path) -> None:
    folder = write(tmp_path / ".Lexis360" / "unter", a__txt="Stand: 2026\n\nText.")
    (tmp_path / "harmlos").symlink_to(folder)
    for source in (folder, folder / "a.txt", tmp_path / "harmlos"):
        with pytest.raises(KnowledgeBaseError, match="Layer-1"):
            take(kb, source)
    with pytest.raises(KnowledgeBaseError, match="nothing at"):
        take(kb, tmp_path / "nichts")


def test_colliding_ids_are_named_and_what_is_there_is_kept(kb: Path, tmp_path: Path) -> None:
    own = put(kb, "ris-eigen").read_text(encoding="utf-8")
    text = "Stand: 1.1.2026\n\nText."
    folder = write(tmp_path / "x", **{"Ä b__txt": text, "ae_b__md": text, "eigen__txt": text, "frei__txt": text})
    outcome = take(kb, folder)
    assert outcome.added == ("ris-frei",)
    assert sorted(said(outcome)) == [
        "ae_b.md: The id ris-ae-b would also be that of x/Ä b.txt.",
        "eigen.txt: The id ris-eigen is that of an entry written here (dokumente/ris-eigen.md).",
        "Ä b.txt: The id ris-ae-b would also be that of x/ae_b.md.",
    ]
    take(kb, folder, replace(TERMS, overwrite=True))
    assert (kb / "dokumente" / "ris-eigen.md").read_text(encoding="utf-8") == own
    other = take(kb, write(tmp_path / "y", frei__txt=text))
    assert said(other) == ["frei.txt: The id ris-frei is that of an entry from x/frei.txt."]
    assert take(kb, tmp_path / "y", replace(TERMS, overwrite=True)).updated == ("ris-frei",)


def test_terms_that_leave_something_open(kb: Path, tmp_path: Path) -> None:
    folder = write(tmp_path / "x", a__txt="Stand: 2026\n\nText.")
    register.save(register.Register("de", prefixes=("ris", "kv"), bereiche=("gesetz", "kv")), kb)
    for terms, what in (
        (replace(TERMS, licence=" "), "licence"),
        (replace(TERMS, prefix=""), "prefix"),
        (replace(TERMS, prefix="pv"), "no prefix"),
        (replace(TERMS, bereich="x"), "bereich"),
    ):
        with pytest.raises(UsageError, match=what):
            take(kb, folder, terms)
    assert take(kb, folder, replace(TERMS, bereich="kv")).added == ("ris-a",)


# --- again ----------------------------------------------------------------------------------------


def test_a_second_import_changes_nothing_and_a_changed_document_keeps_its_id(kb: Path, tmp_path: Path) -> None:
    folder = write(tmp_path / "x", UrlG__txt=STATUTE, b__txt="Stand: 2026\n\nText.")
    take(kb, folder)
    files = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in kb.rglob("*") if path.is_file()}
    assert take(kb, folder).unchanged == ("ris-b", "ris-urlg")
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in kb.rglob("*") if path.is_file()} == files
    (folder / "b.txt").write_text("Stand: 1.2.2026\n\nAnderer Text.", encoding="utf-8")
    later = replace(TERMS, prefix="kv", today=date(2027, 1, 1))
    outcome = take(kb, folder, later)
    assert (outcome.updated, outcome.unchanged, outcome.added) == (("ris-b",), ("ris-urlg",), ())
    assert sections(kb, "ris-b")[""].endswith("Anderer Text.")
    known = register.load(kb)
    assert known is not None
    assert {entry.id: entry.registered for entry in known.entries} == {"ris-b": "2027-01-01", "ris-urlg": "2026-11-30"}
    (folder / "b.txt").unlink()
    assert [notice.message for notice in take(kb, folder).notices] == [
        "The document x/b.txt of this entry is no longer there; the entry stays."
    ]


def test_an_entry_that_was_edited_is_kept(kb: Path, tmp_path: Path) -> None:
    folder = write(tmp_path / "x", a__txt="Stand: 2026\n\nText.")
    take(kb, folder)
    path = kb / "dokumente" / "ris-a.md"
    path.write_text(path.read_text(encoding="utf-8") + "\nVon Hand.\n", encoding="utf-8")
    outcome = take(kb, folder)
    assert said(outcome) == ["a.txt: The entry ris-a was edited since its import, and is kept."]
    assert "Von Hand." in path.read_text(encoding="utf-8")
    assert take(kb, folder, replace(TERMS, overwrite=True)).updated == ("ris-a",)
    assert "Von Hand." not in path.read_text(encoding="utf-8")
    imported = origin_of(path.read_text(encoding="utf-8"))
    assert imported is not None
    assert (imported.origin, imported.edited) == ("x/a.txt", False)


def test_a_dry_run_writes_nothing(kb: Path, tmp_path: Path) -> None:
    outcome = bring(kb, write(tmp_path / "x", a__txt="Stand: 2026\n\nText."), TERMS, language=DE, dry=True)
    assert outcome.added == ("ris-a",)
    assert list((kb / "dokumente").iterdir()) == []
    assert not (kb / "kb.json").exists()


# --- chunks.json ----------------------------------------------------------------------------------


def chunk(**fields: object) -> dict[str, object]:
    return {"chunk_id": "plan_001", "source": "plan.pdf", "pages": [3, 4], "title": "Undervisning", "text": "Undervisningen sker."} | fields


def test_chunks_become_entries_with_their_pages(kb: Path, tmp_path: Path) -> None:
    path = tmp_path / "chunks.json"
    path.write_text(
        json.dumps({"chunks": [chunk(), chunk(chunk_id="plan_002", pages="5-6", stand="2025-05-01", title="")]}), encoding="utf-8"
    )
    terms = replace(TERMS, prefix="")
    assert take(kb, path, terms, SV).added == ("plan-001", "plan-002")
    first, second = register.admitted(kb).entries
    assert (first.info.title, first.info.pages, first.info.stand) == ("Undervisning", (3, 4), date(2026, 11, 30))
    assert first.info.sources[-1] == "Dokumentet anger ingen dag; som sådan gäller importdagen (2026-11-30)."
    assert (second.info.title, second.info.pages, second.info.stand) == ("plan.pdf, 5-6", ("5-6",), date(2025, 5, 1))
    assert take(kb, path, replace(terms, today=date(2027, 1, 1)), SV).unchanged == ("plan-001", "plan-002")


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (chunk(text=""), "has no text"),
        (chunk(chunk_id=""), "has no chunk_id"),
        (chunk(source=None), "has no source"),
        (chunk(pages={"a": 1}), "has pages that are neither numbers nor texts"),
        (chunk(stand="bald"), "has a stand that is no date: 'bald'"),
        (chunk(titel="x"), "has fields that are not known here: titel"),
        (chunk(title=7), "has a title that is no text"),
        (7, "is no object with fields"),
    ],
)
def test_a_chunk_that_is_none(kb: Path, tmp_path: Path, given: object, what: str) -> None:
    path = tmp_path / "chunks.json"
    path.write_text(json.dumps([chunk(chunk_id="gut"), given], indent=1), encoding="utf-8")
    outcome = take(kb, path, language=SV)
    assert outcome.added == ("ris-gut",)
    (problem,) = outcome.problems
    assert what in problem.message
    if "plan_001" in problem.message:
        assert problem.line == path.read_text(encoding="utf-8").split("\n").index('  "chunk_id": "plan_001",') + 1


@pytest.mark.parametrize("text", ["", "{", "7", '{"chunks": 1}', "[" * 100_000])
def test_a_file_that_is_no_list_of_chunks(kb: Path, tmp_path: Path, text: str) -> None:
    path = tmp_path / "chunks.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(KnowledgeBaseError, match=r"chunks\.json"):
        take(kb, path)


# --- all or nothing -------------------------------------------------------------------------------


def state(kb: Path) -> dict[str, str]:
    return {path.relative_to(kb).as_posix(): path.read_text(encoding="utf-8") for path in kb.rglob("*") if path.is_file()}


def test_what_cannot_be_written_changes_nothing(kb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "x", a__txt="Stand: 2026\n\nText.")
    take(kb, folder)
    before = state(kb)
    write(folder, a__txt="Stand: 2026\n\nAnders.", b__txt="Stand: 2026\n\nNeu.")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for where in ("agent.ingest.importing.swap.register.save", "agent.ingest.importing.swap._move"):
        with monkeypatch.context() as patch:
            patch.setattr(where, full)
            with pytest.raises(KnowledgeBaseError, match="No space"):
                take(kb, folder)
        assert {name: text for name, text in state(kb).items() if not name.startswith(".import-")} == before
    assert take(kb, folder).unchanged == ("ris-a", "ris-b")  # what lay ready was put in place first
    assert not list(kb.glob(".import-*"))
    assert register.admitted(kb).problems == ()


def test_what_lies_ready_for_another_register_is_cleared_away(kb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "x", a__txt="Stand: 2026\n\nText.")
    with monkeypatch.context() as patch:
        patch.setattr(swap, "_move", lambda *_: (_ for _ in ()).throw(OSError(5, "I/O error")))
        with pytest.raises(KnowledgeBaseError):
            take(kb, folder)
    register.save(register.Register("de", name="anders"), kb)
    assert swap.finish(kb) is False
    assert not list(kb.glob(".import-*"))
    assert not (kb / "dokumente" / "ris-a.md").exists()


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize(("seed", "kind"), [(0, signal.SIGINT), (1, signal.SIGINT), (2, signal.SIGKILL), (3, signal.SIGKILL)])
def test_a_stop_leaves_the_old_state_or_the_new_one(tmp_path: Path, seed: int, kind: signal.Signals) -> None:
    folder, kb = tmp_path / "x", tmp_path / "kb"
    (kb / "dokumente").mkdir(parents=True)
    for edition in (0, 1):
        write(folder, **{f"n{n:03}__txt": f"Stand: 2026\n\nAusgabe {edition} von {n}." for n in range(150)})
        if edition == 0:
            take(kb, folder)
    old = state(kb)
    words = ["pv-agent", "kb", "import", str(folder), "--kb", str(kb), "--prefix", "ris", "--licence", "gemeinfrei"]
    # its first line says that the interpreter has started and hears an interrupt
    script = f"import sys\ntry:\n print(flush=True); sys.argv = {words!r}; from agent.__main__ import main; main()\n"
    script += "except KeyboardInterrupt:\n sys.exit(130)"
    process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(random.Random(seed).uniform(0.2, 0.9))
    process.send_signal(kind)
    process.communicate(timeout=60)
    after = state(kb)
    take(kb, folder)
    new = state(kb)
    assert not [name for name in new if name.startswith(".import-")]
    if kind is signal.SIGINT:
        assert process.returncode in (0, 130)
        assert after in (old, new)
    else:
        assert {name: text for name, text in after.items() if not name.startswith(".import-")}.keys() == old.keys()
        assert all(text in (old[name], new[name]) for name, text in after.items() if not name.startswith(".import-"))
    assert register.admitted(kb).problems == ()


# --- names ----------------------------------------------------------------------------------------


@given(st.text(max_size=40))
def test_a_slug_is_letters_digits_and_hyphens(name: str) -> None:
    assert all(c in "abcdefghijklmnopqrstuvwxyz0123456789-" for c in slugged(name, DE.figures["folds"]))


@pytest.mark.parametrize(("name", "slug"), [("AÜG", "aueg"), ("EStG 1988", "estg-1988"), ("Straße", "strasse"), ("Café_2", "cafe-2")])
def test_slugs(name: str, slug: str) -> None:
    assert slugged(name, DE.figures["folds"]) == slug


def test_a_page_nested_without_end_is_not_cut_off() -> None:
    with pytest.raises(RecursionError):
        html.read("<div>" * 3000 + "Text" + "</div>" * 3000)
    assert html.read("<form><p>eins</p><label>zwei</label></form>").text == "eins\n"
    assert html.read("<p>eins<p>zwei<li>drei").text == "eins\n\nzwei\n\ndrei\n"


# --- a folder of statutes -------------------------------------------------------------------------


def test_the_sample_of_statutes(kb: Path, tmp_path: Path) -> None:
    archive = ROOT.parent / "shared" / "data" / "gesetze_sample" / "md.tar.xz"
    if not archive.is_file():
        pytest.skip("the sample is not here")
    import tarfile

    with tarfile.open(archive) as packed:
        members = [member for member in packed.getmembers() if member.isfile()]
        packed.extractall(tmp_path / "gesetze", members=members[::9], filter="data")
    outcome = take(kb, tmp_path / "gesetze", replace(TERMS, stand=date(2022, 6, 1)))
    assert (len(outcome.added), said(outcome)) == (len(members[::9]), [])
    assert register.admitted(kb).problems == ()


def test_a_swedish_and_an_english_statute(kb: Path, tmp_path: Path) -> None:
    english = Language(texts.table("language.en"), texts.table("figures.en"))
    swedish_text = "Semesterlag\n\nUppdaterad: 2026-01-31\n\n1 kap.\n\n1 § En arbetstagare har rätt till semester.\n\n2 § Lagen gäller."
    english_text = "Holidays Act\n\nAs of 31 January 2026\n\nEntitlement\n\nSection 1. An employee has leave.\n\nSection 2. It ends."
    write(tmp_path / "sv", semesterlag__txt=swedish_text)
    write(tmp_path / "en", act__txt=english_text)
    assert take(kb, tmp_path / "sv", language=SV).added == ("ris-semesterlag",)
    assert take(kb, tmp_path / "en", language=english).added == ("ris-act",)
    assert list(sections(kb, "ris-semesterlag")) == ["", "1 §", "2 §"]
    assert list(sections(kb, "ris-act")) == ["", "Section 1 Entitlement", "Section 2"]
    assert {entry.info.stand for entry in register.admitted(kb).entries} == {date(2026, 1, 31)}


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("Kantine\nDas Mittagessen kostet 6,50 EUR.\n", True),
        ("Kantine\n\nDas Mittagessen kostet 6,50 EUR.\n", False),
        ("Das Mittagessen kostet in\nGraz und in Linz und Wien 6,50 EUR.\n", True),  # Graz would have fitted: a line ended on purpose
        ("Das Mittagessen kostet in ganz\nGraz und in Linz 6,50 EUR.\n", False),
        ("Das Mittagessen kostet\nsechs Euro fünfzig in allen Häusern.\n", False),
        ("Das Mittagessen kostet 6,50 EUR.\nDas Frühstück kostet nichts, und der Kaffee auch nicht.\n", False),
    ],
)
def test_a_title_right_above_its_text(text: str, apart: bool) -> None:
    first, _, rest = text.partition("\n")
    assert titled(text) == (f"{first}\n\n{rest}" if apart else text)


def test_a_title_line_is_no_part_of_the_first_sentence(kb: Path, tmp_path: Path) -> None:
    folder = write(tmp_path / "x", kantine__txt="Kantine\nDas Mittagessen kostet 6,50 EUR.\nEs gibt Suppe.\n")
    outcome = take(kb, folder, replace(TERMS, prefix="", stand=date(2026, 11, 1)))
    assert outcome.added == ("kantine-1",)  # a bare word could not be cited
    text = (kb / "dokumente" / "kantine-1.md").read_text(encoding="utf-8")
    assert 'titel: "Kantine"' in text
    assert text.endswith("Kantine\n\nDas Mittagessen kostet 6,50 EUR.\nEs gibt Suppe.\n")
    assert take(kb, folder, replace(TERMS, prefix="", stand=date(2026, 11, 1))).unchanged == ("kantine-1",)


def test_an_unknown_prefix_says_how_to_make_it_known(kb: Path, tmp_path: Path) -> None:
    (kb / "kb.json").write_text(json.dumps({"version": 1, "language": "de", "prefixes": ["pv"]}), encoding="utf-8")
    with pytest.raises(UsageError, match="add yours to `prefixes`"):
        take(kb, write(tmp_path / "x", a__txt="Stand: 2026\n\nText."))
