"""`doctor` and `schema`."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.flags import Json, Kb
from agent.cli.shared import emit, emit_json, err, settings_of
from agent.cli.spoken import Commands
from agent.errors import EXIT_EXPECTED, UsageError
from agent.i18n import tr

app = Commands()


@app.command(help=tr("What is there, what is missing, and the command that mends it."))
def doctor(as_json: Json = False, kb: Kb = None) -> None:
    from agent import doctor as examination

    settings = settings_of(kb)
    if settings.review_enabled and settings.review_mode != "off":
        err(tr("Asking the roles of the reviewed chain, to see how long they take …"))
    checks = examination.examined(settings)
    if as_json:
        emit_json([check.document() for check in checks])
    else:
        emit("\n".join(check.line() for check in checks))
    if any(check.state == "bad" for check in checks):
        raise typer.Exit(EXIT_EXPECTED)


@app.command(help=tr("Print the JSON Schema of a published document."))
def schema(name: Annotated[str, typer.Argument(help=tr("answer, refusal, eval, run, export or shadow."))]) -> None:
    from agent import texts

    published = [n for n in texts.names("schemas", ".json") if "." not in n]
    if name not in published:
        raise UsageError(
            tr("There is no published schema {name!r}.", name=name), tr("Published: {published}.", published=", ".join(published))
        )
    emit_json(texts.schema(name))
