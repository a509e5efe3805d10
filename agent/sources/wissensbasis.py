"""The index as a source: both legs, fused, one section per entry, references followed, cut to the context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log
from typing import TYPE_CHECKING

from agent import expansion, ranking, rescoring
from agent.background import Background
from agent.errors import EmbedderError
from agent.interfaces import Embedder, Filter, Scored, Store
from agent.language import Language, grams
from agent.settings import Settings
from agent.values import Evidence, Flag, Hit, Searched, SubQuery

if TYPE_CHECKING:
    from agent.interfaces import Vector


RELATED_WEIGHT, RELATED_DEPTH = 0.05, 20
"""The list of the question's related words brings candidates; by rank alone it goes behind whatever the words themselves found."""
CANDIDATES = 50
"""How many of the lists' hits, besides those of the related words, reach the second stage: more cost time and find nothing."""
GRAMS = 30
"""How many of the question's character grams are counted, the rarest: the others hardly tell texts apart."""
CLOSEST = 5
"""How many of the best by meaning the other candidates are compared with (pseudo-relevance feedback: Rocchio 1971)."""


@dataclass(frozen=True, slots=True)
class Legs:
    """What each list of one search found: by the question's words, by what they are also called, by meaning."""

    words: Sequence[Scored]
    related: Sequence[Scored] = ()
    meaning: Sequence[Scored] = ()


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the second stage begins with: the hits by rank fusion and, where asked for, the features of each."""

    hits: tuple[Hit, ...]
    features: tuple[rescoring.Features, ...]
    meaning: Sequence[Scored]
    related: expansion.Related
    vector: Vector | None


class Wissensbasis:
    """Hybrid search over one index: lists joined by rank, their hits then ordered anew by the scores behind the ranks.

    Without an embedder, or where it cannot be reached, the search is lexical and says so. `weights` is the table `ranking`.
    """

    name = "wissensbasis"

    def __init__(
        self,
        store: Store,
        language: Language,
        settings: Settings,
        embedder: Callable[[], Embedder | None],
        *,
        weights: Mapping[str, Mapping[str, float]],
    ) -> None:
        self.about: str = language.table["sources"][self.name]
        self._store = store
        self._model = weights
        self._language = language
        self._settings = settings
        self._get_embedder = embedder

    @cached_property
    def _embedder(self) -> Embedder | None:
        return self._get_embedder() if self._store.info.embedder else None

    @cached_property
    def _unembedded(self) -> bool:
        """Whether no chunk has a vector yet: an ingest that ended before any was made."""
        return self._store.info.without_vector == self._store.info.chunks > 0

    def search(self, subquery: SubQuery, /, k: int) -> Evidence:
        where = self.filter(subquery)
        found = self.candidates(subquery, featured=self._settings.fusion == "rescored")
        hits = self._rescored(found) if found.features else list(found.hits)
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
            beside=tuple(self._outside(self._language.query_terms(subquery.query), where)),
            flags=frozenset({Flag.LEXICAL_ONLY}) if found.vector is None or self._unembedded else frozenset(),
            embedder=str(self._store.info.embedder) if found.meaning else None,
            weights=self._weights(subquery.query),
            variants={term: named for term, others in found.related.items() if (named := _names(others))},
            likeness=self._likeness(hits, found.vector) if found.vector is not None else {},
            signals=_signals(found.meaning),
        )

    def candidates(self, subquery: SubQuery, *, featured: bool = True) -> Candidates:
        """What the lists of a search bring together, best first by rank fusion; with the features the second stage orders them by."""
        where = self.filter(subquery)
        vector = self._vector(subquery.query)
        meaning = Background(lambda: self._store.dense(vector, self._settings.candidate_pool, where)) if vector is not None else None
        terms = self._language.terms(subquery.query)
        related = expansion.related(subquery.query, terms, self._language, self._store)
        asked = self._asked(subquery.query, terms, related) if featured else None  # while the vectors are scanned
        legs = self._legs(terms, related, where, meaning)
        hits = self._joined(legs, most=CANDIDATES if featured else None)
        features = self._features(hits, asked, vector) if asked else ()
        return Candidates(tuple(hits.values()), tuple(features), legs.meaning, related, vector)

    def filter(self, subquery: SubQuery) -> Filter:
        """The period and the scope of a sub-query as the store's filter; an unknown scope admits everything."""
        scope = self._language.table["scopes"].get(subquery.scope, {})
        only = scope.get("only")
        return Filter(subquery.period, frozenset(only) if only else None, frozenset(scope.get("without", ())))

    def _vector(self, query: str) -> Vector | None:
        """The question's vector; None where the search goes by words alone."""
        try:
            return self._embedder.query(query) if self._embedder else None
        except EmbedderError:
            return None

    def _likeness(self, hits: Sequence[Hit], vector: Vector) -> dict[str, float]:
        """The cosine of every quotable piece of the hits with the question."""
        rows = self._store.rows_of(hit.entry.id for hit in hits)
        return self._store.piece_similarities(vector, [rows[hit.entry.id][hit.chunk.ordinal] for hit in hits])

    def _legs(self, terms: Sequence[str], related: expansion.Related, where: Filter, meaning: Background[list[Scored]] | None) -> Legs:
        pool = self._settings.candidate_pool
        others = list(dict.fromkeys(other for each in related.values() for other in each))
        return Legs(
            self._store.lexical(terms, pool, where),
            self._store.lexical(others, min(pool, RELATED_DEPTH), where),
            meaning.result() if meaning else (),
        )

    def _joined(self, legs: Legs, *, most: int | None = None) -> dict[int, Hit]:
        """The hits of all lists by row, best first by reciprocal rank fusion: `most` of them, and all of the related words."""
        words = {scored.row: (rank, scored.score) for rank, scored in enumerate(legs.words, start=1)}
        meaning = {scored.row: (rank, scored.score) for rank, scored in enumerate(legs.meaning, start=1)}
        weighted = ((1.0, legs.words), (RELATED_WEIGHT, legs.related), (self._settings.dense_weight, legs.meaning))
        scores = ranking.rrf(((weight, [scored.row for scored in leg]) for weight, leg in weighted), k=self._settings.rrf_k)
        order = ranking.ordered(scores)
        others = {scored.row for scored in legs.related}
        order = [row for place, row in enumerate(order) if most is None or place < most or row in others]
        found = self._store.fetch(order)
        hits = {}
        for row in order:
            (lexical_rank, lexical_score), (dense_rank, dense_score) = words.get(row, (None, None)), meaning.get(row, (None, None))
            why = "words and meaning" if row in words and row in meaning else "words" if row in words else "meaning"
            hits[row] = Hit(
                *found[row],
                scores[row],
                lexical_rank=lexical_rank,
                dense_rank=dense_rank,
                lexical_score=lexical_score,
                dense_score=dense_score,
                why=why if row in words or row in meaning else "related words",
            )
        return hits

    def _asked(self, query: str, terms: Sequence[str], related: expansion.Related) -> rescoring.Asked:
        said, pieces = Counter(terms), Counter(grams.grams(grams.laid_out(query, *expansion.called(related))))
        chunks = self._store.info.chunks
        words = {term: rescoring.idf(chunks, held) for term, held in self._store.document_frequencies(said).items()}
        known = {gram: rescoring.idf(chunks, held) for gram, held in self._store.gram_frequencies(pieces).items() if held}
        rarest = sorted(known, key=lambda gram: (-known[gram], gram))[:GRAMS]
        return rescoring.Asked(
            {term: times * words[term] for term, times in said.items()}, {gram: pieces[gram] * known[gram] for gram in rarest}, related
        )

    def _features(self, hits: Mapping[int, Hit], asked: rescoring.Asked, vector: Vector | None) -> list[rescoring.Features]:
        cosines = self._store.similarities(vector, hits) if vector is not None else {}
        # Of few candidates the best are no sample of what was meant, but all there is.
        closest = sorted(cosines, key=lambda row: (-cosines[row], row))[: min(CLOSEST, 1 + len(cosines) // 5)]
        closeness = self._store.closeness(hits, closest) if cosines else {}
        analysed = self._store.analysed(hits)
        layouts = [grams.laid_out(hit.entry.title, hit.chunk.text) for hit in hits.values()]
        counted = (grams.counted if vector is None else grams.counted_at_once)(layouts, list(asked.grams))
        return [
            rescoring.features(
                asked, rescoring.Candidate(*analysed[row], pieces, grams.letters(layout), cosines.get(row), closeness.get(row))
            )
            for row, pieces, layout in zip(hits, counted, layouts, strict=True)
        ]

    def _rescored(self, found: Candidates) -> list[Hit]:
        """The hits by the model's scores, best first."""
        scores = rescoring.scores(found.features, self._model["hybrid" if found.meaning else "lexical"])
        return ranking.scored(found.hits, scores)

    def _references(self, hits: Sequence[Hit], where: Filter) -> list[Hit]:
        wanted = ranking.referenced(hits, best=self._settings.cross_ref_expand)
        if not wanted:
            return []
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
        if where.period is None or not self._store.dated:
            return []
        words = self._store.lexical(terms, self._settings.context_blocks, replace(where, period=None))
        hits = list(self._joined(Legs(words)).values())
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

        Dates are the filter's and plain numbers are the case's, so neither counts.
        """
        kinds = self._language.word_weights(query)
        asked = {term: kind for term, kind in kinds.items() if not self._language.tells_time(term) and not _number(term)}
        frequencies = self._store.document_frequencies(asked)
        chunks = self._store.info.chunks
        return {term: kind * log(1 + (chunks - frequencies[term] + 0.5) / (frequencies[term] + 0.5)) for term, kind in asked.items()}


def _names(others: Mapping[str, float]) -> tuple[str, ...]:
    """Those of a term's relatives that name the same thing."""
    return tuple(other for other, weight in others.items() if weight >= rescoring.SAME)


def _number(term: str) -> bool:
    return term.replace("_", "").isdigit()


def _signals(dense: Sequence[Scored]) -> dict[str, float]:
    """What the dense leg says of the search as a whole: the best cosine, and how far it stands out of its list."""
    if not dense:
        return {}
    best = dense[0].score
    return {"cosine": best, "margin": best - sum(scored.score for scored in dense) / len(dense)}
