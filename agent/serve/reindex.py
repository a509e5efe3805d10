"""Brings the index up to date in the background, one run at a time; questions go on being answered from the old one meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from agent.errors import AgentError
from agent.ingest import build
from agent.serve.forms import Reindex
from agent.serve.problems import Problem
from agent.settings import Settings
from agent.wiring import Bench, Place

_STILL: dict[str, Any] = {
    "started": None,
    "finished": None,
    "stage": None,
    "done": 0,
    "total": 0,
    "change": None,
    "problems": [],
    "error": None,
}


class Reindexer:
    """`done` is called after every run that changed the index."""

    def __init__(self, settings: Settings, place: Place, *, done: Callable[[], None]) -> None:
        self._settings, self._place, self._done = settings, place, done
        self._lock = threading.Lock()
        self._state: dict[str, Any] = {"state": "idle", **_STILL}
        self._thread: threading.Thread | None = None

    def state(self) -> dict[str, Any]:
        """How far the run is, or how the last one ended."""
        with self._lock:
            return dict(self._state)

    def start(self, wanted: Reindex) -> dict[str, Any]:
        """Begin a run. Raises a Problem (409) while one is under way."""
        with self._lock:
            if self._state["state"] == "running":
                raise Problem(409, "reindex_running", "The index is being brought up to date already.", "GET /reindex tells how far it is.")
            self._state = {"state": "running", **_STILL, "started": _now()}
            # no daemon: a run that has begun is finished before the process ends
            self._thread = threading.Thread(target=self._run, args=(wanted,), name="reindex")
            self._thread.start()
            return dict(self._state)

    def wait(self) -> None:
        """Until the run that is under way has ended."""
        if self._thread is not None:
            self._thread.join()

    def _run(self, wanted: Reindex) -> None:
        told: dict[str, Any] = {}
        try:
            told = self._brought(wanted)
        except AgentError as error:
            told = {"state": "failed", "error": str(error)}
        except Exception as error:  # a background thread has nobody above it
            told = {"state": "failed", "error": f"This is a bug ({type(error).__name__})."}
            raise
        finally:
            self._tell(**told, finished=_now())

    def _brought(self, wanted: Reindex) -> dict[str, Any]:
        bench = Bench(self._settings, self._place)
        problems: list[str] = []
        if wanted.register_entries:
            built = build.build(self._place.kb, bench.language, licence=wanted.licence)
            problems = [str(problem) for problem in built.problems]
            if problems and not wanted.skip_bad:
                return {"state": "failed", "error": "Some entries cannot be registered.", "problems": problems}
        change, admission = bench.ingest(self._progress, skip_bad=wanted.skip_bad, full=wanted.full)
        self._done()
        found = problems or [str(problem) for problem in admission.problems]
        return {"state": "done", "change": asdict(change), "problems": found}

    def _progress(self, done: int, total: int, what: str) -> None:
        self._tell(stage=what, done=done, total=total)

    def _tell(self, **changes: Any) -> None:
        with self._lock:
            self._state |= changes


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
