"""Benches for many threads: each is lent to one at a time, and one that reads an index superseded meanwhile is replaced."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date

from agent.interfaces import ChatReply, ChatRequest, Model
from agent.serve.turns import Turns
from agent.settings import Settings
from agent.wiring import Bench, Place

LATELY = 5.0
"""Seconds for which a look at the knowledge base's files or at the model's server is good: every question would pay for it anew."""


class Looks:
    """What was seen a moment ago, for all benches together."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[float, bool]] = {}

    def lately(self, what: str, look: Callable[[], bool]) -> bool:
        """What `look` says, or said less than `LATELY` seconds ago. Two threads may look at the same time; both see the truth."""
        seen = self._seen.get(what)
        if seen is None or time.monotonic() - seen[0] > LATELY:
            seen = self._seen[what] = (time.monotonic(), look())
        return seen[1]

    def forget(self) -> None:
        """Look again next time."""
        self._seen.clear()


class Patient:
    """A model that leaves the processor to other questions while it is waited for; several threads of one question may ask it at once."""

    def __init__(self, model: Model, processor: Turns) -> None:
        self._model, self._processor = model, processor
        self._lock = threading.Lock()
        self._asked = 0

    @property
    def name(self) -> str:
        return self._model.name

    def installed(self) -> bool:
        return self._model.installed()

    def digest(self) -> str | None:
        return self._model.digest()

    def chat(self, request: ChatRequest, /) -> ChatReply:
        with self._lock:
            self._asked += 1
            first = self._asked == 1
        if first:
            self._processor.release()
        try:
            return self._model.chat(request)
        finally:
            with self._lock:
                self._asked -= 1
                last = self._asked == 0
            if last:
                self._processor.acquire()


@dataclass(frozen=True)
class Served(Bench):
    """A bench among several over the same knowledge base, which need not all look at its surroundings with every question."""

    looks: Looks = field(default_factory=Looks)

    processor: Turns = field(default_factory=lambda: Turns(1))
    """A place at the processor, held while a question is answered but for the time a model takes."""

    def superseded(self) -> bool:
        return self.looks.lately(f"superseded {self.store.info.generation}", super().superseded)

    def stale(self) -> bool:
        return self.looks.lately(f"stale {self.store.info.generation}", super().stale)

    def model(self, name: str = "") -> Model:
        return Patient(super().model(name), self.processor)

    def there(self, model: Model) -> bool:
        return self.looks.lately(f"model {model.name}", model.installed)


class Desk:
    """The benches of one knowledge base. A thread that borrows one has it for itself; what is idle waits for the next."""

    def __init__(self, settings: Settings, place: Place, today: Callable[[], date] = date.today) -> None:
        self._settings, self._place, self._today = settings, place, today
        self._looks = Looks()
        self.processor = Turns(1 + (os.cpu_count() or 1))
        """Places at the processor: more threads than it has cores take it from each other, but for one, which has it while another waits
        to go on with Python, where one goes on at a time."""
        self._idle: list[Served] = []
        self._lock = threading.Lock()

    @contextmanager
    def working(self) -> Iterator[Served]:
        """A bench with a place at the processor."""
        with self.processor, self.bench() as bench:
            yield bench

    @contextmanager
    def bench(self) -> Iterator[Served]:
        """A bench over the newest index. Raises IndexProblem where there is none that can be read."""
        bench = self.borrowed()
        try:
            yield bench
        except BaseException:
            bench.close()  # whatever went wrong may have gone wrong in it
            raise
        self.give_back(bench)

    def give_back(self, bench: Served) -> None:
        """Let others have a bench that was borrowed."""
        with self._lock:
            self._idle.append(bench)

    def borrowed(self) -> Served:
        """A bench over the newest index, to be given back, or closed where something went wrong."""
        while True:
            with self._lock:
                bench = self._idle.pop() if self._idle else None
            if bench is None:
                return Served(self._settings, self._place, today=self._today, looks=self._looks, processor=self.processor)
            if not bench.superseded():
                return bench
            bench.close()

    def refresh(self) -> None:
        """Let go of all idle benches, so that none holds an old index open."""
        self._looks.forget()
        with self._lock:
            idle, self._idle = self._idle, []
        for bench in idle:
            bench.close()
        del idle
        gc.collect()  # a bench and its parts know each other: what they have read of the old index would stay for long
