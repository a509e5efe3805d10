"""The run log's first half: what a part may say while it works. (The SQLite half is added below as it is built.)"""

from __future__ import annotations

from typing import Any, Protocol


class Log(Protocol):
    """Where a part says what it does; spinner, run log and web page listen."""

    def step(self, kind: str, /, **data: Any) -> None: ...
