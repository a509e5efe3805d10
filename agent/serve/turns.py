"""Places at the processor, given in the order in which they were asked for."""

from __future__ import annotations

import threading
from collections import deque


class Turns:
    """A semaphore that is fair: a place goes over to who has waited longest, so that nobody is overtaken again and again."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._lock = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()

    def acquire(self) -> None:
        """A place, as soon as it is one's turn."""
        with self._lock:
            if self._free:  # then nobody waits
                self._free -= 1
                return
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        turn.acquire()

    def release(self) -> None:
        """Give a place back: to the next, if there is one."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()
