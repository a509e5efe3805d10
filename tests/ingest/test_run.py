"""Ingest: only what changed is written and embedded, nothing stays behind, and an interrupted run goes on where it stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agent.errors import EmbedderError, IndexProblem, KnowledgeBaseError
from agent.ingest import cache, register, run
from agent.ingest.build import build
from agent.ingest.chunks import document, plain
from agent.interfaces import Change, Embedder, Filter
from agent.language.pieces import pieces
from agent.stores.sqlite import SqliteIndex, SqliteStore
from tests.ingest.samples import GERMAN, CountingEmbedder, put

TWO = "## Zusammenfassung\n\n{}\n\n## Details\n\n{}"


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    kb = tmp_path / "kb"
    put(kb, "pv-a", TWO.format("Die Grenze.", "Der Betrag."), cross_refs="[pv-b]")
    put(kb, "pv-b", TWO.format("Die Frist.", "Der Tag."))
    return kb


def ingest(kb: Path, embedder: Embedder | None = None, *, full: bool = False) -> Change:
    build(kb, GERMAN, licence="x")
    with SqliteIndex(kb / "index.db", GERMAN.version, anew=full) as index:
        return run.ingest(register.admitted(kb), index, language=GERMAN, embedder=embedder)


def found(kb: Path, words: str) -> list[str]:
    with SqliteStore(kb / "index.db", GERMAN.version) as store:
        return [entry.id for _, entry in store.fetch(hit.row for hit in store.lexical(GERMAN.query_terms(words), 9, Filter())).values()]


def test_the_first_run_writes_everything(kb: Path) -> None:
    embedder = CountingEmbedder()
    assert ingest(kb, embedder) == Change(added=("pv-a", "pv-b"), chunks=4, embedded=4, pieces=4)
    assert min(embedder.asked) == "Titel pv-a\nDetails\nDer Betrag."
    assert found(kb, "Frist") == ["pv-b"]


def test_a_second_run_does_nothing(kb: Path) -> None:
    ingest(kb, CountingEmbedder())
    with SqliteStore(kb / "index.db", GERMAN.version) as store:
        generation = store.info.generation
    embedder = CountingEmbedder()
    assert ingest(kb, embedder) == Change()
    assert embedder.asked == []
    with SqliteStore(kb / "index.db", GERMAN.version) as store:
        assert store.info.generation == generation


def test_edited_deleted_renamed(kb: Path) -> None:
    put(kb, "pv-c", TWO.format("Bleibt gleich.", "Auch das."), titel="Gleich")
    ingest(kb, CountingEmbedder())
    put(kb, "pv-a", TWO.format("Die neue Schwelle.", "Der Betrag."))
    (kb / "dokumente" / "pv-b.md").unlink()
    (kb / "dokumente" / "pv-c.md").unlink()
    put(kb, "pv-d", TWO.format("Bleibt gleich.", "Auch das."), titel="Gleich")
    embedder = CountingEmbedder()
    change = ingest(kb, embedder)
    assert change == Change((), ("pv-a",), ("pv-b",), (("pv-c", "pv-d"),), chunks=1, embedded=1, reused=3, pieces=1)
    assert embedder.asked == ["Titel pv-a\nZusammenfassung\nDie neue Schwelle.", "Titel pv-a: Die neue Schwelle."]
    assert (found(kb, "Schwelle"), found(kb, "Grenze"), found(kb, "Frist"), found(kb, "gleich")) == (["pv-a"], [], [], ["pv-d", "pv-d"])


def test_nothing_of_a_deleted_entry_stays(kb: Path) -> None:
    ingest(kb, CountingEmbedder())
    (kb / "dokumente" / "pv-b.md").unlink()
    ingest(kb)
    with SqliteIndex(kb / "index.db", GERMAN.version) as index:
        for table, count in (("entries", 1), ("chunks", 2), ("texts", 2), ("pieces", 2), ("fts", 2), ("vectors", 4), ("cross_refs", 1)):
            assert index._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == count, table


def test_a_moved_file_is_told_as_renamed(kb: Path) -> None:
    ingest(kb, CountingEmbedder())
    (kb / "dokumente" / "sub").mkdir()
    (kb / "dokumente" / "pv-a.md").rename(kb / "dokumente" / "sub" / "pv-a.md")
    assert ingest(kb, CountingEmbedder()) == Change(renamed=(("dokumente/pv-a.md", "dokumente/sub/pv-a.md"),), reused=2)


def test_new_tags_are_searched_and_nothing_is_embedded_again(kb: Path) -> None:
    ingest(kb, CountingEmbedder())
    put(kb, "pv-a", TWO.format("Die Grenze.", "Der Betrag."), tags="[Schlagwort]")
    assert ingest(kb, CountingEmbedder()) == Change(changed=("pv-a",), reused=2)
    assert found(kb, "Schlagwort") == ["pv-a", "pv-a"]


def test_synonyms_alone_are_a_change(kb: Path) -> None:
    ingest(kb)
    (kb / "synonyme.yaml").write_text("- [SZ, Sonderzahlung]\n", encoding="utf-8")
    assert ingest(kb) == Change()
    with SqliteStore(kb / "index.db", GERMAN.version) as store:
        assert store.synonyms()["sz"] == ("sonderzahl",)
    (kb / "synonyme.yaml").write_text("- [SZ]\n", encoding="utf-8")
    with pytest.raises(KnowledgeBaseError, match=r"synonyme\.yaml:1"):
        ingest(kb)


def test_refused_entries_are_left_out(kb: Path) -> None:
    ingest(kb)
    put(kb, "pv-a", TWO.format("Ohne Meldung geändert.", "x"))
    with SqliteIndex(kb / "index.db", GERMAN.version) as index:
        assert run.ingest(register.admitted(kb), index, language=GERMAN).removed == ("pv-a",)


def test_an_interrupted_run_goes_on_where_it_stopped(kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.ingest.embed.BATCH", 1)
    with pytest.raises(EmbedderError):
        ingest(kb, CountingEmbedder(fails_after=2))
    with SqliteStore(kb / "index.db", GERMAN.version) as store:
        assert store.info.without_vector == 2
        assert len(store.dense(CountingEmbedder().query("x"), 9, Filter())) == 2
    embedder = CountingEmbedder()
    assert ingest(kb, embedder).embedded == 2
    assert len(embedder.asked) == 2 + 4  # the two chunks left, and the pieces, which come after all chunks


def test_without_an_embedder_the_vectors_stay_and_are_caught_up_later(kb: Path) -> None:
    ingest(kb, CountingEmbedder())
    put(kb, "pv-c", TWO.format("Neu.", "Auch neu."))
    assert ingest(kb) == Change(added=("pv-c",), chunks=2)
    with SqliteStore(kb / "index.db", GERMAN.version) as store:
        assert store.info.without_vector == 2
    assert ingest(kb, CountingEmbedder()).embedded == 2


def test_what_cannot_be_embedded_is_named_and_asked_once_a_run(kb: Path) -> None:
    put(kb, "pv-c", TWO.format("Das ist unverdaulich.", "Das nicht."))
    embedder = CountingEmbedder()
    assert ingest(kb, embedder).failed == ("pv-c#0",)
    assert len(embedder.asked) == len(set(embedder.asked)) == 6 + 6
    with SqliteStore(kb / "index.db", GERMAN.version) as store:
        assert store.info.without_vector == 1


def test_two_embedders_never_mix(kb: Path) -> None:
    ingest(kb, CountingEmbedder("eins"))
    with pytest.raises(IndexProblem, match=r"holds vectors of eins \(8-d, abc\), and zwei \(8-d, abc\) is set.*--full"):
        ingest(kb, CountingEmbedder("zwei"))
    assert ingest(kb, CountingEmbedder("zwei"), full=True).embedded == 4
    back = CountingEmbedder("eins")
    assert ingest(kb, back, full=True).embedded == 0
    assert back.asked == []


def test_an_embedder_of_the_wrong_size_is_told(kb: Path) -> None:
    embedder = CountingEmbedder()
    embedder.passages = lambda texts: [np.zeros(5, dtype=np.float32) for _ in texts]  # type: ignore[method-assign]
    with pytest.raises(EmbedderError, match="another number or size"):
        ingest(kb, embedder)


def test_progress_is_told(kb: Path) -> None:
    told: list[tuple[int, int, str]] = []
    build(kb, GERMAN, licence="x")
    with SqliteIndex(kb / "index.db", GERMAN.version) as index:
        run.ingest(register.admitted(kb), index, language=GERMAN, embedder=CountingEmbedder(), progress=lambda *step: told.append(step))
    assert told == [(2, 2, "entries"), (4, 4, "vectors"), (4, 4, "sentences")]


def test_content_from_elsewhere(tmp_path: Path) -> None:
    with SqliteIndex(tmp_path / "beir.db", GERMAN.version) as index:
        content = run.Content([plain("d1", "Titel", "Ein Satz über Fristen."), plain("d2", "", "Anderes.")], "scifact")
        assert run.bring(content, index, language=GERMAN).added == ("d1", "d2")


# --- the vectors that ship ------------------------------------------------------------------------


def test_shipped_vectors_spare_the_embedder(kb: Path) -> None:
    build(kb, GERMAN, licence="x")
    made = [document(entry, GERMAN, with_pieces=True) for entry in register.admitted(kb).entries]
    path, count = cache.refresh(kb, made, language=GERMAN, embedder=CountingEmbedder())
    assert (path.name, count) == ("probe-8-abc.f16", 8)
    assert cache.stale(kb, CountingEmbedder().identity, made) == (frozenset(), frozenset())
    embedder = CountingEmbedder()
    assert ingest(kb, embedder) == Change(added=("pv-a", "pv-b"), chunks=4, reused=4)
    assert embedder.asked == []
    with SqliteStore(kb / "index.db", GERMAN.version) as store:
        best = store.dense(embedder.query("Titel pv-a\nDetails\nDer Betrag."), 1, Filter())
        assert best[0].score == pytest.approx(1, abs=1e-3)
        (piece,) = pieces("Titel pv-a", "Der Betrag.", GERMAN)
        near = store.piece_similarities(embedder.query(piece.embedded), range(1, 9))
        assert near[piece.key] == pytest.approx(1, abs=1e-3)


def test_the_file_of_vectors_is_the_same_byte_by_byte_and_kept_up_to_date(kb: Path) -> None:
    build(kb, GERMAN, licence="x")
    made = [document(entry, GERMAN, with_pieces=True) for entry in register.admitted(kb).entries]
    path, _ = cache.refresh(kb, made, language=GERMAN, embedder=CountingEmbedder())
    before = path.read_bytes()
    path.unlink()
    cache.refresh(kb, reversed(made), language=GERMAN, embedder=CountingEmbedder())
    assert path.read_bytes() == before
    put(kb, "pv-a", TWO.format("Anders.", "Der Betrag."))
    build(kb, GERMAN)
    made = [document(entry, GERMAN, with_pieces=True) for entry in register.admitted(kb).entries]
    missing, left = cache.stale(kb, CountingEmbedder().identity, made)
    assert (len(missing), len(left)) == (2, 2)
    embedder = CountingEmbedder()
    assert cache.refresh(kb, made, language=GERMAN, embedder=embedder)[1] == len(embedder.asked) == 2
    assert cache.stale(kb, embedder.identity, made) == (frozenset(), frozenset())


@pytest.mark.parametrize("harm", [b"", b"x", b"{}\n"])
def test_a_file_of_vectors_that_is_not_whole_is_no_use(kb: Path, harm: bytes) -> None:
    build(kb, GERMAN, licence="x")
    made = [document(entry, GERMAN, with_pieces=True) for entry in register.admitted(kb).entries]
    path, _ = cache.refresh(kb, made, language=GERMAN, embedder=CountingEmbedder())
    path.write_bytes(harm or path.read_bytes()[:-1])
    assert cache.load(kb, CountingEmbedder().identity) == {}
    assert cache.load(kb, CountingEmbedder("andere").identity) == {}
