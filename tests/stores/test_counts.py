"""The vocabularies beside the full text: they agree with it after any history, and find words by their ends."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.interfaces import Filter
from agent.language import grams
from agent.stores.sqlite import SqliteIndex, SqliteStore
from tests.stores.samples import ANALYSER, IDENTITY, document, entry, update

TEXTS = st.lists(st.sampled_from(["urlaub", "urlaubsgeld", "geld", "sachbezug", "§67_1", "13 gehalt", "öga"]), min_size=1, max_size=4)
STEPS = st.lists(st.tuples(st.integers(0, 3), st.lists(TEXTS.map(" ".join), max_size=3)), min_size=1, max_size=8)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_counts_are_those_of_what_is_there(tmp_path: Path, steps: list[tuple[int, list[str]]]) -> None:
    path = tmp_path / "counts.db"
    there: dict[str, list[str]] = {}
    with SqliteIndex(path, ANALYSER, anew=True) as index:
        index.write(update())
        for number, bodies in steps:
            name = f"e{number}"
            if bodies:
                there[name] = bodies
                index.write(update(document(entry(name), *bodies)))
            else:
                there.pop(name, None)
                index.write(update(removed=(name,)))
    layouts = [grams.laid_out(name, body) for name, bodies in there.items() for body in bodies]
    with sqlite3.connect(path) as connection:
        words = dict(connection.execute("SELECT term, chunks FROM words"))
        assert words == dict(connection.execute("SELECT term, doc FROM vocabulary"))
        assert Counter(gram for each in grams.distinct(layouts) for gram in each) == dict(
            connection.execute("SELECT gram, chunks FROM grams")
        )
    connection.close()


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    path = tmp_path / "index.db"
    with SqliteIndex(path, ANALYSER) as index:
        bodies = "urlaub urlaubsgeld", "urlaubszuschuss resturlaub", "geld kollektivvertrag", "urlauben"
        index.write(update(document(entry("a"), *bodies), embedder=IDENTITY))
        vectors = {body: np.array(v, dtype=np.float32) for body, v in zip(bodies, ([1, 0, 0], [0.8, 0.6, 0], [0, 0, 1]), strict=False)}
        index.add_vectors(vectors)
        index.finish()
    return SqliteStore(path, ANALYSER)


def test_compounds_begin_or_end_with_the_term_the_shortest_first(store: SqliteStore) -> None:
    with store:
        found = store.compounds(["urlaub", "geld", "x"])
    assert found == {"urlaub": ("urlaubsgeld", "urlaubszuschuss", "resturlaub"), "geld": ("urlaubsgeld",), "x": ()}


def test_near_words_share_an_end(store: SqliteStore) -> None:
    with store:
        assert "kollektivvertrag" in store.near("kolektivvertrag")
        assert "kollektivvertrag" in store.near("xollektivvertrag")
        assert store.near("zzz") == ()


def test_grams_and_terms_of_chunks(store: SqliteStore) -> None:
    with store:
        assert store.gram_frequencies([b" url", b"geld", b"zzzz"]) == {b" url": 3, b"geld": 2, b"zzzz": 0}
        assert store.analysed([1, 99]) == {1: ("a", "urlaub urlaubsgeld")}
        assert store.dated is False


def test_closeness_is_to_the_named_ones_and_leaves_out_what_has_no_vector(store: SqliteStore) -> None:
    with store:
        found = store.closeness([1, 2, 3, 4], [1])
    assert found.keys() == {1, 2, 3}
    assert found[1] == pytest.approx(1.0)
    assert found[1] > found[2] > found[3]


def test_common_words_bring_no_candidates_where_rarer_ones_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from agent.stores.sqlite import reader

    monkeypatch.setattr(reader, "_FEW_CHUNKS", 0)
    path = tmp_path / "index.db"
    bodies = [f"oft selten{n} rar{n} knapp{n}" for n in range(60)]
    with SqliteIndex(path, ANALYSER) as index:
        index.write(update(document(entry("a"), *bodies)))
    with SqliteStore(path, ANALYSER) as store:
        assert len(store.lexical(["oft"], 99, Filter())) == 60
        assert len(store.lexical(["oft", "selten1", "rar1"], 99, Filter())) == 60
        assert [
            store.fetch([hit.row])[hit.row][0].ordinal for hit in store.lexical(["oft", "selten1", "rar1", "knapp1"], 99, Filter())
        ] == [1]
