"""Brings the index up to date in the background, one run at a time; questions go on being answered from the old one meanwhile.

A run is a process of its own, and a modest one: it takes no time from who asks, and what it needs of memory is given back.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from agent import i18n
from agent.errors import AgentError
from agent.i18n import tr
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
    """`done` is called after every run that may have changed the index."""

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
                raise Problem(
                    409, "reindex_running", tr("The index is being brought up to date already."), tr("GET /reindex tells how far it is.")
                )
            self._state = {"state": "running", **_STILL, "started": _now()}
            self._thread = threading.Thread(target=self._watch, args=(wanted,), name="reindex")
            self._thread.start()
            return dict(self._state)

    def wait(self) -> None:
        """Until the run that is under way has ended."""
        if self._thread is not None:
            self._thread.join()

    def _watch(self, wanted: Reindex) -> None:
        context = get_context("spawn")  # a fork would inherit the locks of threads that do not live on in it
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(self._settings, self._place, wanted.model_dump(), theirs), name="reindex")
        told: dict[str, Any] = {"state": "failed", "error": tr("The run ended before it was done."), "stage": None}
        try:
            process.start()
            theirs.close()
            with suppress(EOFError):
                while told["state"] == "failed":
                    message = ours.recv()
                    if "state" in message:
                        told = message
                        break
                    self._tell(**message)
            process.join()
        except OSError as error:
            told["error"] = tr("The run cannot be started ({reason}).", reason=error.strerror)
        finally:
            ours.close()
            self._done()
            self._tell(**told, finished=_now())

    def _tell(self, **changes: Any) -> None:
        with self._lock:
            self._state |= changes


def _run(settings: Settings, place: Place, wanted: dict[str, Any], told: Connection) -> None:
    """In the process of a run: tells how far it is, and at last how it ended."""
    if hasattr(os, "nice"):
        os.nice(10)
    i18n.speak(settings.lang)  # what agent.yaml says is not in the environment of a new process
    try:
        told.send(_brought(Bench(settings, place), Reindex.model_validate(wanted), told))
    except AgentError as error:
        told.send({"state": "failed", "error": str(error)})
    except Exception as error:
        said = tr("This is a bug ({name}); the server's log has its traceback.", name=type(error).__name__)
        told.send({"state": "failed", "error": said})
        raise


def _brought(bench: Bench, wanted: Reindex, told: Connection) -> dict[str, Any]:
    problems: list[str] = []
    if wanted.register_entries:
        built = build.build(bench.place.kb, bench.language, licence=wanted.licence)
        problems = [str(problem) for problem in built.problems]
        if problems and not wanted.skip_bad:
            return {"state": "failed", "error": tr("Some entries cannot be registered."), "problems": problems}

    def progress(done: int, total: int, what: str) -> None:
        told.send({"stage": what, "done": done, "total": total})

    change, admission = bench.ingest(progress, skip_bad=wanted.skip_bad, full=wanted.full)
    return {"state": "done", "change": asdict(change), "problems": problems or [str(problem) for problem in admission.problems]}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
