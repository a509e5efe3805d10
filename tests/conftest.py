"""What every test stands on: no network, no settings of the machine's user, and a model server on loopback for those who ask for it."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.ollama_server import OllamaServer


class NetworkUsed(AssertionError):
    """A test tried to leave the machine. No OSError, so that nothing mistakes it for a server that is down."""


def _is_local(host: Any) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in {None, "", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _check(sock: socket.socket, address: Any) -> None:
    if sock.family not in {socket.AF_INET, socket.AF_INET6}:
        return
    host, port = address[:2]
    if not _is_local(host):
        raise NetworkUsed(f"a test tried to reach {host}:{port}")
    if port == 11434:
        raise ConnectionRefusedError("a developer's own Ollama takes no part in the tests")


@pytest.fixture(scope="session", autouse=True)
def _no_network() -> Iterator[None]:
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def checked_connect(self: socket.socket, address: Any) -> None:
        _check(self, address)
        connect(self, address)

    def checked_connect_ex(self: socket.socket, address: Any) -> int:
        _check(self, address)
        return connect_ex(self, address)

    def checked_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_local(host):
            raise NetworkUsed(f"a test asked for the address of {host}")
        return getaddrinfo(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", checked_connect)
        patch.setattr(socket.socket, "connect_ex", checked_connect_ex)
        patch.setattr(socket, "getaddrinfo", checked_getaddrinfo)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_foreign_settings() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("PV_", "OLLAMA_", "SYSTEMINFORANDE_")) or name in ("LANGUAGE", "LC_MESSAGES"):
                patch.delenv(name)
        patch.setenv("LC_ALL", "C.UTF-8")  # messages are English, whatever the machine's own language is
        yield


@pytest.fixture
def ollama() -> Iterator[OllamaServer]:
    """A scripted Ollama on loopback (see tests/ollama_server.py)."""
    with OllamaServer() as server:
        yield server
