"""Benches for many threads: each is lent to one at a time, and one that reads an index superseded meanwhile is replaced."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from agent.settings import Settings
from agent.wiring import Bench, Place

_LOOK = 10.0
"""Seconds for which it is believed that the answer model is there, or is not: asking its server costs every question time."""


@dataclass
class Desk:
    """The benches of one knowledge base. A thread that borrows one has it for itself; what is idle waits for the next."""

    settings: Settings
    place: Place
    make: Callable[[Settings, Place], Bench] = Bench
    _idle: list[Bench] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _model: tuple[float, bool] | None = None

    @contextmanager
    def bench(self) -> Iterator[Bench]:
        """A bench over the newest index. Raises IndexProblem where there is none that can be read."""
        bench = self._borrowed()
        try:
            yield bench
        except BaseException:
            bench.close()  # whatever went wrong may have gone wrong in it
            raise
        with self._lock:
            self._idle.append(bench)

    def _borrowed(self) -> Bench:
        while True:
            with self._lock:
                bench = self._idle.pop() if self._idle else None
            if bench is None:
                return self.make(self.settings, self.place)
            if not bench.superseded():
                return bench
            bench.close()

    def refresh(self) -> None:
        """Let go of all idle benches, so that none holds an old index open."""
        with self._lock:
            idle, self._idle = self._idle, []
        for bench in idle:
            bench.close()

    def model_there(self, bench: Bench) -> bool:
        """Whether the answer model is on a server that answers, as it was a moment ago."""
        known = self._model
        if known is None or time.monotonic() - known[0] > _LOOK:
            known = self._model = (time.monotonic(), bench.model().installed())
        return known[1]
