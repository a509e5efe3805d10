"""The command line: reads arguments, calls one thing, prints what came back. No logic; what is heavy is imported when it is needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from agent.errors import EXIT_BUG, EXIT_EXPECTED, EXIT_REFUSED, AgentError, UsageError

if TYPE_CHECKING:
    from agent.wiring import Bench

app = typer.Typer(
    name="pv-agent",
    help="Answers questions on Austrian payroll from a curated knowledge base, cites every entry, and refuses rather than guesses.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
kb_app = typer.Typer(help="Look after the knowledge base.", no_args_is_help=True, rich_markup_mode=None)
runs_app = typer.Typer(help="Look at earlier answers.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(kb_app, name="kb")
app.add_typer(runs_app, name="runs")
fit_app = typer.Typer(help="Fit the data tables that ranking and refusing go by.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(fit_app, name="fit")

LONGEST_QUESTION = 4000

Kb = Annotated[Path | None, typer.Option("--kb", metavar="DIR", help="The knowledge base (default: PV_KB_DIR, else ./wissensbasis).")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Stichtag = Annotated[
    str | None, typer.Option(metavar="DATE", help="The day the answer is for: 2026-01-31, 31.1.2026 or 2026 (default: today).")
]
NoEmbed = Annotated[bool, typer.Option("--no-embed", help="Words only, no vectors.")]


# --- asking ---------------------------------------------------------------------------------------


@app.command()
def ask(
    question: Annotated[str, typer.Argument(metavar="FRAGE", help="The question.")],
    as_json: Json = False,
    stichtag: Stichtag = None,
    strategy: Annotated[str | None, typer.Option(help="How to look: direct.")] = None,
    generator: Annotated[str | None, typer.Option(help="How to say it: auto, point (a model) or extractive (none).")] = None,
    model: Annotated[str | None, typer.Option(help="The answer model on the server.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the scores of both legs, the carrying sentences and what was dropped.")
    ] = False,
    no_log: Annotated[bool, typer.Option("--no-log", help="Keep no record of this question.")] = False,
    no_embed: NoEmbed = False,
    kb: Kb = None,
) -> None:
    """Answer a question with the ID and the Stand of every entry it relies on."""
    text, day = _question(question), _day(stichtag)
    bench = _bench(kb, as_json, strategy=strategy, generator=generator, answer_model=model, embed_off=no_embed or None)
    _ready(bench)
    with _spinner(bench, as_json) as listener:
        from dataclasses import replace

        answer = replace(bench, listeners=(listener,)).ask(text, day, log=not no_log)
    if as_json:
        from agent.publish import document

        _emit_json(document(answer))
    else:
        from agent import render

        _emit(render.answer(answer, bench.language, _style()))
        if explain:
            _emit("\n" + render.explained(answer, bench.language))
    from agent.values import Refused

    if isinstance(answer, Refused):
        raise typer.Exit(EXIT_REFUSED)


@app.command()
def search(
    question: Annotated[str, typer.Argument(metavar="FRAGE", help="What to look for.")],
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="How many entries.")] = 8,
    as_json: Json = False,
    stichtag: Stichtag = None,
    scope: Annotated[str, typer.Option(help="alle, gesetz or kv.")] = "alle",
    no_embed: NoEmbed = False,
    kb: Kb = None,
) -> None:
    """Retrieval alone: the entries found, with the rank and score of each leg."""
    text, day = _question(question), _day(stichtag)
    bench = _bench(kb, as_json, embed_off=no_embed or None)
    _ready(bench)
    if scope not in bench.language.table["scopes"]:
        raise UsageError(f"There is no scope {scope!r}.", f"It is one of {', '.join(bench.language.table['scopes'])}.")
    evidence = bench.search(text, day, k=k, scope=scope)
    if as_json:
        from agent.publish import search_document

        _emit_json(search_document(text, evidence))
    else:
        from agent import render

        _emit(render.hits(evidence) if evidence.hits else bench.language.message("no_evidence"))
    if not evidence.hits:
        raise typer.Exit(EXIT_REFUSED)


# --- the index ------------------------------------------------------------------------------------


@app.command()
def ingest(
    register: Annotated[
        bool, typer.Option("--register", help="First register new and edited entries in kb.json, as `kb build` does.")
    ] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Go on without the entries that are refused.")] = False,
    no_embed: NoEmbed = False,
    full: Annotated[bool, typer.Option("--full", help="Build everything anew, also for another embedder.")] = False,
    licence: Annotated[str, typer.Option(help="With --register: the licence note of new entries.")] = "",
    kb: Kb = None,
) -> None:
    """Bring the index to the state of the knowledge base; only what changed is written and embedded."""
    bench = _bench(kb, False, embed_off=no_embed or None)
    if register:
        _register(bench, licence, skip_bad=skip_bad)
    _ingest(bench, skip_bad=skip_bad, full=full)


def _ingest(bench: Bench, *, skip_bad: bool = False, full: bool = False) -> None:
    with _progress() as progress:
        change, admission = bench.ingest(progress, skip_bad=skip_bad, full=full)
    for problem in admission.problems:
        _err(f"left out: {problem}")
    for line in _changes(change):
        _err(line)


def _ready(bench: Bench) -> None:
    """Build the index where there is none yet: the first question on a new machine needs no other command."""
    if not bench.has_index():
        _err("There is no index yet; building it.")
        _ingest(bench)


def _changes(change: Any) -> Iterator[str]:
    for label, ids in (("added", change.added), ("changed", change.changed), ("removed", change.removed)):
        if ids:
            yield f"{label} {len(ids)}: {', '.join(ids[:10])}{f' and {len(ids) - 10} more' if len(ids) > 10 else ''}"
    yield from (f"renamed: {old} -> {new}" for old, new in change.renamed)
    if not (change.added or change.changed or change.removed or change.renamed):
        yield "The index was up to date."
    yield f"{change.chunks} new chunks, {change.embedded} embedded, {change.reused} vectors taken over; {change.pieces} sentences embedded."
    yield from (f"{chunk}: the embedder could not digest this chunk; it is found by its words only." for chunk in change.failed)


# --- the knowledge base ---------------------------------------------------------------------------


@kb_app.command()
def lint(
    notices: Annotated[bool, typer.Option("--notices", help="List the notices too, not only the problems.")] = False, kb: Kb = None
) -> None:
    """Report every problem as file:line: what it is, and how to mend it."""
    from agent.ingest import lint as linting

    bench = _bench(kb, False)
    findings = linting.lint(bench.place.kb, bench.language)
    problems = [finding for finding in findings if finding.severity == "problem"]
    for finding in findings if notices else problems:
        _emit(f"{finding}" if finding.severity == "problem" else f"{finding} (notice)")
    hidden = "" if notices else " (--notices lists them)"
    _emit(f"{len(problems)} problems, {len(findings) - len(problems)} notices{hidden}.")
    if problems:
        raise typer.Exit(EXIT_EXPECTED)


@kb_app.command()
def build(licence: Annotated[str, typer.Option(help="The licence note of new entries (default: kb.json's).")] = "", kb: Kb = None) -> None:
    """Register the entries that are fit in kb.json: layer 2, sound, with a licence note."""
    _register(_bench(kb, False), licence)


def _register(bench: Bench, licence: str, *, skip_bad: bool = False) -> None:
    from agent.ingest import build as building

    built = building.build(bench.place.kb, bench.language, licence=licence)
    for problem in built.problems:
        _err(str(problem))
    for label, ids in (("registered", built.added), ("registered anew", built.updated), ("taken out", built.removed)):
        if ids:
            _err(f"{label} {len(ids)}: {', '.join(ids[:10])}{f' and {len(ids) - 10} more' if len(ids) > 10 else ''}")
    if built.problems and not skip_bad:
        raise typer.Exit(EXIT_EXPECTED)


@kb_app.command()
def show(entry_id: Annotated[str, typer.Argument(metavar="ID")], kb: Kb = None) -> None:
    """Print an entry as it stands in the knowledge base."""
    from agent.ingest import folder
    from agent.render import printable

    bench = _bench(kb, False)
    found = [file for file in folder.documents(bench.place.kb) if file.entry and file.entry.info.id == entry_id]
    if not found:
        raise UsageError(f"There is no entry {entry_id!r}.", f"Look for one: pv-agent search {entry_id!r}")
    _emit(printable(found[0].text))


@kb_app.command()
def new(
    entry_id: Annotated[str, typer.Argument(metavar="ID")],
    titel: Annotated[str, typer.Option(help="The entry's title.")] = "",
    kb: Kb = None,
) -> None:
    """Begin a new entry: a skeleton with every field, never over an existing file."""
    from agent.ingest import new as skeleton

    bench = _bench(kb, False)
    path = skeleton.new(bench.place.kb, entry_id, title=titel or entry_id, language=bench.language)
    _emit(f"{path}: fill it in, then run `pv-agent ingest --register`.")


@kb_app.command()
def werte(keys: Annotated[list[str], typer.Argument(metavar="KEY…", help="Keys of werte.yaml.")], kb: Kb = None) -> None:
    """Print dated values as the rows of a table, ready to paste into an entry."""
    from agent import texts
    from agent.ingest import werte as dated

    bench = _bench(kb, False)
    values, problems = dated.read(bench.place.kb)
    for problem in problems:
        _err(str(problem))
    _emit(dated.Notation(texts.table(f"kb.{bench.language.code}")).table(values, keys))


@kb_app.command()
def cache(kb: Kb = None) -> None:
    """Write the embedded embedder's vectors of all entries into the small file that ships with the knowledge base."""
    with _progress() as progress:
        path, count = _bench(kb, False).write_cache(progress)
    _emit(f"{path}: {count} new vectors.")


