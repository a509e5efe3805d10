"""The run log: every step of every answer, append-only in SQLite, with listeners for a spinner or a web page.

Questions can hold personal data of employees: `purge` deletes runs, and a log that is off writes nothing.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, is_dataclass
from datetime import UTC, date, datetime
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from agent.errors import AgentError, UsageError
from agent.i18n import tr

Listener = Callable[[str, Mapping[str, Any]], None]

_PLACES = {"status": "status", "model": "models"}

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE runs (
      id TEXT PRIMARY KEY, started TEXT NOT NULL, question TEXT NOT NULL, stichtag TEXT NOT NULL, strategy TEXT, kb_version TEXT,
      refused INTEGER, reason TEXT, origin TEXT, model TEXT, milliseconds REAL, answer TEXT
    );
    CREATE TABLE steps (
      run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, number INTEGER NOT NULL, at TEXT NOT NULL, kind TEXT NOT NULL,
      data TEXT NOT NULL,
      PRIMARY KEY (run, number)
    ) WITHOUT ROWID;
    CREATE INDEX runs_started ON runs(started);
    """,
    "ALTER TABLE runs ADD COLUMN review TEXT;",
    "ALTER TABLE runs ADD COLUMN label TEXT; ALTER TABLE runs ADD COLUMN said TEXT; ALTER TABLE runs ADD COLUMN searches INTEGER;",
)
"""Append-only: the database's user_version counts how many have been applied."""

DRAFTS: Mapping[str, tuple[str, ...]] = {
    "called": ("text",),
    "review_called": ("text",),
    "drafted": ("text",),
    "formed": ("text", "error"),
    "plan_malformed": ("message",),
    "step_malformed": ("message",),
    "reasoned": ("text",),
    "complained": ("message",),
    "reviewed": ("message", "contract"),
    "review_drafted": ("text",),
    "review_ungrounded": ("message",),
    "review_stopped": ("leaks",),
    "revision_refused": ("added", "still_claimed"),
    "correction_refused": ("added",),
    "rewritten": ("queries",),
    "rewritten_failed": ("query",),
}
"""What of which steps holds unchecked text of a model: left out of the log where drafts are not kept."""

COLUMNS = (
    "id", "started", "question", "stichtag", "strategy", "kb_version", "refused", "reason", "origin", "model", "milliseconds",
    "label", "said", "searches",
)  # fmt: skip
"""Fields of a run: `label` is how much looking up it got (A, B, C), `said` what the classifier had said, `searches` how many it took."""

REVIEWED: Mapping[str, str] = {
    "mode": "mode",
    **{name: name for name in ("verdict", "action", "fallback_reason", "text_origin", "retrieval_queries", "context_chunks")},
    **{f"agent{number}_{what}": f"{place}.agent{number}" for number in (1, 2, 3, 4) for what, place in _PLACES.items()},
}
"""Fields of a run's review that `where` compares too, and where each stands in its record."""


class Log(Protocol):
    """Where a part says what it does."""

    def step(self, kind: str, /, **data: Any) -> None: ...


class Run:
    """The steps of one answer, kept in memory until `RunLog` writes them in one transaction; with `of`, further steps of that run."""

    def __init__(self, listeners: Sequence[Listener] = (), *, drafts: bool = True, of: str = "") -> None:
        self.id = of or f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
        self.started = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.steps: list[tuple[str, str, Mapping[str, Any]]] = []
        self._listeners = listeners
        self._left_out = {} if drafts else DRAFTS

    def step(self, kind: str, /, **data: Any) -> None:
        """Keep a step, without a model's unchecked text where `drafts` is off, and tell the listeners."""
        kept = {name: None if name in self._left_out.get(kind, ()) else value for name, value in data.items()}
        self.steps.append((datetime.now(UTC).isoformat(timespec="milliseconds"), kind, kept))
        for listener in self._listeners:
            listener(kind, data)


