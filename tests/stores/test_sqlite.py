"""The index: what is written comes back, searches agree with an oracle, and whatever is wrong with the file is one sentence."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.errors import IndexProblem
from agent.interfaces import Document, Filter, Scored, Update
from agent.stores.sqlite import SqliteIndex, SqliteStore, matrix, schema
from agent.values import Period
from tests.stores.samples import ANALYSER, IDENTITY, document, entry, update


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "index.db"


def write(path: Path, *documents: Document, **known: Any) -> None:
    with SqliteIndex(path, ANALYSER) as index:
        index.write(update(*documents, **known))


def vectors(path: Path, found: dict[str, list[float]]) -> None:
    with SqliteIndex(path, ANALYSER) as index:
        index.add_vectors({name: np.array(vector, dtype=np.float32) for name, vector in found.items()})
        index.finish()


def ids(store: SqliteStore, scored: list[Scored]) -> list[tuple[str, int]]:
    return [(chunk.entry_id, chunk.ordinal) for chunk, _ in store.fetch([hit.row for hit in scored]).values()]


def state(path: Path) -> list[tuple[Any, ...]]:
    """Everything but row numbers, generation, lineage and time."""
    with sqlite3.connect(path) as connection:
        statements = (
            "SELECT id, title, sha256, path FROM entries ORDER BY id",
            "SELECT entries.id, place, target FROM cross_refs JOIN entries ON entry = row ORDER BY 1, 2",
            """SELECT entries.id, ordinal, hash, section, start, stop, text, fts.head, fts.body FROM chunks JOIN texts USING (row)
            JOIN fts ON fts.rowid = chunks.row JOIN entries ON entries.row = entry ORDER BY 1, 2""",
            "SELECT term, doc, cnt FROM vocabulary ORDER BY 1",
            "SELECT term, backwards, chunks FROM words ORDER BY 1",
            "SELECT gram, chunks FROM grams ORDER BY 1",
            "SELECT identity, hash, vector FROM vectors ORDER BY 1, 2",
            "SELECT key, value FROM meta WHERE key NOT IN ('generation', 'built', 'lineage', 'last_row') ORDER BY 1",
        )
        found = [row for statement in statements for row in connection.execute(statement)]
        connection.execute("INSERT INTO fts (fts) VALUES ('integrity-check')")
    connection.close()
    return found


# --- what is written comes back -------------------------------------------------------------------


def test_what_is_written_comes_back(path: Path) -> None:
    info = entry(
        "pv-a", topic="T", tags=("x", "y"), valid_from=date(2026, 1, 1), valid_to=date(2026, 12, 31), norms=("§ 5 ASVG",),
        sources=("Q",), cross_refs=("pv-c", "pv-b"), bereich="gesetz", path="dokumente/pv-a.md", sha256="1",
    )  # fmt: skip
    made = document(info, "eins", "zwei")
    write(path, made)
    with SqliteStore(path, ANALYSER) as store:
        rows = store.rows_of(["pv-a", "pv-none"])
        assert list(store.fetch(rows["pv-a"]).values()) == [(chunk.chunk, info) for chunk in made.chunks]
        assert rows.keys() == {"pv-a"}
        assert store.synonyms() == {"sz": ("sonderzahl",)}
        assert (store.info.entries, store.info.chunks, store.info.without_vector) == (1, 2, 2)
        assert store.fetch([99]) == {}


def test_fetch_keeps_the_order_asked_for(path: Path) -> None:
    write(path, document(entry("pv-a"), "eins", "zwei", "drei"))
    with SqliteStore(path, ANALYSER) as store:
        assert list(store.fetch([3, 1, 2])) == [3, 1, 2]


def test_document_frequencies_count_chunks(path: Path) -> None:
    write(path, document(entry("grenze"), "grenze grenze", "wert"), document(entry("b"), "wert"))
    with SqliteStore(path, ANALYSER) as store:
        assert store.document_frequencies(["grenze", "wert", "fehlt"]) == {"grenze": 2, "wert": 2, "fehlt": 0}


def test_a_head_term_weighs_more_than_a_body_term(path: Path) -> None:
    write(path, document(entry("a", title="anderes"), "grenze anderes"), document(entry("b", title="grenze"), "wert anderes"))
    with SqliteStore(path, ANALYSER, head=5.0) as store:
        assert ids(store, store.lexical(["grenze"], 5, Filter())) == [("b", 0), ("a", 0)]


# --- searches agree with an oracle ----------------------------------------------------------------

DAYS = st.dates(date(2024, 1, 1), date(2027, 12, 31))
FILTERS = st.builds(
    Filter,
    st.none() | st.builds(lambda day, length: Period(day, day + timedelta(length)), DAYS, st.integers(0, 400)),
    st.none() | st.frozensets(st.sampled_from(["gesetz", "kv", "praxis"])),
    st.frozensets(st.sampled_from(["gesetz", "kv"])),
)
ENTRIES = st.lists(st.tuples(st.none() | DAYS, st.none() | DAYS, st.sampled_from(["gesetz", "kv", "praxis"])), min_size=1, max_size=8)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ENTRIES, FILTERS, st.integers(1, 20))
def test_the_filter_admits_what_it_says(tmp_path: Path, made: list[Any], where: Filter, depth: int) -> None:
    path = tmp_path / "filter.db"
    infos = [entry(f"e{n}", valid_from=start, valid_to=end, bereich=bereich) for n, (start, end, bereich) in enumerate(made)]
    with SqliteIndex(path, ANALYSER, anew=True) as index:
        index.write(update(*(document(info, "wort a", f"wort b{info.id}") for info in infos), embedder=IDENTITY))
        index.add_vectors({name: np.array([1, 0, 0], dtype=np.float32) for name in index.pending()})
    wanted = [(info.id, n) for info in infos if where.admits(info) for n in (0, 1)][:depth]
    with SqliteStore(path, ANALYSER) as store:
        assert ids(store, store.dense(np.array([1, 0, 0], dtype=np.float32), depth, where)) == wanted
        assert {entry_id for entry_id, _ in ids(store, store.lexical(["wort"], 99, where))} == {i.id for i in infos if where.admits(i)}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=6))
def test_a_term_is_literal_whatever_it_holds(tmp_path: Path, terms: list[str]) -> None:
    path = tmp_path / "literal.db"
    if not path.exists():
        write(path, document(entry("a"), "grenze near and or not"))
    with SqliteStore(path, ANALYSER) as store:
        assert ids(store, store.lexical([*terms, "grenze"], 5, Filter())) == [("a", 0)]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 60), st.integers(1, 70), st.integers(0, 9999), st.sampled_from([None, "kv"]))
def test_dense_is_the_brute_force_order(tmp_path: Path, count: int, depth: int, seed: int, without: str | None) -> None:
    path = tmp_path / "dense.db"
    # Few directions, so that equal scores are common.
    table = np.random.default_rng(seed).integers(-1, 2, (count, 3)).astype(np.float32)
    infos = [entry(f"e{n:03}", bereich="kv" if n % 3 else "gesetz") for n in range(count)]
    with SqliteIndex(path, ANALYSER, anew=True) as index:
        index.write(update(*(document(info, f"t{n}") for n, info in enumerate(infos)), embedder=IDENTITY))
        index.add_vectors({f"t{n}": table[n] for n in range(count)})
    query = np.array([0.5, 0.25, -1], dtype=np.float32)
    scores = [float(row @ query) for row in table]
    kept = [n for n, info in enumerate(infos) if info.bereich != without]
    wanted = sorted(kept, key=lambda n: (-scores[n], n))[:depth]
    with SqliteStore(path, ANALYSER) as store:
        found = store.dense(query, depth, Filter(without=frozenset({without} if without else ())))
        assert [entry_id for entry_id, _ in ids(store, found)] == [f"e{n:03}" for n in wanted]
        assert store.similarities(query, [hit.row for hit in found]) == pytest.approx({hit.row: hit.score for hit in found})


def test_no_term_and_no_depth_find_nothing(path: Path) -> None:
    write(path, document(entry("a"), "wort"))
    with SqliteStore(path, ANALYSER) as store:
        assert store.lexical([], 5, Filter()) == store.lexical(["wort"], 0, Filter()) == store.lexical([""], 5, Filter()) == []


def test_of_very_many_terms_the_rarest_count(path: Path) -> None:
    many = [f"w{n}" for n in range(400)]
    write(path, document(entry("a"), " ".join(many)), document(entry("b"), " ".join(many[:-1])))
    with SqliteStore(path, ANALYSER) as store:
        assert ids(store, store.lexical([*many, *(f"fehlt{n}" for n in range(5000))], 1, Filter())) == [("a", 0)]


# --- one state at a time --------------------------------------------------------------------------


def test_a_reader_keeps_the_generation_it_opened(path: Path) -> None:
    write(path, document(entry("a"), "alt"), embedder=IDENTITY)
    vectors(path, {"alt": [1, 0, 0]})
    with SqliteStore(path, ANALYSER) as before:
        write(path, document(entry("a"), "neu"), version="v2")
        vectors(path, {"neu": [0, 1, 0]})
        assert before.info.kb_version == "v1"
        assert before.lexical(["neu"], 5, Filter()) == []
        hit = before.dense(np.array([1, 0, 0], dtype=np.float32), 5, Filter())
        assert [chunk.text for chunk, _ in before.fetch([hit[0].row]).values()] == ["alt"]
    with SqliteStore(path, ANALYSER) as after:
        assert ids(after, after.lexical(["neu"], 5, Filter())) == [("a", 0)]
        assert after.lexical(["alt"], 5, Filter()) == []


def test_a_failed_update_changes_nothing(path: Path) -> None:
    write(path, document(entry("a"), "alt"))
    before = state(path)

    def broken() -> Iterator[Document]:
        yield document(entry("b"), "neu")
        raise RuntimeError("on the way")

    with SqliteIndex(path, ANALYSER) as index, pytest.raises(RuntimeError):
        index.write(Update(broken(), frozenset({"a"}), "de", "v2"))
    assert state(path) == before


def test_a_full_disk_is_told_and_leaves_the_old_index(path: Path) -> None:
    write(path, document(entry("a"), "alt"))
    before = state(path)
    with SqliteIndex(path, ANALYSER) as index:
        pages = index._connection.execute("PRAGMA page_count").fetchone()[0]
        index._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(IndexProblem, match="no room left"):
            index.write(update(document(entry("b"), *(f"wort{n} " * 500 for n in range(50)))))
    assert state(path) == before


def test_step_by_step_equals_at_once(path: Path, tmp_path: Path) -> None:
    write(path, document(entry("c"), "eins zwei"), document(entry("a", cross_refs=("b",)), "drei", "vier"), embedder=IDENTITY)
    vectors(path, {"drei": [1, 0, 0], "eins zwei": [0, 1, 0]})
    write(path, document(entry("a"), "drei"), document(entry("b"), "fünf eins"), removed=("c",))
    write(path, document(entry("c"), "sechs eins"), version="v2")
    at_once = tmp_path / "once.db"
    write(
        at_once,
        *(document(entry(i), t) for i, t in (("a", "drei"), ("b", "fünf eins"), ("c", "sechs eins"))),
        version="v2",
        embedder=IDENTITY,
    )
    vectors(at_once, {"drei": [1, 0, 0]})
    assert state(path) == state(at_once)
    with SqliteStore(path, ANALYSER) as left, SqliteStore(at_once, ANALYSER) as right:
        query = np.array([1, 0, 0], dtype=np.float32)
        for terms in (["eins"], ["drei", "eins"], ["a", "b", "c"]):
            one, two = left.lexical(terms, 9, Filter()), right.lexical(terms, 9, Filter())
            assert ids(left, one) == ids(right, two)
            assert [hit.score for hit in one] == [hit.score for hit in two]
        assert ids(left, left.dense(query, 9, Filter())) == ids(right, right.dense(query, 9, Filter()))


# --- the matrix is derived ------------------------------------------------------------------------


@pytest.fixture
def embedded(path: Path) -> Path:
    write(path, document(entry("a"), "eins", "zwei"), document(entry("b"), "drei"), embedder=IDENTITY)
    vectors(path, {"eins": [1, 0, 0], "drei": [0, 1, 0]})
    return path


def nearest(path: Path) -> list[tuple[str, int]]:
    with SqliteStore(path, ANALYSER) as store:
        return ids(store, store.dense(np.array([0, 1, 0], dtype=np.float32), 9, Filter()))


@pytest.mark.parametrize("harm", ["missing", "empty", "cut", "foreign", "of another index", "a folder"])
def test_a_matrix_that_is_not_whole_is_made_anew(embedded: Path, harm: str) -> None:
    (found,) = embedded.parent.glob("*.f32")
    whole = found.read_bytes()
    found.unlink()
    if harm == "a folder":
        found.mkdir()
    elif harm != "missing":
        (lineage,) = re.findall(rb'"lineage": "(\w+)"', whole)
        other = {
            "empty": b"",
            "cut": whole[:-4],
            "foreign": b"x" * len(whole),
            "of another index": whole.replace(lineage, b"0" * len(lineage)),
        }
        found.write_bytes(other[harm])
    assert nearest(embedded) == [("b", 0), ("a", 0)]
    if harm != "a folder":
        assert found.read_bytes() == whole


def test_a_matrix_serves_later_generations(embedded: Path, tmp_path: Path) -> None:
    (kept,) = embedded.parent.glob("*.f32")
    whole = kept.read_bytes()
    embedded.with_name("index.db.0123.f32.99.tmp").write_bytes(b"left by a kill")
    vectors(embedded, {"zwei": [0, 0, 1]})
    write(embedded, document(entry("b"), "vier", "zwei"))
    vectors(embedded, {"vier": [0, 1, 1]})
    assert list(embedded.parent.glob("*.f32*")) == [kept]
    assert kept.read_bytes() == whole
    fresh = tmp_path / "fresh.db"
    write(fresh, document(entry("a"), "eins", "zwei"), document(entry("b"), "vier", "zwei"), embedder=IDENTITY)
    vectors(fresh, {"eins": [1, 0, 0], "zwei": [0, 0, 1], "vier": [0, 1, 1]})
    with SqliteStore(embedded, ANALYSER) as store, SqliteStore(fresh, ANALYSER) as other:
        for asked in ([0, 0, 1], [1, 0, 0], [0, 1, 0]):
            query = np.array(asked, dtype=np.float32)
            one, two = store.dense(query, 9, Filter()), other.dense(query, 9, Filter())
            assert ids(store, one) == ids(other, two)
            assert [hit.score for hit in one] == [hit.score for hit in two]
            assert sorted(store.similarities(query, range(9)).values()) == sorted(other.similarities(query, range(9)).values())
        assert ids(store, store.dense(np.array([0, 0, 1], dtype=np.float32), 3, Filter())) == [("a", 1), ("b", 0), ("b", 1)]


def test_a_reader_of_an_earlier_generation_finds_its_own_rows_in_a_later_matrix(embedded: Path) -> None:
    with SqliteStore(embedded, ANALYSER) as store:
        write(embedded, document(entry("b"), "vier"))
        (old,) = embedded.parent.glob("*.f32")
        old.unlink()
        vectors(embedded, {"vier": [1, 0, 0]})
        assert ids(store, store.dense(np.array([0, 1, 0], dtype=np.float32), 9, Filter())) == [("b", 0), ("a", 0)]
    assert nearest(embedded) == [("a", 0), ("b", 0)]


def test_where_much_has_changed_the_matrix_is_written_anew(embedded: Path) -> None:
    (old,) = embedded.parent.glob("*.f32")
    write(embedded, *(document(entry(f"c{n}"), f"wort{n}") for n in range(matrix.FEW + 1)))
    vectors(embedded, {f"wort{n}": [0, 1, n] for n in range(matrix.FEW + 1)})
    (new,) = embedded.parent.glob("*.f32*")
    assert new != old
    assert len(nearest(embedded)) == 9


def test_an_index_built_anew_has_a_matrix_of_its_own(embedded: Path) -> None:
    (old,) = embedded.parent.glob("*.f32")
    with SqliteIndex(embedded, ANALYSER, anew=True) as index:
        index.write(update(document(entry("a"), "drei"), document(entry("b"), "eins"), embedder=IDENTITY))
        index.finish()
    (new,) = embedded.parent.glob("*.f32*")
    assert new != old
    assert nearest(embedded) == [("a", 0), ("b", 0)]


def test_a_question_of_another_dimension_is_refused(embedded: Path) -> None:
    with SqliteStore(embedded, ANALYSER) as store, pytest.raises(IndexProblem, match=r"probe \(3-d, abc\)"):
        store.dense(np.zeros(4, dtype=np.float32), 5, Filter())


def test_without_vectors_dense_says_so(path: Path) -> None:
    write(path, document(entry("a"), "eins"))
    with SqliteStore(path, ANALYSER) as store, pytest.raises(IndexProblem, match="no vectors"):
        store.dense(np.zeros(3, dtype=np.float32), 5, Filter())


def test_a_vector_of_another_dimension_is_never_stored(embedded: Path) -> None:
    with SqliteIndex(embedded, ANALYSER) as index, pytest.raises(ValueError, match="3 dimensions"):
        index.add_vectors({"zwei": np.zeros(4, dtype=np.float32)})


def test_built_anew_keeps_the_vectors_of_texts_that_stay(embedded: Path) -> None:
    with SqliteIndex(embedded, ANALYSER, anew=True) as index:
        assert index.info is None
        assert index.held() == {}
        index.write(update(document(entry("z"), "eins", "neu"), embedder=IDENTITY))
        assert index.pending().keys() == {"neu"}
    assert [row for row in state(embedded) if row[1:2] == ("drei",)] == []


# --- whatever is wrong with the file is one sentence ----------------------------------------------


def problem(path: Path, **known: Any) -> str:
    with pytest.raises(IndexProblem) as caught:
        SqliteStore(path, known.get("analyser", ANALYSER))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def altered(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def test_a_missing_index(path: Path) -> None:
    assert "There is no index" in problem(path)
    assert "pv-agent ingest" in problem(path)


def test_an_index_whose_first_ingest_was_killed(path: Path) -> None:
    SqliteIndex(path, ANALYSER).close()
    assert "did not finish" in problem(path)
    write(path, document(entry("a"), "eins"))
    SqliteStore(path, ANALYSER).close()


def test_no_database(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("no database at all, but long enough to be read as the header of one" * 20)
    assert "is not an SQLite database" in problem(path)
    with pytest.raises(IndexProblem, match="--full"):
        SqliteIndex(path, ANALYSER)
    with SqliteIndex(path, ANALYSER, anew=True) as index:
        index.write(update(document(entry("a"), "eins")))
    SqliteStore(path, ANALYSER).close()
    assert path.with_name("index.db.damaged").read_text().startswith("no database")


def test_a_database_of_another_program_is_never_touched(path: Path) -> None:
    path.parent.mkdir()
    altered(path, "CREATE TABLE books (title TEXT)")
    assert "another program" in problem(path)
    for anew in (False, True):
        with pytest.raises(IndexProblem, match="another program"):
            SqliteIndex(path, ANALYSER, anew=anew)


def test_a_newer_schema(path: Path) -> None:
    write(path, document(entry("a"), "eins"))
    altered(path, f"UPDATE meta SET value = '{schema.VERSION + 1}' WHERE key = 'schema_version'")
    assert "newer pv-agent" in problem(path)
    with pytest.raises(IndexProblem, match="newer pv-agent"):
        SqliteIndex(path, ANALYSER)
    with SqliteIndex(path, ANALYSER, anew=True) as index:
        index.write(update(document(entry("b"), "zwei")))
    SqliteStore(path, ANALYSER).close()


def test_another_analyser(path: Path) -> None:
    write(path, document(entry("a"), "eins"))
    assert "analyser de-1, and this is de-2" in problem(path, analyser="de-2")
    with pytest.raises(IndexProblem, match="--full"):
        SqliteIndex(path, "de-2")


def test_meta_that_is_not_whole(path: Path) -> None:
    write(path, document(entry("a"), "eins"))
    altered(path, "DELETE FROM meta WHERE key = 'chunks'")
    assert "--full" in problem(path)


def test_a_damaged_page(path: Path) -> None:
    write(path, document(entry("a"), *(f"wort{n}" for n in range(500))))
    raw = bytearray(path.read_bytes())
    raw[4096:] = os.urandom(len(raw) - 4096)
    path.write_bytes(raw)
    with pytest.raises(IndexProblem, match="--full"), SqliteStore(path, ANALYSER) as store:
        store.lexical(["wort7"], 5, Filter())


def test_an_error_while_searching_is_no_empty_result(path: Path) -> None:
    write(path, document(entry("a"), "eins"))
    with SqliteStore(path, ANALYSER) as store:
        store.close()
        with pytest.raises(IndexProblem):
            store.lexical(["eins"], 5, Filter())


def test_a_second_ingest_waits_its_turn(path: Path) -> None:
    with SqliteIndex(path, ANALYSER), pytest.raises(IndexProblem, match="Another ingest"):
        SqliteIndex(path, ANALYSER)
    SqliteIndex(path, ANALYSER).close()


def test_a_database_locked_by_another_program(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(path, document(entry("a"), "eins"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with SqliteIndex(path, ANALYSER) as index:
        index._connection.execute("PRAGMA busy_timeout = 1")
        with pytest.raises(IndexProblem, match="locked by another program"):
            index.write(update(document(entry("b"), "zwei")))
    other.close()


def test_a_folder_in_its_place(path: Path) -> None:
    path.mkdir(parents=True)
    assert "There is no index" in problem(path)
    with pytest.raises(IndexProblem, match="cannot be opened"):
        SqliteIndex(path, ANALYSER)


@contextmanager
def unprivileged() -> Iterator[None]:
    """As a user to whom permissions apply."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(was)


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_read_only_folder_still_answers(embedded: Path) -> None:
    above = [embedded.parent.parent, *embedded.parent.parent.parents]
    modes = [(folder, folder.stat().st_mode) for folder in above if folder.stat().st_uid == os.geteuid() and folder != Path("/")]
    for folder, mode in modes:
        folder.chmod(mode | 0o055)
    embedded.parent.chmod(0o555)
    try:
        (file,) = embedded.parent.glob("*.f32")
        file.unlink()
        with unprivileged():
            assert nearest(embedded) == [("b", 0), ("a", 0)]
            with pytest.raises(IndexProblem, match="PV_DB_PATH"):
                SqliteIndex(embedded, ANALYSER)
    finally:
        embedded.parent.chmod(0o755)
        for folder, mode in modes:
            folder.chmod(mode)
