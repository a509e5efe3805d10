"""uvicorn's HTTP protocol with a time limit for what it waits for without one: the head of a connection's first request."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class Impatient(H11Protocol):
    """A connection on which no request has begun within `seconds` is closed: many such would use up what the system has."""

    seconds = 10.0
    _timer: asyncio.TimerHandle | None = None

    @classmethod
    def within(cls, seconds: float) -> type[Impatient]:
        """The protocol with another limit."""
        return type("Impatient", (cls,), {"seconds": seconds})

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._timer = self.loop.call_later(self.seconds, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer:
            self._timer.cancel()
        super().connection_lost(exc)

    def _give_up(self) -> None:
        begun: object = self.cycle  # None before the first request, whatever its type says
        if begun is None and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
            self.transport.close()
