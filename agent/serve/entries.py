"""Entries as the index holds them, so that what an answer cites is found in the very text it was taken from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from agent import publish
from agent.values import Hit
from agent.wiring import Bench


def document(bench: Bench, entry_id: str, day: date) -> dict[str, Any] | None:
    """The document of an entry or a dated value, with its validity on a day; None where there is none of that id."""
    found = list(bench.store.fetch(bench.store.rows_of([entry_id]).get(entry_id, ())).values())
    value = None if found else _dated(bench, entry_id)
    chunks, entry = ([value.chunk], value.entry) if value else ([chunk for chunk, _ in found], found[0][1] if found else None)
    return publish.entry_document(entry, chunks, titles(bench, entry.cross_refs), day) if entry else None


def titles(bench: Bench, ids: Sequence[str]) -> dict[str, str]:
    """The titles of entries and dated values, in the order asked for; unknown ids are left out."""
    rows = bench.store.rows_of(ids)
    found = {entry.id: entry.title for _, entry in bench.store.fetch(of_entry[0] for of_entry in rows.values()).values()}
    values = {each: value.entry.title for each in ids if each not in found and (value := _dated(bench, each))}
    return {each: title for each in ids if (title := found.get(each) or values.get(each))}


def _dated(bench: Bench, cited: str) -> Hit | None:
    return bench.dated.cited(cited) if "@" in cited else None  # the day of a value or a web page; no entry's id has one
