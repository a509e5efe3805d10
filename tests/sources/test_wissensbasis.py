"""The search over a real index: its legs, its two stages, its synonyms, and what it does without vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from agent import rescoring, texts
from agent.errors import EmbedderError
from agent.ingest.chunks import document, plain
from agent.interfaces import Beside, Embedder, EmbedderIdentity, Update
from agent.settings import Settings
from agent.sources.wissensbasis import Wissensbasis
from agent.stores.sqlite import SqliteIndex, SqliteStore
from agent.testing import STICHTAG, german, on
from agent.values import Flag, SubQuery

if TYPE_CHECKING:
    from agent.interfaces import Vector

DE = german()
TEXTS = {
    "urlaub": "Der Urlaubsanspruch beträgt fünf Wochen im Jahr.",
    "zahlung": "Sonderzahlungen werden mit sechs Prozent besteuert.",
    "krank": "Bei Krankheit gebührt das Entgelt weiter.",
    "fremd": "Die Donau fließt durch Wien und Budapest.",
}


class Words:
    """An embedder whose vectors count three words."""

    identity = EmbedderIdentity("words", 3, "1")

    def query(self, text: str, /) -> Vector:
        found = np.array([text.count("rlaub") + text.count("rholung"), text.count("zahlung"), text.count("rank")], dtype=np.float32) + 0.1
        vector: Vector = found / np.linalg.norm(found)
        return vector

    def passages(self, texts: Sequence[str], /) -> list[Vector | None]:
        return [self.query(text) for text in texts]


class Away(Words):
    """One that cannot be reached."""

    def query(self, text: str, /) -> Vector:
        raise EmbedderError("not here")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteIndex(tmp_path / "index.db", DE.version) as index:
        documents = [document(plain(name, "", text), DE) for name, text in TEXTS.items()]
        index.write(Update(documents, frozenset(), "de", "1", Beside({"sz": ("sonderzahl",)}), Words.identity))
        vectors = {made.chunks[0].hash: Words().query(made.chunks[0].chunk.text) for made in documents}
        index.add_vectors(vectors)
        index.finish()
    with SqliteStore(tmp_path / "index.db", DE.version) as opened:
        yield opened


def source(store: SqliteStore, embedder: Embedder | None = None, **settings: object) -> Wissensbasis:
    return Wissensbasis(store, DE, Settings(**settings), lambda: embedder, weights=texts.table("ranking"))  # type: ignore[arg-type]


def found(searched: Wissensbasis, query: str) -> list[str]:
    return [hit.entry.id for hit in searched.search(SubQuery(query, on(STICHTAG)), k=4).hits]


def test_meaning_finds_what_words_do_not(store: SqliteStore) -> None:
    assert found(source(store, Words()), "Wie viel Erholung steht zu?")[0] == "urlaub"
    assert found(source(store), "Erholung") == []


def test_a_synonym_finds_its_entry_by_words_alone(store: SqliteStore) -> None:
    evidence = source(store).search(SubQuery("SZ", on(STICHTAG)), k=4)
    assert [hit.entry.id for hit in evidence.hits] == ["zahlung"]
    assert evidence.hits[0].why == "related words"
    assert evidence.variants == {"sz": ("sonderzahl",)}
    assert evidence.flags == {Flag.LEXICAL_ONLY}


def test_a_slip_finds_its_word(store: SqliteStore) -> None:
    assert found(source(store), "Sonderzalungen")[0] == "zahlung"


@pytest.mark.parametrize("fusion", ["rescored", "rrf"])
def test_both_ways_of_ranking_find_the_same_entries(store: SqliteStore, fusion: str) -> None:
    assert set(found(source(store, Words(), fusion=fusion), "Urlaub bei Krankheit")) == set(TEXTS)
    assert found(source(store, Words(), fusion=fusion), "Krankheit")[0] == "krank"


def test_scores_fall_and_lie_between_0_and_1(store: SqliteStore) -> None:
    hits = source(store, Words()).search(SubQuery("Urlaub bei Krankheit", on(STICHTAG)), k=4).hits
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_an_embedder_that_is_away_leaves_the_words(store: SqliteStore) -> None:
    evidence = source(store, Away()).search(SubQuery("Urlaubsanspruch", on(STICHTAG)), k=4)
    assert [hit.entry.id for hit in evidence.hits] == ["urlaub"]
    assert evidence.flags == {Flag.LEXICAL_ONLY}
    assert evidence.embedder is None


def test_candidates_carry_the_features_of_their_stage(store: SqliteStore) -> None:
    query = SubQuery("Urlaub bei Krankheit", on(STICHTAG))
    hybrid, lexical = source(store, Words()).candidates(query), source(store).candidates(query)
    assert len(hybrid.features) == len(hybrid.hits) == len(TEXTS)
    assert all(each[name] is not None for each in hybrid.features for name in rescoring.HYBRID)
    assert all(each["cosine"] is None and each["words"] is not None for each in lexical.features)
    assert source(store).candidates(query, featured=False).features == ()
