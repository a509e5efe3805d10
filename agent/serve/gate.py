"""How many questions are answered at once, how many may wait, and how long: past that, who asks is told when to come again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent import futures
from contextlib import asynccontextmanager
from contextvars import copy_context
from math import ceil
from threading import Thread
from time import monotonic
from typing import Any, TypeVar

from agent.i18n import tr
from agent.serve.problems import Problem

_T = TypeVar("_T")
_WEIGHT = 0.2
"""How much the newest answer counts in the mean time of one."""


class Gate:
    """`workers` threads for what takes time; before them a queue of at most `queue`, where nobody waits longer than `patience` seconds.

    The threads are none that the end of the program waits for: a model may take minutes.
    """

    def __init__(self, workers: int, queue: int, patience: float) -> None:
        self._work: set[futures.Future[Any]] = set()
        self._places = asyncio.Semaphore(workers)
        self._workers, self._queue, self._patience = workers, queue, patience
        self._mean = 0.5
        self.running = 0
        self.waiting = 0

    @property
    def crowded(self) -> bool:
        """Whether who comes now has to wait."""
        return self._places.locked()

    def admit(self) -> None:
        """Raises a Problem (503) where the queue is full."""
        if self.crowded and self.waiting >= self._queue:
            raise self._full(tr("There are too many questions at once."))

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A place among those that are answered, as soon as one is free. Raises a Problem (503) where the queue is full or too slow."""
        self.admit()
        self.waiting += 1
        try:
            async with asyncio.timeout(self._patience):
                await self._places.acquire()
        except TimeoutError:
            raise self._full(tr("There were too many questions before this one.")) from None
        finally:
            self.waiting -= 1
        self.running += 1
        start = monotonic()
        try:
            yield
        finally:
            self.running -= 1
            self._mean += _WEIGHT * (monotonic() - start - self._mean)
            self._places.release()

    async def run(self, work: Callable[[], _T]) -> _T:
        """The result of `work`, done in a thread of its own."""
        async with self.place():
            return await asyncio.shield(self.start(work))

    def start(self, work: Callable[[], _T]) -> asyncio.Future[_T]:
        """`work` in a thread, for who holds a place already; what goes wrong there is told in the language of the request, too."""
        future: futures.Future[_T] = futures.Future()
        context = copy_context()
        future.set_running_or_notify_cancel()  # from now on it cannot be called off
        self._work.add(future)
        future.add_done_callback(self._work.discard)

        def act() -> None:
            try:
                future.set_result(context.run(work))
            except BaseException as error:
                future.set_exception(error)

        Thread(target=act, name="answer", daemon=True).start()
        return asyncio.wrap_future(future)

    def close(self, seconds: float | None = None) -> int:
        """Waits for what runs, but no longer than this; how much of it still does."""
        return len(futures.wait(list(self._work), seconds).not_done)

    def _full(self, detail: str) -> Problem:
        wait = max(1, ceil(self._mean * (self.waiting + 1) / self._workers))
        return Problem(503, "busy", detail, tr("Ask again in {wait} seconds.", wait=wait), retry_after=wait)
