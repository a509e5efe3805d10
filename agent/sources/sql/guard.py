"""Runs one SELECT that nobody has read: it can only read the one table, and it ends soon, with few rows.

The connection is read-only and sees the file as unchangeable; an authorizer admits reading that table and plain functions, and nothing
else; recursion is refused; a progress handler ends what takes too long; SQLite's own limits bound texts and statements. What a function of
SQLite could spend without being interruptible is not there: `LIKE` is ours (linear, where SQLite's takes exponential time on a pattern
made for it), and functions that make long texts out of nothing are refused.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from agent.errors import SourceError
from agent.i18n import tr

FUNCTIONS = frozenset((
    "abs", "avg", "ceil", "coalesce", "count", "date", "floor", "ifnull", "iif", "instr", "julianday", "length", "like", "lower", "ltrim",
    "max", "min", "nullif", "round", "rtrim", "sign", "strftime", "substr", "substring", "sum", "total", "trim", "typeof", "upper",
))  # fmt: skip
"""The functions a statement may call."""
STEPS = 4_000_000
"""Steps of SQLite's machine in all; a join of the whole table with itself needs about as many."""
_EVERY = 1000
LONGEST_TEXT, LONGEST_STATEMENT, LONGEST_PATTERN = 5_000, 4_000, 100
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: LONGEST_TEXT,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: LONGEST_STATEMENT,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 50,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 8,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_ASKS = re.compile(r"\s*SELECT\b", re.IGNORECASE)
_WITH = re.compile(r"\bWITH\b", re.IGNORECASE)
_ASIDE = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?(?:\*/|\Z)""", re.DOTALL)
"""What is no word of a statement: texts, quoted names, comments."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a statement may read and spend: one table, so many rows, so many seconds."""

    table: str
    rows: int
    seconds: float


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write, whatever it is asked. Raises SourceError where there is no such database."""
    if not path.is_file():
        raise SourceError(tr("There are no dated values at {path}.", path=path), tr("Run `pv-agent ingest`."))
    uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
            for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
                connection.execute(f"PRAGMA {pragma}").fetchall()
            yield connection
    except sqlite3.DatabaseError as error:
        raise SourceError(tr("{path} cannot be read ({reason}).", path=path, reason=error), tr("Run `pv-agent ingest`.")) from error


def selected(path: Path, statement: str, bounds: Bounds) -> list[dict[str, Any]]:
    """The rows of a SELECT, at most `bounds.rows`, by column. Raises SourceError where it is refused, wrong, or takes too long."""
    words = _ASIDE.sub(" ", statement)
    if not _ASKS.match(words):
        raise SourceError(tr("Only a SELECT may be asked of the dated values."), tr("Write SELECT … FROM {table} ….", table=bounds.table))
    if _WITH.search(words):
        # each use of a common table is a copy of it: forty that double fill any memory before a step is counted
        raise SourceError(tr("A WITH may not be asked of the dated values."), tr("Write its query in its place."))
    with opened(path) as connection:
        _fence(connection, bounds)
        try:
            cursor = connection.execute(statement)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchmany(bounds.rows)]
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
            raise SourceError(
                tr("The statement was not answered: {told}.", told=_told(error)), tr("Write one SELECT on {table}.", table=bounds.table)
            ) from error


def _fence(connection: sqlite3.Connection, bounds: Bounds) -> None:
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    connection.execute("PRAGMA cache_size = -2048").fetchall()
    end, steps = monotonic() + bounds.seconds, iter(range(STEPS // _EVERY))

    def like(pattern: object, text: object, escape: object = None) -> bool | None:
        if monotonic() > end:
            raise TimeoutError  # a call of a function is one step, however long it takes
        return _like(pattern, text, escape)

    for arguments in (2, 3):
        connection.create_function("like", arguments, like, deterministic=True)
    connection.set_progress_handler(lambda: monotonic() > end or next(steps, None) is None, _EVERY)
    connection.set_authorizer(_authorizer(bounds.table))


def _authorizer(table: str) -> Callable[..., int]:
    def allowed(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        reads = action == sqlite3.SQLITE_READ and first == table
        calls = action == sqlite3.SQLITE_FUNCTION and second in FUNCTIONS
        return sqlite3.SQLITE_OK if reads or calls or action == sqlite3.SQLITE_SELECT else sqlite3.SQLITE_DENY

    return allowed


def _told(error: Exception) -> str:
    said = " ".join(str(error).split())[:200].rstrip(".")
    return tr("it took too long") if said == "interrupted" else said or type(error).__name__


def _like(pattern: object, text: object, escape: object = None) -> bool | None:
    """SQL's LIKE in at most len(pattern) steps a character of the text; letters of any alphabet are compared without case."""
    if pattern is None or text is None:
        return None
    if len(str(pattern)) > LONGEST_PATTERN:
        raise ValueError
    wanted, given = list(_marks(str(pattern).casefold(), str(escape or "").casefold())), str(text).casefold()
    at = place = 0
    star, resume = -1, 0
    while at < len(given):
        if place < len(wanted) and (wanted[place] == "_" or wanted[place] == ("", given[at])):
            at, place = at + 1, place + 1
        elif place < len(wanted) and wanted[place] == "%":
            star, resume, place = place, at, place + 1
        elif star >= 0:
            resume += 1
            at, place = resume, star + 1
        else:
            return False
    return all(mark == "%" for mark in wanted[place:])


def _marks(pattern: str, escape: str) -> Iterator[str | tuple[str, str]]:
    """A pattern's signs: "%" and "_" as they are, a plain character as ("", character)."""
    characters = iter(pattern)
    for character in characters:
        if escape and character == escape:
            yield "", next(characters, escape)
        else:
            yield character if character in "%_" else ("", character)
