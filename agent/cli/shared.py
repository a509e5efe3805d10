"""What the commands share: the settings and the bench they make, and how results and messages are printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from agent.errors import AgentError, EmptyIndex, KnowledgeBaseError, UsageError
from agent.i18n import tr

if TYPE_CHECKING:
    from agent.review import Shadow
    from agent.wiring import Bench


def settings_of(kb: Path | None, **flags: Any) -> Any:
    from agent import settings

    return settings.load({"kb_dir": str(kb) if kb else None, **flags}).settings


def bench_of(kb: Path | None, _as_json: bool, **flags: Any) -> Bench:
    from agent import wiring

    found = settings_of(kb, **flags)
    return wiring.Bench(found, wiring.place(found))


def question_of(text: str) -> str:
    from agent.plan import question_text

    return question_text(text)


def day_of(text: str | None) -> date | None:
    """A date as written on the command line; a bare year means today's day in the current year, else its last day."""
    if text is None:
        return None
    from agent.dates import parsed

    return parsed(text)


def pairs_of(conditions: list[str]) -> dict[str, str]:
    pairs = {}
    for condition in conditions:
        name, separator, value = condition.partition("=")
        if not separator or not name:
            raise UsageError(tr("{condition!r} is no condition.", condition=condition), tr("Write --where field=value."))
        pairs[name] = value
    return pairs


def style() -> Any:
    from agent.render import plain

    return typer.style if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else plain


def emit(text: str) -> None:
    """Print a result; a reader who has gone away is no error."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None


def emit_json(value: Any) -> None:
    import json

    emit(json.dumps(value, ensure_ascii=False, indent=2))


def err(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def progress_bar() -> Any:
    from agent import progress

    return progress.bar(sys.stderr)


def spinner(bench: Bench, as_json: bool) -> Any:
    from agent import progress

    return progress.spinner(sys.stderr, quiet=as_json, language=bench.language)


def shadowed(shadow: Shadow, bench: Bench, quiet: bool) -> None:
    """Run a shadow review after its answer was printed, in sight of the user; an interruption ends it and nothing else."""
    try:
        err(bench.language.message("shadow_begins"))
        with spinner(bench, quiet) as listener:
            record = shadow.run((listener,))
    except KeyboardInterrupt:
        err(bench.language.message("shadow_stopped"))
        return
    except AgentError as error:  # the answer stands, and so does its exit code
        err(f"pv-agent: {error}")
        return
    reason = record["fallback_reason"] or record["verdict"]
    err(bench.language.message("shadow_ended", origin=record["text_origin"], reason=reason, run=shadow.run_id))


def brought_up(bench: Bench, *, skip_bad: bool = False, full: bool = False) -> None:
    with progress_bar() as progress:
        change, admission = bench.ingest(progress, skip_bad=skip_bad, full=full)
    for problem in admission.problems:
        err(tr("left out: {problem}", problem=problem))
    for line in _changes(change):
        err(line)


def ready(bench: Bench) -> None:
    """Build the index where there is none yet, or an empty one: the first question on a new machine needs no other command.

    Raises KnowledgeBaseError where there is nothing to build it of.
    """
    there = _there(bench)
    if not there or not bench.store.info.entries:
        from agent.ingest import folder, register

        if not folder.documents(bench.place.kb):
            said = tr("The knowledge base {kb} holds no entries yet.", kb=bench.place.kb)
            raise KnowledgeBaseError(
                said, tr("Bring documents in: pv-agent kb import DIR --licence TEXT; or write one: pv-agent kb new ID.")
            )
        known = register.load(bench.place.kb)
        if known is not None and not known.entries:
            said = tr("No entry of the knowledge base {kb} is registered yet.", kb=bench.place.kb)
            raise KnowledgeBaseError(said, tr("Register them: pv-agent ingest --register."))
    if not there:
        err(tr("There is no index yet; building it."))
        brought_up(bench)
    elif not bench.store.info.entries:
        err(tr("The index is empty; building it anew."))
        brought_up(bench)


def _there(bench: Bench) -> bool:
    """Whether there is an index; one whose first ingest was broken off is none."""
    try:
        return bench.has_index() and bool(bench.store.info)
    except EmptyIndex:
        return False


def _changes(change: Any) -> Iterator[str]:
    for label, ids in ((tr("added"), change.added), (tr("changed"), change.changed), (tr("removed"), change.removed)):
        if ids:
            yield named(label, ids)
    yield from (tr("renamed: {old} -> {new}", old=old, new=new) for old, new in change.renamed)
    if not (change.added or change.changed or change.removed or change.renamed):
        yield tr("The index was up to date.")
    yield tr(
        "{chunks} new chunks, {embedded} embedded, {reused} vectors taken over; {pieces} sentences embedded.",
        chunks=change.chunks,
        embedded=change.embedded,
        reused=change.reused,
        pieces=change.pieces,
    )
    yield from (
        tr("{chunk}: the embedder could not digest this chunk; it is found by its words only.", chunk=chunk) for chunk in change.failed
    )


def named(label: str, ids: Sequence[str]) -> str:
    """How many ids, and the first ten of them."""
    shown = ", ".join(ids[:10])
    if len(ids) > 10:
        shown = tr("{ids} and {count} more", ids=shown, count=len(ids) - 10)
    return f"{label} {len(ids)}: {shown}"
