"""The gate: only what is registered, as it is registered, passes; everything else is named, and what leads outside is never read."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from agent.errors import KnowledgeBaseError
from agent.ingest import register
from agent.ingest.build import Built, build
from agent.ingest.entries import fingerprint
from agent.interfaces import IndexInfo
from tests.ingest.samples import GERMAN, entry_text, put


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    """Two registered entries."""
    kb = tmp_path / "kb"
    put(kb, "pv-a")
    put(kb, "pv-b")
    built(kb, licence="eigener Text")
    return kb


def built(kb: Path, **known: str) -> Built:
    return build(kb, GERMAN, today=date(2026, 5, 1), **known)


def told(kb: Path) -> list[str]:
    return [f"{problem.path.relative_to(kb).as_posix()}: {problem.message} {problem.mend}" for problem in register.admitted(kb).problems]


def passed(kb: Path) -> list[str]:
    return [entry.info.id for entry in register.admitted(kb).entries]


def change(kb: Path, entry_id: str, **fields: object) -> None:
    data = json.loads((kb / "kb.json").read_text(encoding="utf-8"))
    next(entry for entry in data["entries"] if entry["id"] == entry_id).update(fields)
    (kb / "kb.json").write_text(json.dumps(data), encoding="utf-8")


# --- the gate -------------------------------------------------------------------------------------


def test_what_is_registered_passes(kb: Path) -> None:
    admission = register.admitted(kb)
    assert [entry.info.id for entry in admission.entries] == ["pv-a", "pv-b"]
    assert admission.problems == ()
    admission.insist()


def test_what_is_not_registered_is_named(kb: Path) -> None:
    put(kb, "pv-c")
    assert told(kb) == ["dokumente/pv-c.md: The entry is not registered. Run `pv-agent kb build`."]
    with pytest.raises(KnowledgeBaseError, match=r"pv-c\.md:1: .*registered"):
        register.admitted(kb).insist()


def test_an_edited_entry_no_longer_matches(kb: Path) -> None:
    put(kb, "pv-a", "## Zusammenfassung\n\nAnders.")
    assert told(kb) == ["dokumente/pv-a.md: The content no longer matches the register. Run `pv-agent kb build`."]
    assert passed(kb) == ["pv-b"]


def test_other_line_ends_are_no_edit(kb: Path) -> None:
    path = kb / "dokumente" / "pv-a.md"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert told(kb) == []


def test_a_file_that_is_gone(kb: Path) -> None:
    (kb / "dokumente" / "pv-a.md").unlink()
    assert told(kb) == ["dokumente/pv-a.md: The registered file is gone. Run `pv-agent kb build`."]


@pytest.mark.parametrize("path", ["notizen/pv-a.md", "dokumente/../pv-a.md"])
def test_a_registered_path_outside(kb: Path, path: str) -> None:
    change(kb, "pv-a", path=path)
    (kb / "notizen").mkdir()
    (kb / path).write_text(entry_text("pv-a"))
    assert any("lies outside of dokumente/" in line for line in told(kb))
    assert passed(kb) == ["pv-b"]


def test_another_layer_never_passes(kb: Path) -> None:
    put(kb, "pv-a", layer=1)
    text = (kb / "dokumente" / "pv-a.md").read_text(encoding="utf-8")
    change(kb, "pv-a", sha256=fingerprint(text), layer=2)
    change(kb, "pv-b", layer=1)
    assert [line.split(": ")[1] for line in told(kb)] == [
        "The entry is not of layer 2, and only that is indexed. Take it out of the knowledge base."
    ] * 2
    assert passed(kb) == []


def test_no_licence_note_no_entry(kb: Path) -> None:
    change(kb, "pv-a", licence=" ")
    assert "licence note" in told(kb)[0]
    assert passed(kb) == ["pv-b"]


def test_of_two_bearers_of_an_id_neither_passes(kb: Path) -> None:
    (kb / "dokumente" / "sub").mkdir()
    (kb / "dokumente" / "sub" / "pv-a.md").write_text(entry_text("pv-a", titel="Anders"))
    assert sum("borne by 2 files" in line for line in told(kb)) == 2
    assert passed(kb) == ["pv-b"]


def test_an_entry_that_cannot_be_read_stops_no_other(kb: Path) -> None:
    (kb / "dokumente" / "pv-a.md").write_bytes(b"\xff\xfe")
    assert "not UTF-8" in told(kb)[0]
    assert passed(kb) == ["pv-b"]


# --- links and Layer-1 folders --------------------------------------------------------------------


@pytest.mark.parametrize("outside", ["elsewhere", ".lexis360", ".wiku", ".firecrawl", ".ris"])
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_link_that_leads_out_is_named_and_never_read(
    kb: Path, tmp_path: Path, outside: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / outside / "pv-x.md"
    target.parent.mkdir()
    target.write_text(entry_text("pv-x"))
    link = kb / "dokumente" / ("pv-x.md" if kind == "file" else "mehr")
    link.symlink_to(target if kind == "file" else target.parent)
    read: list[Path] = []
    original = Path.read_bytes

    def watched(path: Path) -> bytes:
        read.append(path.resolve())
        return original(path)

    monkeypatch.setattr(Path, "read_bytes", watched)
    assert passed(kb) == ["pv-a", "pv-b"]
    assert any(line.startswith(f"dokumente/{link.name}: ") and "never indexed" in line for line in told(kb))
    built(kb, licence="x")
    assert target.resolve() not in read


def test_a_layer_1_folder_inside_is_named_and_never_read(kb: Path) -> None:
    hidden = kb / "dokumente" / ".ris"
    hidden.mkdir()
    (hidden / "pv-x.md").write_text(entry_text("pv-x"))
    assert [line for line in told(kb) if "Layer-1" in line]
    assert "pv-x" not in passed(kb)


def test_a_link_within_the_folder_is_a_file_like_others(kb: Path) -> None:
    (kb / "dokumente" / "pv-a.md").rename(kb / "dokumente" / "text.txt")
    (kb / "dokumente" / "pv-a.md").symlink_to(kb / "dokumente" / "text.txt")
    assert passed(kb) == ["pv-a", "pv-b"]


def test_a_link_in_a_circle(kb: Path) -> None:
    link = kb / "dokumente" / "pv-z.md"
    link.symlink_to(link)
    assert passed(kb) == ["pv-a", "pv-b"]
    assert len(told(kb)) == 1


# --- the register ---------------------------------------------------------------------------------


def test_the_register_has_a_stable_form(kb: Path) -> None:
    text = (kb / "kb.json").read_text(encoding="utf-8")
    data = json.loads(text)
    assert data["version"] == 1
    assert data["language"] == "de"
    assert list(data["entries"][0]) == ["id", "path", "sha256", "layer", "licence", "registered"]
    assert data["entries"][0]["registered"] == "2026-05-01"
    known = register.load(kb)
    assert known is not None
    register.save(known, kb)
    assert (kb / "kb.json").read_text(encoding="utf-8") == text
    assert [path.name for path in kb.glob("kb.json*")] == ["kb.json"]
    offering = replace(known, examples=("Was gilt?",))
    register.save(offering, kb)
    assert register.load(kb) == offering


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"version": 1,\n "language" "de"}', "kb.json:2: This is no readable JSON"),
        ("[]", "no register of version 1"),
        ('{"version": 2, "language": "de"}', "no register of version 1"),
        ('{"version": 1}', '"language" is missing'),
        ('{"version": 1, "language": "de", "licenc": "x"}', "no field 'licenc'"),
        ('{"version": 1, "language": "de", "entries": [{"id": "x"}]}', "needs exactly the fields"),
        ('{"version": 1, "language": "de", "entries": 5}', "kb.json: "),
    ],
)
def test_a_register_that_cannot_be_understood(kb: Path, text: str, problem: str) -> None:
    (kb / "kb.json").write_text(text)
    with pytest.raises(KnowledgeBaseError) as caught:
        register.admitted(kb)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_a_knowledge_base(tmp_path: Path) -> None:
    for call in (register.load, register.admitted):
        with pytest.raises(KnowledgeBaseError, match="no knowledge base"):
            call(tmp_path / "none")
    with pytest.raises(KnowledgeBaseError, match="no folder dokumente/"):
        register.admitted(tmp_path)
    assert register.load(tmp_path) is None


# --- building it ----------------------------------------------------------------------------------


def test_build_tells_what_it_did(kb: Path) -> None:
    put(kb, "pv-a", "## Zusammenfassung\n\nAnders.")
    (kb / "dokumente" / "pv-b.md").unlink()
    put(kb, "pv-c")
    assert built(kb, licence="neu") == Built(("pv-c",), ("pv-a",), ("pv-b",), ())
    known = register.load(kb)
    assert known is not None
    assert [(entry.id, entry.licence) for entry in known.entries] == [("pv-a", "eigener Text"), ("pv-c", "neu")]
    assert built(kb) == Built((), (), (), ())


def test_a_licence_note_is_needed_and_the_register_may_hold_one_for_all(kb: Path) -> None:
    put(kb, "pv-c")
    assert [problem.message for problem in built(kb).problems] == ["The entry has no licence note."]
    data = json.loads((kb / "kb.json").read_text(encoding="utf-8"))
    (kb / "kb.json").write_text(json.dumps({**data, "licence": "CC BY 4.0"}), encoding="utf-8")
    assert built(kb).added == ("pv-c",)
    known = register.load(kb)
    assert known is not None
    assert known.licence == "CC BY 4.0"


def test_an_unfit_entry_stays_as_it_was_and_is_named(kb: Path) -> None:
    put(kb, "pv-a", "## Details\n\nOhne Zusammenfassung.")
    put(kb, "pv-c", layer=1)
    result = built(kb, licence="x")
    assert {problem.path.name for problem in result.problems} == {"pv-a.md", "pv-c.md"}
    assert (result.added, result.updated, result.removed) == ((), (), ())
    assert passed(kb) == ["pv-b"]


def test_a_renamed_entry_keeps_its_licence_note(kb: Path) -> None:
    (kb / "dokumente" / "pv-a.md").unlink()
    (kb / "dokumente" / "sub").mkdir()
    (kb / "dokumente" / "sub" / "pv-a.md").write_text(entry_text("pv-a"))
    assert built(kb).updated == ("pv-a",)
    known = register.load(kb)
    assert known is not None
    assert known.entries[0].path == "dokumente/sub/pv-a.md"


# --- is the index still of this knowledge base ------------------------------------------------------


def info(kb: Path, built_at: datetime) -> IndexInfo:
    return IndexInfo(1, "de-1", "de", None, register.admitted(kb).version, "0", built_at.isoformat(timespec="seconds"), 2, 2, 2)


def test_whether_the_knowledge_base_is_newer(kb: Path) -> None:
    now = datetime.now(UTC)
    for path in (kb / "dokumente").iterdir():
        os.utime(path, (0, 0))
    before = info(kb, now)
    assert not register.changed_since(kb, before)
    (kb / "dokumente" / "pv-a.md").touch()
    assert not register.changed_since(kb, before)
    put(kb, "pv-a", "## Zusammenfassung\n\nAnders.")
    assert register.changed_since(kb, before)
    built(kb)
    assert register.changed_since(kb, before)
    after = info(kb, now + timedelta(seconds=5))
    assert not register.changed_since(kb, after)
    for name in register.BESIDE:
        (kb / name).write_text("- [a, b]")
        assert register.changed_since(kb, after)
        (kb / name).unlink()
        assert not register.changed_since(kb, after)
    (kb / "dokumente" / "pv-b.md").unlink()
    (kb / "dokumente" / "pv-b.md").symlink_to(kb / "nowhere.md")
    assert register.changed_since(kb, after)
