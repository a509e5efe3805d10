"""The questions an entry lists: what they lead to, and that they find and never show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agent import texts
from agent.ingest.chunks import cut, document
from agent.ingest.entries import parse
from agent.ingest.lint import lint
from agent.ingest.questions import listed
from agent.interfaces import EmbedderIdentity, Filter, Update
from agent.language import Language
from agent.stores.sqlite import SqliteIndex, SqliteStore
from agent.values import Entry

HEAD = "---\nid: pv-a\ntitel: Abgabe\nstand: 2026-11-30\nlayer: 2\nbereich: gesetz\n---\n\n"
BODY = """## Zusammenfassung

Die Abgabe ist ein fester Betrag. Sie ist monatlich zu zahlen.

## Kernwerte

| Bezeichnung | Wert | Zeitraum |
|---|---|---|
| Abgabe 2025 | 2,00 EUR | 2025 |
| Abgabe 2026 | 3,00 EUR | 2026 |

## Fragen

- Was kostet mich das? → Abgabe 20
- Worum geht es?
"""
IDENTITY = EmbedderIdentity("test", 3, "1")


@pytest.fixture(scope="module")
def german() -> Language:
    return Language(texts.table("language.de"), texts.table("figures.de"))


@pytest.fixture
def entry() -> Entry:
    found = parse(HEAD + BODY, Path("pv-a.md"))
    assert isinstance(found, Entry)
    return found


def test_a_question_is_no_part_of_what_is_cited(entry: Entry, german: Language) -> None:
    assert [chunk.section for chunk in cut(entry, german)] == ["Zusammenfassung", "Kernwerte"]


def test_a_question_leads_to_every_piece_that_begins_as_told_and_else_to_the_first(entry: Entry, german: Language) -> None:
    first, second = listed(entry, german)
    assert (first.question, first.begins, second.begins) == ("Was kostet mich das?", "Abgabe 20", "")
    summary, table = document(entry, german, with_pieces=True).chunks
    assert [posed.text for posed in table.questions] == ["Was kostet mich das?"] * 2
    assert {posed.piece for posed in table.questions} == set(table.pieces)
    assert [(posed.text, posed.piece) for posed in summary.questions] == [("Worum geht es?", summary.pieces[0])]


def test_a_chunk_and_a_piece_are_as_near_as_the_question_they_answer(entry: Entry, german: Language, tmp_path: Path) -> None:
    made = document(entry, german, with_pieces=True)
    far, near = np.array([0, 1, 0], dtype=np.float32), np.array([1, 0, 0], dtype=np.float32)
    with SqliteIndex(tmp_path / "a.db", "analyser") as index:
        index.write(Update((made,), frozenset(), "de", "v", embedder=IDENTITY))
        wanted = made.chunks[1].questions[0].hash
        assert wanted in index.pending_pieces()
        index.add_vectors({name: near if name == wanted else far for name in (*index.pending(), *index.pending_pieces())})
        index.finish()
    with SqliteStore(tmp_path / "a.db", "analyser") as store:
        best, other = store.dense(near, 2, Filter())
        assert (best.score, other.score) == (1, 0)
        assert store.fetch([best.row])[best.row][0].section == "Kernwerte"
        assert store.similarities(near, [best.row, other.row]) == {best.row: 1, other.row: 0}
        likeness = store.piece_similarities(near, [best.row, other.row])
        assert {key for key, value in likeness.items() if value == 1} == set(made.chunks[1].pieces)
        assert store.dense(near, 2, Filter(only=frozenset({"kv"}))) == []


def test_questions_of_an_entry_taken_out_are_forgotten(entry: Entry, german: Language, tmp_path: Path) -> None:
    made = document(entry, german, with_pieces=True)
    with SqliteIndex(tmp_path / "a.db", "analyser") as index:
        index.write(Update((made,), frozenset(), "de", "v", embedder=IDENTITY))
        index.add_vectors(dict.fromkeys((*index.pending(), *index.pending_pieces()), np.array([1, 0, 0], dtype=np.float32)))
        index.write(Update((), frozenset({"pv-a"}), "de", "w", embedder=IDENTITY))
        assert not index.pending_pieces()
        index.write(Update((made,), frozenset(), "de", "v", embedder=IDENTITY))
        assert made.chunks[1].questions[0].hash in index.pending_pieces()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("- Was kostet das? → Es gibt nichts", "No sentence or row of the entry begins with 'Es gibt nichts'."),
        ("- Was kostet mich das? → Abgabe 20", "The question 'Was kostet mich das?' is listed twice."),
    ],
)
def test_lint_names_a_question_that_leads_nowhere_or_stands_there_twice(line: str, told: str, german: Language, tmp_path: Path) -> None:
    folder = tmp_path / "dokumente"
    folder.mkdir()
    (folder / "pv-a.md").write_text(f"{HEAD}{BODY}{line}\n", encoding="utf-8")
    (found,) = [problem for problem in lint(tmp_path, german) if "question" in problem.message or "begins with" in problem.message]
    assert (found.message, found.line) == (told, (HEAD + BODY).count("\n") + 1)
