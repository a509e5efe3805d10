"""What the library of the command line says itself (headings of a help, wrong usage), in the user's language like everything else.

Where the library asks gettext it finds our catalogue; what it says without asking is translated here, at the places it lets others
define. A sentence of it that is not known here stays as it is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from agent.i18n import SOURCE, noted, spoken, tr

_Function = TypeVar("_Function", bound=Callable[..., Any])

USAGE = noted("Usage:")
HELPS = (
    noted("Show this message and exit."),
    noted("Install completion for the current shell."),
    noted("Show completion for the current shell, to copy it or customize the installation."),
)
ASKED = (
    noted("Arguments"),
    noted("Options"),
    noted("Commands"),
    noted("required"),
    noted("default: {default}"),
    noted("(dynamic)"),
    noted("Missing command."),
    noted("No such command {name!r}."),
)
"""What it asks gettext for."""
SENTENCES = (
    noted("Missing argument {parameter}."),
    noted("Missing option {parameter}."),
    noted("No such option: {option} (Possible options: {options})"),
    noted("No such option: {option}"),
    noted("Invalid value for {parameter}: {value} is not a valid int range."),
    noted("Invalid value for {parameter}: {value} is not a valid int."),
    noted("Invalid value for {parameter}: {value} is not in the range {range}."),
    noted("Invalid value for {parameter}: {problem}"),
    noted("Option {option} requires an argument."),
    noted("Got unexpected extra argument(s) ({arguments})"),
    noted("{problem}. Did you mean {suggestions}?"),
)
"""What it says of wrong usage; the first that fits is taken."""


class Commands(typer.Typer):
    """Commands that say everything in the user's language."""

    def __init__(self, **given: Any) -> None:
        super().__init__(cls=Group, rich_markup_mode=None, **given)

    def command(self, name: str | None = None, **given: Any) -> Callable[[_Function], _Function]:
        return super().command(name, cls=Command, **given)


class _Speaking:
    """The places the library lets others define."""

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "help", None) in HELPS:
                param.help = tr(param.help)
        return params

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        formatter.write_usage(ctx.command_path, " ".join(self.collect_usage_pieces(ctx)), prefix=f"{tr(USAGE)} ")  # type: ignore[attr-defined]


class Command(_Speaking, TyperCommand):
    """A command."""


class Group(_Speaking, TyperGroup):
    """Commands under a name; the whole program, too."""

    def main(self, *args: Any, **given: Any) -> Any:
        if spoken() == SOURCE or not given.get("standalone_mode", True):
            return super().main(*args, **given)
        try:
            code = super().main(*args, **{**given, "standalone_mode": False})
        except TyperException as error:
            _tell(error)
            sys.exit(error.exit_code)
        sys.exit(code or 0)


def _tell(error: TyperException) -> None:
    """Wrong usage as the library would tell it."""
    said, ctx = error.format_message(), getattr(error, "ctx", None)
    if ctx is not None:
        if said.startswith(f"{tr(USAGE)} "):  # a command that was given nothing tells its whole help
            print(said, file=sys.stderr)
            return
        print(ctx.get_usage(), file=sys.stderr)
        print(tr("Try '{command} --help' for help.", command=ctx.command_path), file=sys.stderr, end="\n\n")
    print(tr("Error: {problem}", problem=retold(said)), file=sys.stderr)


def retold(said: str) -> str:
    """A sentence of the library in the user's language, where its form is known."""
    for sentence in SENTENCES:
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(sentence))
        if found := re.fullmatch(pattern, said, re.DOTALL):
            return tr(sentence, **found.groupdict())
    return said
