"""The index as a question sees it: one generation, read-only, whatever an ingest does meanwhile."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from agent.errors import EmptyIndex, IndexProblem
from agent.i18n import tr
from agent.interfaces import Beside, Filter, IndexInfo, Scored
from agent.stores.sqlite import connect, matrix, records, schema
from agent.values import Chunk, EntryInfo

if TYPE_CHECKING:
    from agent.interfaces import Vector


_MOST_TERMS, _FEW_TERMS = 256, 3
_FEW_CHUNKS = 5000
"""Below this size of an index no term costs enough to be left out."""
_COMMON = 0.02
"""A term that more than this share of the chunks holds orders candidates (agent.rescoring), but it need not bring them."""
_EQUALS = 14
"""How many more than asked for are looked at, so that of equal ones at the end none is left out by chance."""
_MOST_COMPOUNDS = 12
_SLIP_LENGTH = 3
_LAST = chr(0x10FFFF)
"""Sorts behind every letter: where the words with a given beginning end."""


class SqliteStore:
    """Satisfies `Store`. Raises IndexProblem where the file is missing, foreign, of another version, locked or damaged.

    `analyser` is the version of the language whose terms will be asked for. `head` and `body` weigh a term found in an entry's title,
    tags or section name, and one found in a chunk's text (BM25F-like weights of FTS5's `bm25`; Robertson, Zaragoza, Taylor 2004).
    """

    def __init__(self, path: Path, analyser: str, *, head: float = 2.0, body: float = 1.0) -> None:
        self._path = path
        self._weights = (head, body)
        self._entries: dict[int, EntryInfo] = {}
        self._last: tuple[Vector, Vector] | None = None
        """The vector asked for last, with the cosines of all chunks: a search asks for those of its candidates next."""
        self._connection = connect.reading(path)
        try:
            with connect.told(path):
                self._meta = self._checked(analyser)
        except BaseException:
            self.close()
            raise

    def _checked(self, analyser: str) -> Mapping[str, str]:
        version = schema.version(self._connection)
        if version == 0:
            raise EmptyIndex(tr("The index {path} is empty: its first ingest did not finish.", path=self._path), tr(connect.INGEST))
        if version is None:
            raise connect.foreign(self._path)
        if version > schema.VERSION:
            raise connect.newer(self._path, version)
        if version < schema.VERSION:
            raise IndexProblem(
                tr("The index {path} was made by an older pv-agent (schema {version}).", path=self._path, version=version),
                tr(connect.INGEST),
            )
        known = records.meta(self._connection)
        if known.get("analyser") != analyser:
            raise connect.analysed_otherwise(self._path, known.get("analyser"), analyser)
        try:
            self._info = records.info(known)
        except (KeyError, ValueError, TypeError) as error:
            raise IndexProblem(
                tr("The index {path} does not say what it is ({error}).", path=self._path, error=error), tr(connect.ANEW)
            ) from error
        return known

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets the generation go."""
        self._connection.close()

    @property
    def info(self) -> IndexInfo:
        return self._info

    def damage(self) -> str:
        """What is wrong with the file, looked at page by page; empty where it is whole."""
        with connect.told(self._path):
            ((found,),) = self._connection.execute("PRAGMA quick_check(1)")
            held = [int(self._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]) for table in ("chunks", "texts", "fts")]
        if found != "ok":
            return str(found).splitlines()[-1]
        return (
            ""
            if held == [self._info.chunks] * 3
            else tr("{chunks} chunks, {texts} texts, {indexed} indexed", chunks=held[0], texts=held[1], indexed=held[2])
        )

    def superseded(self) -> bool:
        """Whether the file holds another generation by now."""
        with closing(connect.reading(self._path)) as now, connect.told(self._path):
            found = now.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
        return found is None or str(found[0]) != self._info.generation

    # --- the two legs -----------------------------------------------------------------------------

    def lexical(self, terms: Sequence[str], depth: int, where: Filter) -> list[Scored]:
        """BM25 over analysed terms, joined by OR; best first, equals by entry id and ordinal."""
        phrases = [f'"{term.replace(chr(34), chr(34) * 2)}"' for term in self._telling(terms)]
        if not phrases or depth < 1:
            return []
        where, match = self._heeded(where), " OR ".join(phrases)
        return self._ranked(match, depth) if where == Filter() else self._ranked_where(match, depth, where)

    def _ranked(self, match: str, depth: int) -> list[Scored]:
        """The best of all chunks: no table but the full text's own is asked for each match, which is half the time."""
        wanted = depth + _EQUALS
        statement = "SELECT rowid, bm25(fts, ?, ?) AS cost FROM fts WHERE fts MATCH ? ORDER BY cost LIMIT ?"
        found = self._all(statement, (*self._weights, match, wanted))
        while len(found) == wanted and found[-1][1] == found[depth - 1][1]:
            wanted *= 4
            found = self._all(statement, (*self._weights, match, wanted))
        return self._parted([Scored(row, -cost) for row, cost in found])[:depth]

    def _parted(self, found: list[Scored]) -> list[Scored]:
        """The same list, best first, with equals by entry id and ordinal."""
        if all(one.score != other.score for one, other in pairwise(found)):
            return found
        named = "SELECT chunks.row, entries.id, ordinal FROM chunks JOIN entries ON entries.row = chunks.entry"
        rows = self._all(f"{named} WHERE chunks.row IN (SELECT value FROM json_each(?))", (json.dumps([each.row for each in found]),))
        names = {row: (entry_id, ordinal) for row, entry_id, ordinal in rows}
        return sorted(found, key=lambda each: (-each.score, names[each.row]))

    def _ranked_where(self, match: str, depth: int, where: Filter) -> list[Scored]:
        condition, values = _condition(where)
        found = self._all(
            f"""SELECT fts.rowid, bm25(fts, ?, ?) AS cost FROM fts JOIN chunks ON chunks.row = fts.rowid
            JOIN entries ON entries.row = chunks.entry WHERE fts MATCH ? AND {condition}
            ORDER BY cost, entries.id, chunks.ordinal LIMIT ?""",
            (*self._weights, match, *values, depth),
        )
        return [Scored(row, -cost) for row, cost in found]

    def _heeded(self, where: Filter) -> Filter:
        """The filter without what it cannot filter here: where no entry has a date, every one holds in every period."""
        return where if where.period is None or self.dated else replace(where, period=None)

    def _telling(self, terms: Sequence[str]) -> list[str]:
        """The distinct terms worth their time, which grows with every chunk that holds one: no common ones beside rarer ones."""
        distinct = [term for term in dict.fromkeys(terms) if term and "\0" not in term]
        if len(distinct) <= _FEW_TERMS or (self._info.chunks < _FEW_CHUNKS and len(distinct) <= _MOST_TERMS):
            return distinct
        phrases = [term for term in distinct if " " in term]
        seen = {term: count for term, count in self.document_frequencies(distinct).items() if count}
        rarest = sorted(seen, key=lambda term: (seen[term], term))
        common = _COMMON * self._info.chunks
        return phrases + [term for place, term in enumerate(rarest[:_MOST_TERMS]) if place < _FEW_TERMS or seen[term] <= common]

    def dense(self, vector: Vector, depth: int, where: Filter) -> list[Scored]:
        """Exact cosine over all vectors; best first, equals by entry id and ordinal."""
        import numpy as np

        table = self._matrix
        count = len(table.rows)
        if not count or depth < 1:
            return []
        where = self._heeded(where)
        scores = table.cosines(self._fitting(vector))
        self._last = (vector, scores)
        found: list[Scored] = []
        taken, width = 0, min(count, depth if where == Filter() else 4 * depth)
        while len(found) < depth and taken < count:
            # All that reach the width-th best score, so that equals are never parted by chance.
            bar = np.partition(scores, count - width)[count - width]
            places = np.flatnonzero(scores >= bar)
            places = places[np.lexsort((places, -scores[places]))]
            fresh = zip(table.rows[places[taken:]].tolist(), scores[places[taken:]].tolist(), strict=True)
            there = [Scored(row, score) for row, score in fresh if row >= 0]
            admitted = self._admitted([each.row for each in there], where)
            found += [each for each in there if each.row in admitted]
            taken, width = len(places), min(count, 4 * max(width, len(places)))
        return (found if table.later is None else self._parted(found))[:depth]

    def similarities(self, vector: Vector, rows: Collection[int]) -> dict[int, float]:
        """Cosine of the given rows; rows without a vector are left out."""
        there, places = self._matrix.places_of(rows)
        if not there:
            return {}
        if self._last is not None and self._last[0] is vector:
            return dict(zip(there, self._last[1][places].tolist(), strict=True))
        scores = (self._matrix.at(places) @ self._fitting(vector)).tolist()
        return dict(zip(there, scores, strict=True))

    def piece_similarities(self, vector: Vector, rows: Collection[int]) -> dict[str, float]:
        """Cosine of every quotable piece of these rows that has a vector, by its key."""
        if self._info.embedder is None or not rows:
            return {}
        found = self._all(
            """SELECT DISTINCT pieces.hash, vectors.vector FROM pieces CROSS JOIN vectors ON vectors.hash = pieces.hash
            WHERE vectors.identity = ? AND pieces.row IN (SELECT value FROM json_each(?))""",
            (records.identity_key(self._info.embedder), json.dumps(list(rows))),
        )
        if not found:
            return {}
        import numpy as np

        stacked = np.frombuffer(b"".join(blob for _, blob in found), dtype="<f4").reshape(len(found), -1)
        return {key: float(score) for (key, _), score in zip(found, stacked @ self._fitting(vector), strict=True)}

    def closeness(self, rows: Collection[int], to: Collection[int]) -> dict[int, float]:
        """The mean cosine of each row with the rows `to`, the mean of all `rows` taken off beforehand; rows without a vector are left out.

        Vectors of one model share a large common direction, so that without the subtraction everything is close to everything.
        """
        import numpy as np

        there, places = self._matrix.places_of(rows)
        among = [place for place, row in enumerate(there) if row in set(to)]
        if not among:
            return {}
        vectors = self._matrix.at(places)
        vectors -= vectors.mean(axis=0)
        lengths = np.maximum(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)), 1e-9)
        middle = (vectors[among] / lengths[among, None]).mean(axis=0)
        return dict(zip(there, (vectors @ middle / lengths).tolist(), strict=True))

    @cached_property
    def _matrix(self) -> matrix.Matrix:
        if self._info.embedder is None:
            raise IndexProblem(tr("The index {path} holds no vectors.", path=self._path), tr(connect.INGEST))
        with connect.told(self._path):
            return matrix.of(self._connection, self._path, self._info.generation, records.kind(self._meta))

    def _fitting(self, vector: Vector) -> Vector:
        import numpy as np

        fitting = np.asarray(vector, dtype=np.float32)
        if fitting.shape != (self._matrix.vectors.shape[1],):
            raise IndexProblem(
                tr(
                    "The index {path} holds vectors of {embedder}, and the question's has {size} dimensions.",
                    path=self._path,
                    embedder=self._info.embedder,
                    size=fitting.size,
                ),
                tr("Ask with that embedder (PV_EMBEDDER), or run `pv-agent ingest --full`."),
            )
        return fitting

    def _admitted(self, candidates: Sequence[int], where: Filter) -> set[int]:
        if where == Filter():
            return set(candidates)
        condition, values = _condition(where)
        found = self._all(
            f"""SELECT chunks.row FROM chunks JOIN entries ON entries.row = chunks.entry
            WHERE chunks.row IN (SELECT value FROM json_each(?)) AND {condition}""",
            (json.dumps(candidates), *values),
        )
        return {row for (row,) in found}

    # --- what is known of rows and terms ----------------------------------------------------------

    def fetch(self, rows: Iterable[int]) -> dict[int, tuple[Chunk, EntryInfo]]:
        """The chunks of these rows with their entries, in the order asked for; unknown rows are left out."""
        with connect.told(self._path):
            return records.chunks(self._connection, rows, self._entries)

    def rows_of(self, entry_ids: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """The rows of each entry's chunks, in reading order; unknown ids are left out."""
        wanted = list(dict.fromkeys(entry_ids))
        found: dict[str, list[int]] = {}
        for entry_id, row in self._all(
            """SELECT entries.id, chunks.row FROM chunks JOIN entries ON entries.row = chunks.entry
            WHERE entries.id IN (SELECT value FROM json_each(?)) ORDER BY chunks.ordinal""",
            (json.dumps(wanted),),
        ):
            found.setdefault(entry_id, []).append(row)
        return {entry_id: tuple(found[entry_id]) for entry_id in wanted if entry_id in found}

    @cached_property
    def dated(self) -> bool:
        """Whether any entry holds for some days only."""
        return bool(self._all("SELECT EXISTS (SELECT 1 FROM entries WHERE valid_from IS NOT NULL OR valid_to IS NOT NULL)", ())[0][0])

    def document_frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """In how many chunks each term occurs (0 where it does not)."""
        found = dict(self._all("SELECT term, chunks FROM words WHERE term IN (SELECT value FROM json_each(?))", (json.dumps(list(terms)),)))
        return {term: int(found.get(term, 0)) for term in terms}

    def gram_frequencies(self, grams: Collection[bytes]) -> dict[bytes, int]:
        """In how many chunks each character gram (agent.language.grams) occurs (0 where it does not)."""
        wanted = list(grams)
        marks = ", ".join("?" * len(wanted))
        found = dict(self._all(f"SELECT gram, chunks FROM grams WHERE gram IN ({marks})", wanted))
        return {gram: int(found.get(gram, 0)) for gram in wanted}

    def compounds(self, terms: Collection[str], most: int = _MOST_COMPOUNDS) -> dict[str, tuple[str, ...]]:
        """Longer words of the index that begin or end with each of the terms, the shortest first, at most `most` for either end."""
        found: dict[str, tuple[str, ...]] = {}
        for term in terms:
            words: list[str] = []
            for column, start in (("term", term), ("backwards", term[::-1])):
                condition = f"{column} > ? AND {column} < ? AND length(term) > ?"
                statement = f"SELECT term FROM words WHERE {condition} ORDER BY length(term), term LIMIT ?"
                words += [word for (word,) in self._all(statement, (start, start + _LAST, len(term) + 2, most))]
            found[term] = tuple(words)
        return found

    def near(self, term: str) -> tuple[str, ...]:
        """Words of about the term's length that share its first or its last three letters: where a mistyped word is to be found."""
        shortest, longest = len(term) - _SLIP_LENGTH, len(term) + _SLIP_LENGTH
        found: set[str] = set()
        for column, start in (("term", term[:3]), ("backwards", term[:-4:-1])):
            condition = f"{column} >= ? AND {column} < ? AND length(term) BETWEEN ? AND ?"
            found.update(
                word for (word,) in self._all(f"SELECT term FROM words WHERE {condition}", (start, start + _LAST, shortest, longest))
            )
        return tuple(sorted(found))

    def analysed(self, rows: Collection[int]) -> dict[int, tuple[str, str]]:
        """The terms of each row as they were indexed, joined by blanks: its head's (title, tags, section) and its text's."""
        statement = "SELECT id, c0, c1 FROM fts_content WHERE id IN (SELECT value FROM json_each(?))"  # FTS5's own table of the texts
        return {row: (head, body) for row, head, body in self._all(statement, (json.dumps(list(rows)),))}

    def synonyms(self) -> Mapping[str, tuple[str, ...]]:
        """The knowledge base's own synonyms, analysed: term -> terms; a phrase stands as its terms joined by blanks."""
        return self._beside.synonyms

    def readings(self) -> Mapping[str, str]:
        """Words of dialect and shorthand, folded, each with how it is read in a question."""
        return self._beside.readings

    def limits(self) -> Mapping[str, Any]:
        """What the knowledge base does not hold ("outside"), and the facts that decide what applies ("facts")."""
        return self._beside.limits

    @cached_property
    def _beside(self) -> Beside:
        return records.beside(self._meta)

    def _all(self, statement: str, values: Sequence[object]) -> list[Any]:
        with connect.told(self._path):
            return self._connection.execute(statement, values).fetchall()


def _condition(where: Filter) -> tuple[str, list[str]]:
    """The filter as SQL over `entries`; says the same as `Filter.admits`."""
    parts, values = ["1"], []
    if where.period is not None:
        parts.append("coalesce(entries.valid_from, '') <= ? AND coalesce(entries.valid_to, '9999-12-31') >= ?")
        values += [where.period.end.isoformat(), where.period.start.isoformat()]
    if where.only is not None:
        parts.append("entries.bereich IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(sorted(where.only)))
    if where.without:
        parts.append("entries.bereich NOT IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(sorted(where.without)))
    return " AND ".join(parts), values
