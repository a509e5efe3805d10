"""Begins: a new knowledge base, and the skeleton of a new entry."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path

from agent import texts
from agent.errors import KnowledgeBaseError, UsageError
from agent.i18n import tr
from agent.ingest import folder, register
from agent.ingest.lock import NAME, locked
from agent.language import Language
from agent.language.citations import citable


@contextmanager
def begun(kb_dir: Path, code: str) -> Iterator[bool]:
    """A knowledge base as `begin` makes it, and whether it did; one that holds no entry at the end is taken away again."""
    there = kb_dir.exists()
    fresh = begin(kb_dir, code)
    try:
        yield fresh
    finally:
        if fresh:
            with suppress(KnowledgeBaseError), locked(kb_dir):  # who is at it meanwhile goes on with it
                _taken_away(kb_dir, folder_too=not there)


def _taken_away(kb_dir: Path, *, folder_too: bool) -> None:
    if not any((kb_dir / folder.DOCUMENTS).iterdir()):
        (kb_dir / folder.DOCUMENTS).rmdir()
        (kb_dir / "kb.json").unlink()
        with suppress(OSError):  # an open file cannot be removed everywhere
            (kb_dir / NAME).unlink()
            if folder_too:
                kb_dir.rmdir()


def begin(kb_dir: Path, code: str) -> bool:
    """Makes an empty knowledge base in a language where there is none; whether it did. Raises ConfigError where the language is unknown."""
    texts.table(f"language.{code}")
    if (kb_dir / "kb.json").exists() or (kb_dir / folder.DOCUMENTS).exists():
        return False
    try:
        (kb_dir / folder.DOCUMENTS).mkdir(parents=True)
    except OSError as error:
        raise KnowledgeBaseError(
            tr("{kb} cannot be made ({reason}).", kb=kb_dir, reason=error.strerror), tr("Check permissions and room.")
        ) from error
    register.save(register.Register(code), kb_dir)
    return True


def new(kb_dir: Path, entry_id: str, *, title: str, language: Language, today: date | None = None) -> Path:
    """The path of the new file `dokumente/<id>.md`. Raises where the id cannot be one, or is taken: nothing is overwritten."""
    if not (re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", entry_id) and citable(entry_id)):
        raise UsageError(tr("{id!r} cannot be an id.", id=entry_id), tr("Write it in lower case, digits and hyphens, as pv-sv-werte-2026."))
    path = kb_dir / folder.DOCUMENTS / f"{entry_id}.md"
    words = texts.table(f"kb.{language.code}")["skeleton"]
    known = register.load(kb_dir)
    sections = [name for name in language.table["sections"] if name]
    fields = {
        "id": entry_id,
        "titel": json.dumps(title, ensure_ascii=False),
        "stand": (today or date.today()).isoformat(),
        "thema": words["topic"],
        "tags": "[]",
        "gueltig_ab": "null",
        "gueltig_bis": "null",
        "rechtsgrundlage": "[]",
        "quellen": "[]",
        "cross_refs": "[]",
        "layer": str(register.LAYER),
        "bereich": known.bereiche[0] if known and known.bereiche else words["bereich"],
    }
    front = "\n".join(f"{name}: {value}" for name, value in fields.items())
    body = "\n\n".join(f"## {name}\n\n{words['hint']}" for name in sections)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(f"---\n{front}\n---\n\n{body}\n")
    except FileExistsError as error:
        raise KnowledgeBaseError(tr("{path} is there already.", path=path), tr("Choose another id, or edit that file.")) from error
    except OSError as error:
        raise KnowledgeBaseError(
            tr("{path} cannot be written ({reason}).", path=path, reason=error.strerror), tr("Check permissions and room.")
        ) from error
    return path
