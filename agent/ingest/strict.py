"""What `kb lint --strict` adds: what a curated knowledge base must not have, though it could be indexed with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date

from agent.i18n import tr
from agent.ingest import alike, crossrefs, tied
from agent.ingest.entries import line_at
from agent.ingest.folder import FileRead
from agent.ingest.importing.writing import origin_of
from agent.ingest.problems import EntryProblem
from agent.ingest.werte import FILE, Wert
from agent.language import Language

_KEYS = re.compile(rf"{re.escape(FILE)}:\s*(.+)")


def problems(files: Sequence[FileRead], werte: Sequence[Wert], language: Language, today: date) -> Iterator[EntryProblem]:
    """Missing sections, stale entries, figures that rest on nothing, near-duplicates, and circles of references.

    A document that was imported has the sections and the figures it came with.
    """
    values = by_key(werte)
    for file in files:
        if file.entry is not None:
            if origin_of(file.text) is None:
                yield from _sections(file, language)
                yield from tied.problems(file, language)
            yield from _stale(file, values, today)
    yield from _alike(files, language)
    yield from crossrefs.closed(files)


def by_key(werte: Iterable[Wert]) -> dict[str, list[Wert]]:
    """The values by their key, and by key and row."""
    found: dict[str, list[Wert]] = {}
    for wert in werte:
        for name in {wert.key, wert.name}:
            found.setdefault(name, []).append(wert)
    return found


def cited(file: FileRead, values: Mapping[str, object]) -> set[str]:
    """The names of dated values an entry cites, in its sources or in the cells of its tables."""
    if file.entry is None:
        return set()
    named = (found[1] for line in file.entry.info.sources if (found := _KEYS.match(line)))
    words = {word.strip("`., ") for line in named for word in re.split(r"[,;\s]+", line)}
    cells = {cell.strip("` ") for line in file.text.splitlines() if line.lstrip().startswith("|") for cell in line.split("|")}
    return {word for word in words | cells if word in values}


def _sections(file: FileRead, language: Language) -> Iterator[EntryProblem]:
    there = {section.name for section in file.entry.sections} if file.entry else set()
    expected = list(language.table["expected_sections"])
    if file.entry and any(_KEYS.match(line) for line in file.entry.info.sources):
        expected.append(language.table["values_section"])
    for name in expected:
        if name not in there and name not in language.table["required_sections"]:
            yield EntryProblem(file.path, 1, tr("The section `{name}` is missing.", name=name), tr("Add `## {name}`.", name=name))


def _stale(file: FileRead, values: Mapping[str, Sequence[Wert]], today: date) -> Iterator[EntryProblem]:
    """A Stand older than the newest value the entry cites; what begins after today is told beforehand, and makes nothing stale."""
    if file.entry is None:
        return
    begun = [wert for name in cited(file, values) for wert in values[name] if wert.valid_from <= today]
    newest = max(begun, key=lambda wert: (wert.valid_from, wert.name), default=None)
    if newest is not None and newest.valid_from > file.entry.info.stand:
        found = re.search(r"^stand:", file.text, re.MULTILINE)
        line = line_at(file.text, found.start()) if found else 1
        said = tr(
            "The Stand {stand} is older than `{name}`, which it cites, of {valid_from}.",
            stand=file.entry.info.stand,
            name=newest.name,
            valid_from=newest.valid_from,
        )
        yield EntryProblem(file.path, line, said, tr("Read the entry against the new value, and date it anew."))


def _alike(files: Sequence[FileRead], language: Language) -> Iterator[EntryProblem]:
    paths = {file.entry.info.id: file.path for file in files if file.entry}
    for pair in alike.pairs((file.entry for file in files if file.entry), language):
        share = f"{max(pair.resemblance, pair.containment):.0%}"
        message = tr("The entry says nearly the same as {first} ({share} of its word sequences).", first=pair.first, share=share)
        yield EntryProblem(paths[pair.second], 1, message, tr("Join the two, or let each say what is its own."))
