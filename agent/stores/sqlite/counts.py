"""Keeps two vocabularies beside the full text: its words, to be found by either end, and its character grams, each with its chunks counted.

Both are sums over chunks, added to and taken from in the transaction that changes those, so that an index brought up to date holds what
one built anew would.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from agent.language import grams

TABLES = (
    """CREATE TABLE words (term TEXT PRIMARY KEY, backwards TEXT NOT NULL, chunks INTEGER NOT NULL) WITHOUT ROWID""",
    "CREATE INDEX words_by_end ON words (backwards)",
    "CREATE TABLE grams (gram BLOB PRIMARY KEY, chunks INTEGER NOT NULL) WITHOUT ROWID",
)

_OF_ENTRIES = """
    SELECT fts.head, fts.body, entries.title, texts.text FROM chunks JOIN entries ON entries.row = chunks.entry
    JOIN fts ON fts.rowid = chunks.row JOIN texts ON texts.row = chunks.row
    WHERE entries.id IN (SELECT value FROM json_each(?))"""


@dataclass
class Counts:
    """What one transaction changes: in how many more (or fewer) chunks a word, a gram occurs."""

    words: Counter[str] = field(default_factory=Counter)
    grams: Counter[bytes] = field(default_factory=Counter)

    def add(self, chunks: Iterable[tuple[str, str, str, str]]) -> None:
        """Counts chunks in; each is its head's terms, its body's terms, its title and its text."""
        for head, body, title, text in chunks:
            self.words.update({*head.split(), *body.split()})
            self.grams.update(grams.distinct([grams.laid_out(title, text)])[0])

    def take(self, connection: sqlite3.Connection, entry_ids: str) -> None:
        """Counts the chunks of these entries (a JSON list of ids) out."""
        for head, body, title, text in connection.execute(_OF_ENTRIES, (entry_ids,)):
            self.words.subtract({*head.split(), *body.split()})
            self.grams.subtract(grams.distinct([grams.laid_out(title, text)])[0])

    def write(self, connection: sqlite3.Connection) -> None:
        """Adds what was counted to the tables; what no chunk holds any more goes."""
        raised = "ON CONFLICT DO UPDATE SET chunks = chunks + excluded.chunks"
        words = ((word, word[::-1], by) for word, by in sorted(self.words.items()) if by)
        connection.executemany(f"INSERT INTO words VALUES (?, ?, ?) {raised}", words)
        connection.executemany(f"INSERT INTO grams VALUES (?, ?) {raised}", ((gram, by) for gram, by in sorted(self.grams.items()) if by))
        connection.executemany("DELETE FROM words WHERE term = ? AND chunks <= 0", ((word,) for word, by in self.words.items() if by < 0))
        connection.executemany("DELETE FROM grams WHERE gram = ? AND chunks <= 0", ((gram,) for gram, by in self.grams.items() if by < 0))
