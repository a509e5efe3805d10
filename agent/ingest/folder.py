"""Reads the documents of a knowledge base: what lies in `dokumente/`, and never anything a link leads to outside of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent.errors import KnowledgeBaseError
from agent.i18n import tr
from agent.ingest.entries import file_text, parse
from agent.ingest.problems import EntryProblem
from agent.values import Entry

DOCUMENTS = "dokumente"

LAYER_1 = frozenset({".lexis360", ".wiku", ".firecrawl", ".ris"})
"""Folders of licensed full texts: never read, wherever they lie."""


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file of `dokumente/`: its path as it is registered (`dokumente/…`, with `/`), its text, and the entry or what is wrong with it."""

    path: Path
    relative: str
    text: str
    entry: Entry | None
    problems: tuple[EntryProblem, ...]


def documents(kb_dir: Path) -> tuple[FileRead, ...]:
    """Every Markdown file of the knowledge base, in order of its path. A file that may not be read has no text, only a problem."""
    if not kb_dir.is_dir():
        raise KnowledgeBaseError(tr("There is no knowledge base at {kb}.", kb=kb_dir), tr("Give its folder with --kb or PV_KB_DIR."))
    folder = kb_dir / DOCUMENTS
    if not folder.is_dir():
        raise KnowledgeBaseError(
            tr("The knowledge base {kb} has no folder {folder}/.", kb=kb_dir, folder=DOCUMENTS),
            tr("Make it, and put the entries there."),
        )
    return tuple(_read(path, kb_dir) for path in sorted(paths(folder)))


def paths(folder: Path) -> Iterator[Path]:
    """The Markdown files below `folder`, and those links and Layer-1 folders below it that are to be named and not read."""
    for here, folders, files in os.walk(folder):
        for name in folders:
            # os.walk does not go through links; those that lead out are handed on to be named.
            link = Path(here, name)
            if name in LAYER_1 or (link.is_symlink() and barred(link, folder)):
                yield link
        folders[:] = [name for name in folders if name not in LAYER_1]
        yield from (Path(here, name) for name in files if name.lower().endswith(".md"))


def barred(path: Path, folder: Path) -> EntryProblem | None:
    """Why `path` may not be read; None where it truly lies in `folder` and in no Layer-1 folder."""
    try:
        real, root = path.resolve(), folder.resolve()
    except (OSError, RuntimeError):
        return EntryProblem(path, 1, tr("This link leads nowhere."), tr("Take it out."))
    if real.exists() and not (real.is_file() or real.is_dir()):
        return EntryProblem(path, 1, tr("This is no file with a text."), tr("Take it out."))
    if LAYER_1.intersection(part.lower() for part in real.parts):
        return EntryProblem(path, 1, tr("This comes from a Layer-1 folder of licensed texts and is never indexed."), tr("Take it out."))
    if not real.is_relative_to(root):
        return EntryProblem(
            path,
            1,
            tr("This leads out of {name}/ and is never indexed.", name=folder.name),
            tr("Put the file itself into {name}/.", name=folder.name),
        )
    return None


def _read(path: Path, kb_dir: Path) -> FileRead:
    relative = path.relative_to(kb_dir).as_posix()
    problem = barred(path, kb_dir / DOCUMENTS)
    text = problem or file_text(path)
    if isinstance(text, EntryProblem):
        return FileRead(path, relative, "", None, (text,))
    entry = parse(text, path, relative=relative)
    if isinstance(entry, list):
        return FileRead(path, relative, text, None, tuple(entry))
    return FileRead(path, relative, text, entry, ())
