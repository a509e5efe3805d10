"""The command line: reads arguments, calls one thing, prints what came back. No logic; what is heavy is imported when it is needed."""

from __future__ import annotations

import os
import sys
from io import StringIO
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from agent import i18n
from agent.cli.shared import emit, err
from agent.errors import EXIT_BUG, EXIT_EXPECTED, AgentError
from agent.i18n import tr


def _version(wanted: bool) -> None:
    if wanted:
        from agent.texts import release

        emit(f"pv-agent {release()}" if release() else tr("pv-agent, not installed: run from its source"))
        raise typer.Exit


def options(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help=tr("Say which version this is."))] = False,
) -> None:
    """What stands before a command."""


_QUICK = frozenset({"ask", "search"})
"""The commands of `asking`: they are called the most, and each call would pay for making all the others."""


def program(first: str = "") -> typer.Typer:
    """All commands; none but those of `asking` where the command line's first word is one of them."""
    from agent.cli import asking
    from agent.cli.spoken import Commands

    app = Commands(
        name="pv-agent",
        help=tr("Answers questions on Austrian payroll from a curated knowledge base, cites every entry, and refuses rather than guesses."),
        no_args_is_help=True,
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
        _speak()
        program(*sys.argv[1:2])()
    except AgentError as error:
        err(f"pv-agent: {error}")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        err(tr("pv-agent: the system refused ({reason}). Check room and permissions.", reason=error.strerror or error))
        sys.exit(EXIT_EXPECTED)
    except Exception as error:
        err(
            tr(
                "pv-agent: this is a bug ({name}). Please report the traceback in {file}.",
                name=type(error).__name__,
                file=_kept_traceback(),
            )
        )
        sys.exit(EXIT_BUG)
    sys.exit(0)


def _speak() -> None:
    """Settle the language before a command is declared: its help is a text from then on. Raises ConfigError for one there is not."""
    named = os.environ.get(i18n.VARIABLE, "")
    if named not in i18n.LANGUAGES and (named or Path("agent.yaml").exists()):
        from agent import settings

        i18n.speak(settings.language(os.environ, Path.cwd()))
    if i18n.spoken() != i18n.SOURCE:
        i18n.lent()


def _kept_traceback() -> Path:
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="pv-agent-", suffix=".txt", delete=False, encoding="utf-8") as file:
        traceback.print_exc(file=file)
    return Path(file.name)
