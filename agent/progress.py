"""Long work shown on stderr: a bar while an index is built, and what a question has found while a model drafts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from agent.i18n import tr
from agent.language import Language
from agent.runlog import Listener

Progress = Callable[[int, int, str], None]


@contextmanager
def bar(stream: TextIO) -> Iterator[Progress]:
    """A progress callable (done, total, what); a bar on a terminal, one line per stage elsewhere."""
    if not stream.isatty():
        yield _lines(stream)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with RichProgress(*columns, console=Console(file=stream), transient=True) as shown:
        tasks: dict[str, Any] = {}

        def update(done: int, total: int, what: str) -> None:
            if what not in tasks:
                tasks[what] = shown.add_task(tr(what), total=total)
            shown.update(tasks[what], completed=done, total=total)

        yield update


def _lines(stream: TextIO) -> Progress:
    told: set[str] = set()

    def update(done: int, total: int, what: str) -> None:
        if what not in told and total:
            told.add(what)
            print(f"{tr(what)} ({total})", file=stream, flush=True)

    return update


@contextmanager
def spinner(stream: TextIO, *, quiet: bool, language: Language) -> Iterator[Listener]:
    """A listener that says what a question is about to do: each search, what it found, and what a model is asked to decide."""
    if quiet or not stream.isatty():
        yield _nothing
        return

    def listener(kind: str, data: Mapping[str, Any]) -> None:
        told = _told(kind, data, language)
        if told:
            plain = "".join(filter(str.isprintable, told))  # a model's words cannot steer the terminal
            print(f"\033[2m{plain}\033[0m", file=stream, flush=True)

    yield listener


def _told(kind: str, data: Mapping[str, Any], language: Language) -> str:
    """A step in words; empty for one that is over in no time."""
    if kind == "searching":
        return language.message("step_searching", source=data["source"], query=data["query"])
    if kind == "hop":
        return data["note"] or language.message("found", ids=", ".join(data["ids"]) or "–")
    if kind == "classified":
        return language.message("step_classified", label=data["label"] or "–")
    if kind == "deciding":
        return language.message("step_deciding")
    return ""


def _nothing(_kind: str, _data: Mapping[str, Any]) -> None:
    return None
