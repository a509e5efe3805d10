"""Speaks to a language model on an Ollama server: a prompt in, a reply with its ending out, every fault under its own name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.errors import ModelError, ModelMissing, ModelTimeout, ModelUnavailable
from agent.i18n import tr
from agent.interfaces import ChatReply, ChatRequest
from agent.transport import BrokenBody, ErrorStatus, Server, TimedOut, TransportError, canonical, ollama_models
from agent.transport.chat import TOO_LONG, counted, cut, messages, overflow, sentence, without_thoughts
from agent.values import Finish, Tokens

_LOOK = 3.0  # seconds for a look at the model list


@dataclass(frozen=True, slots=True)
class Ollama:
    """The model `name` on `server`. `num_ctx` (tokens) goes with every request, since a changed one makes Ollama load the model again."""

    server: Server
    name: str
    num_ctx: int = field(default=32768, kw_only=True)
    think: bool = field(default=False, kw_only=True)
    timeout: float = field(default=300.0, kw_only=True)

    def installed(self) -> bool:
        return self.digest() is not None

    def digest(self) -> str | None:
        if not self.server.listening():
            return None
        try:
            return ollama_models(self.server, timeout=_LOOK).get(canonical(self.name))
        except TransportError:
            return None

    def chat(self, request: ChatRequest, /) -> ChatReply:
        body = self._body(request)
        try:
            try:
                reply = self._read(body, request)
            except ErrorStatus as error:
                if error.status != 400 or "does not support thinking" not in error.said:
                    raise
                reply = self._read({key: value for key, value in body.items() if key != "think"}, request)
        except TransportError as error:
            raise self._meaning(error) from error
        return reply

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": messages(request.system, request.user),
            "stream": True,
            "think": self.think,
            "options": {"num_ctx": self.num_ctx, "temperature": request.temperature, "num_predict": request.max_tokens},
        }
        return body if request.schema is None else {**body, "format": dict(request.schema)}

    def _read(self, body: Mapping[str, Any], request: ChatRequest) -> ChatReply:
        """The streamed reply. What fails before any output is an error; what fails after it is a reply that is BROKEN."""
        timeout = self.timeout if request.timeout is None else request.timeout
        pieces: list[str] = []
        last: Mapping[str, Any] = {}
        begun = False
        try:
            for line in self._lines(body, timeout):
                message = line.get("message") or {}
                pieces.append(str(message.get("content") or ""))
                begun = begun or bool(pieces[-1] or message.get("thinking"))
                if line.get("done") is True:
                    last = line
                    break
        except (BrokenBody, ModelUnavailable):
            if not begun:
                raise
        if not begun and not last:
            raise ModelUnavailable(tr("{url} ended its answer before it began.", url=self.server.url), tr("Ask again."))
        finish = _finish(last)
        prompt_tokens = counted(last, "prompt_eval_count")
        return ChatReply(
            text=without_thoughts("".join(pieces)),
            finish=finish,
            model=self.name,
            tokens=Tokens(prompt_tokens, counted(last, "eval_count")),
            prompt_cut=cut(prompt_tokens, len(request.system) + len(request.user)),
        )

    def _lines(self, body: Mapping[str, Any], timeout: float) -> Iterator[Mapping[str, Any]]:
        for line in self.server.stream("/api/chat", body, timeout=timeout):
            if isinstance(line, dict) and isinstance(line.get("message"), dict):
                yield line
            elif isinstance(line, dict) and "error" in line:
                raise ModelUnavailable(
                    tr("{url} could not answer: {sentence}", url=self.server.url, sentence=sentence(line["error"])),
                    tr("See the server's log."),
                )
            else:
                raise BrokenBody(tr("There is no Ollama at {url}.", url=self.server.url))

    def _meaning(self, error: TransportError) -> ModelError:
        """What a failed request means to the one who asked."""
        if isinstance(error, TimedOut):
            return ModelTimeout(f"{self.name}: {error.message}", tr("Allow more with PV_MODEL_TIMEOUT, or take a smaller model."))
        if not isinstance(error, ErrorStatus):
            return ModelUnavailable(error.message, tr("Start Ollama there, or set OLLAMA_URL."))
        if error.is_json and error.status == 404:
            return ModelMissing(
                tr("The model {name} is not on {url}.", name=self.name, url=self.server.url), tr("Run: ollama pull {name}", name=self.name)
            )
        if error.is_json and error.status == 400 and TOO_LONG.search(error.said):
            return ModelError(overflow(error.said), tr("Lower PV_MAX_CONTEXT_CHARS, or raise PV_NUM_CTX as far as the model allows."))
        if not error.is_json and error.status < 500:
            return ModelUnavailable(
                tr("There is no Ollama at {url} (status {status}).", url=self.server.url, status=error.status),
                tr("Start it, or set OLLAMA_URL."),
            )
        return ModelUnavailable(
            tr("{url} answered {status}: {sentence}", url=self.server.url, status=error.status, sentence=sentence(error.said)),
            tr("See the server's log."),
        )


def _finish(last: Mapping[str, Any]) -> Finish:
    """An old server gives no reason with its last line: the reply is then taken as whole."""
    if not last:
        return Finish.BROKEN
    return Finish.LENGTH if last.get("done_reason") == "length" else Finish.COMPLETE