class RunLog:
    """The SQLite file of all runs. An unwritable place never costs the user the answer: `write` says so by returning False."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def _open(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        if create:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        elif not self._path.is_file():
            raise UsageError(tr("No run has been logged yet."), tr("Ask something first: pv-agent ask …"))
        connection = sqlite3.connect(self._path, timeout=5)
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            if create:
                # many may write at once, and none of them waits for the disk; a loss of power can cost the last runs, never the file
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
                connection.execute("PRAGMA synchronous = NORMAL")
            done = connection.execute("PRAGMA user_version").fetchone()[0]
            for number, script in enumerate(MIGRATIONS[done:], start=done + 1):
                connection.executescript(f"BEGIN;{script};PRAGMA user_version = {number};COMMIT;")
            with connection:
                yield connection
        except sqlite3.Error as error:
            if create:
                raise
            raise AgentError(
                tr("{path} cannot be read ({reason}).", path=self._path, reason=error),
                tr("Wait for who holds it, or move it away: the next question begins anew."),
            ) from error
        finally:
            connection.close()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Inside, the file stays open: SQLite tidies up behind the last who closes it, and between many writes that takes the most time."""
        connection: sqlite3.Connection | None = None
        try:
            with suppress(sqlite3.Error, OSError), self._open(create=True):
                pass
            with suppress(sqlite3.Error):
                connection = sqlite3.connect(self._path, check_same_thread=False)
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            yield
        finally:
            if connection is not None:
                connection.close()

    def write(self, run: Run, record: Mapping[str, Any]) -> bool:
        """Store a finished run; `record` holds the columns besides id and start. False where the file cannot be written."""
        row = {"id": run.id, "started": run.started, **record}
        try:
            with self._open(create=True) as db:
                db.execute(f"INSERT INTO runs ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))
                _add_steps(db, run, after=0)
        except (sqlite3.Error, OSError):
            return False
        return True

    def add(self, run: Run, review: Mapping[str, Any]) -> bool:
        """Add the steps and the review record of what came after a run's answer. False where that is not possible or the run is gone."""
        try:
            with self._open() as db:
                if not db.execute("UPDATE runs SET review = ? WHERE id = ?", (dumped(review), run.id)).rowcount:
                    return False
                after = db.execute("SELECT coalesce(max(number), 0) FROM steps WHERE run = ?", (run.id,)).fetchone()[0]
                _add_steps(db, run, after=after)
        except (AgentError, OSError):
            return False
        return True

    def listed(self, *, where: Mapping[str, str], limit: int = 50) -> list[dict[str, Any]]:
        """The newest runs first; `where` compares columns and fields of the review (REVIEWED) with values."""
        for name in where:
            if name not in (*COLUMNS, *REVIEWED):
                raise UsageError(
                    tr("Runs have no field {name!r}.", name=name), tr("Fields: {names}.", names=", ".join((*COLUMNS, *REVIEWED)))
                )
        condition = " AND ".join(f"CAST({_expression(name)} AS TEXT) = ?" for name in where) or "1"
        with self._open() as db:
            db.row_factory = sqlite3.Row
            rows = db.execute(
                f"SELECT {', '.join(COLUMNS)}, review FROM runs WHERE {condition} ORDER BY started DESC, id DESC LIMIT ?",
                (*where.values(), limit),
            )
            return [{**dict(row), "review": _loaded(row["review"])} for row in rows]

    def labels(self) -> list[tuple[str, str | None, int]]:
        """How often each label was given, and what the classifier had said then: (label, said, runs), by label."""
        with self._open() as db:
            rows = db.execute("SELECT label, said, count(*) FROM runs WHERE label IS NOT NULL GROUP BY label, said ORDER BY label, said")
            return [(label, said, count) for label, said, count in rows]

    def shown(self, run_id: str) -> dict[str, Any]:
        """One run with all its steps; `run_id` may be a unique beginning."""
        with self._open() as db:
            db.row_factory = sqlite3.Row
            rows = db.execute("SELECT * FROM runs WHERE id = ? OR id LIKE ? ESCAPE '!' LIMIT 2", (run_id, _like(run_id))).fetchall()
            if len(rows) != 1:
                what = tr("There is no run {id!r}.", id=run_id) if not rows else tr("More than one run begins with {id!r}.", id=run_id)
                raise UsageError(what, tr("pv-agent runs list shows them."))
            return _whole(db, rows[0])

    def since(self, day: date | None) -> Iterator[dict[str, Any]]:
        """Every run started on a day or later (None: all) as `shown` gives it, the oldest first."""
        with self._open() as db:
            db.row_factory = sqlite3.Row
            rows = db.execute("SELECT * FROM runs WHERE started >= ? ORDER BY started, id", (day.isoformat() if day else "",)).fetchall()
            for row in rows:
                yield _whole(db, row)

    def purge(self, *, before: date | None) -> int:
        """Delete the runs started before a day (None: all); returns how many."""
        with self._open() as db:
            limit = before.isoformat() if before else "9999"
            count = int(db.execute("DELETE FROM runs WHERE started < ?", (limit,)).rowcount)
        with self._open() as db:
            db.commit()
            db.execute("VACUUM")  # deleted questions must not linger in free pages,
            db.commit()
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()  # nor in the log of what was written
        return count


def _expression(name: str) -> str:
    """A field as SQL; a run without a review was one in mode off."""
    if name == "mode":
        return "coalesce(json_extract(review, '$.mode'), 'off')"
    return name if name in COLUMNS else f"json_extract(review, '$.{REVIEWED[name]}')"


def _add_steps(db: sqlite3.Connection, run: Run, *, after: int) -> None:
    db.executemany(
        "INSERT INTO steps VALUES (?, ?, ?, ?, ?)",
        [(run.id, number, at, kind, dumped(data)) for number, (at, kind, data) in enumerate(run.steps, start=after + 1)],
    )


def _loaded(text: str | None) -> Any:
    return json.loads(text) if text else None


def _whole(db: sqlite3.Connection, row: sqlite3.Row) -> dict[str, Any]:
    run = dict(row)
    steps = db.execute("SELECT at, kind, data FROM steps WHERE run = ? ORDER BY number", (run["id"],))
    run["steps"] = [{"at": step["at"], "kind": step["kind"], **json.loads(step["data"])} for step in steps]
    run["answer"], run["review"] = _loaded(run["answer"]), _loaded(run["review"])
    return run


def _like(prefix: str) -> str:
    return "".join(f"!{c}" if c in "!%_" else c for c in prefix) + "%"


def dumped(data: Any) -> str:
    """JSON of whatever a step holds: dataclasses, enums, dates, sets."""
    return json.dumps(data, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, frozenset | set):
        return sorted(value)
    return str(value)
