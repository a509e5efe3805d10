"""References between entries: dead ones, given twice, that go round, or that lead nowhere but back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent.i18n import noted, tr
from agent.ingest.entries import line_at
from agent.ingest.folder import FileRead
from agent.ingest.problems import EntryProblem, Severity, near
from agent.language import Language

_NAMED = re.compile(r"^[-*][ \t]+`?([A-Za-z0-9]+(?:-[A-Za-z0-9]+)+)`?(?=[ \t]*(?::|$))", re.MULTILINE)
Graph = Mapping[str, Iterable[str]]


def problems(files: Sequence[FileRead], language: Language) -> Iterator[EntryProblem]:
    """What is wrong with the references of entries, in their front matter and in the section that lists them."""
    read = _by_id(files)
    # A reference to a file that cannot be read is not dead: that file has its own problem.
    known = {*read, *(file.path.stem for file in files)}
    for entry_id, file in read.items():
        yield from _of_entry(entry_id, file, known)
        yield from _named(file, known, language)


def cyclic(files: Sequence[FileRead]) -> Iterator[EntryProblem]:
    """References that go round, as notices whatever else is strict: two entries may well refer to each other."""
    read = _by_id(files)
    for cycle in cycles(_graph(read)):
        message = tr("The references go round: {circle}.", circle=" -> ".join((*cycle, cycle[0])))
        yield EntryProblem(read[cycle[0]].path, 1, message, "", Severity.NOTICE, noted("circles of references"))


def closed(files: Sequence[FileRead]) -> Iterator[EntryProblem]:
    """Circles of entries that refer to one another only, so that a reader who comes upon one of them never gets out."""
    read = _by_id(files)
    for circle in circles(_graph(read)):
        message = tr("These entries refer to one another only: {circle}.", circle=", ".join(circle))
        yield EntryProblem(read[circle[0]].path, 1, message, tr("Refer from one of them to an entry outside."))


def _by_id(files: Iterable[FileRead]) -> dict[str, FileRead]:
    return {file.entry.info.id: file for file in files if file.entry}


def _graph(read: Mapping[str, FileRead]) -> Graph:
    return {entry_id: file.entry.info.cross_refs for entry_id, file in read.items() if file.entry}


def _of_entry(entry_id: str, file: FileRead, known: Iterable[str]) -> Iterator[EntryProblem]:
    refs = file.entry.info.cross_refs if file.entry else ()
    at = max(file.text.find("cross_refs"), 0)
    for ref, count in Counter(refs).items():
        found = re.search(rf"(?<![\w-]){re.escape(ref)}(?![\w-])", file.text[at:])
        line = line_at(file.text, at + found.start()) if found else 1
        if ref == entry_id:
            yield EntryProblem(file.path, line, tr("The entry refers to itself."), tr("Take the reference out."))
        elif ref not in known:
            yield EntryProblem(file.path, line, tr("There is no entry {ref}.", ref=ref), near(ref, known, tr("Take the reference out.")))
        if count > 1:
            yield EntryProblem(file.path, line, tr("The reference to {ref} is given {count} times.", ref=ref, count=count), tr("Keep one."))


def _named(file: FileRead, known: Iterable[str], language: Language) -> Iterator[EntryProblem]:
    """Dead references in the list a reader sees."""
    for section in file.entry.sections if file.entry else ():
        if section.name in language.table["sections_last"]:
            for found in _NAMED.finditer(section.text):
                if found[1] not in known:
                    line = line_at(file.text, section.start + found.start(1))
                    yield EntryProblem(
                        file.path,
                        line,
                        tr("There is no entry {ref}.", ref=found[1]),
                        near(found[1], known, tr("Take it out of the list.")),
                    )


def cycles(graph: Graph) -> list[tuple[str, ...]]:
    """The shortest cycle through each node that lies on one, each cycle once, begun at its first node in order of names."""
    found = set()
    for start in sorted(graph):
        way = _way_back(graph, start)
        if way:
            first = way.index(min(way))
            found.add((*way[first:], *way[:first]))
    return sorted(found)


def _way_back(graph: Graph, start: str) -> tuple[str, ...]:
    ways: dict[str, tuple[str, ...]] = {start: (start,)}
    queue = [start]
    for node in queue:
        for following in graph.get(node, ()):
            if following == start and node != start:
                return ways[node]
            if following not in ways and following in graph:
                ways[following] = (*ways[node], following)
                queue.append(following)
    return ()


def circles(graph: Graph) -> list[tuple[str, ...]]:
    """Sets of two nodes or more that reach one another and nothing else, each in order of names; the part most nodes end in is none."""
    reached = {node: _reached(graph, node) for node in graph}
    found = {frozenset(there) for node, there in reached.items() if len(there) > 1 and all(reached[other] == there for other in there)}
    ends = {circle: sum(circle <= there for there in reached.values()) for circle in found}
    return sorted(tuple(sorted(circle)) for circle in found if 2 * ends[circle] <= len(graph))


def _reached(graph: Graph, start: str) -> set[str]:
    seen = {start}
    queue = [start]
    for node in queue:
        fresh = {following for following in graph.get(node, ()) if following in graph} - seen
        seen |= fresh
        queue += fresh
    return seen
