"""A server at a configured address: nothing else is talked to, the time limit is kept, JSON is read whole or line by line.

No proxy is used, no redirect is followed. What goes wrong is one of four errors below; the part that asked says what it means to the user.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from agent.errors import AgentError, ConfigError
from agent.i18n import tr

if TYPE_CHECKING:
    from types import TracebackType

    import httpx

DEFAULT_PORT = 11434
_LARGEST = 64 * 2**20  # bytes of one answer; a server that never stops must not fill the memory
_PAUSES = (0.1, 0.4)  # seconds before the second and the third try
_HOST = re.compile(r"(?=.{1,253}$)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?$|[0-9A-Fa-f:.]+$")
_ANYWHERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (it is taken away)


class TransportError(AgentError):
    """A request that brought nothing usable."""


class Unreachable(TransportError):
    """No connection, or it ended before a status came."""


class TimedOut(TransportError):
    """The time limit was over before the answer was whole."""


class ErrorStatus(TransportError):
    """A status other than 2xx. `said` is the server's own sentence; `is_json` whether it came as `{"error": ...}`."""

    def __init__(self, url: str, status: int, said: str, *, is_json: bool) -> None:
        told = f"{status}: {said}" if said else str(status)
        super().__init__(tr("{url} answered {status}.", url=url, status=told))
        self.status, self.said, self.is_json = status, said, is_json


class BrokenBody(TransportError):
    """The answer began, but it was cut, was too large, or is not the JSON it should be."""


def address(given: str, *, setting: str = "OLLAMA_URL") -> str:
    """The URL meant by any form OLLAMA_HOST may have: `host`, `:port`, `host:port`, a URL; a path prefix is kept.

    A server's "listen everywhere" address becomes the loopback one, since not every system can connect to it.
    Raises ConfigError for what is no such form.
    """
    text = given.strip().strip("\"'").strip()
    scheme, separator, rest = text.partition("://")
    if not separator:
        scheme, rest = "http", text
    authority, slash, path = rest.partition("/")
    userinfo, at, place = authority.rpartition("@")
    if place.count(":") > 1 and not place.startswith("["):
        place = f"[{place}]"  # an IPv6 address without its brackets
    wrong = ConfigError(
        tr("{given!r} is no address of a server.", given=given), tr("Write {setting} like http://127.0.0.1:11434.", setting=setting)
    )
    try:
        parts = urlsplit(f"//{place}")
        host, port = parts.hostname or "", parts.port
        host.encode("idna")  # what no name service can be asked for: empty labels, labels too long
    except ValueError:
        raise wrong from None
    host = _ANYWHERE.get(host, host)
    if scheme.lower() not in {"http", "https"} or not _HOST.match(host) or port == 0 or re.search(r"[\s?#]", rest):
        raise wrong
    if port is None and not separator:
        port = DEFAULT_PORT
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme.lower()}://{userinfo}{at}{shown}{'' if port is None else f':{port}'}{slash}{path}".rstrip("/")


