"""`ingest` and `kb`: the index and the knowledge base behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli.shared import Kb, NoEmbed, bench_of, brought_up, emit, err, progress_bar
from agent.errors import EXIT_EXPECTED, UsageError

if TYPE_CHECKING:
    from agent.wiring import Bench

app = typer.Typer(rich_markup_mode=None)
kb_app = typer.Typer(help="Look after the knowledge base.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(kb_app, name="kb")


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
    bench = bench_of(kb, False, embed_off=no_embed or None)
    if register:
        _register(bench, licence, skip_bad=skip_bad)
    brought_up(bench, skip_bad=skip_bad, full=full)


@kb_app.command()
def lint(
    notices: Annotated[bool, typer.Option("--notices", help="List the notices too, not only the problems.")] = False, kb: Kb = None
) -> None:
    """Report every problem as file:line: what it is, and how to mend it."""
    from agent.ingest import lint as linting

    bench = bench_of(kb, False)
    findings = linting.lint(bench.place.kb, bench.language)
    problems = [finding for finding in findings if finding.severity == "problem"]
    for finding in findings if notices else problems:
        emit(f"{finding}" if finding.severity == "problem" else f"{finding} (notice)")
    hidden = "" if notices else " (--notices lists them)"
    emit(f"{len(problems)} problems, {len(findings) - len(problems)} notices{hidden}.")
    if problems:
        raise typer.Exit(EXIT_EXPECTED)


@kb_app.command()
def build(licence: Annotated[str, typer.Option(help="The licence note of new entries (default: kb.json's).")] = "", kb: Kb = None) -> None:
    """Register the entries that are fit in kb.json: layer 2, sound, with a licence note."""
    _register(bench_of(kb, False), licence)


def _register(bench: Bench, licence: str, *, skip_bad: bool = False) -> None:
    from agent.ingest import build as building

    built = building.build(bench.place.kb, bench.language, licence=licence)
    for problem in built.problems:
        err(str(problem))
    for label, ids in (("registered", built.added), ("registered anew", built.updated), ("taken out", built.removed)):
        if ids:
            err(f"{label} {len(ids)}: {', '.join(ids[:10])}{f' and {len(ids) - 10} more' if len(ids) > 10 else ''}")
    if built.problems and not skip_bad:
        raise typer.Exit(EXIT_EXPECTED)


@kb_app.command()
def show(entry_id: Annotated[str, typer.Argument(metavar="ID")], kb: Kb = None) -> None:
    """Print an entry as it stands in the knowledge base."""
    from agent.ingest import folder
    from agent.render import printable

    bench = bench_of(kb, False)
    found = [file for file in folder.documents(bench.place.kb) if file.entry and file.entry.info.id == entry_id]
    if not found:
        raise UsageError(f"There is no entry {entry_id!r}.", f"Look for one: pv-agent search {entry_id!r}")
    emit(printable(found[0].text))


@kb_app.command()
def new(
    entry_id: Annotated[str, typer.Argument(metavar="ID")],
    titel: Annotated[str, typer.Option(help="The entry's title.")] = "",
    kb: Kb = None,
) -> None:
    """Begin a new entry: a skeleton with every field, never over an existing file."""
    from agent.ingest import new as skeleton

    bench = bench_of(kb, False)
    path = skeleton.new(bench.place.kb, entry_id, title=titel or entry_id, language=bench.language)
    emit(f"{path}: fill it in, then run `pv-agent ingest --register`.")


@kb_app.command()
def werte(keys: Annotated[list[str], typer.Argument(metavar="KEY…", help="Keys of werte.yaml.")], kb: Kb = None) -> None:
    """Print dated values as the rows of a table, ready to paste into an entry."""
    from agent import texts
    from agent.errors import KnowledgeBaseError
    from agent.ingest import werte as dated
    from agent.ingest.problems import near

    bench = bench_of(kb, False)
    values, problems = dated.read(bench.place.kb)
    for problem in problems:
        err(str(problem))
    known = {name for value in values for name in (value.key, value.name)}
    for key in keys:
        if key not in known:
            raise KnowledgeBaseError(f"werte.yaml has no key {key}.", near(key, known, "Take one of its keys, or `key/row`."))
    emit(dated.Notation(texts.table(f"kb.{bench.language.code}")).table(values, keys))


@kb_app.command()
def cache(kb: Kb = None) -> None:
    """Write the embedded embedder's vectors of all entries into the small file that ships with the knowledge base."""
    with progress_bar() as progress:
        path, count = bench_of(kb, False).write_cache(progress)
    emit(f"{path}: {count} new vectors.")
