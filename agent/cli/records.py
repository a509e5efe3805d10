"""`runs` and `shadow-report`: earlier answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent.cli.flags import Json, Kb
from agent.cli.shared import bench_of, day_of, emit, emit_json, pairs_of, progress_bar, ready
from agent.cli.spoken import Commands
from agent.errors import EXIT_DIFFERENT, AgentError, UsageError
from agent.i18n import noted, tr, trn

app = Commands()
runs_app = Commands(help=tr("Look at earlier answers."), no_args_is_help=True)
app.add_typer(runs_app, name="runs")


@runs_app.command("list", help=tr("The newest runs first."))
def runs_list(
    where: Annotated[
        list[str] | None, typer.Option(metavar="F=V", help=tr("Only runs whose field F is V: reason=weak_evidence, mode=shadow."))
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=10000)] = 30,
    as_json: Json = False,
    kb: Kb = None,
) -> None:
    runs = bench_of(kb, as_json).runs
    rows = runs.listed(where=pairs_of(where or []), limit=limit)
    if as_json:
        emit_json(rows)
    else:
        from agent import render

        emit(render.runs(rows, runs.labels()))


@runs_app.command("show", help=tr("The whole story of one answer."))
def runs_show(run_id: Annotated[str, typer.Argument(metavar="ID")], as_json: Json = False, kb: Kb = None) -> None:
    record = bench_of(kb, as_json).runs.shown(run_id)
    if as_json:
        emit_json(record)
    else:
        from agent import render

        emit(render.run(record))


@runs_app.command(
    "export",
    help=tr("One run as one self-contained JSON file: question, evidence with hashes, prompts, options, what the model said, answer."),
)
def runs_export(
    run_id: Annotated[str, typer.Argument(metavar="ID")],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help=tr("Where to write it (default: stdout)."))] = None,
    kb: Kb = None,
) -> None:
    from agent.audit import exported

    document = exported(bench_of(kb, True).runs.shown(run_id))
    if out is None:
        emit_json(document)
        return
    import json

    try:
        out.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise AgentError(tr("{path} cannot be written ({reason}).", path=out, reason=error.strerror), tr("Name another place.")) from error


@runs_app.command(
    "replay", help=tr("An exported run again, all but the model: what would be different today (exit code 3) or that nothing would (0).")
)
def runs_replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=tr("What `runs export` wrote."))], as_json: Json = False, kb: Kb = None
) -> None:
    from agent import replay

    then = replay.read(file)
    bench = bench_of(kb, as_json)
    ready(bench)
    document = replay.replayed(then, bench).document()
    if as_json:
        emit_json(document)
    else:
        from agent import render

        emit(render.replay(document))
    if not document["same"]:
        raise typer.Exit(EXIT_DIFFERENT)


@runs_app.command("affected", help=tr("Earlier answers and goldset questions that rest on text an edit has changed."))
def runs_affected(
    since: Annotated[str | None, typer.Option(metavar="DATE", help=tr("Only runs from this day on."))] = None,
    as_json: Json = False,
    kb: Kb = None,
) -> None:
    from agent import replay
    from agent.eval import goldset

    bench = bench_of(kb, as_json)
    ready(bench)
    cases = goldset.read(bench.place.goldset).cases if bench.place.goldset.is_file() else ()
    answers, questions = replay.affected(bench, day_of(since), [(case.id, case.question, case.sources) for case in cases])
    if as_json:
        from dataclasses import asdict

        emit_json({"answers": [asdict(found) for found in answers], "questions": [asdict(found) for found in questions]})
    else:
        from agent import render

        emit(render.affected(answers, questions))


@app.command(
    "shadow-report", help=tr("What the logged shadow runs say of the reviewed chain, and whether mode reviewed_answer may be switched on.")
)
def shadow_report(
    since: Annotated[str | None, typer.Option(metavar="DATE", help=tr("Only runs from this day on."))] = None,
    ask: Annotated[bool, typer.Option("--ask", help=tr("First ask the questions of the goldset that have no shadow run yet."))] = False,
    as_json: Json = False,
    kb: Kb = None,
) -> None:
    from agent.eval import goldset, shadow, shadow_page

    bench = bench_of(kb, as_json)
    day = day_of(since)
    gold = goldset.read(bench.place.goldset).cases if bench.place.goldset.is_file() else ()
    start = day.isoformat() if day else ""
    if ask:
        ready(bench)
        missing = shadow.unasked(gold, shadow.runs(bench, start) if bench.place.runs.is_file() else [])
        with progress_bar() as progress:
            for done, _ in enumerate(shadow.asked(bench, missing), start=1):
                progress(done, len(missing), noted("shadow runs"))
    document = shadow.report(shadow.runs(bench, start), gold)
    if as_json:
        emit_json(document)
    else:
        emit(shadow_page.markdown(document, shadow_page.words(bench.language.code)))


@runs_app.command("purge", help=tr("Delete runs for good: questions can hold personal data."))
def runs_purge(
    before: Annotated[str | None, typer.Option(metavar="DATE", help=tr("Only runs before this day."))] = None,
    everything: Annotated[bool, typer.Option("--all", help=tr("All runs."))] = False,
    kb: Kb = None,
) -> None:
    if bool(before) == everything:
        raise UsageError(tr("Say which runs to delete."), tr("Either --before DATE or --all."))
    count = bench_of(kb, False).runs.purge(before=day_of(before) if before else None)
    emit(trn("{count} run deleted.", "{count} runs deleted.", count))