class Server:
    """A server at one base URL (any form `address` takes), with the `key` it asks for. `setting` is what names the address.

    Each request may take `timeout` seconds in all, tries and pauses included.
    """

    def __init__(self, base_url: str, connect_timeout: float = 3.0, *, key: str = "", setting: str = "OLLAMA_URL") -> None:
        self._base = address(base_url, setting=setting)
        self._connect_timeout = connect_timeout
        self._key = key

    @property
    def url(self) -> str:
        """The address as it may be shown: without name and password."""
        scheme, _, rest = self._base.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2]}"

    def listening(self) -> bool:
        """Whether anything accepts connections there: asked first, because importing httpx costs more than this answer."""
        parts = urlsplit(self._base)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            socket.create_connection((parts.hostname or "", port), timeout=self._connect_timeout).close()
        except OSError:
            return False
        return True

    def get_json(self, path: str, *, timeout: float) -> Any:
        """The JSON value at `path`."""
        with Limit(timeout) as limit, self._answer("GET", path, None, limit) as response:
            return self._parsed(b"".join(self._chunks(response, limit)))

    def post_json(self, path: str, body: Mapping[str, Any], *, timeout: float) -> Any:
        """The JSON value `path` answers to `body`."""
        with Limit(timeout) as limit, self._answer("POST", path, body, limit) as response:
            return self._parsed(b"".join(self._chunks(response, limit)))

    def stream(self, path: str, body: Mapping[str, Any], *, timeout: float) -> Iterator[Any]:
        """One JSON value per line of the answer, as the lines come (NDJSON)."""
        with Limit(timeout) as limit, self._answer("POST", path, body, limit) as response:
            for line in _lines(self._chunks(response, limit)):
                yield self._parsed(line)

    def events(self, path: str, body: Mapping[str, Any], *, timeout: float) -> Iterator[Any]:
        """One JSON value per `data:` or `error:` line of the answer (server-sent events), up to `[DONE]`."""
        with Limit(timeout) as limit, self._answer("POST", path, body, limit) as response:
            for line in _lines(self._chunks(response, limit)):
                name, _, data = line.partition(b":")
                if data.strip() == b"[DONE]":
                    return
                if line.startswith(b"{"):
                    yield self._parsed(line)  # a server that does not stream answers whole, and so do some with an error
                elif name in (b"data", b"error"):
                    yield self._parsed(data)

    @cached_property
    def _client(self) -> httpx.Client:
        import httpx

        # One connection per request keeps a stale one from failing a request; certificates are read only where one is checked.
        return httpx.Client(
            trust_env=False,
            follow_redirects=False,
            verify=self._base.startswith("https"),
            limits=httpx.Limits(max_keepalive_connections=0),
            headers={"User-Agent": "pv-agent"} | ({"Authorization": f"Bearer {self._key}"} if self._key else {}),
        )

    def _answer(self, method: str, path: str, body: Mapping[str, Any] | None, limit: Limit) -> closing[httpx.Response]:
        """The response to a request, its body still unread; faults that pass are tried again while there is time."""
        pauses = iter(_PAUSES)
        while True:
            try:
                return closing(self._sent(method, path, body, limit))
            except (Unreachable, ErrorStatus) as error:
                pause = next(pauses, None)
                if pause is None or not _passing(error) or limit.left() <= pause:
                    raise
            time.sleep(pause)

    def _sent(self, method: str, path: str, body: Mapping[str, Any] | None, limit: Limit) -> httpx.Response:
        import httpx

        # A lone surrogate has no UTF-8 form; it must not end a request.
        content = None if body is None else json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        left = max(limit.left(), 0.001)
        try:
            request = self._client.build_request(
                method,
                self._base + path,
                content=content,
                headers={"Content-Type": "application/json"} if content else {},
                timeout=httpx.Timeout(left, connect=min(left, self._connect_timeout)),
                extensions={"trace": limit.watch},
            )
            response = self._client.send(request, stream=True)
        except httpx.ConnectTimeout as error:
            raise Unreachable(tr("There is no answer from {url}.", url=self.url)) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:  # a redirect's address is read, though it is not followed
            if limit.over or isinstance(error, httpx.TimeoutException):
                raise self._late(limit) from error
            raise Unreachable(tr("There is no connection to {url}.", url=self.url)) from error
        if response.is_success:
            return response
        try:
            raise self._status(response, b"".join(self._chunks(response, limit)))
        except BrokenBody:
            raise self._status(response, b"") from None
        finally:
            response.close()

    def _chunks(self, response: httpx.Response, limit: Limit) -> Iterator[bytes]:
        import httpx

        size = 0
        try:
            for chunk in response.iter_bytes():
                size += len(chunk)
                if size > _LARGEST:
                    raise BrokenBody(tr("The answer of {url} has no end.", url=self.url))
                yield chunk
        except httpx.HTTPError as error:
            if limit.over or isinstance(error, httpx.TimeoutException):
                raise self._late(limit) from error
            raise BrokenBody(tr("The answer of {url} was cut in the middle.", url=self.url)) from error
        if limit.over:  # a body whose only end is the connection's seems whole when the limit ends that
            raise self._late(limit)

    def _parsed(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise BrokenBody(tr("The answer of {url} is not JSON.", url=self.url)) from error

    def _status(self, response: httpx.Response, body: bytes) -> ErrorStatus:
        try:
            said, is_json = _told(json.loads(body))
        except (ValueError, RecursionError):
            said, is_json = "", False
        return ErrorStatus(self.url, response.status_code, said, is_json=is_json)

    def _late(self, limit: Limit) -> TimedOut:
        return TimedOut(tr("{url} took longer than {seconds:g} s.", url=self.url, seconds=limit.seconds))


def _passing(error: Unreachable | ErrorStatus) -> bool:
    """Whether asking again may help and asks nothing twice: a fault of the moment, or a connection that never came about."""
    import httpx

    if isinstance(error, ErrorStatus):
        # A vector that is NaN is so for its text, every time.
        return error.status == 503 or (error.status == 500 and "NaN" not in error.said)
    return isinstance(error.__cause__, httpx.ConnectError)


def _told(body: Any) -> tuple[str, bool]:
    """What an error's body says, and whether it says it as Ollama does, `{"error": "…"}`; other servers nest it, or name it otherwise."""
    said = (body.get("error") or body.get("message") or body.get("detail")) if isinstance(body, dict) else None
    if isinstance(said, dict):
        said = said.get("message")
    return (said.strip(), body.get("error") == said) if isinstance(said, str) else ("", False)


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The non-empty lines of a body. Bytes are joined before they are read, since a chunk may end inside a line or a character."""
    rest: list[bytes] = []
    for chunk in chunks:
        head, *whole = chunk.split(b"\n")
        rest.append(head)
        for after in whole:
            if line := b"".join(rest).strip():
                yield line
            rest = [after]
    if line := b"".join(rest).strip():
        yield line


class Limit:
    """The time one request has, kept by closing its socket: a read timeout starts anew with every byte a server trickles."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._timer.cancel()

    @property
    def over(self) -> bool:
        return self.left() <= 0

    def left(self) -> float:
        return self._end - time.monotonic()

    def watch(self, event: str, info: Mapping[str, Any]) -> None:
        """Told by httpx what it does (its `trace` extension): remembers the socket as soon as there is one."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
            if self.over:
                self._cut()

    def _cut(self) -> None:
        if self._socket is not None:
            with suppress(OSError):  # it may be closed already
                self._socket.shutdown(socket.SHUT_RDWR)


# --- what Ollama's model list says, for every part that asks one --------------------------------------


def canonical(model: str) -> str:
    """A model's name as Ollama compares it: any case, `:latest` where no tag is given."""
    name = model.strip().lower()
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def ollama_models(server: Server, *, timeout: float) -> dict[str, str]:
    """The models an Ollama has: canonical name to digest (the first 12 digits, as `ollama list` shows it). Raises TransportError."""
    listed = server.get_json("/api/tags", timeout=timeout)
    models = listed.get("models") if isinstance(listed, dict) else None
    if not isinstance(models, list):
        raise BrokenBody(tr("There is no Ollama at {url}.", url=server.url))
    rows = [row for row in models if isinstance(row, dict)]
    return {canonical(str(row.get("name"))): str(row.get("digest") or "").removeprefix("sha256:")[:12] for row in rows}
