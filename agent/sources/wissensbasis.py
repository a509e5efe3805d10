"""The index as a source: both legs, fused, one section per entry, references followed, cut to the context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from math import log
from typing import TYPE_CHECKING

from agent import ranking
from agent.errors import EmbedderError
from agent.interfaces import Embedder, Filter, Scored, Store
from agent.language import Language
from agent.language.pieces import pieces
from agent.settings import Settings
from agent.values import Evidence, Flag, Hit, Searched, SubQuery

if TYPE_CHECKING:
    from agent.interfaces import Vector


class Wissensbasis:
    """Hybrid search over one index. Without an embedder, or where it cannot be reached, the search is lexical and says so."""

    name = "wissensbasis"
    about = "the curated knowledge base"

    def __init__(self, store: Store, language: Language, settings: Settings, embedder: Callable[[], Embedder | None]) -> None:
        self._store = store
        self._language = language
        self._settings = settings
        self._get_embedder = embedder

    @cached_property
    def _embedder(self) -> Embedder | None:
        return self._get_embedder() if self._store.info.embedder else None

    def search(self, subquery: SubQuery, /, k: int) -> Evidence:
        where = self.filter(subquery)
        terms = self._language.query_terms(subquery.query)
        lexical = self._store.lexical(terms, self._settings.candidate_pool, where)
        vector, flags = self._vector(subquery.query)
        dense = self._store.dense(vector, self._settings.candidate_pool, where) if vector is not None else []
        hits = self._ranked(lexical, dense)
        if self._settings.shuffle_ranking:
            hits = ranking.shuffled(hits, seed=subquery.query)
        kept, dropped = ranking.one_per_entry(hits, section_rank=self._language.section_rank, last=self._language.only_if_alone)
        kept = ranking.merged(kept, self._references(kept, where))
        chosen, over = ranking.within(kept, blocks=k, characters=self._settings.max_context_chars)
        hits = [*chosen, *self._companions(chosen)]
        return Evidence(
            hits=tuple(hits),
            searched=Searched((subquery.query,), subquery.scope, subquery.period.end),
            dropped=(*dropped, *over),
            beside=tuple(self._outside(terms, where)),
            flags=flags,
            embedder=str(self._store.info.embedder) if dense else None,
            weights=self._weights(subquery.query),
            variants=self._variants(terms),
            likeness=self._likeness(hits, vector) if vector is not None else {},
            signals=_signals(dense),
        )

    def filter(self, subquery: SubQuery) -> Filter:
        """The period and the scope of a sub-query as the store's filter; an unknown scope admits everything."""
        scope = self._language.table["scopes"].get(subquery.scope, {})
        only = scope.get("only")
        return Filter(subquery.period, frozenset(only) if only else None, frozenset(scope.get("without", ())))

    def _vector(self, query: str) -> tuple[Vector | None, frozenset[Flag]]:
        """The question's vector; None, and the flag that says so, where the search goes by words alone."""
        try:
            embedder = self._embedder
            return (embedder.query(query), frozenset()) if embedder else (None, frozenset({Flag.LEXICAL_ONLY}))
        except EmbedderError:
            return None, frozenset({Flag.LEXICAL_ONLY})

    def _likeness(self, hits: Sequence[Hit], vector: Vector) -> dict[str, float]:
        """The cosine of every quotable piece of the hits with the question."""
        keys = {piece.key for hit in hits for piece in pieces(hit.entry.title, hit.chunk.text, self._language)}
        return self._store.piece_similarities(vector, keys)

    def _ranked(self, lexical: Sequence[Scored], dense: Sequence[Scored]) -> list[Hit]:
        words = {scored.row: (rank, scored.score) for rank, scored in enumerate(lexical, start=1)}
        meaning = {scored.row: (rank, scored.score) for rank, scored in enumerate(dense, start=1)}
        scores = ranking.rrf(
            ((1.0, [s.row for s in lexical]), (self._settings.dense_weight, [s.row for s in dense])), k=self._settings.rrf_k
        )
        found = self._store.fetch(scores)
        hits = []
        for row in ranking.ordered(scores):
            chunk, entry = found[row]
            lexical_rank, lexical_score = words.get(row, (None, None))
            dense_rank, dense_score = meaning.get(row, (None, None))
            why = "words and meaning" if row in words and row in meaning else "words" if row in words else "meaning"
            hits.append(
                Hit(
                    chunk,
                    entry,
                    scores[row],
                    lexical_rank=lexical_rank,
                    dense_rank=dense_rank,
                    lexical_score=lexical_score,
                    dense_score=dense_score,
                    why=why,
                )
            )
        return hits

    def _references(self, hits: Sequence[Hit], where: Filter) -> list[Hit]:
        wanted = ranking.referenced(hits, best=self._settings.cross_ref_expand)
        rows = self._store.rows_of(wanted)
        found = self._store.fetch(row for of_entry in rows.values() for row in of_entry)
        more = []
        for entry_id, of_entry in rows.items():
            pieces = [found[row] for row in of_entry if where.admits(found[row][1])]
            if pieces:
                chunk, entry = min(pieces, key=lambda piece: (self._language.section_rank(piece[0].section), piece[0].ordinal))
                score, referrer = wanted[entry_id]
                more.append(Hit(chunk, entry, score, why=f"cross-ref from {referrer}"))
        return more

    def _outside(self, terms: Sequence[str], where: Filter) -> list[Hit]:
        """The best hits by words that are not valid in the period asked for: the nearest ones of a refusal for its date."""
        if where.period is None:
            return []
        hits = self._ranked(self._store.lexical(terms, self._settings.context_blocks, replace(where, period=None)), [])
        kept, _ = ranking.one_per_entry(hits, section_rank=self._language.section_rank, last=self._language.only_if_alone)
        return [hit for hit in kept if not where.admits(hit.entry)][:3]

    def _companions(self, chosen: Sequence[Hit]) -> list[Hit]:
        """The other sections of the best entries: a value's table and the sentence that explains it belong together."""
        best = {hit.entry.id: hit for hit in chosen[: self._settings.companion_entries]}
        rows = self._store.rows_of(best)
        found = self._store.fetch(row for of_entry in rows.values() for row in of_entry)
        present = {(hit.entry.id, hit.chunk.ordinal) for hit in chosen}
        return [
            Hit(chunk, entry, best[entry_id].score, why="another section of the entry")
            for entry_id, of_entry in rows.items()
            for chunk, entry in (found[row] for row in of_entry)
            if (entry_id, chunk.ordinal) not in present and not self._language.only_if_alone(chunk.section)
        ]

    def _weights(self, query: str) -> dict[str, float]:
        """Each term's inverse document frequency as BM25 has it (Robertson, Sparck Jones 1976), by what kind of word it is.

        Dates are the filter's and plain numbers are the case's, so neither counts; where a language capitalises its nouns, what is
        written small weighs less.
        """
        words = {term: word for term, word in self._language.tokens(query) if not self._language.tells_time(term) and not _number(term)}
        frequencies = self._store.document_frequencies(words)
        chunks = self._store.info.chunks
        small = self._language.small_word_weight(query)
        return {
            term: (1.0 if word[0].isupper() or not word[0].isalpha() else small)
            * log(1 + (chunks - frequencies[term] + 0.5) / (frequencies[term] + 0.5))
            for term, word in words.items()
        }

    def _variants(self, terms: Sequence[str]) -> dict[str, tuple[str, ...]]:
        synonyms = self._store.synonyms()
        return {term: synonyms[term] for term in terms if term in synonyms}


def _number(term: str) -> bool:
    return term.replace("_", "").isdigit()


def _signals(dense: Sequence[Scored]) -> dict[str, float]:
    """What the dense leg says of the search as a whole: the best cosine, and how far it stands out of its list."""
    if not dense:
        return {}
    best = dense[0].score
    return {"cosine": best, "margin": best - sum(scored.score for scored in dense) / len(dense)}
