"""The index in one SQLite file: entries, chunks, full text (FTS5) and vectors; beside it the matrix derived from them."""

from agent.stores.sqlite.reader import SqliteStore as SqliteStore
from agent.stores.sqlite.writer import SqliteIndex as SqliteIndex
