"""Entries: what is read, and that everything wrong is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.ingest.entries import file_text, fingerprint, parse
from agent.ingest.problems import EntryProblem
from agent.values import Entry
from tests.ingest.samples import entry_text

PATH = Path("dokumente/pv-a.md")


def said(text: str) -> list[str]:
    found = parse(text, PATH)
    assert isinstance(found, list), found
    return [str(problem).removeprefix("dokumente/pv-a.md:") for problem in found]


def read(text: str) -> Entry:
    found = parse(text, PATH, relative="dokumente/pv-a.md")
    assert isinstance(found, Entry), found
    return found


def test_an_entry_is_read() -> None:
    text = entry_text(
        "pv-a",
        "Vorweg.\n\n## Zusammenfassung\n\nKurz.\n\n### Genauer\n\nLang.\n\n## Verweise\n- x",
        tags="[HBG, 2026, NO]",
        gueltig_ab="null",
    )
    entry = read(text)
    assert entry.info.tags == ("HBG", "2026", "NO")
    assert (entry.info.valid_from, entry.info.path, entry.info.sha256) == (None, "dokumente/pv-a.md", fingerprint(text))
    assert [(section.name, section.text) for section in entry.sections] == [
        ("", "Vorweg."),
        ("Zusammenfassung", "Kurz.\n\n### Genauer\n\nLang."),
        ("Verweise", "- x"),
    ]
    assert all(text[section.start :].startswith(section.text) for section in entry.sections)


def test_headings_in_code_cut_nothing() -> None:
    entry = read(entry_text("pv-a", "## Details\n\n```\n## kein Abschnitt\n~~~\n```\n\n    ## auch keiner\n\n##keiner\n"))
    assert [section.name for section in entry.sections] == ["Details"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "1: The file does not begin with front matter."),
        ("---\nid: x\n", "1: The file does not begin with front matter."),
        ("---\n- x\n---\n", "2: The front matter holds no fields."),
        ("---\nid: [\n---\n", "3: This is no readable YAML"),
        ("---\nid: &a [*a]\n---\n", "2: The YAML is nested too deeply."),
        (entry_text("pv-a", titel=None), "2: The field `titel` is missing. Add `titel: …`"),
        (entry_text("pv-a", titl="x"), "7: There is no field `titl`. Did you mean `titel`?"),
        (entry_text("pv-a", stand="2026-02-30"), "4: `stand`: '2026-02-30' is no day of the calendar. Write it as 2026-01-31."),
        (entry_text("pv-a", stand="30.1.2026"), "4: `stand`: '30.1.2026' is no date."),
        (entry_text("pv-a", gueltig_ab="2026-02-01", gueltig_bis="2026-01-01"), "8: `gueltig_bis` lies before `gueltig_ab`."),
        (entry_text("pv-a", tags="HBG"), "7: `tags` is one text where a list belongs. Write `tags: [HBG]`."),
        (entry_text("pv-a", tags="\n  - eins\n  - [zwei]"), "9: `tags` holds something that is no text."),
        (entry_text("pv-a", layer="zwei"), "5: `layer`: Input should be a valid integer"),
        (entry_text("pv a"), "2: `id` is 'pv a', and only letters"),
        (entry_text("pv-a", id='pv-a\ntitel: "doppelt"'), "4: The field `titel` is given twice."),
        (entry_text("pv-a", "## Leer\n\n## Details\n\nText"), "9: The section `Leer` is empty."),
        (entry_text("pv-a", "## Details\n\na\n\n## Details\n\nb"), "13: The section `Details` stands there twice (line 9)."),
        (entry_text("pv-a", ""), "8: The entry has no text."),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, problem: str) -> None:
    assert any(line.startswith(problem) for line in said(text)), said(text)


def test_all_problems_are_told_at_once() -> None:
    assert len(said(entry_text("pv-a", "## Leer\n", titel=None, stand="x", foo=1))) == 4


def test_the_text_is_the_same_on_every_platform(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    texts = []
    for raw in (b"\xef\xbb\xbfa\r\nb\r", b"a\nb\n", b"a\rb\r\n"):
        path.write_bytes(raw)
        texts.append(file_text(path))
    assert texts == ["a\nb\n"] * 3


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes("eins\nzwei ä\n".encode("latin-1"))
    assert file_text(path) == EntryProblem(path, 2, "The file is not UTF-8 (byte 10).", "Save it as UTF-8.")
    assert isinstance(file_text(tmp_path / "none.md"), EntryProblem)


@given(st.text(st.sampled_from("ab \n#-`~:[]&*'\"|ä\t"), max_size=120))
def test_reading_never_fails_but_tells(text: str) -> None:
    for whole in (text, f"---\n{text}\n---\n{text}", entry_text("pv-a", text)):
        found = parse(whole, PATH)
        assert isinstance(found, Entry) or found


@pytest.mark.parametrize(
    ("field", "what"),
    [
        ("tags: {a: b}", "`tags` holds fields where a text or a list of texts belongs."),
        ("tags: [{a: b}]", "`tags` holds fields where a text or a list of texts belongs."),
        ("stand: {a: b}", "`stand` holds fields"),
        ("gueltig_ab: [2026-01-01]", "`gueltig_ab` is a list where one text belongs."),
        ("thema: {a: b}", "`thema` holds fields"),
        ("layer: {a: b}", "`layer` holds fields"),
        ("seiten: {a: b}", "`seiten` holds fields"),
    ],
)
def test_a_field_of_another_shape_is_told_without_innards(field: str, what: str) -> None:
    name = field.split(":", maxsplit=1)[0]
    found = parse(entry_text("pv-a", **{name: field.split(": ", 1)[1]}), Path("pv-a.md"))
    assert isinstance(found, list)
    assert what in str(found[0])
    assert "Scalar" not in str(found[0])
    assert "line=" not in str(found[0])
