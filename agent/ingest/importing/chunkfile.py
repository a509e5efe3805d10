"""Reads a `chunks.json`: a list of pieces of documents, each with its id, source, pages, title and text; every piece becomes an entry.

[{"chunk_id": "plan-001", "source": "plan.pdf", "pages": [3, 4], "title": "…", "text": "…", "stand": "2026-01-31"}, …]

The list may stand alone or under `chunks`; `id` is as good as `chunk_id`. `title`, `pages` and `stand` may be missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent.errors import KnowledgeBaseError
from agent.i18n import noted, tr
from agent.ingest.importing.draft import Draft, Reader
from agent.ingest.importing.files import LARGEST, Source, text_of
from agent.ingest.problems import EntryProblem

_SHAPE = noted('It is a list of {"chunk_id": …, "source": …, "pages": […], "title": …, "text": …}.')
_KNOWN = {"id", "chunk_id", "source", "pages", "title", "text", "stand"}


def read(path: Path, reader: Reader) -> tuple[list[Draft], list[EntryProblem]]:
    """The drafts of a file's pieces, and what is wrong with the others. Raises KnowledgeBaseError where the file is no such list."""
    read = text_of(Source(path, path.name, "text"))
    if isinstance(read, EntryProblem):
        raise KnowledgeBaseError(
            f"{path}:{read.line}: {read.message}", read.mend if path.stat().st_size <= LARGEST else tr("Cut it in two.")
        )
    text, _ = read
    try:
        loaded = json.loads(text)
    except json.JSONDecodeError as error:
        raise KnowledgeBaseError(
            tr("{path}:{line}: This is no readable JSON ({problem}).", path=path, line=error.lineno, problem=error.msg), _SHAPE
        ) from error
    except RecursionError as error:
        raise KnowledgeBaseError(tr("{path}: The JSON is nested too deeply.", path=path), tr(_SHAPE)) from error
    pieces = loaded.get("chunks") if isinstance(loaded, dict) else loaded
    if not isinstance(pieces, list):
        raise KnowledgeBaseError(tr("{path}: These are no chunks.", path=path), tr(_SHAPE))
    drafts: list[Draft] = []
    problems: list[EntryProblem] = []
    lines = _lines(text)
    for number, piece in enumerate(pieces, 1):
        named = str(piece.get("chunk_id", piece.get("id", ""))) if isinstance(piece, dict) else ""
        line = lines.get(named, 1)
        try:
            drafts.append(_draft(piece, named, path, line, reader))
        except ValueError as error:
            called = f"{number} ({named})" if named else str(number)
            said = tr("Chunk {number} {problem}.", number=called, problem=error)
            problems.append(EntryProblem(path, line, said, tr("Put it right.")))
    return drafts, problems


def origin(path: Path, named: str) -> str:
    """What a piece is called from import to import: its file's folder and name, and its id."""
    real = path.resolve()
    return f"{real.parent.name}/{real.name}#{named}"


def _lines(text: str) -> dict[str, int]:
    """The line each piece's id first stands in."""
    found: dict[str, int] = {}
    line, at = 1, 0
    for match in re.finditer(r'"(?:chunk_)?id"\s*:\s*("(?:[^"\\]|\\.)*"|[\w.-]+)', text):
        line, at = line + text.count("\n", at, match.start()), match.start()
        try:
            found.setdefault(str(json.loads(match.group(1))), line)
        except ValueError:
            continue
    return found


def _draft(piece: Any, named: str, path: Path, line: int, reader: Reader) -> Draft:
    """The draft of one piece; ValueError says how the sentence about it goes on."""
    if not isinstance(piece, dict):
        raise ValueError(tr("is no object with fields"))
    if unknown := sorted(piece.keys() - _KNOWN):
        raise ValueError(tr("has fields that are not known here: {names}", names=", ".join(map(str, unknown))))
    if not named.strip():
        raise ValueError(tr("has no chunk_id"))
    text, source = (_text(piece, name) for name in ("text", "source"))
    if not text:
        raise ValueError(tr("has no text"))
    if not source:
        raise ValueError(tr("has no source"))
    pages, title, stand = tuple(_pages(piece.get("pages"))), _text(piece, "title"), _text(piece, "stand")
    day = reader.day(stand) if stand else None
    if stand and day is None:
        raise ValueError(tr("has a stand that is no date: {stand!r}", stand=stand))
    return Draft(
        path=path,
        line=line,
        origin=origin(path, named),
        name=named,
        title=title or f"{source}{', ' if pages else ''}{', '.join(map(str, pages))}",
        stand=day,
        sections=reader.outlined(text),
        sources=(source,),
        pages=pages,
    )


def _text(piece: dict[str, Any], name: str) -> str:
    value = piece.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(tr("has a {name} that is no text", name=name))
    text = value or ""
    return text.replace("\r\n", "\n").strip() if name == "text" else " ".join(text.split())


def _pages(value: Any) -> Iterator[int | str]:
    """Pages as a list of numbers or texts, one of them, or none."""
    for page in value if isinstance(value, list) else [value]:
        if isinstance(page, bool) or not isinstance(page, int | str | None):
            raise ValueError(tr("has pages that are neither numbers nor texts"))
        if page is not None and str(page).strip():
            text = str(page).strip()
            yield int(text) if text.isdecimal() else text
