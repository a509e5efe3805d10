"""Runs the API on an address until it is told to stop, and then finishes what runs."""

from __future__ import annotations

import ipaddress
import logging
import socket
import sys
from typing import TYPE_CHECKING

from agent.errors import AgentError, ConfigError
from agent.i18n import tr
from agent.settings import Settings, listed

if TYPE_CHECKING:
    import uvicorn

    from agent.serve.service import Service

_LOOPBACK = frozenset({"localhost"})
_SHORTEST_TOKEN = 16


def loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() in _LOOPBACK


def checked(settings: Settings) -> None:
    """Raises ConfigError where the server would be open to others without a token, or with one that can be guessed."""
    if settings.token and len(settings.token) < _SHORTEST_TOKEN:
        raise ConfigError(
            tr("PV_TOKEN is too short."),
            tr("It has at least {least} characters: pv-agent serve --new-token makes one.", least=_SHORTEST_TOKEN),
        )
    if not settings.token and not loopback(settings.host):
        raise ConfigError(
            tr("On {host} others can reach the server, and no token is set.", host=settings.host),
            tr("Set PV_TOKEN: pv-agent serve --new-token"),
        )


def hosts(settings: Settings) -> frozenset[str]:
    """The names the server answers to."""
    own = set(_LOOPBACK) | {name.lower().rstrip(".") for name in listed(settings.allowed_hosts)}
    return frozenset(own if loopback(settings.host) else own | {settings.host.lower(), socket.gethostname().lower()})


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises AgentError, one sentence, where that cannot be."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        found = socket.socket(family, kind, protocol)
        try:
            if sys.platform != "win32":
                found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(address)
            found.listen(1024)
        except OSError:
            found.close()
            raise
    except OSError as error:
        raise AgentError(
            tr("{host}:{port} cannot be listened on ({reason}).", host=host, port=port, reason=error.strerror or error),
            tr("Take another with --port or PV_PORT, or stop who has it."),
        ) from error
    return found


def serve(settings: Settings) -> None:
    """Serve until interrupted. Raises ConfigError or AgentError where that cannot begin."""
    from agent.serve.service import Service

    checked(settings)
    service = Service(settings)
    with bound(settings.host, settings.port) as listening:
        shown = f"[{settings.host}]" if ":" in settings.host else settings.host
        logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
        logging.getLogger("pv_agent.serve").info("http://%s:%d/", shown, listening.getsockname()[1])
        server(service).run(sockets=[listening])


def server(service: Service) -> uvicorn.Server:
    """The HTTP server of a service, to be run over a socket that listens."""
    import uvicorn

    from agent.serve.app import created
    from agent.serve.impatient import Impatient

    settings = service.settings
    config = uvicorn.Config(
        created(service, hosts(settings)),
        http=Impatient.within(settings.request_timeout),
        ws="none",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=round(settings.shutdown_timeout),
    )
    return uvicorn.Server(config)
