"""`serve` and `mcp`: answers for others than who sits at the terminal."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from agent.cli.flags import Kb
from agent.cli.shared import bench_of, emit, ready
from agent.cli.spoken import Commands
from agent.errors import ConfigError
from agent.i18n import tr

app = Commands()


@app.command(help=tr("The HTTP API and its page."))
def serve(
    host: Annotated[
        str | None, typer.Option(help=tr("Where to listen (default: PV_HOST, else 127.0.0.1); elsewhere a token is needed."))
    ] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help=tr("The port (default: PV_PORT, else 8080)."))] = None,
    new_token: Annotated[bool, typer.Option("--new-token", help=tr("Print a new token for PV_TOKEN, and serve nothing."))] = False,
    kb: Kb = None,
) -> None:
    if new_token:
        import secrets

        emit(secrets.token_urlsafe(32))
        return
    needed("serve", "fastapi", "uvicorn")
    settings = _settings(kb, host=host, port=port)
    from agent.serve import listening

    listening.serve(settings)


@app.command(help=tr("An MCP server on stdin and stdout: an assistant's tools ask, search and show_entry."))
def mcp(kb: Kb = None) -> None:
    needed("mcp", "mcp")
    settings = _settings(kb)
    from agent.serve import tools

    tools.serve(settings)


def _settings(kb: Any, **flags: Any) -> Any:
    """The settings of a server, which keeps no unchecked text unless it is told to; its index is built where there is none."""
    from agent import settings
    from agent.serve import listening

    os.environ.setdefault(
        "OMP_NUM_THREADS", "1"
    )  # as many questions as cores at once: an embedder's threads would only get in each other's way
    given = settings.load({"kb_dir": str(kb) if kb else None, **flags})
    listening.checked(given.settings)
    ready(bench_of(kb, False))
    return given.settings if "log_drafts" in given.origin else settings.changed(given.settings, log_drafts=False)


def needed(extra: str, *packages: str) -> None:
    """Raises ConfigError where a package of an extra is missing."""
    for package in packages:
        if find_spec(package) is None:
            raise ConfigError(
                tr("This needs the package {package}, which is not installed.", package=package),
                tr('Run: pip install "pv-agent[{extra}]"', extra=extra),
            )
