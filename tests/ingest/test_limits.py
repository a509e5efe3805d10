"""The limits of a knowledge base: read with their lines, refused with one sentence, carried into the index and out of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.errors import KnowledgeBaseError
from agent.ingest import limits, register, run
from agent.ingest.build import build
from agent.interfaces import NO_LIMITS
from agent.stores.sqlite import records
from agent.stores.sqlite.reader import SqliteStore
from agent.stores.sqlite.writer import SqliteIndex
from agent.testing import german
from tests.ingest.samples import put

SOUND = """ausserhalb:
  - name: das Recht der Schweiz
    wendungen: [in der Schweiz, NO]
rueckfragen:
  - name: Ort
    frage: Wo?
    merkmale: [je nach Ort]
    angaben: [Wien]
    datum: true
alternativen:
  - [Wien, Tirol]
"""
READ = {
    "outside": [{"name": "das Recht der Schweiz", "phrases": ["in der Schweiz", "NO"], "unless": []}],
    "facts": [{"name": "Ort", "question": "Wo?", "marks": ["je nach Ort"], "values": ["Wien"], "dated": True}],
    "alternatives": [["Wien", "Tirol"]],
}


def given(folder: Path, text: str) -> Path:
    (folder / limits.FILE).write_text(text, encoding="utf-8")
    return folder


def test_what_is_written_is_read(tmp_path: Path) -> None:
    assert limits.read(given(tmp_path, SOUND)) == READ


def test_a_knowledge_base_need_not_state_any(tmp_path: Path) -> None:
    assert limits.read(tmp_path) == NO_LIMITS


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("ausserhalb:", "aussen:", 1, "`aussen` is no list of limits"),
        ("    frage: Wo?\n", "", 5, "`frage` is missing"),
        ("[Wien, Tirol]", "Wien", 11, "This is no list of texts"),
        ("datum: true", "datum: ja", 9, "`datum` is true or false"),
        ("[Wien]", "Wien", 8, "`angaben` is no list of texts"),
        ("name: Ort", "name:", 5, "`name` is no text"),
        ("datum: true", "dauer: true", 9, "There is no field `dauer` here"),
        ("datum: true", "name: Zeit", 9, "`name` is given twice"),
        ("  - name: das Recht der Schweiz\n    wendungen: [in der Schweiz, NO]", "  - Schweiz", 2, "This limit has no fields"),
    ],
)
def test_every_fault_has_its_line(tmp_path: Path, old: str, new: str, line: int, told: str) -> None:
    found = limits.read(given(tmp_path, SOUND.replace(old, new)))
    assert isinstance(found, list)
    assert [(problem.line, told in problem.message) for problem in found] == [(line, True)]


def test_they_come_out_of_the_index_as_they_went_in(tmp_path: Path) -> None:
    kb, language = tmp_path / "kb", german()
    put(kb, "pv-a")
    build(kb, language, licence="x")

    def ingested() -> object:
        with SqliteIndex(tmp_path / "index.db", language.version) as index:
            run.ingest(register.admitted(kb), index, language=language)
        with SqliteStore(tmp_path / "index.db", language.version) as store:
            return store.limits()

    assert ingested() == NO_LIMITS
    given(kb, SOUND)
    assert ingested() == READ
    given(kb, "ausserhalb: Schweiz\n")
    with pytest.raises(KnowledgeBaseError, match=r"grenzen\.yaml:1: `ausserhalb` is no list"):
        ingested()


def test_an_index_made_before_a_kind_of_limit_was_known_holds_none_of_it() -> None:
    assert records.beside({"limits": '{"outside": [], "facts": []}'}).limits == NO_LIMITS
