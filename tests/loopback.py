"""What the scripted servers of the tests stand on: an HTTP server on 127.0.0.1 and nowhere else, whose handlers say nothing."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any


class Loopback(ThreadingHTTPServer):
    """A server on a free port of the loopback address."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)

    def server_bind(self) -> None:
        """Binds without asking for the machine's name, which some systems look up in the network."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is what half of these tests are about."""


class Quiet(BaseHTTPRequestHandler):
    """A handler of HTTP/1.1 that logs nothing."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class names it so)
        """Says nothing."""