# --- runs -----------------------------------------------------------------------------------------


@runs_app.command("list")
def runs_list(
    where: Annotated[list[str] | None, typer.Option(metavar="F=V", help="Only runs whose field F is V, e.g. reason=weak_evidence.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10000)] = 30,
    as_json: Json = False,
    kb: Kb = None,
) -> None:
    """The newest runs first."""
    rows = _bench(kb, as_json).runs.listed(where=_pairs(where or []), limit=limit)
    if as_json:
        _emit_json(rows)
    else:
        from agent import render

        _emit(render.runs(rows))


@runs_app.command("show")
def runs_show(run_id: Annotated[str, typer.Argument(metavar="ID")], as_json: Json = False, kb: Kb = None) -> None:
    """The whole story of one answer."""
    record = _bench(kb, as_json).runs.shown(run_id)
    if as_json:
        _emit_json(record)
    else:
        from agent import render

        _emit(render.run(record))


@runs_app.command("purge")
def runs_purge(
    before: Annotated[str | None, typer.Option(metavar="DATE", help="Only runs before this day.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All runs.")] = False,
    kb: Kb = None,
) -> None:
    """Delete runs for good: questions can hold personal data."""
    if not before and not everything:
        raise UsageError("Say which runs to delete.", "--before DATE, or --all.")
    count = _bench(kb, False).runs.purge(before=_day(before) if before else None)
    _emit(f"{count} runs deleted.")


# --- measuring ------------------------------------------------------------------------------------

Answers = Annotated[bool, typer.Option("--answers", help="Let the model write the answers, too (without it they are extractive).")]
JsonOut = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the whole result as JSON.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where an interrupted run stopped.")]
Retry = Annotated[bool, typer.Option("--retry-errors", help="Go on, and ask again what failed.")]
Repeat = Annotated[int, typer.Option(min=1, max=100, help="Ask every question so often.")]
Cassette = Annotated[Path | None, typer.Option(metavar="FILE", help="Play the model's replies from this file instead of asking it.")]
Record = Annotated[bool, typer.Option("--record", help="Ask the model and store its replies in the cassette.")]


@app.command("eval")
def evaluate(
    answers: Answers = False,
    json_out: JsonOut = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the page that shows where it fails.")] = None,
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report as Markdown.")] = None,
    scorecard: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the scores alone, small enough to commit.")] = None,
    compare: Annotated[Path | None, typer.Option(metavar="FILE", help="An earlier result to compare with.")] = None,
    gate: Annotated[
        bool, typer.Option("--gate", help="Exit 1 on a real drop against --compare or the newest scorecard, or below a floor.")
    ] = False,
    repeat: Repeat = 1,
    resume: Resume = False,
    retry: Retry = False,
    beir: Annotated[Path | None, typer.Option(metavar="DIR", help="Measure a set in BEIR's layout instead of the goldset.")] = None,
    language: Annotated[str, typer.Option(help="The language of --beir: de, sv or en.")] = "de",
    where: Annotated[list[str] | None, typer.Option(metavar="F=V", help="Only queries of --beir whose field F is V.")] = None,
    run_file: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the rankings as a TREC run file.")] = None,
    cassette: Cassette = None,
    record: Record = False,
    no_embed: NoEmbed = False,
    kb: Kb = None,
) -> None:
    """Measure search, refusals and answers over the goldset, or search over a third-party set; every figure with its interval."""
    from agent.eval import evaluation, report
    from agent.eval import scorecard as scoring

    settings = _settings(kb, embed_off=no_embed or None)
    path = compare or (evaluation.newest(evaluation.scores(settings)) if gate and not beir else None)
    earlier = evaluation.read(path) if path else None
    with _measuring(
        json_out, settings, "eval", answers=answers, repeat=repeat, resume=resume or retry, retry=retry, cassette=cassette, record=record
    ) as options:
        if beir:
            floors: Any = {}
            result, ranked = evaluation.on_collection(beir, settings, options, language=language, where=where or [])
        else:
            result, ranked, floors = evaluation.on_goldset(_measured_bench(kb, embed_off=no_embed or None), options)
    if path and earlier:
        result = evaluation.with_comparison(result, earlier, path.name)
    for warning in result.get("warnings", []):
        _err(warning)
    shown = report.markdown(result)
    _write(json_out, lambda: _json(result))
    _write(scorecard, lambda: _json(scoring.alone(result)))
    _write(markdown, lambda: shown)
    if run_file:
        evaluation.write_run(ranked, run_file)
    if html:
        from agent.eval import page

        _write(html, lambda: page.html(result))
    _emit(shown)
    if gate:
        _close(scoring.gate(result, floors), path)


def _close(gate: Any, earlier: Path | None) -> None:
    """Say what the gate found, and leave with 1 where it is closed."""
    if earlier is None:
        _err("There is no scorecard to compare with; only the floors were looked at.")
    for reason in gate.reasons:
        _err(f"gate: {reason}")
    if gate.closed:
        raise typer.Exit(EXIT_EXPECTED)
    _err("The gate is open.")


@app.command()
def bakeoff(
    models: Annotated[str, typer.Option(metavar="A,B,C", help="The models, as the server calls them.")],
    json_out: JsonOut = None,
    repeat: Repeat = 1,
    resume: Resume = False,
    retry: Retry = False,
    cassette: Cassette = None,
    record: Record = False,
    kb: Kb = None,
) -> None:
    """Let several models answer the goldset: citation precision, then refusal correctness, then time decide."""
    from agent.eval import evaluation, tables

    names = [name.strip() for name in models.split(",") if name.strip()]
    if not names:
        raise UsageError("A bake-off needs models.", "Write --models a,b,c.")
    bench = _measured_bench(kb)
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
        results = evaluation.bakeoff(bench, names, options)
    _write(json_out, lambda: _json({setting.name: result for setting, result in results}))
    _emit(tables.bakeoff(results, evaluation.words(bench)))


@app.command()
def sweep(
    sets: Annotated[list[str], typer.Option("--set", metavar="NAME=V,V", help="A setting and the values to try; several make a grid.")],
    measure: Annotated[str, typer.Option(help="What decides, such as nDCG@10, MRR@10, refusal-correct, figure-present.")] = "nDCG@10",
    folds: Annotated[int, typer.Option(min=2, max=100)] = 5,
    answers: Answers = False,
    json_out: JsonOut = None,
    resume: Resume = False,
    cassette: Cassette = None,
    kb: Kb = None,
) -> None:
    """Try settings on the questions that tuning may see; what is printed was measured on questions the choice had not seen."""
    from agent.eval import evaluation, experiment, tables

    grid = experiment.grid(sets)
    bench = _measured_bench(kb)
    with _measuring(json_out, bench.settings, "sweep", answers=answers, resume=resume, cassette=cassette) as options:
        choice = evaluation.swept(bench, grid, measure, options, folds=folds)
    _write(json_out, lambda: _json(evaluation.document(choice)))
    _emit(tables.sweep(choice, measure, evaluation.words(bench)))


def _measured_bench(kb: Path | None, **flags: Any) -> Bench:
    bench = _bench(kb, False, **flags)
    _ready(bench)
    if bench.stale():
        _err("The knowledge base is newer than the index: the figures are of the index. `pv-agent ingest` brings it up to date.")
    return bench


@contextmanager
def _measuring(json_out: Path | None, settings: Any, name: str, **options: Any) -> Iterator[Any]:
    """The options of an experiment with its progress bar; an interruption says how to go on."""
    from agent.eval import evaluation

    if options.get("record") and not options.get("cassette"):
        raise UsageError("--record needs to know where.", "Add --cassette FILE.")
    journal = json_out.with_name(json_out.name + ".journal") if json_out else evaluation.folder(settings) / f"{name}.journal"
    with _progress() as progress:
        try:
            yield evaluation.Options(journal, progress, **options)
        except KeyboardInterrupt:
            _err(f"Interrupted; what was measured is in {journal}. Go on with the same command and --resume.")
            raise


def _write(path: Path | None, made: Callable[[], str]) -> None:
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made(), encoding="utf-8")
    except OSError as error:
        raise AgentError(f"{path} cannot be written ({error.strerror}).", "Name another place.") from error


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


@fit_app.command("answerability")
def fit_answerability(
    write: Annotated[bool, typer.Option("--write", help="Store the coefficients in the program's table.")] = False, kb: Kb = None
) -> None:
    """Calibrate the refusal gate on eichung.yaml and the goldset's tuning half; what is printed is out of fold."""
    from agent import texts
    from agent.eval import calibration

    bench = _bench(kb, False)
    models = calibration.fitted(bench, calibration.labelled(bench))
    for name, fitted in models.items():
        _err(f"{name}: {fitted.line()}")
    table = {**texts.table("answerability"), **{name: fitted.model for name, fitted in models.items()}}
    if write:
        texts.store_table("answerability", table)
    else:
        _emit_json(table)


# --- the rest -------------------------------------------------------------------------------------


@app.command()
def doctor(as_json: Json = False, kb: Kb = None) -> None:
    """What is there, what is missing, and the command that mends it."""
    from agent import doctor as examination

    checks = examination.examined(_settings(kb))
    if as_json:
        _emit_json([check.document() for check in checks])
    else:
        _emit("\n".join(check.line() for check in checks))
    if any(check.state == "bad" for check in checks):
        raise typer.Exit(EXIT_EXPECTED)


@app.command()
def schema(name: Annotated[str, typer.Argument(help="answer, refusal, eval or run.")]) -> None:
    """Print the JSON Schema of a published document."""
    from agent import texts

    published = [n for n in texts.names("schemas", ".json") if "." not in n]
    if name not in published:
        raise UsageError(f"There is no published schema {name!r}.", f"Published: {', '.join(published)}.")
    _emit_json(texts.schema(name))


# --- between the arguments and the parts ----------------------------------------------------------


def _settings(kb: Path | None, **flags: Any) -> Any:
    from agent import settings

    return settings.load({"kb_dir": str(kb) if kb else None, **flags}).settings


def _bench(kb: Path | None, _as_json: bool, **flags: Any) -> Bench:
    from agent import wiring

    found = _settings(kb, **flags)
    return wiring.Bench(found, wiring.place(found))


def _question(text: str) -> str:
    text = text.strip()
    if not any(c.isalnum() for c in text):
        raise UsageError("The question is empty.", 'Ask it in quotes: pv-agent ask "Wie hoch ist …?"')
    if len(text) > LONGEST_QUESTION:
        raise UsageError(f"The question has {len(text)} characters.", f"Shorten it to {LONGEST_QUESTION}.")
    return text


def _day(text: str | None) -> date | None:
    """A date as written on the command line; a bare year means today's day in the current year, else its last day."""
    if text is None:
        return None
    from agent.dates import parsed

    return parsed(text)


def _pairs(conditions: list[str]) -> dict[str, str]:
    pairs = {}
    for condition in conditions:
        name, separator, value = condition.partition("=")
        if not separator or not name:
            raise UsageError(f"{condition!r} is no condition.", "Write --where field=value.")
        pairs[name] = value
    return pairs


def _style() -> Any:
    from agent.render import plain

    return typer.style if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else plain


def _emit(text: str) -> None:
    """Print a result; a reader who has gone away is no error."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None


def _emit_json(value: Any) -> None:
    import json

    _emit(json.dumps(value, ensure_ascii=False, indent=2))


def _err(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _progress() -> Any:
    from agent import progress

    return progress.bar(sys.stderr)


def _spinner(bench: Bench, as_json: bool) -> Any:
    from agent import progress

    return progress.spinner(sys.stderr, quiet=as_json, language=bench.language)


def main() -> NoReturn:
    """Run the command line; every expected error is one sentence, a bug is told with where its traceback lies."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        app()
    except AgentError as error:
        _err(f"pv-agent: {error}")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        _err(f"pv-agent: this is a bug ({type(error).__name__}). Please report the traceback in {_kept_traceback()}.")
        sys.exit(EXIT_BUG)
    sys.exit(0)


def _kept_traceback() -> Path:
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="pv-agent-", suffix=".txt", delete=False, encoding="utf-8") as file:
        traceback.print_exc(file=file)
    return Path(file.name)
