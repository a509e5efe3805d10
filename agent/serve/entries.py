"""Entries as the index holds them, so that what an answer cites is found in the very text it was taken from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from agent import publish
from agent.wiring import Bench


def document(bench: Bench, entry_id: str, day: date) -> dict[str, Any] | None:
    """The document of an entry, with its validity on a day; None where there is none of that id."""
    found = list(bench.store.fetch(bench.store.rows_of([entry_id]).get(entry_id, ())).values())
    if not found:
        return None
    entry = found[0][1]
    return publish.entry_document(entry, [chunk for chunk, _ in found], titles(bench, entry.cross_refs), day)


def titles(bench: Bench, entry_ids: Sequence[str]) -> dict[str, str]:
    """The titles of entries, in the order asked for; unknown ids are left out."""
    rows = bench.store.rows_of(entry_ids)
    found = bench.store.fetch(of_entry[0] for of_entry in rows.values())
    return {entry.id: entry.title for _, entry in found.values()}
