"""An entry's file text from a draft; and what such a text says of the document it came from."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

from agent.ingest.entries import front_end
from agent.ingest.importing.draft import Draft
from agent.ingest.register import LAYER
from agent.ingest.yamlfile import Fields, Scalar, parsed

_SEAL = re.compile(r"^importiert:.*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for all documents of one import. `stand` is for those that state none; `today` is the day of the import."""

    licence: str
    today: date
    prefix: str = ""
    stand: date | None = None
    bereich: str = ""
    topic: str = ""
    overwrite: bool = False
    """Whether entries that were edited since their import, or came from another document, are written over."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an entry says of its import: the document it came from, and whether it was edited since."""

    origin: str
    edited: bool


def origin_of(text: str) -> Imported | None:
    """What an entry's text says of its import; None where it was written here."""
    end = front_end(text)
    if end is None or "\nherkunft:" not in text[:end]:
        return None
    node = parsed(text[text.index("\n") + 1 : end], Path())
    fields = node.fields if isinstance(node, Fields) else {}
    found = (fields.get(name) for name in ("herkunft", "importiert"))
    origin, seal = (field.value if isinstance(field, Scalar) else None for field in found)
    return Imported(origin, edited=seal != _seal(text)) if origin else None


def _seal(text: str) -> str:
    """A hash over an entry's text without the line that holds the hash."""
    return sha256(_SEAL.sub("", text, count=1).encode()).hexdigest()[:16]


def entry_text(draft: Draft, entry_id: str, refs: Sequence[str], terms: Terms, table: Mapping[str, Any], stand: date | None = None) -> str:
    """The file text of a draft as an entry. `stand` is that of the entry as it was imported before, kept where no other is stated."""
    day = draft.stand or terms.stand
    source = str(table["source"]).format(origin=draft.origin)
    if draft.pages:
        source = str(table["source_pages"]).format(source=source, pages=", ".join(map(str, draft.pages)))
    sources = [*draft.sources, source]
    if day is None:
        day = stand or terms.today
        sources.append(str(table["import_day"]).format(day=day.isoformat()))
    fields: dict[str, Any] = {
        "id": entry_id,
        "titel": draft.title,
        "stand": day,
        "thema": draft.topic or terms.topic,
        "tags": list(dict.fromkeys((*draft.short, *draft.tags))),
        "rechtsgrundlage": list(draft.norms),
        "quellen": sources,
        "cross_refs": list(refs),
        "layer": LAYER,
        "bereich": terms.bereich,
        "seiten": list(draft.pages),
        "herkunft": draft.origin,
    }
    front = "\n".join(f"{name}: {_yaml(value)}" for name, value in fields.items() if value not in ("", []))
    body = "\n\n".join(f"## {name}\n\n{text}" if name else text for name, text in draft.sections)
    text = f"---\n{front}\n---\n\n{body}\n"
    return text.replace("\n---\n", f"\nimportiert: {_seal(text)}\n---\n", 1)


def _yaml(value: Any) -> str:
    """A value as YAML reads it back; a JSON text is one of YAML, too."""
    if isinstance(value, date):
        return value.isoformat()
    bare = isinstance(value, str) and re.fullmatch(r"[a-z][a-z0-9-]*", value)
    return str(value) if bare else json.dumps(value, ensure_ascii=False)
