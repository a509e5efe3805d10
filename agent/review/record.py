"""What is kept of a chain's run: enough to compare it with the usual way without reading any text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.review.contracts import Review, Status
from agent.review.roles import ROLES, Call
from agent.settings import Settings
from agent.values import Evidence, Origin, Reason, Tokens

UNAVAILABLE = "unavailable"
"""The verdict of a reviewer whose reply was no contract, or that did not reply: never an approval."""


@dataclass(slots=True)
class Record:
    """What has come together so far; lives for one run only."""

    calls: list[Call] = field(default_factory=list)
    reasons: list[Reason] = field(default_factory=list)
    """Why something fell back, in order: a failed rewriting and what ended the chain."""
    queries: int = 0
    chunks: int = 0
    plain: Evidence = Evidence()
    used: Evidence = Evidence()
    reviews: list[Review | None] = field(default_factory=list)

    @property
    def tokens(self) -> Tokens:
        total = Tokens()
        for call in self.calls:
            total = total + call.tokens
        return total

    def document(self, mode: str, origin: Origin, settings: Settings) -> dict[str, Any]:
        """The run as JSON: `review` of an answer's document, and what `runs list --where` filters on."""
        last = self.reviews[-1] if self.reviews else None
        return {
            "mode": mode,
            "verdict": (last.verdict if last else UNAVAILABLE) if self.reviews else None,
            "action": last.action if last else None,
            "fallback_reason": self.reasons[-1].value if self.reasons and origin in _NOT_THEIRS else None,
            "reasons": [reason.value for reason in self.reasons],
            "text_origin": origin.value,
            "retrieval_queries": self.queries,
            "context_chunks": self.chunks,
            "models": {role.name: role.model(settings) for role in ROLES},
            "status": {role.name: _status(role.name, self.calls) for role in ROLES},
            "calls": [call.document() for call in self.calls],
            "ms": round(sum(call.ms for call in self.calls), 1),
            "context": {"plain": _ids(self.plain), "used": _ids(self.used)},
        }


_NOT_THEIRS = (Origin.FALLBACK, Origin.REFUSAL, Origin.EXTRACTIVE, Origin.UNGROUNDED)


def _status(role: str, calls: Sequence[Call]) -> str:
    own = [call.status.value for call in calls if call.role == role]
    return own[-1] if own else Status.NOT_RUN.value


def _ids(evidence: Evidence) -> list[str]:
    return list(dict.fromkeys(hit.entry.id for hit in evidence.hits))
