"""`runs`: earlier answers."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.shared import Json, Kb, bench_of, day_of, emit, emit_json, pairs_of
from agent.errors import UsageError

app = typer.Typer(rich_markup_mode=None)
runs_app = typer.Typer(help="Look at earlier answers.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(runs_app, name="runs")


@runs_app.command("list")
def runs_list(
    where: Annotated[list[str] | None, typer.Option(metavar="F=V", help="Only runs whose field F is V, e.g. reason=weak_evidence.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10000)] = 30,
    as_json: Json = False,
    kb: Kb = None,
) -> None:
    """The newest runs first."""
    rows = bench_of(kb, as_json).runs.listed(where=pairs_of(where or []), limit=limit)
    if as_json:
        emit_json(rows)
    else:
        from agent import render

        emit(render.runs(rows))


@runs_app.command("show")
def runs_show(run_id: Annotated[str, typer.Argument(metavar="ID")], as_json: Json = False, kb: Kb = None) -> None:
    """The whole story of one answer."""
    record = bench_of(kb, as_json).runs.shown(run_id)
    if as_json:
        emit_json(record)
    else:
        from agent import render

        emit(render.run(record))


@runs_app.command("purge")
def runs_purge(
    before: Annotated[str | None, typer.Option(metavar="DATE", help="Only runs before this day.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All runs.")] = False,
    kb: Kb = None,
) -> None:
    """Delete runs for good: questions can hold personal data."""
    if not before and not everything:
        raise UsageError("Say which runs to delete.", "--before DATE, or --all.")
    count = bench_of(kb, False).runs.purge(before=day_of(before) if before else None)
    emit(f"{count} runs deleted.")
