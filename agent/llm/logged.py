"""A model whose every call is logged, whoever makes it: what was sent as a hash, what came back, how it ended, with which options."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any

from agent.audit import fingerprint
from agent.errors import ModelError
from agent.interfaces import ChatReply, ChatRequest, Model
from agent.runlog import Log


@dataclass(frozen=True)
class Logged:
    """Satisfies `Model` by `model`; each call becomes a step `kind` of `log`, without the reply's text unless `texts`."""

    model: Model
    log: Log = field(kw_only=True)
    kind: str = field(default="called", kw_only=True)
    texts: bool = field(default=True, kw_only=True)

    @property
    def name(self) -> str:
        return self.model.name

    def installed(self) -> bool:
        return self.model.installed()

    def digest(self) -> str | None:
        return self.model.digest()

    @cached_property
    def _digest(self) -> str | None:
        return self.model.digest()

    def chat(self, request: ChatRequest, /) -> ChatReply:
        start = perf_counter()
        try:
            reply = self.model.chat(request)
        except ModelError as error:
            self.log.step(self.kind, **_sent(request, self.name), error=type(error).__name__, message=error.message)
            raise
        self.log.step(
            self.kind,
            **_sent(request, reply.model),
            digest=self._digest,
            text=reply.text if self.texts else None,
            finish=reply.finish,
            tokens=asdict(reply.tokens),
            prompt_cut=reply.prompt_cut,
            ms=round((perf_counter() - start) * 1000, 1),
        )
        return reply


def _sent(request: ChatRequest, model: str) -> dict[str, Any]:
    return {
        "model": model,
        "system": fingerprint(request.system),
        "user": fingerprint(request.user),
        "characters": len(request.system) + len(request.user),
        "json": request.schema is not None,
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
    }
