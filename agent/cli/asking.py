"""`ask` and `search`."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.flags import Json, Kb, NoEmbed, Stichtag
from agent.cli.shared import bench_of, day_of, emit, emit_json, question_of, ready, shadowed, spinner, style
from agent.cli.spoken import Commands
from agent.errors import EXIT_REFUSED, ConfigError, UsageError
from agent.i18n import tr

app = Commands()


@app.command(help=tr("Answer a question with the ID and the Stand of every entry it relies on."))
def ask(
    question: Annotated[str, typer.Argument(metavar="FRAGE", help=tr("The question."))],
    as_json: Json = False,
    stichtag: Stichtag = None,
    strategy: Annotated[str | None, typer.Option(help=tr("How to look: direct; router, ircot or adaptive (with a model)."))] = None,
    generator: Annotated[str | None, typer.Option(help=tr("How to say it: auto, point (a model) or extractive (none)."))] = None,
    model: Annotated[str | None, typer.Option(help=tr("The answer model on the server; implies --generator point."))] = None,
    review: Annotated[str | None, typer.Option(metavar="M", help=tr("The reviewed chain: off, shadow or reviewed_answer."))] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help=tr("Show the scores of both legs, the carrying sentences and what was dropped."))
    ] = False,
    no_log: Annotated[bool, typer.Option("--no-log", help=tr("Keep no record of this question."))] = False,
    no_embed: NoEmbed = False,
    kb: Kb = None,
) -> None:
    text, day = question_of(question), day_of(stichtag)
    if model and not generator:
        generator = "point"  # who names a model wants to hear when it does not answer
    bench = bench_of(kb, as_json, strategy=strategy, generator=generator, answer_model=model, embed_off=no_embed or None)
    try:
        bench.review_mode(review)
    except ConfigError as error:
        raise UsageError(error.message.replace("review_mode", "--review", 1), error.mend) from error
    ready(bench)
    with spinner(bench, as_json) as listener:
        from dataclasses import replace

        asked = replace(bench, listeners=(listener,)).asked(text, day, log=not no_log, review=review)
    answer = asked.answer
    if as_json:
        from agent.publish import document

        emit_json(document(answer))
    else:
        from agent import render

        emit(render.answer(answer, bench.language, style()))
        if explain:
            emit("\n" + render.explained(answer, bench.language))
    if asked.shadow:
        shadowed(asked.shadow, bench, as_json)
    from agent.values import Refused

    if isinstance(answer, Refused):
        raise typer.Exit(EXIT_REFUSED)


@app.command(help=tr("Retrieval alone: the entries found, with the rank and score of each leg."))
def search(
    question: Annotated[str, typer.Argument(metavar="FRAGE", help=tr("What to look for."))],
    k: Annotated[int, typer.Option("-k", min=1, max=100, help=tr("How many entries."))] = 8,
    as_json: Json = False,
    stichtag: Stichtag = None,
    scope: Annotated[str, typer.Option(help=tr("alle, gesetz or kv."))] = "alle",
    no_embed: NoEmbed = False,
    kb: Kb = None,
) -> None:
    text, day = question_of(question), day_of(stichtag)
    bench = bench_of(kb, as_json, embed_off=no_embed or None)
    ready(bench)
    evidence = bench.search(text, day, k=k, scope=scope)
    if as_json:
        from agent.publish import search_document

        emit_json(search_document(text, evidence))
    else:
        from agent import render

        emit(render.hits(evidence) if evidence.hits else bench.language.message("no_evidence"))
    if not evidence.hits:
        raise typer.Exit(EXIT_REFUSED)
