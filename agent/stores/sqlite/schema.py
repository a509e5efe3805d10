"""The tables of the index, as the steps that lead from each version to the next; the last step's number is the schema version.

Steps are only ever appended. All of them run inside the caller's transaction, so that a migration is as indivisible as an ingest.
"""

from __future__ import annotations

import sqlite3

from agent.stores.sqlite import counts

_FIRST = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE entries (
        row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, valid_from TEXT, valid_to TEXT, bereich TEXT NOT NULL,
        title TEXT NOT NULL, stand TEXT NOT NULL, topic TEXT NOT NULL, tags TEXT NOT NULL, norms TEXT NOT NULL, sources TEXT NOT NULL,
        layer INTEGER NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL)""",
    """CREATE TABLE cross_refs (
        entry INTEGER NOT NULL REFERENCES entries(row), place INTEGER NOT NULL, target TEXT NOT NULL,
        PRIMARY KEY (entry, place)) WITHOUT ROWID""",
    # Narrow, with the texts apart: every match of a search passes through this table to be filtered.
    """CREATE TABLE chunks (
        row INTEGER PRIMARY KEY, entry INTEGER NOT NULL REFERENCES entries(row), ordinal INTEGER NOT NULL, hash TEXT NOT NULL,
        section TEXT NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL, UNIQUE (entry, ordinal))""",
    "CREATE INDEX chunks_by_hash ON chunks (hash)",
    "CREATE TABLE texts (row INTEGER PRIMARY KEY REFERENCES chunks(row), text TEXT NOT NULL)",
    """CREATE VIRTUAL TABLE fts USING fts5(head, body, tokenize = "unicode61 remove_diacritics 0 tokenchars '§_'")""",
    "CREATE VIRTUAL TABLE vocabulary USING fts5vocab(fts, row)",
    # The quotable pieces of each chunk, by the hash of the text their vector is made of.
    "CREATE TABLE pieces (row INTEGER NOT NULL REFERENCES chunks(row), hash TEXT NOT NULL)",
    "CREATE INDEX pieces_by_row ON pieces (row)",
    "CREATE INDEX pieces_by_hash ON pieces (hash)",
    "CREATE TABLE IF NOT EXISTS vectors (identity TEXT NOT NULL, hash TEXT NOT NULL, vector BLOB NOT NULL, UNIQUE (identity, hash))",
    *counts.TABLES,
)

_PAGES = ("ALTER TABLE entries ADD COLUMN pages TEXT NOT NULL DEFAULT '[]'",)

STEPS: tuple[tuple[str, ...], ...] = (_FIRST, _PAGES)
VERSION = len(STEPS)

_DROPPED = ("vocabulary", "fts", "words", "grams", "texts", "pieces", "chunks", "cross_refs", "entries", "meta")


def version(connection: sqlite3.Connection) -> int | None:
    """The schema version of a database: 0 for an empty one, None for one that is no index."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return 0
    if "meta" not in tables:
        return None
    found = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    return int(found[0]) if found and str(found[0]).isdigit() else None


def migrate(connection: sqlite3.Connection, current: int) -> None:
    """Brings a database of version `current` to `VERSION`."""
    for step in STEPS[current:]:
        for statement in step:
            connection.execute(statement)
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('schema_version', ?)", (str(VERSION),))


def start_anew(connection: sqlite3.Connection) -> None:
    """Empty tables of the current version; vectors stay where they have this version's form, for no text is embedded twice."""
    current = version(connection)
    for table in _DROPPED if current == VERSION else (*_DROPPED, "vectors"):
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    migrate(connection, 0)
