"""`eval`, `bakeoff`, `sweep` and `fit`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli.flags import Kb, NoEmbed
from agent.cli.shared import bench_of, emit, emit_json, err, progress_bar, ready, settings_of
from agent.cli.spoken import Commands
from agent.errors import EXIT_EXPECTED, AgentError, ModelMissing, UsageError
from agent.i18n import tr

if TYPE_CHECKING:
    from agent.wiring import Bench

app = Commands()
fit_app = Commands(help=tr("Fit the data tables that ranking and refusing go by."), no_args_is_help=True)
app.add_typer(fit_app, name="fit")


Answers = Annotated[bool, typer.Option("--answers", help=tr("Let the model write the answers, too (without it they are extractive)."))]
JsonOut = Annotated[Path | None, typer.Option(metavar="FILE", help=tr("Write the whole result as JSON."))]
Resume = Annotated[bool, typer.Option("--resume", help=tr("Go on where an interrupted run stopped."))]
Retry = Annotated[bool, typer.Option("--retry-errors", help=tr("Go on, and ask again what failed."))]
Repeat = Annotated[int, typer.Option(min=1, max=100, help=tr("Ask every question so often."))]
Cassette = Annotated[Path | None, typer.Option(metavar="FILE", help=tr("Play the model's replies from this file instead of asking it."))]
Record = Annotated[bool, typer.Option("--record", help=tr("Ask the model and store its replies in the cassette."))]


@app.command(
    "eval",
    help=tr("Measure search, refusals and answers over the goldset, or search over a third-party set; every figure with its interval."),
)
def evaluate(
    answers: Answers = False,
    json_out: JsonOut = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help=tr("Write the page that shows where it fails."))] = None,
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help=tr("Write the report as Markdown."))] = None,
    scorecard: Annotated[Path | None, typer.Option(metavar="FILE", help=tr("Write the scores alone, small enough to commit."))] = None,
    compare: Annotated[Path | None, typer.Option(metavar="FILE", help=tr("An earlier result to compare with."))] = None,
    gate: Annotated[
        bool, typer.Option("--gate", help=tr("Exit 1 on a real drop against --compare or the newest scorecard, or below a floor."))
    ] = False,
    repeat: Repeat = 1,
    resume: Resume = False,
    retry: Retry = False,
    beir: Annotated[Path | None, typer.Option(metavar="DIR", help=tr("Measure a set in BEIR's layout instead of the goldset."))] = None,
    language: Annotated[str | None, typer.Option(help=tr("The language of --beir: de (the default), sv or en."))] = None,
    where: Annotated[list[str] | None, typer.Option(metavar="F=V", help=tr("Only queries of --beir whose field F is V."))] = None,
    run_file: Annotated[Path | None, typer.Option(metavar="FILE", help=tr("Write the rankings as a TREC run file."))] = None,
    cassette: Cassette = None,
    record: Record = False,
    no_embed: NoEmbed = False,
    kb: Kb = None,
) -> None:
    from agent.eval import evaluation, report
    from agent.eval import scorecard as scoring

    if not beir and (where or language):
        raise UsageError(tr("{option} belongs to --beir.", option="--where" if where else "--language"), tr("Name the set: --beir DIR."))
    settings = settings_of(kb, embed_off=no_embed or None)
    path = compare or (evaluation.newest(evaluation.scores(settings)) if gate and not beir else None)
    earlier = evaluation.read(path) if path else None
    with _measuring(
        json_out, settings, "eval", answers=answers, repeat=repeat, resume=resume or retry, retry=retry, cassette=cassette, record=record
    ) as options:
        if beir:
            floors: Any = {}
            result, ranked = evaluation.on_collection(beir, settings, options, language=language or "de", where=where or [])
        else:
            result, ranked, floors = evaluation.on_goldset(_measured_bench(kb, embed_off=no_embed or None), options)
    if path and earlier:
        result = evaluation.with_comparison(result, earlier, path.name)
    for warning in result.get("warnings", []):
        err(warning)
    shown = report.markdown(result)
    _finish(json_out, lambda: _json(result))
    _write(scorecard, lambda: _json(scoring.alone(result)))
    _write(markdown, lambda: shown)
    if run_file:
        evaluation.write_run(ranked, run_file)
    if html:
        from agent.eval import page

        _write(html, lambda: page.html(result))
    emit(shown)
    if gate:
        _close(scoring.gate(result, floors), path)


def _close(gate: Any, earlier: Path | None) -> None:
    """Say what the gate found, and leave with 1 where it is closed."""
    if earlier is None:
        err(tr("There is no scorecard to compare with; only the floors were looked at."))
    for reason in gate.reasons:
        err(tr("gate: {reason}", reason=reason))
    if gate.closed:
        raise typer.Exit(EXIT_EXPECTED)
    err(tr("The gate is open."))


@app.command(
    help=tr("Let several models or strategies answer the goldset: citation precision, then refusal correctness, then time decide.")
)
def bakeoff(
    models: Annotated[str | None, typer.Option(metavar="A,B,C", help=tr("The models, as the server calls them."))] = None,
    strategies: Annotated[
        str | None, typer.Option(metavar="A,B,C", help=tr("Instead: strategies with the answer model, told by class of question, too."))
    ] = None,
    json_out: JsonOut = None,
    repeat: Repeat = 1,
    resume: Resume = False,
    retry: Retry = False,
    cassette: Cassette = None,
    record: Record = False,
    kb: Kb = None,
) -> None:
    from agent.eval import evaluation, tables

    if bool(models) == bool(strategies):
        raise UsageError(
            tr("A bake-off is between models or between strategies."), tr("Write --models a,b,c or --strategies direct,router.")
        )
    what, varied = ("model", "answer_model") if models else ("strategy", "strategy")
    names = [name.strip() for name in (models or strategies or "").split(",") if name.strip()]
    if not names:
        raise UsageError(
            tr("A bake-off needs models.") if models else tr("A bake-off needs strategies."),
            tr("Write --{option} a,b,c.", option="models" if models else "strategies"),
        )
    bench = _measured_bench(kb)
    asked = names if models else [bench.settings.answer_model]
    if not cassette and not any(bench.model(name).installed() for name in asked):
        raise ModelMissing(
            tr("None of these models is on {url}: {asked}.", url=bench.model_server.url, asked=", ".join(asked)),
            tr("Start it, and: {command}", command=bench.to_get(*asked)),
        )
    with _measuring(
        json_out,
        bench.settings,
        "bakeoff",
        answers=True,
        repeat=repeat,
        resume=resume or retry,
        retry=retry,
        cassette=cassette,
        record=record,
    ) as options:
        results = evaluation.bakeoff(bench, evaluation.varied(varied, names), options)
    _finish(json_out, lambda: _json({setting.name: result for setting, result in results}))
    words = evaluation.words(bench)
    emit(tables.bakeoff(results, words, what=what))
    if strategies:
        emit("\n" + tables.by_class(results, words, what=what))


@app.command(
    help=tr("Try settings on the questions that tuning may see; what is printed was measured on questions the choice had not seen.")
)
def sweep(
    sets: Annotated[list[str], typer.Option("--set", metavar="NAME=V,V", help=tr("A setting and the values to try; several make a grid."))],
    measure: Annotated[str, typer.Option(help=tr("What decides, such as nDCG@10, MRR@10, refusal-correct, figure-present."))] = "nDCG@10",
    folds: Annotated[int, typer.Option(min=2, max=100)] = 5,
    answers: Answers = False,
    json_out: JsonOut = None,
    resume: Resume = False,
    cassette: Cassette = None,
    kb: Kb = None,
) -> None:
    from agent.eval import evaluation, experiment, tables

    grid = experiment.grid(sets)
    bench = _measured_bench(kb)
    with _measuring(json_out, bench.settings, "sweep", answers=answers, resume=resume, cassette=cassette) as options:
        choice = evaluation.swept(bench, grid, measure, options, folds=folds)
    _finish(json_out, lambda: _json(evaluation.document(choice)))
    emit(tables.sweep(choice, measure, evaluation.words(bench)))


def _measured_bench(kb: Path | None, **flags: Any) -> Bench:
    bench = bench_of(kb, False, **flags)
    ready(bench)
    if bench.stale():
        err(
            tr(
                "The knowledge base is newer than the index: the figures are of the index. "
                "`pv-agent ingest --register` brings it up to date."
            )
        )
    return bench


@contextmanager
def _measuring(json_out: Path | None, settings: Any, name: str, **options: Any) -> Iterator[Any]:
    """The options of an experiment with its progress bar; an interruption says how to go on."""
    from agent.eval import evaluation

    if options.get("record") and not options.get("cassette"):
        raise UsageError(tr("--record needs to know where."), tr("Add --cassette FILE."))
    journal = _beside(json_out) if json_out else evaluation.folder(settings) / f"{name}.journal"
    with progress_bar() as progress:
        try:
            yield evaluation.Options(journal, progress, **options)
        except KeyboardInterrupt:
            err(tr("Interrupted; what was measured is in {journal}. Go on with the same command and --resume.", journal=journal))
            raise


def _beside(json_out: Path) -> Path:
    return json_out.with_name(json_out.name + ".journal")


def _finish(json_out: Path | None, made: Callable[[], str]) -> None:
    """Write a whole result; the journal beside it is put away then, unless something failed that --retry-errors may ask again."""
    _write(json_out, made)
    if json_out is not None:
        from agent.eval import journal

        journal.put_away(_beside(json_out))


def _write(path: Path | None, made: Callable[[], str]) -> None:
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made(), encoding="utf-8")
    except OSError as error:
        raise AgentError(tr("{path} cannot be written ({reason}).", path=path, reason=error.strerror), tr("Name another place.")) from error


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


@fit_app.command(
    "answerability",
    help=tr(
        "Calibrate the refusal gate of a base's language on eichung.yaml and the goldset's tuning half; what is printed is out of fold."
    ),
)
def fit_answerability(
    write: Annotated[bool, typer.Option("--write", help=tr("Store the coefficients in the program's table."))] = False, kb: Kb = None
) -> None:
    from agent import texts
    from agent.eval import calibration
    from agent.wiring import FIRST_LANGUAGE

    bench = bench_of(kb, False)
    models = calibration.fitted(bench, calibration.labelled(bench))
    for name, fitted in models.items():
        err(f"{name}: {fitted.line()}")
    code = bench.language.code
    table = {**texts.own_table("answerability", code), **{name: fitted.model for name, fitted in models.items()}}
    if write:
        texts.store_table("answerability" if code == FIRST_LANGUAGE else f"answerability.{code}", table)
    else:
        emit_json(table)


@fit_app.command(
    "complexity",
    help=tr(
        "Fit the classifier of the strategy adaptive on komplexitaet.yaml, the goldset's tuning half and the sets; printed is out of fold."
    ),
)
def fit_complexity(
    sets: Annotated[
        list[Path] | None, typer.Argument(metavar="[DIR]...", help=tr("Folders with a queries.jsonl of text, label and lang."))
    ] = None,
    write: Annotated[bool, typer.Option("--write", help=tr("Store the coefficients in the program's table."))] = False,
    kb: Kb = None,
) -> None:
    from agent import texts
    from agent.eval import complexity

    examples = complexity.labelled(bench_of(kb, False), sets or [])
    fits = complexity.fitted(examples)
    for fit in fits:
        err(fit.line())
    sources = dict.fromkeys(example.source for example in examples)
    table = {**{fit.language: fit.model for fit in fits}, "fitted_on": list(sources)}
    if write:
        texts.store_table("complexity", table)
    else:
        emit_json(table)


@fit_app.command(
    "ranking", help=tr("Fit the weights of the second stage of a search on third-party test sets; what is printed is out of fold.")
)
def fit_ranking(
    sets: Annotated[list[str], typer.Argument(metavar="DIR=LANGUAGE...", help=tr("Test sets in BEIR's layout, each with its language."))],
    write: Annotated[bool, typer.Option("--write", help=tr("Store the weights in the program's table."))] = False,
    own: Annotated[bool, typer.Option("--goldset", help=tr("Fit to the goldset's tuning half, too."))] = False,
    kb: Kb = None,
) -> None:
    from agent import texts
    from agent.eval import beir, evaluation, fitting

    pairs = [(folder, language) for folder, _, language in (named.rpartition("=") for named in sets)]
    if not all(folder for folder, _ in pairs):
        raise UsageError(tr("A set is given with its language."), tr("Write DIR=LANGUAGE, such as sets/xquad_de=de."))
    bench = _measured_bench(kb) if own else None
    settings = bench.settings if bench else settings_of(kb)
    read = [(beir.read(Path(folder)), language) for folder, language in pairs]
    table = dict(texts.table("ranking"))
    with progress_bar() as progress:
        for fit in fitting.fit(read, settings, bench, vectors=evaluation.folder(settings) / "vectors", progress=progress):
            err("\n".join([f"{fit.kind}: {dict(fit.weights)}", *fitting.lines(fit.scored), ""]))
            table[fit.kind] = fit.weights
    table["fitted_on"] = [*(["goldset"] if own else []), *(test_set.name for test_set, _ in read)]
    if write:
        texts.store_table("ranking", table)
    else:
        emit_json(table)
