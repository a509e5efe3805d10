"""A loopback server that speaks OpenAI's chat protocol by a script, in the dialects of vLLM, of llama.cpp and of OpenAI itself.

with OpenAiServer() as server:
    server.replies = ["Guten Tag.", Reply("Gut", fault="cut")]
    assert server.chats == [...]                                # the bodies it was sent
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from tests.loopback import Loopback, Quiet
from tests.ollama_server import Reply

KNOWN = frozenset({"model", "messages", "stream", "temperature", "max_tokens"})


@dataclass
class OpenAiServer:
    """The server, running between `with` and its end.

    `takes` are the fields beyond the common ones a request may have (the others are refused as OpenAI does); `window` is in tokens.
    """

    models: list[str] = field(default_factory=lambda: ["qwen3.8:27b"])
    replies: list[Reply | str] = field(default_factory=list)
    dialect: Literal["vllm", "llama.cpp", "whole"] = "vllm"
    takes: frozenset[str] = frozenset({"stream_options", "response_format", "chat_template_kwargs"})
    key: str = ""
    window: int = 32768
    chats: list[Any] = field(default_factory=list)

    def __enter__(self) -> Self:
        self.stopped = threading.Event()
        self._http = Loopback(type("Handler", (_Handler,), {"speaker": self}))
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"


class _Handler(Quiet):
    speaker: OpenAiServer

    def do_GET(self) -> None:
        data = [{"id": name, "object": "model", "created": 1_700_000_000, "owned_by": self.speaker.dialect} for name in self.speaker.models]
        if self.path != "/v1/models":
            self._json({"detail": "Not Found"}, 404)
        elif self._allowed():
            self._json({"object": "list", "data": data})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/chat/completions":
            self._json({"detail": "Not Found"}, 404)
        elif self._allowed():
            self.speaker.chats.append(body)
            self._answer(body)

    def _answer(self, body: Any) -> None:
        wrong = self._wrong(body)
        scripted: Reply | str = Reply(status=wrong[0], error=wrong[1]) if wrong else self.speaker.replies.pop(0)
        reply = Reply(scripted) if isinstance(scripted, str) else scripted
        self.speaker.stopped.wait(reply.wait)
        if reply.status != 200:
            self._error(reply.status, reply.error)
        elif self.speaker.dialect == "whole":
            self._json(_whole(body, reply))
        else:
            self._stream(body, reply)

    def _allowed(self) -> bool:
        if self.speaker.key and self.headers["Authorization"] != f"Bearer {self.speaker.key}":
            self._error(401, "Unauthorized")
            return False
        return True

    def _wrong(self, body: Any) -> tuple[int, str] | None:
        if body["model"] not in self.speaker.models:
            return 404, f"The model `{body['model']}` does not exist."
        foreign = sorted(body.keys() - KNOWN - self.speaker.takes)
        if foreign:
            return 400, f"Unrecognized request argument supplied: {foreign[0]}"
        tokens = sum(len(message["content"]) for message in body["messages"]) // 4 + body["max_tokens"]
        if tokens > self.speaker.window:
            return 400, f"This model's maximum context length is {self.speaker.window} tokens. However, you requested {tokens} tokens."
        return None

    def _error(self, status: int, message: str) -> None:
        nested = {"error": {"code": status, "message": message, "type": "invalid_request_error"}}
        flat = {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": status}
        self._json(flat if self.speaker.dialect == "vllm" else nested, status)

    def _json(self, value: Any, status: int = 200) -> None:
        sent = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def _stream(self, body: Any, reply: Reply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        lines = b"".join(self._lines(body, reply))
        size = reply.cut_every or len(lines)
        for start in range(0, len(lines), size):
            piece = lines[start : start + size]
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        if reply.fault == "cut":
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _lines(self, body: Any, reply: Reply) -> Iterator[bytes]:
        yield b": ping\n\n"
        yield _event(_chunk({"role": "assistant", "content": ""}))
        if reply.thinking:
            yield _event(_chunk({"reasoning_content": reply.thinking}))
        for start in range(0, len(reply.content), 7):
            yield _event(_chunk({"content": reply.content[start : start + 7]}))
        if reply.fault == "error":
            error = {"code": 500, "message": reply.error, "type": "server_error"}
            yield b"error: " + json.dumps(error).encode() + b"\n\n" if self.speaker.dialect == "llama.cpp" else _event({"error": error})
        if reply.fault:
            return
        yield _event(_chunk({}, reply.done_reason))
        if (body.get("stream_options") or {}).get("include_usage"):
            yield _event({"object": "chat.completion.chunk", "choices": [], "usage": _usage(body, reply)})
        yield b"data: [DONE]\n\n"


def _event(value: Any) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def _chunk(delta: Any, reason: str | None = None) -> Any:
    return {"id": "1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def _usage(body: Any, reply: Reply) -> dict[str, int]:
    prompt = sum(len(message["content"]) for message in body["messages"]) // 4 if reply.prompt_tokens is None else reply.prompt_tokens
    return {"prompt_tokens": prompt, "completion_tokens": len(reply.content) // 4, "total_tokens": prompt + len(reply.content) // 4}


def _whole(body: Any, reply: Reply) -> Any:
    message = {"role": "assistant", "content": reply.content}
    choice = {"index": 0, "message": message, "finish_reason": reply.done_reason}
    return {"id": "1", "object": "chat.completion", "choices": [choice], "usage": _usage(body, reply)}
