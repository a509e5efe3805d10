"""A reviewed chain that is still to be run, for an answer that has been given already."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent.runlog import Listener


@dataclass(frozen=True, slots=True)
class Shadow:
    """The deferred run of mode `shadow`. It changes nothing that was answered: `run` only adds its record to the log of `run_id`.

    It may be run in any thread, once; not running it does no harm.
    """

    run_id: str
    _run: Callable[[Sequence[Listener]], Mapping[str, Any]]

    def run(self, listeners: Sequence[Listener] = ()) -> Mapping[str, Any]:
        """Run the chain and log it; its record. Raises AgentError where the index fails, never for a model."""
        return self._run(listeners)
