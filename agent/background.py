"""One thing done in a thread of its own while its owner goes on: a scan of vectors and a search for words need not wait for each other."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """Begins with `act` at once; `result` waits for it and gives what it returned, or raises what it raised."""

    def __init__(self, act: Callable[[], T]) -> None:
        self._act = act
        self._done: list[T] = []
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._done.append(self._act())
        except BaseException as error:
            self._error = error

    def result(self) -> T:
        """What came of it."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._done[0]
