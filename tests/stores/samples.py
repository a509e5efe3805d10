"""Small documents for the tests of the index."""

from __future__ import annotations

from datetime import date

from agent.interfaces import Beside, Document, EmbedderIdentity, IndexedChunk, Update
from agent.values import Chunk, EntryInfo

IDENTITY = EmbedderIdentity("probe", 3, "abc")
ANALYSER = "de-1"


def entry(entry_id: str, **known: object) -> EntryInfo:
    """An entry that says no more than it must."""
    return EntryInfo(**{"id": entry_id, "title": entry_id, "stand": date(2026, 1, 1), **known})  # type: ignore[arg-type]


def document(info: EntryInfo, *bodies: str) -> Document:
    """A document whose chunks have these terms; a chunk's hash is its text."""
    chunks = (IndexedChunk(Chunk(info.id, n, "Details", body, (n, n + len(body))), info.title, body, body) for n, body in enumerate(bodies))
    return Document(info, tuple(chunks))


def update(*documents: Document, removed: tuple[str, ...] = (), version: str = "v1", embedder: EmbedderIdentity | None = None) -> Update:
    """A change of the index."""
    return Update(documents, frozenset(removed), "de", version, Beside({"sz": ("sonderzahl",)}), embedder)
