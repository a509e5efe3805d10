"""The command line: reads arguments, calls one thing, prints what came back. No logic; what is heavy is imported when it is needed."""

from __future__ import annotations

import os
import sys
from io import StringIO
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from agent.cli import asking
from agent.cli.shared import emit, err
from agent.errors import EXIT_BUG, EXIT_EXPECTED, AgentError


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            emit(f"pv-agent {version('pv-agent')}")
        except PackageNotFoundError:
            emit("pv-agent, not installed: run from its source")
        raise typer.Exit


def options(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version this is.")] = False,
) -> None:
    """What stands before a command."""


_QUICK = frozenset({"ask", "search"})
"""The commands of `asking`: they are called the most, and each call would pay for making all the others."""


def program(first: str = "") -> typer.Typer:
    """All commands; none but those of `asking` where the command line's first word is one of them."""
    app = typer.Typer(
        name="pv-agent",
        help="Answers questions on Austrian payroll from a curated knowledge base, cites every entry, and refuses rather than guesses.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=True,
    )
    app.callback()(options)
    app.add_typer(asking.app)
    if first not in _QUICK:
        from agent.cli import knowledge, measuring, records, serving, system

        for commands in (knowledge, serving, measuring, records, system):
            app.add_typer(commands.app)
    return app


def main() -> NoReturn:
    """Run the command line; every expected error is one sentence, a bug is told with where its traceback lies."""
    # our products of matrices are small: numpy's threads win nothing with them, and while they wait they take the processor from others
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.stdout, sys.stderr = sys.stdout or StringIO(), sys.stderr or StringIO()  # None where they were closed beforehand
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        program(*sys.argv[1:2])()
    except AgentError as error:
        err(f"pv-agent: {error}")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        err(f"pv-agent: the system refused ({error.strerror or error}). Check room and permissions.")
        sys.exit(EXIT_EXPECTED)
    except Exception as error:
        err(f"pv-agent: this is a bug ({type(error).__name__}). Please report the traceback in {_kept_traceback()}.")
        sys.exit(EXIT_BUG)
    sys.exit(0)


def _kept_traceback() -> Path:
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="pv-agent-", suffix=".txt", delete=False, encoding="utf-8") as file:
        traceback.print_exc(file=file)
    return Path(file.name)
