"""The dated values as a small database of their own: what a model may ask in SQL, and what the plain look-up reads.

It is built beside and swapped in, whole, at every ingest, and never written otherwise. Only the table `werte` is for questions in SQL;
`shown` holds for each of its rows what evidence is made of.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path

from agent.errors import IndexProblem
from agent.i18n import tr
from agent.interfaces import VALUES_TABLE
from agent.values import DatedValue

_SCHEMA = (
    f"""CREATE TABLE {VALUES_TABLE} (
        key TEXT NOT NULL, row TEXT NOT NULL, label TEXT NOT NULL, value, unit TEXT, period TEXT, valid_from TEXT NOT NULL,
        valid_to TEXT, norm TEXT, PRIMARY KEY (key, row, valid_from))""",
    """CREATE TABLE shown (
        key TEXT NOT NULL, row TEXT NOT NULL, valid_from TEXT NOT NULL, stand TEXT NOT NULL, shown TEXT NOT NULL, entries TEXT NOT NULL,
        labels TEXT NOT NULL, around TEXT NOT NULL, start_known INTEGER NOT NULL, PRIMARY KEY (key, row, valid_from)) WITHOUT ROWID""",
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
)


def write(path: Path, values: Iterable[DatedValue], meta: Mapping[str, str]) -> None:
    """Put a database of these values in the place of the one at `path`. Raises IndexProblem, and then that one is as it was."""
    fresh = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.unlink(missing_ok=True)
        with closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = OFF").fetchone()
            connection.execute("BEGIN")
            for statement in _SCHEMA:
                connection.execute(statement)
            for value in values:
                connection.execute(f"INSERT INTO {VALUES_TABLE} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _asked(value))
                connection.execute("INSERT INTO shown VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _shown(value))
            connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            connection.execute("COMMIT")
        fresh.replace(path)
    except (sqlite3.Error, OSError) as error:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise IndexProblem(
            tr("The dated values cannot be written to {path} ({error}).", path=path, error=error), tr("Check permissions and room.")
        ) from error


def _asked(value: DatedValue) -> tuple[object, ...]:
    until = value.valid_to.isoformat() if value.valid_to else None
    first = (value.key, value.row, value.label, value.value, value.unit, value.period)
    return (*first, value.valid_from.isoformat(), until, value.norm)


def _shown(value: DatedValue) -> tuple[object, ...]:
    labels = "\n".join(" ".join(sorted(label)) for label in value.labels)
    head = (value.key, value.row, value.valid_from.isoformat(), value.stand.isoformat(), value.shown)
    return (*head, " ".join(value.entries), labels, " ".join(sorted(value.around)), int(value.start_known))
