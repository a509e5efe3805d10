"""`doctor` and `schema`."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.shared import Json, Kb, emit, emit_json, err, settings_of
from agent.errors import EXIT_EXPECTED, UsageError

app = typer.Typer(rich_markup_mode=None)


@app.command()
def doctor(as_json: Json = False, kb: Kb = None) -> None:
    """What is there, what is missing, and the command that mends it."""
    from agent import doctor as examination

    settings = settings_of(kb)
    if settings.review_enabled and settings.review_mode != "off":
        err("Asking the roles of the reviewed chain, to see how long they take …")
    checks = examination.examined(settings)
    if as_json:
        emit_json([check.document() for check in checks])
    else:
        emit("\n".join(check.line() for check in checks))
    if any(check.state == "bad" for check in checks):
        raise typer.Exit(EXIT_EXPECTED)


@app.command()
def schema(name: Annotated[str, typer.Argument(help="answer, refusal, eval, run, export or shadow.")]) -> None:
    """Print the JSON Schema of a published document."""
    from agent import texts

    published = [n for n in texts.names("schemas", ".json") if "." not in n]
    if name not in published:
        raise UsageError(f"There is no published schema {name!r}.", f"Published: {', '.join(published)}.")
    emit_json(texts.schema(name))
