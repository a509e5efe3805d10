"""A loopback server that speaks SearXNG's JSON interface by a script: results, redirects, errors, bodies without end.

with SearchServer() as engine:
    engine.results = [{"url": "https://example.org/a", "title": "A", "content": "Text."}]
    engine.script = [redirect("http://127.0.0.1:1/"), Scripted(403)]     # what comes before that, in this order
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.loopback import Loopback, Quiet


@dataclass(frozen=True)
class Scripted:
    """One scripted answer instead of the results."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    wait: float = 0.0


def redirect(to: str, status: int = 302) -> Scripted:
    return Scripted(status, {"Location": to})


@dataclass
class SearchServer:
    """The server, running between `with` and its end; `asked` holds the queries it got, `hosts` their Host headers."""

    results: list[Any] = field(default_factory=list)
    script: list[Scripted] = field(default_factory=list)
    asked: list[Mapping[str, str]] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)

    def __enter__(self) -> Self:
        engine = self
        self._stopped = threading.Event()

        class Handler(Quiet):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                engine.asked.append({name: values[0] for name, values in parse_qs(parts.query).items()})
                engine.hosts.append(self.headers["Host"])
                engine.authorizations.append(self.headers["Authorization"])
                body = json.dumps({"query": "", "results": engine.results}).encode()
                said = engine.script.pop(0) if engine.script else Scripted(body=body, headers={"Content-Type": "application/json"})
                engine._stopped.wait(said.wait)
                self.send_response(said.status)
                for name, value in {"Content-Length": str(len(said.body)), **said.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(said.body)

        self._http = Loopback(Handler)
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"
