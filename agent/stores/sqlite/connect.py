"""Opens the database for a question or for an ingest, and turns what SQLite says into one sentence and what mends it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.errors import IndexProblem
from agent.i18n import noted, tr
from agent.stores.sqlite import schema

INGEST = noted("Run `pv-agent ingest`.")
ANEW = noted("Build it anew with `pv-agent ingest --full`.")

_MAPPED = 1 << 30
"""Bytes of the database that are read as memory rather than copied page by page: a third less time for a search."""
_READ_ONLY = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Inside, an error of SQLite becomes an IndexProblem that names the database."""
    try:
        yield
    except sqlite3.Error as error:
        raise _problem(path, error) from error


def _code(error: sqlite3.Error) -> int:
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def broken(error: sqlite3.Error) -> bool:
    """Whether the file is no database, or one with damage."""
    return _code(error) in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)


_LOCKED = noted("The index {path} is locked by another program."), noted("Try again when that one has finished.")
_PROBLEMS = {
    sqlite3.SQLITE_NOTADB: (noted("{path} is not an SQLite database."), ANEW),
    sqlite3.SQLITE_CORRUPT: (noted("The index {path} is damaged."), ANEW),
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_FULL: (
        noted("There is no room left on the disk for the index {path}, which is as it was before."),
        noted("Make room and try again."),
    ),
    sqlite3.SQLITE_READONLY: (
        noted("The index {path} cannot be written."),
        noted("Give write permission, or set PV_DB_PATH to another place."),
    ),
    sqlite3.SQLITE_CANTOPEN: (
        noted("The index {path} cannot be opened."),
        noted("Check the permissions, or set PV_DB_PATH to another place."),
    ),
}


def _problem(path: Path, error: sqlite3.Error) -> IndexProblem:
    message, mend = _PROBLEMS.get(_code(error), (noted("The index {path} cannot be used ({error})."), ANEW))
    return IndexProblem(tr(message, path=path, error=error), tr(mend))


def foreign(path: Path) -> IndexProblem:
    """What is told of a database that is no index."""
    return IndexProblem(tr("{path} is a database of another program.", path=path), tr("Set PV_DB_PATH to another place."))


def newer(path: Path, version: int) -> IndexProblem:
    """What is told of an index whose schema is not known yet."""
    return IndexProblem(tr("The index {path} was made by a newer pv-agent (schema {version}).", path=path, version=version), tr(ANEW))


def analysed_otherwise(path: Path, known: str | None, analyser: str) -> IndexProblem:
    """What is told of an index whose terms another analyser made."""
    said = noted("The index {path} was made with the analyser {known}, and this is {analyser}.")
    return IndexProblem(tr(said, path=path, known=known, analyser=analyser), tr(ANEW))


def reading(path: Path, timeout: float = 5.0) -> sqlite3.Connection:
    """A read-only connection that keeps the state it first sees, whatever is written meanwhile. Raises IndexProblem."""
    if not path.is_file():
        raise IndexProblem(tr("There is no index at {path}.", path=path), tr(INGEST))
    with told(path):
        try:
            return _snapshot(path, "mode=ro", timeout)
        except sqlite3.OperationalError as error:
            if _code(error) not in _READ_ONLY:
                raise
            # A folder in which SQLite may not write its shared memory: nobody else writes there either.
            return _snapshot(path, "immutable=1", timeout)


def _snapshot(path: Path, mode: str, timeout: float) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?{mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA mmap_size = {_MAPPED}").fetchone()
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def writing(path: Path, timeout: float = 10.0) -> sqlite3.Connection:
    """A connection for an ingest, in WAL mode so that questions go on being answered. Raises sqlite3.Error."""
    connection = sqlite3.connect(path, timeout=timeout, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = NORMAL")
        schema.version(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def lock(path: Path) -> sqlite3.Connection:
    """The right to write the index at `path`, held until the connection is closed or its process ends. Raises IndexProblem."""
    with told(path):
        held = exclusive(path.with_name(path.name + ".lock"))
    if held is None:
        raise IndexProblem(tr("Another ingest is writing {path}.", path=path), tr("Wait until it has finished."))
    return held


def exclusive(path: Path) -> sqlite3.Connection | None:
    """Holds the empty file at `path` for this process until the connection is closed; None where another does. Raises sqlite3.Error.

    A lock of SQLite: it works on every platform and cannot outlive its owner.
    """
    connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = OFF").fetchone()  # whoever is killed leaves no second file behind
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        connection.close()
        if _code(error) == sqlite3.SQLITE_BUSY:
            return None
        raise
    return connection
