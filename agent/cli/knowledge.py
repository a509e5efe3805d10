"""`ingest` and `kb`: the index and the knowledge base behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli.shared import Json, Kb, NoEmbed, bench_of, brought_up, day_of, emit, emit_json, err, progress_bar, settings_of
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
    notices: Annotated[bool, typer.Option("--notices", help="List the notices too, not only the problems.")] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Find more: what is stale, missing, nearly the same, or a figure tied to nothing.",
        ),
    ] = False,
    kb: Kb = None,
) -> None:
    """Report every problem as file:line: what it is, and how to mend it."""
    from agent.ingest import lint as linting
    from agent.render import counted

    bench = bench_of(kb, False)
    findings = linting.lint(bench.place.kb, bench.language, strict=strict)
    problems = [finding for finding in findings if finding.severity == "problem"]
    for finding in findings if notices else problems:
        emit(f"{finding}" if finding.severity == "problem" else f"{finding} (notice)")
    kinds = Counter(finding.kind or "other" for finding in findings if finding.severity == "notice")
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    hidden = "" if notices else "; --notices lists them" if told else "--notices lists them"
    aside = f" ({told}{hidden})" if told or hidden else ""
    emit(f"{counted(len(problems), 'problem')}, {counted(kinds.total(), 'notice')}{aside}.")
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
def stats(
    since: Annotated[int | None, typer.Option(min=1900, max=2200, metavar="YEAR", help="The first year (default: four back).")] = None,
    full: Annotated[bool, typer.Option("--full", help="List every orphan, value and entry, not only how many there are.")] = False,
    as_json: Json = False,
    kb: Kb = None,
) -> None:
    """What is covered by topic and year, and what is missing: orphans, values without an entry, entries without a question."""
    from agent.eval import goldset
    from agent.ingest import stats as counting

    bench = bench_of(kb, as_json)
    path = bench.place.goldset
    asked = {source for case in goldset.read(path).cases for source in case.sources} if path.is_file() else None
    present = bench.today().year
    years = range(min(present - 4 if since is None else since, present), present + 2)
    found = counting.stats(bench.place.kb, years, asked=asked)
    if as_json:
        emit_json(found.document())
    else:
        from agent import render

        emit(render.stats(found.document(), full=full))


@kb_app.command("import")
def import_(
    source: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder of Markdown, HTML or plain text, one such file, or a chunks.json.")
    ],
    licence: Annotated[str, typer.Option(help="The licence note of the documents; needed.")] = "",
    prefix: Annotated[str, typer.Option(help="What the ids begin with; the rest is the file's name.")] = "",
    stand: Annotated[str | None, typer.Option(metavar="DATE", help="The Stand of documents that state none.")] = None,
    bereich: Annotated[str, typer.Option(help="The bereich of the entries (default: the first of kb.json).")] = "",
    thema: Annotated[str, typer.Option(help="The thema of documents that name none.")] = "",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace imported entries that were edited or came from elsewhere.")
    ] = False,
    language: Annotated[str, typer.Option(metavar="CODE", help="Begin a new knowledge base in this language where --kb has none.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")] = False,
    as_json: Json = False,
    kb: Kb = None,
) -> None:
    """Bring documents in as entries and register them; each file becomes an entry or is named with what keeps it out."""
    from datetime import date

    from agent.ingest.importing import run
    from agent.ingest.importing.writing import Terms
    from agent.render import counted

    given = Terms(licence, date.today(), prefix, day_of(stand), bereich, thema, overwrite)
    run.insist_on_licence(given)
    with _begun(kb, language), progress_bar() as progress:
        bench = bench_of(kb, as_json)
        outcome = run.bring(bench.place.kb, source, given, language=bench.language, progress=progress, dry=dry_run)
    if as_json:
        emit_json(outcome.document())
    else:
        for notice in outcome.notices:
            err(f"{notice} (notice)")
        for problem in outcome.problems:
            err(str(problem))
        counts = [f"{len(ids)} {what}" for what, ids in outcome.counted() if ids]
        emit(f"{', '.join(counts) or 'Nothing imported'}; {counted(len(outcome.problems), 'document')} kept out.")
        if outcome.added or outcome.updated:
            emit("Nothing was written." if dry_run else "Bring the index up to date: pv-agent ingest --register")
    if outcome.problems:
        raise typer.Exit(EXIT_EXPECTED)


@contextmanager
def _begun(kb: Path | None, language: str) -> Iterator[None]:
    """The knowledge base of an import; a new one in the language that was named, where there is none yet, and only if it gets an entry."""
    if not language:
        yield
        return
    from agent.ingest.new import begun

    folder = Path(settings_of(kb).kb_dir or "wissensbasis")
    with begun(folder, language) as fresh:
        yield
        if fresh and any(folder.glob("dokumente/*")):
            err(f"{folder}: a new knowledge base ({language}).")


@kb_app.command()
def show(entry_id: Annotated[str, typer.Argument(metavar="ID")], kb: Kb = None) -> None:
    """Print an entry as it stands in the knowledge base, or a dated value by the id it is cited with (werte:KEY@DATE)."""
    from agent.ingest import folder
    from agent.render import printable

    bench = bench_of(kb, False)
    if entry_id.startswith("werte:"):
        emit(printable(_dated(bench, entry_id)))
        return
    found = [file for file in folder.documents(bench.place.kb) if file.entry and file.entry.info.id == entry_id]
    if not found:
        raise UsageError(f"There is no entry {entry_id!r}.", f"Look for one: pv-agent search {entry_id!r}")
    emit(printable(found[0].text))


def _dated(bench: Bench, cited: str) -> str:
    """The row of the dated value that is cited as `werte:<key>[/<row>]@<valid_from>`, as a table."""
    from agent import texts
    from agent.ingest import werte as dated

    values, problems = dated.read(bench.place.kb)
    for problem in problems:
        err(str(problem))
    ids = {f"werte:{value.name}@{value.valid_from.isoformat()}": value for value in values}
    if cited not in ids:
        of_name = [known for known in sorted(ids) if known.partition("@")[0] == cited.partition("@")[0]]
        hint = f"There is {', '.join(of_name)}." if of_name else "`pv-agent kb werte KEY` shows all of a key."
        raise UsageError(f"There is no dated value {cited!r}.", hint)
    return dated.Notation(texts.table(f"kb.{bench.language.code}")).table([ids[cited]], [ids[cited].name])


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
