"""What reader and writer both do with the tables: meta, identities, and chunks with their entries."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from agent.interfaces import NO_LIMITS, Beside, EmbedderIdentity, IndexInfo
from agent.stores.sqlite import matrix
from agent.values import Chunk, EntryInfo

_CHUNKS = """
    SELECT chunks.row, chunks.entry, entries.id, ordinal, section, text, start, stop FROM chunks
    JOIN texts USING (row) JOIN entries ON entries.row = chunks.entry WHERE chunks.row IN (SELECT value FROM json_each(?))"""

_ENTRIES = """
    SELECT row, id, title, stand, topic, tags, valid_from, valid_to, norms, sources, bereich, layer, path, sha256, pages,
        (SELECT json_group_array(target) FROM (SELECT target FROM cross_refs WHERE entry = entries.row ORDER BY place))
    FROM entries WHERE row IN (SELECT value FROM json_each(?))"""


def identity_key(identity: EmbedderIdentity) -> str:
    """An embedder's identity as it stands in meta and beside each vector."""
    return json.dumps([identity.name, identity.dimension, identity.digest], ensure_ascii=False)


def meta(connection: sqlite3.Connection) -> dict[str, str]:
    """All of the table meta."""
    return dict(connection.execute("SELECT key, value FROM meta"))


def kind(known: Mapping[str, str]) -> matrix.Kind:
    """What an index with vectors says of its matrix."""
    return matrix.Kind(
        known.get("lineage", known["generation"]), known["embedder"], EmbedderIdentity(*json.loads(known["embedder"])).dimension
    )


def info(known: Mapping[str, str]) -> IndexInfo:
    """What the index says of itself; KeyError or ValueError where meta is not whole."""
    embedder = EmbedderIdentity(*json.loads(known["embedder"])) if "embedder" in known else None
    return IndexInfo(
        schema_version=int(known["schema_version"]),
        analyser=known["analyser"],
        language=known["language"],
        embedder=embedder,
        kb_version=known["kb_version"],
        generation=known["generation"],
        built=known["built"],
        entries=int(known["entries"]),
        chunks=int(known["chunks"]),
        without_vector=int(known["without_vector"]),
    )


def beside(known: Mapping[str, str]) -> Beside:
    """What the knowledge base says beside its entries, as it was stored."""
    words = {term: tuple(others) for term, others in json.loads(known.get("synonyms", "{}")).items()}
    return Beside(words, json.loads(known.get("readings", "{}")), {**NO_LIMITS, **json.loads(known.get("limits", "{}"))})


def of_beside(given: Beside) -> dict[str, str]:
    """The same as rows of meta."""
    parts = {"synonyms": given.synonyms, "readings": given.readings, "limits": given.limits}
    return {name: json.dumps(part, ensure_ascii=False) for name, part in parts.items()}


def chunks(connection: sqlite3.Connection, rows: Iterable[int], entries: dict[int, EntryInfo]) -> dict[int, tuple[Chunk, EntryInfo]]:
    """The chunks of `rows`, in that order, with their entries; `entries` keeps those already read. Unknown rows are left out."""
    wanted = list(dict.fromkeys(rows))
    found = {each[0]: each for each in connection.execute(_CHUNKS, (json.dumps(wanted),))}
    missing = {each[1] for each in found.values()} - entries.keys()
    if missing:
        entries.update((each[0], _entry(each)) for each in connection.execute(_ENTRIES, (json.dumps(sorted(missing)),)))
    out = {}
    for row, entry, entry_id, ordinal, section, text, start, stop in (found[row] for row in wanted if row in found):
        out[row] = (Chunk(entry_id, ordinal, section, text, (start, stop)), entries[entry])
    return out


def _entry(row: Sequence[Any]) -> EntryInfo:
    _, entry_id, title, stand, topic, tags, valid_from, valid_to, norms, sources, bereich, layer, path, sha256, pages, cross_refs = row
    return EntryInfo(
        id=entry_id,
        title=title,
        stand=date.fromisoformat(stand),
        topic=topic,
        tags=_names(tags),
        valid_from=date.fromisoformat(valid_from) if valid_from else None,
        valid_to=date.fromisoformat(valid_to) if valid_to else None,
        norms=_names(norms),
        sources=_names(sources),
        cross_refs=_names(cross_refs),
        bereich=bereich,
        layer=int(layer),
        path=path,
        sha256=sha256,
        pages=tuple(json.loads(pages)) if pages != "[]" else (),
    )


def _names(listed: str) -> tuple[str, ...]:
    return tuple(json.loads(listed)) if listed != "[]" else ()
