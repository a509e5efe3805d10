"""Speaks to a language model on any server that answers `/chat/completions` as OpenAI's does: vLLM, llama.cpp, and others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.errors import ModelError, ModelMissing, ModelTimeout, ModelUnavailable
from agent.i18n import tr
from agent.interfaces import ChatReply, ChatRequest
from agent.transport import BrokenBody, ErrorStatus, Server, TimedOut, TransportError
from agent.transport.chat import TOO_LONG, counted, cut, messages, sentence, without_thoughts
from agent.values import Finish, Tokens

_LOOK = 3.0  # seconds for a look at the model list
_OPTIONAL = ("chat_template_kwargs", "stream_options", "response_format")
"""What not every server takes, in the order it is done without where one refuses a request for it."""
_ENDINGS = {"length": Finish.LENGTH, "content_filter": Finish.BROKEN}


@dataclass(frozen=True, slots=True)
class OpenAiCompatible:
    """The model `name` on `server`, whose address ends in its version path (`/v1`). The window is the server's own affair."""

    server: Server
    name: str
    think: bool = field(default=False, kw_only=True)
    timeout: float = field(default=300.0, kw_only=True)

    def installed(self) -> bool:
        if not self.server.listening():
            return False
        try:
            listed = self.server.get_json("/models", timeout=_LOOK)
        except TransportError:
            return False
        models = listed.get("data") if isinstance(listed, dict) else None
        return isinstance(models, list) and any(isinstance(model, dict) and model.get("id") == self.name for model in models)

    def digest(self) -> str | None:
        """This protocol tells none."""
        return None

    def chat(self, request: ChatRequest, /) -> ChatReply:
        body = self._body(request)
        while True:
            try:
                return self._read(body, request)
            except ErrorStatus as error:
                refused = next((name for name in _OPTIONAL if name in body and name in error.said), None)
                if error.status not in (400, 422) or refused is None:
                    raise self._meaning(error) from error
                body = {name: value for name, value in body.items() if name != refused}
            except TransportError as error:
                raise self._meaning(error) from error

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": messages(request.system, request.user),
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "chat_template_kwargs": {"enable_thinking": self.think},
        }
        if request.schema is None:
            return body
        return body | {"response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": dict(request.schema)}}}

    def _read(self, body: Mapping[str, Any], request: ChatRequest) -> ChatReply:
        """The streamed reply. What fails before any output is an error; what fails after it is a reply that is BROKEN."""
        pieces: list[str] = []
        reason: str | None = None
        usage: Mapping[str, Any] = {}
        begun = False
        try:
            for event in self._events(body, self.timeout if request.timeout is None else request.timeout):
                choice = (event.get("choices") or [{}])[0]
                delta = choice.get("delta") or choice.get("message") or {}
                pieces.append(str(delta.get("content") or ""))
                begun = begun or bool(pieces[-1] or delta.get("reasoning_content") or delta.get("reasoning"))
                reason = choice.get("finish_reason") or reason
                usage = event.get("usage") or usage
        except (BrokenBody, ModelUnavailable):
            if not begun:
                raise
            reason = None
        if not begun and reason is None:
            raise ModelUnavailable(tr("{url} ended its answer before it began.", url=self.server.url), tr("Ask again."))
        prompt_tokens = counted(usage, "prompt_tokens")
        return ChatReply(
            text=without_thoughts("".join(pieces)),
            finish=Finish.BROKEN if reason is None else _ENDINGS.get(reason, Finish.COMPLETE),
            model=self.name,
            tokens=Tokens(prompt_tokens, counted(usage, "completion_tokens")),
            prompt_cut=cut(prompt_tokens, len(request.system) + len(request.user)),
        )

    def _events(self, body: Mapping[str, Any], timeout: float) -> Iterator[Mapping[str, Any]]:
        for event in self.server.events("/chat/completions", body, timeout=timeout):
            if isinstance(event, dict) and isinstance(event.get("choices"), list):
                yield event
            elif isinstance(event, dict) and (said := event.get("error") or event.get("message")):
                told = said.get("message") if isinstance(said, dict) else said
                raise ModelUnavailable(
                    tr("{url} could not answer: {sentence}", url=self.server.url, sentence=sentence(told)), tr("See the server's log.")
                )
            else:
                raise BrokenBody(tr("{url} does not speak this protocol.", url=self.server.url))

    def _meaning(self, error: TransportError) -> ModelError:
        """What a failed request means to the one who asked."""
        if isinstance(error, TimedOut):
            return ModelTimeout(f"{self.name}: {error.message}", tr("Allow more with PV_MODEL_TIMEOUT, or take a smaller model."))
        if not isinstance(error, ErrorStatus):
            return ModelUnavailable(error.message, tr("Start the server there, or set PV_OPENAI_URL."))
        return self._refusal(error)

    def _refusal(self, error: ErrorStatus) -> ModelError:
        if error.status in (401, 403):
            return ModelUnavailable(tr("{url} asks for a key.", url=self.server.url), tr("Set PV_OPENAI_KEY."))
        if error.status == 404 and "model" in error.said.lower():
            return ModelMissing(
                tr("The model {name} is not on {url}.", name=self.name, url=self.server.url),
                tr("Set PV_ANSWER_MODEL to a name of its /models."),
            )
        if error.status == 404:
            return ModelUnavailable(
                tr("{url} has no /chat/completions.", url=self.server.url), tr("PV_OPENAI_URL ends in the version path, such as /v1.")
            )
        if TOO_LONG.search(error.said):
            mend = tr("Lower PV_MAX_CONTEXT_CHARS and PV_NUM_CTX to what the server's window holds, or give it a larger one.")
            return ModelError(tr("The prompt is longer than the model's window."), mend)
        return ModelUnavailable(
            tr("{url} answered {status}: {sentence}", url=self.server.url, status=error.status, sentence=sentence(error.said)),
            tr("See the server's log."),
        )
