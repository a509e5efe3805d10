"""Finds the documents that may be imported and reads each as text, or says why it cannot be one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent.errors import KnowledgeBaseError
from agent.i18n import tr
from agent.ingest.folder import LAYER_1, barred
from agent.ingest.problems import EntryProblem, Severity

KINDS = {".md": "text", ".markdown": "text", ".txt": "text", ".text": "text", ".html": "html", ".htm": "html", ".xhtml": "html"}
"""What is read, by how the file's name ends; headings of Markdown are looked for in plain text too."""

LARGEST = 20_000_000
"""Bytes: a document that is larger is no text to cite from, but a dump."""

_GUESS = "windows-1252"
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w-]{2,40})""", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Source:
    """A document to import: `origin` is its folder's name and its path below it, which stays its name from import to import."""

    path: Path
    origin: str
    kind: str


def found(root: Path) -> tuple[list[Source], list[EntryProblem]]:
    """The documents at `root` (a folder, or one file) in order of their paths, and a problem for all else that lies there.

    Raises KnowledgeBaseError where `root` is not there, or lies in a Layer-1 folder. What begins with a dot is passed over and told once.
    """
    if not root.exists():
        raise KnowledgeBaseError(
            tr("There is nothing at {root}.", root=root), tr("Name a folder of documents, a document, or a chunks.json.")
        )
    real = root.resolve()
    if LAYER_1.intersection(part.lower() for part in real.parts):
        raise KnowledgeBaseError(
            tr("{root} lies in a Layer-1 folder of licensed texts, and is never imported.", root=root), tr("Take another folder.")
        )
    if not real.is_dir():
        source = _source(root, f"{real.parent.name}/{real.name}")
        return ([source], []) if isinstance(source, Source) else ([], [source])
    sources: list[Source] = []
    problems: list[EntryProblem] = []
    hidden = 0
    for path in _walked(root):
        if isinstance(path, EntryProblem):
            problems.append(path)
        elif path.name.startswith("."):
            hidden += 1
        else:
            one = barred(path, root) or _source(path, f"{real.name}/{path.relative_to(root).as_posix()}")
            (sources if isinstance(one, Source) else problems).append(one)  # type: ignore[arg-type]
    if hidden:
        problems.append(EntryProblem(root, 1, tr("{hidden} hidden files or folders were passed over.", hidden=hidden), "", Severity.NOTICE))
    return sources, problems


def _walked(root: Path) -> Iterator[Path | EntryProblem]:
    for here, folders, files in os.walk(root):
        for name in sorted(folders):
            path = Path(here, name)
            if name.lower() in LAYER_1:
                yield EntryProblem(path, 1, tr("This is a Layer-1 folder of licensed texts, and is never imported."), tr("Take it out."))
            elif path.is_symlink():
                yield barred(path, root) or EntryProblem(
                    path, 1, tr("This is a link to a folder, and is not followed."), tr("Import that folder.")
                )
            elif name.startswith("."):
                yield path
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(here, name) for name in sorted(files))


def _source(path: Path, origin: str) -> Source | EntryProblem:
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        return EntryProblem(
            path,
            1,
            tr("This is no Markdown, HTML or plain text."),
            tr("Turn it into one of {kinds}, or take it out.", kinds=", ".join(KINDS)),
        )
    return Source(path, origin, kind)


def text_of(source: Source) -> tuple[str, str] | EntryProblem:
    """A document's text without control characters, and its encoding where that could only be guessed (else empty)."""
    try:
        size = source.path.stat().st_size
        raw = source.path.read_bytes() if size <= LARGEST else b""
    except OSError as error:
        return EntryProblem(source.path, 1, tr("The file cannot be read ({reason}).", reason=error.strerror), tr("Check its permissions."))
    if size > LARGEST:
        return EntryProblem(
            source.path,
            1,
            tr("The file has {size:,} bytes.", size=size),
            tr("Cut it into documents of at most {largest:,}.", largest=LARGEST),
        )
    named = _CHARSET.search(raw[:4096]) if source.kind == "html" else None
    decoded = _decoded(raw, named.group(1).decode("ascii") if named else "")
    if decoded is None:
        line = raw.count(b"\n", 0, _first_odd(raw)) + 1
        return EntryProblem(source.path, line, tr("The file is no text in an encoding known here."), tr("Save it as UTF-8."))
    text, guessed = decoded
    text = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").replace("\x85", "\n"))
    if not text.strip():
        return EntryProblem(source.path, 1, tr("The file is empty."), tr("Write it, or take it out."))
    return text, guessed


def _decoded(raw: bytes, named: str) -> tuple[str, str] | None:
    """By byte order mark, else UTF-8, else the encoding the document names, else by guess Windows-1252 where no byte of it is undefined."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if raw.startswith(mark):
            return _told(_strict(raw, encoding))
    if b"\0" in raw:
        return None
    sure = _told(_strict(raw, "utf-8")) or (_told(_strict(raw, named)) if named else None)
    return sure or _told(_strict(raw, _GUESS), _GUESS)


def _told(text: str | None, guessed: str = "") -> tuple[str, str] | None:
    return None if text is None else (text, guessed)


def _strict(raw: bytes, encoding: str) -> str | None:
    try:
        text = raw.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None
    odd = len(_CONTROL.findall(text))
    return text if odd * 100 <= len(text) else None


def _first_odd(raw: bytes) -> int:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return max(raw.find(b"\0"), 0)
