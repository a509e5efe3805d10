"""Errors as problem documents (RFC 9457): a status, a code a program can act on, one sentence, and what mends it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent import errors
from agent.i18n import noted, tr
from agent.values import Reason

MEDIA_TYPE = "application/problem+json"

TITLES: Mapping[int, str] = {
    400: noted("Bad Request"),
    401: noted("Unauthorized"),
    403: noted("Forbidden"),
    404: noted("Not Found"),
    405: noted("Method Not Allowed"),
    408: noted("Request Timeout"),
    409: noted("Conflict"),
    413: noted("Content Too Large"),
    421: noted("Misdirected Request"),
    422: noted("Unprocessable Content"),
    500: noted("Internal Server Error"),
    502: noted("Bad Gateway"),
    503: noted("Service Unavailable"),
    504: noted("Gateway Timeout"),
}

STATUS: tuple[tuple[type[errors.AgentError], int, str], ...] = (
    (errors.UsageError, 400, "bad_request"),
    (errors.KnowledgeBaseError, 503, "knowledge_base"),
    (errors.IndexProblem, 503, "index"),
    (errors.ModelTimeout, 504, Reason.MODEL_TIMEOUT.value),
    (errors.ModelError, 502, Reason.MODEL_UNAVAILABLE.value),
    (errors.EmbedderError, 503, "embedder"),
    (errors.SourceError, 502, Reason.SOURCE_FAILED.value),
    (errors.ConfigError, 500, "configuration"),
    (errors.AgentError, 500, "failed"),
)
"""The first family an error belongs to decides."""


@dataclass(eq=False)
class Problem(Exception):
    """An answer that is an error. `detail` is one sentence, `mend` what to do about it (or empty)."""

    status: int
    code: str
    detail: str
    mend: str = ""
    retry_after: int | None = None
    """Seconds after which asking again may help."""
    errors: tuple[Mapping[str, str], ...] = ()
    """Of a request that has not the form it should have: each `where` with what is wrong there."""

    def document(self, request_id: str = "") -> dict[str, Any]:
        """The body; what says nothing is left out."""
        head = {"type": f"urn:pv-agent:problem:{self.code}", "title": tr(TITLES[self.status]), "status": self.status, "code": self.code}
        rest = {"detail": self.detail, "mend": self.mend, "errors": [dict(each) for each in self.errors], "request_id": request_id}
        return head | {name: value for name, value in rest.items() if value}

    def headers(self) -> dict[str, str]:
        """What goes before the body besides its type."""
        found = {"Retry-After": str(self.retry_after)} if self.retry_after is not None else {}
        return found | ({"WWW-Authenticate": "Bearer"} if self.status == 401 else {})


def of(error: errors.AgentError) -> Problem:
    """The problem an expected error is told as."""
    status, code = next((status, code) for family, status, code in STATUS if isinstance(error, family))
    return Problem(status, code, error.message, error.mend)
