"""Runs the deferred reviews of answers that have been given, one after the other, behind everything else."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from agent.errors import AgentError
from agent.review import Shadow

log = logging.getLogger("pv_agent.serve")

MOST = 16
"""How many may wait: each keeps a bench from others. What comes on top is not run, and the log says so."""


class Shadows:
    """`processor` is held while one runs. A shadow that fails, or that is left out, takes nothing from the answer it belongs to."""

    def __init__(self, processor: AbstractContextManager[object]) -> None:
        self._processor = processor
        self._waiting: queue.Queue[tuple[Shadow, Callable[[], None]] | None] = queue.Queue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closing = False

    def add(self, shadow: Shadow, done: Callable[[], None]) -> None:
        """Run it when its turn comes; `done` is called afterwards, or at once where it is left out."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="shadow", daemon=True)
                self._thread.start()
        if self._waiting.qsize() < MOST:
            self._waiting.put((shadow, done))
        else:
            log.warning("shadow of run %s left out: %d are waiting", shadow.run_id, MOST)
            done()

    def close(self, seconds: float | None = None) -> int:
        """Wait for the one that runs, but no longer than this; how many still do. What waits is left out."""
        with self._lock:
            self._closing, thread = True, self._thread
        if thread is None:
            return 0
        self._waiting.put(None)
        thread.join(seconds)
        return int(thread.is_alive())

    def _work(self) -> None:
        while (item := self._waiting.get()) is not None:
            shadow, done = item
            try:
                if not self._closing:
                    with self._processor:
                        shadow.run()
            except AgentError as error:
                log.warning("shadow of run %s failed: %s", shadow.run_id, error)
            except Exception:
                log.exception("bug in the shadow of run %s", shadow.run_id)
            finally:
                done()
