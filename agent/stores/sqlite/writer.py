"""The index as an ingest sees it: the truth in one transaction, vectors in batches, and what is derived from both."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from agent.errors import IndexProblem
from agent.i18n import tr
from agent.interfaces import Beside, Document, EmbedderIdentity, Held, IndexInfo, Update
from agent.stores.sqlite import connect, matrix, records, schema
from agent.stores.sqlite.counts import Counts
from agent.values import Chunk, EntryInfo

if TYPE_CHECKING:
    from agent.interfaces import Vector

_WITHOUT = "NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.identity = ? AND vectors.hash = chunks.hash)"
_FORGOTTEN = "DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM chunks UNION SELECT hash FROM pieces)"
_LOST = """
    DELETE FROM vectors WHERE identity = ? AND hash IN (SELECT value FROM json_each(?)) AND NOT EXISTS (SELECT 1 FROM chunks
    WHERE chunks.hash = vectors.hash) AND NOT EXISTS (SELECT 1 FROM pieces WHERE pieces.hash = vectors.hash)"""
_BATCH = 500


class SqliteIndex:
    """Satisfies `Index`; a context manager that holds the right to write the index as long as it is open. Raises IndexProblem.

    `analyser` is the version of the language whose terms will be written. With `anew` the first update replaces all there is (a
    damaged file is set aside under `<name>.damaged`), and only the vectors stay.
    """

    def __init__(self, path: Path, analyser: str, *, anew: bool = False) -> None:
        self._path = path
        self._analyser = analyser
        self._anew = anew
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise IndexProblem(
                tr("The folder {parent} cannot be made.", parent=path.parent), tr("Set PV_DB_PATH to another place.")
            ) from error
        self._lock = connect.lock(path)
        try:
            with connect.told(path):
                self._connection = self._opened()
        except BaseException:
            self._lock.close()
            raise

    def _opened(self) -> sqlite3.Connection:
        try:
            connection = connect.writing(self._path)
        except sqlite3.DatabaseError as error:
            if not (self._anew and connect.broken(error)):
                raise
            self._set_aside()
            connection = connect.writing(self._path)
        try:
            self._check(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_aside(self) -> None:
        for beside in ("-wal", "-shm"):
            self._path.with_name(self._path.name + beside).unlink(missing_ok=True)
        self._path.replace(self._path.with_name(self._path.name + ".damaged"))

    def _check(self, connection: sqlite3.Connection) -> None:
        version = schema.version(connection)
        if version is None:
            raise connect.foreign(self._path)
        if self._anew or version == 0:
            return
        if version > schema.VERSION:
            raise connect.newer(self._path, version)
        found = records.meta(connection).get("analyser")
        if found != self._analyser:
            raise connect.analysed_otherwise(self._path, found, self._analyser)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives up the right to write."""
        with suppress(sqlite3.Error):
            self._connection.close()
        self._lock.close()

    # --- what is there ----------------------------------------------------------------------------

    @property
    def info(self) -> IndexInfo | None:
        """What the index says of itself; None before the first update, and where everything is to be built anew."""
        if self._blank:
            return None
        with connect.told(self._path):
            return records.info(records.meta(self._connection))

    @property
    def _blank(self) -> bool:
        with connect.told(self._path):
            return self._anew or schema.version(self._connection) == 0

    def held(self) -> Mapping[str, Held]:
        """What the index holds of each entry."""
        if self._blank:
            return {}
        with connect.told(self._path):
            hashes: dict[int, list[str]] = {}
            for entry, chunk in self._connection.execute("SELECT entry, hash FROM chunks ORDER BY entry, ordinal"):
                hashes.setdefault(entry, []).append(chunk)
            found = self._connection.execute("SELECT row, id, sha256, path FROM entries ORDER BY id")
            return {entry_id: Held(sha256, path, tuple(hashes.get(row, ()))) for row, entry_id, sha256, path in found}

    def beside(self) -> Beside | None:
        """What the knowledge base says beside its entries, as it was stored; None before the first update."""
        if self._blank:
            return None
        with connect.told(self._path):
            return records.beside(records.meta(self._connection))

    def fetch(self, rows: Iterable[int]) -> dict[int, tuple[Chunk, EntryInfo]]:
        """The chunks of these rows with their entries."""
        with connect.told(self._path):
            return records.chunks(self._connection, rows, {})

    def pending(self) -> Mapping[str, int]:
        """The hashes that have no vector of the index's embedder yet, each with a row that bears it."""
        identity = self._identity()
        if identity is None:
            return {}
        with connect.told(self._path):
            return dict(
                self._connection.execute(f"SELECT hash, min(row) FROM chunks WHERE {_WITHOUT} GROUP BY hash ORDER BY 2", (identity,))
            )

    def pending_pieces(self) -> Mapping[str, int]:
        """The same of the quotable pieces: the hashes without a vector, each with the row of a chunk it stands in."""
        identity = self._identity()
        if identity is None:
            return {}
        with connect.told(self._path):
            return dict(
                self._connection.execute(
                    """SELECT hash, min(row) FROM pieces WHERE NOT EXISTS
                    (SELECT 1 FROM vectors WHERE vectors.identity = ? AND vectors.hash = pieces.hash) GROUP BY hash ORDER BY 2, 1""",
                    (identity,),
                )
            )

    def _identity(self) -> str | None:
        with connect.told(self._path):
            return None if self._blank else records.meta(self._connection).get("embedder")

    # --- what is written --------------------------------------------------------------------------

    def write(self, update: Update, /) -> None:
        """Takes the index to the state `update` describes, or, on any error, leaves it as it was."""
        with self._transaction() as connection:
            if self._anew:
                schema.start_anew(connection)
            else:
                schema.migrate(connection, schema.version(connection) or 0)
            counted = Counts()
            lost = _remove(connection, update.removed, counted)
            for batch in _batches(update.documents):
                lost |= _remove(connection, [document.entry.id for document in batch], counted)
                _add(connection, batch, counted)
            counted.write(connection)
            self._forget(connection, lost, update.embedder)
            self._stamp(
                {
                    "analyser": self._analyser,
                    "language": update.language,
                    "kb_version": update.kb_version,
                    **records.of_beside(update.beside),
                    "built": datetime.now(UTC).isoformat(timespec="seconds"),
                    **({"embedder": records.identity_key(update.embedder)} if update.embedder else {}),
                }
            )
        self._anew = False

    def _forget(self, connection: sqlite3.Connection, lost: set[str], embedder: EmbedderIdentity | None) -> None:
        """Removes the vectors of what is gone; where the embedder stays, none but those of texts just removed can be."""
        before = records.meta(connection).get("embedder")
        if before and (embedder is None or before == records.identity_key(embedder)):
            connection.execute(_LOST, (before, json.dumps(sorted(lost))))
        else:
            connection.execute(_FORGOTTEN)

    def add_vectors(self, vectors: Mapping[str, Vector], /) -> None:
        """Adds vectors of the index's embedder, by hash, in one transaction. ValueError for one of another dimension."""
        import numpy as np

        identity = self._identity()
        if not vectors or identity is None:
            return
        dimension = EmbedderIdentity(*json.loads(identity)).dimension
        made = []
        for chunk, vector in vectors.items():
            plain = np.asarray(vector, dtype="<f4")
            if plain.shape != (dimension,):
                raise ValueError(f"a vector of shape {plain.shape} in an index of {dimension} dimensions")
            made.append((identity, chunk, plain.tobytes()))
        with self._transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", made)
            self._stamp({})

    def finish(self) -> None:
        """Sees to it that a matrix serves this generation, and removes the others."""
        known = self.info
        if known is None:
            return
        with connect.told(self._path):
            if known.embedder is not None and known.without_vector < known.chunks:
                matrix.settled(self._connection, self._path, known.generation, records.kind(records.meta(self._connection)))
            else:
                matrix.clear(self._path)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with connect.told(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite has already rolled back where the disk was full.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _stamp(self, known: Mapping[str, str]) -> None:
        """Writes meta with the counts and a new generation, the last act of every transaction."""

        def count(statement: str, *values: str | None) -> str:
            return str(self._connection.execute(statement, values).fetchone()[0])

        there = records.meta(self._connection)
        embedder = known.get("embedder", there.get("embedder"))
        counted = {
            "generation": os.urandom(8).hex(),
            "last_row": str(_next(self._connection, "chunks") - 1),
            "lineage": there.get("lineage") or os.urandom(8).hex(),
            "entries": count("SELECT count(*) FROM entries"),
            "chunks": count("SELECT count(*) FROM chunks"),
            "without_vector": count(f"SELECT count(*) FROM chunks WHERE {_WITHOUT}", embedder),
        }
        self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", [*known.items(), *counted.items()])


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    for document in documents:
        batch.append(document)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _remove(connection: sqlite3.Connection, entry_ids: Iterable[str], counted: Counts) -> set[str]:
    """Takes entries out; the hashes of what they held."""
    wanted = json.dumps(list(entry_ids))
    counted.take(connection, wanted)
    of_entries = "(SELECT row FROM entries WHERE id IN (SELECT value FROM json_each(?)))"
    of_chunks = f"(SELECT row FROM chunks WHERE entry IN {of_entries})"
    held = " UNION ".join(f"SELECT hash FROM {table} WHERE row IN {of_chunks}" for table in ("chunks", "pieces"))
    lost = {name for (name,) in connection.execute(held, (wanted, wanted))}
    for statement in (
        f"DELETE FROM fts WHERE rowid IN {of_chunks}",
        f"DELETE FROM texts WHERE row IN {of_chunks}",
        f"DELETE FROM pieces WHERE row IN {of_chunks}",
        f"DELETE FROM chunks WHERE entry IN {of_entries}",
        f"DELETE FROM cross_refs WHERE entry IN {of_entries}",
        "DELETE FROM entries WHERE id IN (SELECT value FROM json_each(?))",
    ):
        connection.execute(statement, (wanted,))
    return lost


def _add(connection: sqlite3.Connection, documents: list[Document], counted: Counts) -> None:
    entry = _next(connection, "entries")
    row = _next(connection, "chunks")
    made: dict[str, list[tuple[object, ...]]] = {table: [] for table in ("entries", "cross_refs", "chunks", "texts", "pieces", "fts")}
    for document in documents:
        made["entries"].append((entry, *_columns(document.entry)))
        made["cross_refs"] += [(entry, place, target) for place, target in enumerate(document.entry.cross_refs)]
        for indexed in document.chunks:
            chunk = indexed.chunk
            made["chunks"].append((row, entry, chunk.ordinal, indexed.hash, chunk.section, *chunk.span))
            made["texts"].append((row, chunk.text))
            made["pieces"] += [(row, piece) for piece in indexed.pieces]
            made["fts"].append((row, indexed.head, indexed.body))
            row += 1
        counted.add((each.head, each.body, document.entry.title, each.chunk.text) for each in document.chunks)
        entry += 1
    for table, columns in made.items():
        if columns:
            named = "fts (rowid, head, body)" if table == "fts" else table
            connection.executemany(f"INSERT INTO {named} VALUES ({', '.join('?' * len(columns[0]))})", columns)


def _next(connection: sqlite3.Connection, table: str) -> int:
    """The first free row. One of chunks is never given again: a matrix tells by the rows alone what is new."""
    last = "SELECT value + 0 FROM meta WHERE key = 'last_row'" if table == "chunks" else "SELECT 0"
    return int(connection.execute(f"SELECT 1 + max(coalesce(max(row), 0), coalesce(({last}), 0)) FROM {table}").fetchone()[0])


def _columns(entry: EntryInfo) -> tuple[object, ...]:
    lists = (entry.tags, entry.norms, entry.sources, entry.pages)
    tags, norms, sources, pages = (json.dumps(values, ensure_ascii=False) for values in lists)
    return (
        entry.id,
        entry.valid_from.isoformat() if entry.valid_from else None,
        entry.valid_to.isoformat() if entry.valid_to else None,
        entry.bereich,
        entry.title,
        entry.stand.isoformat(),
        entry.topic,
        tags,
        norms,
        sources,
        entry.layer,
        entry.path,
        entry.sha256,
        pages,
    )
