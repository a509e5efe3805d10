"""Stands before everything: who may ask, from where, how much, how long; gives every request its id and every answer its headers."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import logging
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from agent import i18n
from agent.i18n import tr
from agent.serve.problems import MEDIA_TYPE, Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger("pv_agent.serve")

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_BODILESS = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True)
class Rules:
    """What the guard goes by. `hosts` are names in lower case; `origins` those of other pages that may use the API."""

    token: str = ""
    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    max_body: int = 65536
    timeout: float = 10.0
    public: tuple[str, ...] = ("/", "/favicon.ico", "/static/")
    """Paths that need no token: the page itself, which holds nothing of the knowledge base."""


class Guard:
    """ASGI middleware. What it refuses never reaches the application."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app, self._rules = app, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        request_id = given.decode() if _ID.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        with i18n.answering(headers.get(b"accept-language", b"").decode("latin-1")):
            await self._answered(scope, headers, receive, _Answer(scope, send, request_id))

    async def _answered(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, answer: _Answer) -> None:
        try:
            self._let_in(scope, headers)
            await self._app(scope, await self._whole(scope, headers, receive), answer.send)
        except Problem as problem:
            await answer.problem(problem)
        except Exception:
            log.exception("bug %s", scope["state"]["request_id"])
            if answer.status:
                raise
            await answer.problem(Problem(500, "bug", tr("This is a bug."), tr("The server's log has its traceback under this request id.")))
        finally:
            answer.log()

    def _let_in(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        host = headers.get(b"host", b"").decode("latin-1")
        if not _named(host, self._rules.hosts):
            raise Problem(
                421,
                "foreign_host",
                tr("This server does not answer to the name {host!r:.80}.", host=host),
                tr("PV_ALLOWED_HOSTS admits names."),
            )
        path: str = scope["path"]
        public = path in self._rules.public or any(path.startswith(p) for p in self._rules.public if len(p) > 1 and p.endswith("/"))
        self._check_origin(headers, host, public=public)
        preflight = scope["method"] == "OPTIONS" and b"origin" in headers
        if self._rules.token and not public and not preflight and not _bears(headers, self._rules.token):
            raise Problem(401, "token_missing", tr("This needs the server's token."), tr("Send it as `Authorization: Bearer …`."))

    def _check_origin(self, headers: dict[bytes, bytes], host: str, *, public: bool) -> None:
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin:
            own = {f"http://{host}", f"https://{host}"}
            foreign = origin not in own | self._rules.origins
        else:
            # browsers say so themselves where they send no Origin, as with images and scripts
            foreign = not public and headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site")
        if foreign:
            raise Problem(
                403, "foreign_origin", tr("Pages of another origin may not use this server."), tr("PV_CORS_ORIGINS admits origins.")
            )

    async def _whole(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive) -> Receive:
        """The request's body read whole, within its limits of size and time, for the application to receive in one piece."""
        if scope["method"] in _BODILESS and b"content-length" not in headers and b"transfer-encoding" not in headers:
            return receive
        declared = headers.get(b"content-length", b"0")
        if int(declared) > self._rules.max_body:
            raise self._too_large()
        body = bytearray()
        try:
            async with asyncio.timeout(self._rules.timeout):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return _replayed([message], receive)
                    body += message.get("body", b"")
                    if len(body) > self._rules.max_body:
                        raise self._too_large()
                    if not message.get("more_body", False):
                        return _replayed([{"type": "http.request", "body": bytes(body), "more_body": False}], receive)
        except TimeoutError:
            raise Problem(
                408,
                "too_slow",
                tr("The request took longer than {timeout:g} s to arrive.", timeout=self._rules.timeout),
                tr("Send it anew."),
            ) from None

    def _too_large(self) -> Problem:
        return Problem(413, "too_large", tr("A request has at most {max_body} bytes.", max_body=self._rules.max_body), tr("Shorten it."))


def _named(host: str, hosts: Iterable[str]) -> bool:
    """Whether a Host header names this server. An IP address always does: no name service can be made to lie about it."""
    match = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:\s]+)(?::\d{1,5})?", host)
    if not match:
        return False
    name = match.group(1).strip("[]").lower().rstrip(".")
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name in hosts
    return True


def _bears(headers: dict[bytes, bytes], token: str) -> bool:
    kind, _, given = headers.get(b"authorization", b"").partition(b" ")
    return hmac.compare_digest(given.strip(), token.encode()) and kind.lower() == b"bearer"


def _replayed(messages: list[Message], receive: Receive) -> Receive:
    waiting = iter(messages)

    async def replay() -> Message:
        message = next(waiting, None)
        return message if message is not None else await receive()

    return replay


class _Answer:
    """The answer on its way out: it gets the headers every answer has, and is logged without what was asked."""

    def __init__(self, scope: Scope, send: Send, request_id: str) -> None:
        self._scope, self._send, self._id = scope, send, request_id
        self._start = perf_counter()
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own: list[tuple[bytes, bytes]] = list(message.get("headers", []))
            present = {name.lower() for name, _ in own}
            kept = (
                b"no-cache" if self._scope["path"].startswith("/static/") else b"no-store"
            )  # a file of the page may be kept, and asked about
            fresh = (*HEADERS, (b"cache-control", kept), (b"x-request-id", self._id.encode()))
            message["headers"] = [*own, *((name, value) for name, value in fresh if name not in present)]
        await self._send(message)

    async def problem(self, problem: Problem) -> None:
        body = json.dumps(problem.document(self._id), ensure_ascii=False).encode()
        given: dict[str, Any] = {"Content-Type": MEDIA_TYPE, "Content-Length": str(len(body)), **problem.headers()}
        if problem.status in (408, 413):
            given["Connection"] = "close"  # what is left of the request is not read
        headers = [(name.lower().encode(), value.encode()) for name, value in given.items()]
        await self.send({"type": "http.response.start", "status": problem.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})

    def log(self) -> None:
        taken = (perf_counter() - self._start) * 1000
        log.info(
            "%s %s %s %s %.0f ms",
            self._id,
            self._scope["method"],
            self._scope["raw_path"].decode("ascii", "replace"),
            self.status or "-",
            taken,
        )
