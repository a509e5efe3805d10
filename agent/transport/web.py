"""Asks one configured web search, and follows its redirects no further than a foreign URL may lead.

Only the configured origin may lie on this machine or in the local network. The address of any other host is asked for once, every answer
must be public, and the connection goes to an address that was checked: a name that means another place a moment later changes nothing.
"""

from __future__ import annotations

import json
import socket
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cached_property
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urljoin

from agent.i18n import tr
from agent.transport.places import Place, objection, place, public
from agent.transport.server import BrokenBody, ErrorStatus, Limit, TimedOut, TransportError, Unreachable, address

if TYPE_CHECKING:
    import httpx

MOST_REDIRECTS = 3
LARGEST = 2 * 2**20  # bytes of one answer
Resolve = Callable[[str, int], list[str]]


class Forbidden(TransportError):
    """A URL leads where none may be followed; no connection was opened."""


def resolved(host: str, port: int) -> list[str]:
    """The addresses of a host. Raises OSError."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class Web:
    """A JSON API at one base URL; `resolve` says where any other host is that it redirects to."""

    def __init__(self, base_url: str, *, setting: str = "PV_WEB_URL", resolve: Resolve = resolved) -> None:
        self._base = address(base_url, setting=setting)
        self._resolve = resolve

    @property
    def url(self) -> str:
        """The address as it may be shown: without name and password."""
        scheme, _, rest = self._base.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2]}"

    def get_json(self, path: str, query: Mapping[str, str], *, timeout: float) -> Any:
        """The JSON value at `path` for `query`, in `timeout` seconds for all of it. Raises TransportError."""
        url = f"{self._base}{path}?{urlencode(query)}"
        with Limit(timeout) as limit:
            for _ in range(MOST_REDIRECTS + 1):
                response = self._sent(url, limit)
                try:
                    if not response.has_redirect_location:
                        return self._read(response, limit)
                    url = urljoin(url, response.headers["location"])
                finally:
                    response.close()
        raise BrokenBody(tr("{url} redirects without end.", url=self.url))

    @cached_property
    def _wire(self) -> httpx.HTTPTransport:
        """Sends one request as it is: a client would read the address of a redirect itself, even where it does not follow it."""
        import httpx

        return httpx.HTTPTransport(trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))

    def _sent(self, url: str, limit: Limit) -> httpx.Response:
        import httpx

        headers = {"Accept": "application/json", "User-Agent": "pv-agent"}
        extensions: dict[str, Any] = {"trace": limit.watch}
        checked = "" if (there := place(url)) is not None and there == place(self._base) else self._checked(url, limit)
        try:
            target = httpx.URL(url)
            if checked:
                headers["Host"] = target.netloc.decode("ascii")
                extensions["sni_hostname"] = target.host  # the certificate is still the name's
                target = target.copy_with(host=checked)
            elif place(str(target)) != there:  # who checks a URL and who follows it must read the same place in it
                raise Forbidden(tr("{url} redirects to {target!r}, which can be read in two ways.", url=self.url, target=url[:200]))
            elif target.userinfo:
                headers["Authorization"] = f"Basic {b64encode(f'{target.username}:{target.password}'.encode()).decode()}"
            extensions["timeout"] = httpx.Timeout(max(limit.left(), 0.001)).as_dict()
            return self._wire.handle_request(httpx.Request("GET", target, headers=headers, extensions=extensions))
        except httpx.InvalidURL as error:
            raise Forbidden(tr("{url} redirects to {target!r}, which is no address of the web.", url=self.url, target=url[:200])) from error
        except httpx.HTTPError as error:
            if limit.over or isinstance(error, httpx.TimeoutException):
                raise TimedOut(tr("{url} took longer than {seconds:g} s.", url=self.url, seconds=limit.seconds)) from error
            raise Unreachable(tr("There is no connection to {url}.", url=self.url)) from error

    def _checked(self, url: str, limit: Limit) -> str:
        """An address of a foreign URL's host that may be connected to. Raises Forbidden."""
        said = objection(url)
        there = place(url)
        if said or there is None:
            raise Forbidden(tr("{url} redirects to {target!r}, which is not followed: {said}.", url=self.url, target=url[:200], said=said))
        found = self._addresses(there, limit)
        try:
            closed = not found or any(not public(ip) for ip in found)
        except ValueError:
            closed = True
        if closed:
            raise Forbidden(
                tr("{url} redirects to {host}, which is not followed: it is not in the public network.", url=self.url, host=there.host)
            )
        return found[0]

    def _addresses(self, there: Place, limit: Limit) -> list[str]:
        """What the resolver says, within the time left: it knows no limit of its own."""
        found: list[list[str]] = []

        def ask() -> None:
            try:
                found.append(self._resolve(there.host, there.port))
            except (OSError, UnicodeError):
                found.append([])

        asking = Thread(target=ask, daemon=True)
        asking.start()
        asking.join(max(limit.left(), 0.0))
        if not found:
            raise TimedOut(tr("{url} took longer than {seconds:g} s.", url=self.url, seconds=limit.seconds))
        return found[0]

    def _read(self, response: httpx.Response, limit: Limit) -> Any:
        import httpx

        if not response.is_success:
            raise ErrorStatus(self.url, response.status_code, "", is_json=False)
        body = bytearray()
        try:
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > LARGEST:
                    raise BrokenBody(tr("The answer of {url} is larger than {largest} MB.", url=self.url, largest=LARGEST // 2**20))
            return json.loads(body)
        except httpx.HTTPError as error:
            if limit.over or isinstance(error, httpx.TimeoutException):
                raise TimedOut(tr("{url} took longer than {seconds:g} s.", url=self.url, seconds=limit.seconds)) from error
            raise BrokenBody(tr("The answer of {url} was cut in the middle.", url=self.url)) from error
        except (ValueError, RecursionError) as error:
            if limit.over:
                raise TimedOut(tr("{url} took longer than {seconds:g} s.", url=self.url, seconds=limit.seconds)) from error
            raise BrokenBody(tr("The answer of {url} is not JSON.", url=self.url)) from error
