"""A loopback server that speaks Ollama's protocol by a script; every odd behaviour a client must survive is a switch here.

    with OllamaServer() as ollama:
        ollama.replies = ["Guten Tag.", Reply("Gut", fault="cut")]      # what /api/chat and /api/generate answer, in this order
        ollama.faults["/api/embed"] = [BUSY]                            # what any path answers before it does its work
        ...
        assert len(ollama.chats) == 2                                   # the bodies it was sent

It listens on 127.0.0.1 and nowhere else. What differs between Ollama's versions follows `version`.
"""

from __future__ import annotations

import json
import math
import re
import socket
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from tests.loopback import Loopback, Quiet

FOREVER = "2318-03-04T11:22:33.123456789+01:00"
NOW = "2026-08-21T09:00:00.123456789Z"


@dataclass(frozen=True)
class Reply:
    """One scripted reply. With another status than 200, `raw` (or else `error` as JSON) is all that is sent."""

    content: str = ""
    thinking: str = ""
    done_reason: str | None = "stop"
    fault: Literal["", "error", "no_done", "cut"] = ""
    """How a stream goes wrong after its content: an error line, a plain end without `done`, a closed connection."""
    error: str = "an error was encountered while running the model: it died"
    status: int = 200
    raw: bytes | None = None
    content_type: str = "text/html"
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    """Seconds without a header, as while a model loads."""
    pace: float = 0.0
    """Seconds between two pieces."""
    cut_every: int | None = None
    """Bytes per HTTP chunk, across lines and characters; None is a chunk a line."""
    prompt_tokens: int | None = None
    """What `prompt_eval_count` says; None is counted, 0 is not told."""


BUSY = Reply(status=503, error="server busy, please try again.  maximum pending requests exceeded")
DEAD = Reply(status=500, error="model runner has unexpectedly stopped, this may be due to resource limitations or an internal error")
PAGE = Reply(status=502, raw=b"<html><body>Bad Gateway</body></html>")
NOT_FOUND = Reply(status=404, raw=b"404 page not found", content_type="text/plain")


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class OllamaServer:
    """The server, running between `with` and its end. Every field may be changed while it runs."""

    version: tuple[int, int] = (0, 33)
    models: dict[str, Literal["chat", "thinking", "embedding"]] = field(
        default_factory=lambda: {"qwen3.8:27b": "chat", "deepthink:latest": "thinking", "bge-m3:latest": "embedding"}
    )
    replies: list[Reply | str] | Callable[[Any], Reply | str] = field(default_factory=list)
    """What the next chats are answered, or a function of the request's body."""
    faults: dict[str, list[Reply]] = field(default_factory=dict)
    overflow: Literal["silent", "nested"] = "silent"
    nan_marker: str = "NaN-Text"
    dimension: int = 64
    library: frozenset[str] = frozenset({"bge-m3:latest"})
    """What /api/pull can fetch."""
    requests: list[Request] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._http = Loopback(type("Handler", (_Handler,), {"ollama": self}))
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stops answering; a second call does nothing."""
        if not self._stopped.is_set():
            self._stopped.set()
            self._http.shutdown()
            self._http.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def chats(self) -> list[Any]:
        """The bodies of all chat requests, in the order they came."""
        return self.bodies("/api/chat")

    def bodies(self, path: str) -> list[Any]:
        return [request.body for request in self.requests if request.path == path]

    def pause(self, seconds: float) -> None:
        """Waits, but not past the end of the server."""
        if seconds:
            self._stopped.wait(seconds)

    def fault(self, path: str) -> Reply | None:
        with self._lock:
            waiting = self.faults.get(path)
            return waiting.pop(0) if waiting else None

    def next_reply(self, body: Any) -> Reply:
        with self._lock:
            if callable(self.replies):
                reply = self.replies(body)
            else:
                reply = self.replies.pop(0) if self.replies else Reply(status=400, error="the script has no reply left")
        return Reply(reply) if isinstance(reply, str) else reply

    def kind(self, name: str) -> str | None:
        known = {model.lower(): kind for model, kind in self.models.items()}
        return known.get(_tagged(name))

    def vector(self, text: str, dimension: int | None = None) -> list[float]:
        """A unit vector of a text's words: the same words, the same place; so a search over it finds something sensible."""
        values = [1e-3] * self.dimension
        for word in re.findall(r"\w+", text.lower()):
            for start in range(max(1, len(word) - 3)):
                values[zlib.crc32(word[start : start + 4].encode()) % self.dimension] += 1.0
        return _unit(values[: dimension or self.dimension])


