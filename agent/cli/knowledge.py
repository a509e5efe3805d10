"""`ingest` and `kb`: the index and the knowledge base behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli.flags import Json, Kb, NoEmbed
from agent.cli.shared import bench_of, brought_up, day_of, emit, emit_json, err, named, progress_bar, settings_of
from agent.cli.spoken import Commands
from agent.errors import EXIT_EXPECTED, UsageError
from agent.i18n import noted, tr, trn

if TYPE_CHECKING:
    from agent.wiring import Bench

app = Commands()
kb_app = Commands(help=tr("Look after the knowledge base."), no_args_is_help=True)
app.add_typer(kb_app, name="kb")


@app.command(help=tr("Bring the index to the state of the knowledge base; only what changed is written and embedded."))
def ingest(
    register: Annotated[
        bool, typer.Option("--register", help=tr("First register new and edited entries in kb.json, as `kb build` does."))
    ] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help=tr("Go on without the entries that are refused."))] = False,
    no_embed: NoEmbed = False,
    full: Annotated[bool, typer.Option("--full", help=tr("Build everything anew, also for another embedder."))] = False,
    licence: Annotated[str, typer.Option(help=tr("With --register: the licence note of new entries."))] = "",
    kb: Kb = None,
) -> None:
    bench = bench_of(kb, False, embed_off=no_embed or None)
    if register:
        _register(bench, licence, skip_bad=skip_bad)
    brought_up(bench, skip_bad=skip_bad, full=full)


@kb_app.command(help=tr("Report every problem as file:line: what it is, and how to mend it."))
def lint(
    notices: Annotated[bool, typer.Option("--notices", help=tr("List the notices too, not only the problems."))] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help=tr("Find more: what is stale, missing, nearly the same, or a figure tied to nothing."),
        ),
    ] = False,
    kb: Kb = None,
) -> None:
    from agent.ingest import lint as linting

    bench = bench_of(kb, False)
    findings = linting.lint(bench.place.kb, bench.language, strict=strict)
    problems = [finding for finding in findings if finding.severity == "problem"]
    for finding in findings if notices else problems:
        emit(f"{finding}" if finding.severity == "problem" else tr("{finding} (notice)", finding=finding))
    hidden = "" if notices else tr("--notices lists them")
    kinds = Counter(finding.kind or noted("other") for finding in findings if finding.severity == "notice")
    told = ", ".join(f"{count} {tr(kind)}" for kind, count in kinds.most_common())
    aside = "; ".join(filter(None, (told, hidden)))
    counts = trn("{count} problem", "{count} problems", len(problems)), trn("{count} notice", "{count} notices", kinds.total())
    emit(f"{', '.join(counts)}{f' ({aside})' if aside else ''}.")
    if problems:
        raise typer.Exit(EXIT_EXPECTED)


@kb_app.command(help=tr("Register the entries that are fit in kb.json: layer 2, sound, with a licence note."))
def build(
    licence: Annotated[str, typer.Option(help=tr("The licence note of new entries (default: kb.json's)."))] = "", kb: Kb = None
) -> None:
    _register(bench_of(kb, False), licence)


def _register(bench: Bench, licence: str, *, skip_bad: bool = False) -> None:
    from agent.ingest import build as building

    built = building.build(bench.place.kb, bench.language, licence=licence)
    for problem in built.problems:
        err(str(problem))
    for label, ids in ((tr("registered"), built.added), (tr("registered anew"), built.updated), (tr("taken out"), built.removed)):
        if ids:
            err(named(label, ids))
    if built.problems and not skip_bad:
        raise typer.Exit(EXIT_EXPECTED)


@kb_app.command(
    help=tr("What is covered by topic and year, and what is missing: orphans, values without an entry, entries without a question.")
)
def stats(
    since: Annotated[int | None, typer.Option(min=1900, max=2200, metavar="YEAR", help=tr("The first year (default: four back)."))] = None,
    full: Annotated[bool, typer.Option("--full", help=tr("List every orphan, value and entry, not only how many there are."))] = False,
    as_json: Json = False,
    kb: Kb = None,
) -> None:
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


@kb_app.command(
    "import", help=tr("Bring documents in as entries and register them; each file becomes an entry or is named with what keeps it out.")
)
def import_(
    source: Annotated[
        Path, typer.Argument(metavar="DIR", help=tr("A folder of Markdown, HTML or plain text, one such file, or a chunks.json."))
    ],
    licence: Annotated[str, typer.Option(help=tr("The licence note of the documents; needed."))] = "",
    prefix: Annotated[str, typer.Option(help=tr("What the ids begin with; the rest is the file's name."))] = "",
    stand: Annotated[str | None, typer.Option(metavar="DATE", help=tr("The Stand of documents that state none."))] = None,
    bereich: Annotated[str, typer.Option(help=tr("The bereich of the entries (default: the first of kb.json)."))] = "",
    thema: Annotated[str, typer.Option(help=tr("The thema of documents that name none."))] = "",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help=tr("Replace imported entries that were edited or came from elsewhere."))
    ] = False,
    language: Annotated[
        str, typer.Option(metavar="CODE", help=tr("Begin a new knowledge base in this language where --kb has none."))
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help=tr("Only say what would happen."))] = False,
    as_json: Json = False,
    kb: Kb = None,
) -> None:
    from datetime import date

    from agent.ingest.importing import run
    from agent.ingest.importing.writing import Terms

    given = Terms(licence, date.today(), prefix, day_of(stand), bereich, thema, overwrite)
    run.insist_on_licence(given)
    with _begun(kb, language), progress_bar() as progress:
        bench = bench_of(kb, as_json)
        outcome = run.bring(bench.place.kb, source, given, language=bench.language, progress=progress, dry=dry_run)
    if as_json:
        emit_json(outcome.document())
    else:
        for notice in outcome.notices:
            err(tr("{finding} (notice)", finding=notice))
        for problem in outcome.problems:
            err(str(problem))
        counts = [f"{len(ids)} {tr(what)}" for what, ids in outcome.counted() if ids]
        emit(
            trn(
                "{counts}; {count} document kept out.",
                "{counts}; {count} documents kept out.",
                len(outcome.problems),
                counts=", ".join(counts) or tr("Nothing imported"),
            )
        )
        if outcome.added or outcome.updated:
            emit(tr("Nothing was written.") if dry_run else tr("Bring the index up to date: pv-agent ingest --register"))
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
            err(tr("{folder}: a new knowledge base ({language}).", folder=folder, language=language))


@kb_app.command(help=tr("Print an entry as it stands in the knowledge base, or a dated value by the id it is cited with (werte:KEY@DATE)."))
def show(entry_id: Annotated[str, typer.Argument(metavar="ID")], kb: Kb = None) -> None:
    from agent.ingest import folder
    from agent.render import printable

    bench = bench_of(kb, False)
    if entry_id.startswith("werte:"):
        emit(printable(_dated(bench, entry_id)))
        return
    found = [file for file in folder.documents(bench.place.kb) if file.entry and file.entry.info.id == entry_id]
    if not found:
        raise UsageError(tr("There is no entry {id!r}.", id=entry_id), tr("Look for one: pv-agent search {id!r}", id=entry_id))
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
        hint = tr("There is {of_name}.", of_name=", ".join(of_name)) if of_name else tr("`pv-agent kb werte KEY` shows all of a key.")
        raise UsageError(tr("There is no dated value {cited!r}.", cited=cited), hint)
    return dated.Notation(texts.table(f"kb.{bench.language.code}")).table([ids[cited]], [ids[cited].name])


@kb_app.command(help=tr("Begin a new entry: a skeleton with every field, never over an existing file."))
def new(
    entry_id: Annotated[str, typer.Argument(metavar="ID")],
    titel: Annotated[str, typer.Option(help=tr("The entry's title."))] = "",
    kb: Kb = None,
) -> None:
    from agent.ingest import new as skeleton

    bench = bench_of(kb, False)
    path = skeleton.new(bench.place.kb, entry_id, title=titel or entry_id, language=bench.language)
    emit(tr("{path}: fill it in, then run `pv-agent ingest --register`.", path=path))


@kb_app.command(help=tr("Print dated values as the rows of a table, ready to paste into an entry."))
def werte(keys: Annotated[list[str], typer.Argument(metavar="KEY…", help=tr("Keys of werte.yaml."))], kb: Kb = None) -> None:
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
            raise KnowledgeBaseError(
                tr("werte.yaml has no key {key}.", key=key), near(key, known, tr("Take one of its keys, or `key/row`."))
            )
    emit(dated.Notation(texts.table(f"kb.{bench.language.code}")).table(values, keys))


@kb_app.command(help=tr("Write the embedded embedder's vectors of all entries into the small file that ships with the knowledge base."))
def cache(kb: Kb = None) -> None:
    with progress_bar() as progress:
        path, count = bench_of(kb, False).write_cache(progress)
    emit(tr("{path}: {count} new vectors.", path=path, count=count))