def _unit(values: list[float]) -> list[float]:
    norm = math.sqrt(sum(value * value for value in values))
    return [value / norm for value in values]


def _tagged(name: str) -> str:
    return name.lower() if ":" in name.rpartition("/")[2] else f"{name.lower()}:latest"


def _tokens(text: str) -> int:
    return max(1, len(text) // 4)


def no_grammar(schema: Any) -> str:
    """Why llama.cpp makes no grammar of a schema; empty where it does: patterns need both anchors, repetitions end below 2000."""
    if isinstance(schema, list):
        return next(filter(None, map(no_grammar, schema)), "")
    if not isinstance(schema, dict):
        return ""
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and not (pattern.startswith("^") and pattern.endswith("$")):
        return "Pattern must start with '^' and end with '$'"
    if any(isinstance(schema.get(name), int) and schema[name] >= 2000 for name in ("minLength", "maxLength", "minItems", "maxItems")):
        return "number of repetitions exceeds sane defaults"
    return next(filter(None, map(no_grammar, schema.values())), "")


class _Refusal(Exception):
    """A status and an error body, instead of an answer."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status, self.error = status, error


class _Handler(Quiet):
    """One connection. The methods named after a path are its endpoint."""

    ollama: OllamaServer

    def do_HEAD(self) -> None:
        self._send(200 if self.path in {"/", "/api/version", "/api/tags"} else 404, b"", "text/plain")

    def do_GET(self) -> None:
        self._serve({"/": self._root, "/api/version": self._version, "/api/tags": self._tags, "/api/ps": self._ps})

    def do_POST(self) -> None:
        self._serve(
            {
                "/api/chat": self._chat,
                "/api/generate": self._generate,
                "/api/embed": self._embed,
                "/api/embeddings": self._embeddings,
                "/api/show": self._show,
                "/api/pull": self._pull,
            }
        )

    def do_DELETE(self) -> None:
        self._serve({"/api/delete": self._delete})

    # --- the frame ----------------------------------------------------------------------------------

    def _serve(self, endpoints: Mapping[str, Callable[[Any], None]]) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(sent) if sent else None
        except ValueError:
            body = sent
        self.ollama.requests.append(Request(self.command, self.path, dict(self.headers), body))
        fault = self.ollama.fault(self.path)
        endpoint = endpoints.get(self.path)
        try:
            if fault is not None:
                self.ollama.pause(fault.wait)
                if fault.status != 200 or fault.raw is not None:
                    return self._refuse(fault)
            if endpoint is None:
                return self._refuse(NOT_FOUND)
            if self.command == "POST" and not isinstance(body, dict):
                raise _Refusal(400, "missing request body" if body is None else "invalid character in request body")
            endpoint(body)
        except _Refusal as refusal:
            self._json({"error": refusal.error}, refusal.status)

    def _refuse(self, reply: Reply) -> None:
        if reply.raw is None:
            self._json({"error": reply.error}, reply.status, reply.headers)
        else:
            self._send(reply.status, reply.raw, reply.content_type, reply.headers)

    def _json(self, value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self._send(status, _encoded(value), "application/json; charset=utf-8", headers)

    def _send(self, status: int, body: bytes, content_type: str, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": content_type, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, values: list[Any], reply: Reply) -> None:
        """NDJSON in HTTP chunks: a line each, or cut where the script wants it."""
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        lines = [_encoded(value) + b"\n" for value in values]
        if reply.cut_every:
            joined = b"".join(lines)
            lines = [joined[start : start + reply.cut_every] for start in range(0, len(joined), reply.cut_every)]
        for line in lines:
            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            self.ollama.pause(reply.pace)
        if reply.fault == "cut":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _known(self, body: Any, wording: str = "model '{}' not found") -> str:
        kind = self.ollama.kind(str(body.get("model") or body.get("name") or ""))
        if kind is None:
            raise _Refusal(404, wording.format(body.get("model", "")))
        return kind

    # --- chat and generate --------------------------------------------------------------------------

    def _chat(self, body: Any) -> None:
        if not body.get("model"):
            raise _Refusal(400, "model is required")
        messages = body.get("messages") or []
        self._speak(body, "".join(str(message.get("content", "")) for message in messages), bool(messages))

    def _generate(self, body: Any) -> None:
        prompt = str(body.get("prompt") or "")
        self._speak(body, str(body.get("system") or "") + prompt, bool(prompt))

    def _speak(self, body: Any, prompt: str, asked: bool) -> None:
        kind = self._known(body)
        if kind == "embedding":
            raise _Refusal(400, f'"{body["model"]}" does not support {self.path.rpartition("/")[2]}')
        thinks = self._thinking(body, kind)
        if fault := no_grammar(body.get("format")):
            raise _Refusal(500, f"invalid JSON schema in format: {fault}")
        if not asked:
            reason = "unload" if body.get("keep_alive") == 0 else "load"
            return self._json({**self._piece(body, ""), "done": True, "done_reason": reason})
        prompt_tokens = self._fitted(body, prompt)
        reply = self.ollama.next_reply(body)
        self.ollama.pause(reply.wait)
        if reply.status != 200 or reply.raw is not None:
            if reply.raw is None and body.get("stream", True) and self.ollama.version <= (0, 12) and reply.status == 500:
                return self._stream([{"error": reply.error}], reply)
            return self._refuse(reply)
        if reply.prompt_tokens is not None:
            prompt_tokens = reply.prompt_tokens
        values = list(self._pieces(body, reply, thinks, prompt_tokens))
        return self._stream(values, reply) if body.get("stream", True) else self._json(self._joined(values))

    def _thinking(self, body: Any, kind: str) -> Literal["no", "tags", "apart"]:
        """Where thinking goes by version and model, or Ollama's refusal to think (table in section 6 of the wire notes)."""
        version, think = self.ollama.version, body.get("think")
        if isinstance(think, str) and (0, 9) <= version < (0, 12):
            raise _Refusal(400, "json: cannot unmarshal string into Go struct field ChatRequest.think of type bool")
        if isinstance(think, str) and version == (0, 12):
            raise _Refusal(400, f'think value "{think}" is not supported for this model')
        if version < (0, 9):
            return "tags" if kind == "thinking" else "no"
        if kind != "thinking":
            if think:
                name = f'"{body["model"]}"' if version >= (0, 20) else f"registry.ollama.ai/library/{_tagged(body['model'])}"
                raise _Refusal(400, f"{name} does not support thinking")
            return "no"
        if think is None:
            return "apart" if version >= (0, 20) else "tags"
        return "apart" if think else "no"

    def _fitted(self, body: Any, prompt: str) -> int:
        """The prompt tokens that are read: all, or after the silent cut about half the window."""
        options = body.get("options") or {}
        window = options.get("num_ctx", 2048 if self.ollama.version < (0, 8) else 4096)
        if not isinstance(window, int):
            raise _Refusal(500, 'option "num_ctx" must be of type integer')
        tokens = _tokens(prompt)
        if tokens <= window:
            return tokens
        if self.ollama.overflow == "nested" and self.path == "/api/chat" and self.ollama.version >= (0, 20):
            message = f"request ({tokens} tokens) exceeds the available context size ({window} tokens), try increasing it"
            inner = {"code": 400, "message": message, "type": "exceed_context_size_error", "n_prompt_tokens": tokens, "n_ctx": window}
            raise _Refusal(400, json.dumps({"error": inner}))
        return window // 2 + 2

    def _pieces(self, body: Any, reply: Reply, thinks: str, prompt_tokens: int) -> Iterator[Any]:
        content = reply.content
        if thinks == "tags" and reply.thinking:
            content = f"<think>\n{reply.thinking}\n</think>\n\n{content}"
        if thinks == "apart" and reply.thinking:
            yield self._piece(body, "", reply.thinking)
        for piece in re.findall(r"\S+\s*|\s+", content):
            yield self._piece(body, piece)
        if reply.fault == "error":
            yield {"error": reply.error}
        if reply.fault:
            return
        last = {**self._piece(body, ""), "done": True, "total_duration": 5_000_000, "eval_count": _tokens(content)}
        if reply.done_reason is not None:
            last["done_reason"] = reply.done_reason
        if prompt_tokens:
            last["prompt_eval_count"] = prompt_tokens
        if self.path == "/api/generate":
            last["context"] = list(range(5000))
        yield last

    def _piece(self, body: Any, text: str, thinking: str = "") -> dict[str, Any]:
        head = {"model": body["model"], "created_at": NOW, "done": False}
        thought = {"thinking": thinking} if thinking else {}
        if self.path == "/api/generate":
            return {**head, "response": text, **thought}
        return {**head, "message": {"role": "assistant", "content": text, **thought}}

    def _joined(self, values: list[Any]) -> dict[str, Any]:
        """The one object a request without a stream gets."""
        whole: dict[str, Any] = dict(values[-1])
        if self.path == "/api/generate":
            return {**whole, "response": "".join(value.get("response", "") for value in values)}
        message = {"role": "assistant"}
        for key in ("content", "thinking"):
            message[key] = "".join(value["message"].get(key, "") for value in values if "message" in value)
        return {**whole, "message": message}

    # --- embed --------------------------------------------------------------------------------------

    def _embed(self, body: Any) -> None:
        if not body.get("model"):
            raise _Refusal(404, "model '' not found")
        if self._known(body, 'model "{}" not found, try pulling it first') != "embedding":
            raise _Refusal(501, "this server does not support embeddings")
        given = body.get("input")
        texts = [given] if isinstance(given, str) and given else given or []
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise _Refusal(400, "invalid input type")
        window = (body.get("options") or {}).get("num_ctx", 4096)
        strict = body.get("truncate") is False or (0, 13) <= self.ollama.version <= (0, 15)
        if strict and any(_tokens(text) > window for text in texts):
            raise _Refusal(400, "the input length exceeds the context length")
        if any(self.ollama.nan_marker in text for text in texts):
            if self.ollama.version >= (0, 33):
                raise _Refusal(400, "embedding contains NaN or Inf values")
            raise _Refusal(500, "failed to encode response: json: unsupported value: NaN")
        answer: dict[str, Any] = {"model": body["model"]}
        answer["embeddings"] = [self.ollama.vector(text[: window * 4], body.get("dimensions")) for text in texts]
        if texts:
            answer |= {"total_duration": 14_000_000, "prompt_eval_count": sum(map(_tokens, texts))}
        self._json(answer)

    def _embeddings(self, body: Any) -> None:
        self._known(body)
        prompt = str(body.get("prompt") or "")
        self._json({"embedding": self.ollama.vector(prompt) if prompt else []})

    # --- the rest -----------------------------------------------------------------------------------

    def _root(self, _: Any) -> None:
        self._send(200, b"Ollama is running", "text/plain; charset=utf-8")

    def _version(self, _: Any) -> None:
        self._json({"version": ".".join(map(str, self.ollama.version)) + ".0"})

    def _tags(self, _: Any) -> None:
        self._json({"models": [self._model(name) | {"modified_at": NOW, "size": 1_200_000_000} for name in self.ollama.models]})

    def _ps(self, _: Any) -> None:
        running = {"expires_at": FOREVER, "size_vram": 0, "context_length": 4096}
        self._json({"models": [self._model(name) | running for name in self.ollama.models]})

    def _model(self, name: str) -> dict[str, Any]:
        digest = f"{zlib.crc32(name.encode()):08x}" * 8
        return {"name": name, "model": name, "digest": digest, "details": {"format": "gguf", "families": None}}

    def _show(self, body: Any) -> None:
        if not (body.get("model") or body.get("name")):
            raise _Refusal(400, "model is required")
        kind = self._known(body)
        capabilities = {"chat": ["completion"], "thinking": ["completion", "thinking"], "embedding": ["embedding"]}[kind]
        info = {"general.architecture": "bert", "bert.context_length": 8192, "bert.embedding_length": self.ollama.dimension}
        self._json({"details": {"format": "gguf"}, "model_info": info, "capabilities": capabilities, "modified_at": NOW})

    def _delete(self, body: Any) -> None:
        self._known(body)
        self.ollama.models = {name: kind for name, kind in self.ollama.models.items() if name.lower() != _tagged(body["model"])}
        self._send(200, b"", "text/plain")

    def _pull(self, body: Any) -> None:
        name = _tagged(str(body.get("model") or ""))
        error = "pull model manifest: file does not exist"
        layer = {"status": "pulling daec91ffb5dd", "digest": "sha256:daec91ffb5dd", "total": 1000}
        steps: list[Any] = [{"status": "pulling manifest"}]
        if name in self.ollama.library:
            self.ollama.models[name] = "embedding"
            steps += [layer, {**layer, "completed": 400}, {**layer, "completed": 1000}]
            steps += [{"status": status} for status in ("verifying sha256 digest", "writing manifest", "success")]
        elif body.get("stream", True):
            steps.append({"error": error})
        else:
            raise _Refusal(500, error)
        return self._stream(steps, Reply()) if body.get("stream", True) else self._json(steps[-1])


def _encoded(value: Any) -> bytes:
    """JSON as Go writes it: compact, UTF-8, with `<`, `>` and `&` escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[<>&]", lambda sign: f"\\u{ord(sign[0]):04x}", text).encode()
