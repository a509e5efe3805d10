"""The outline of a document: its title, and its parts as the sections of an entry, each with a name of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from agent.ingest.entries import lines
from agent.ingest.importing.html import table
from agent.ingest.importing.parts import Marks, Part, headed, marked
from agent.ingest.tables import cells

_EMPTY_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]*#*[ \t]*$", re.MULTILINE)
_RULE = re.compile(r":?-+:?")
_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class Outline:
    """A document's title (empty where no heading is one), and its sections in order; a section without a name can only be the first."""

    title: str
    sections: tuple[tuple[str, str], ...]


def outline(text: str, marks: Marks) -> Outline:
    """The outline of a text; every word of it that is not blank stands in the title, a section's name or a section's text."""
    parts = headed(text, marks)
    if not any(part.mark for part in parts):
        parts = [piece for part in parts for piece in marked(part, marks)]
    title, parts = _titled(parts)
    return Outline(title, tuple(_named(_joined(list(_captioned(parts, marks)), marks))))


def _titled(parts: list[Part]) -> tuple[str, list[Part]]:
    """The title, if the first heading is one (the only one of the highest level, or the first of level one), and the parts without it."""
    heads = [part for part in parts if part.level]
    if not heads or (heads[0].mark and any(part.level <= heads[0].level or part.mark for part in heads[1:])):
        return "", parts
    first, *rest = heads
    if first.level != 1 and any(part.level <= first.level for part in rest):
        return "", parts
    lead = Part(0, "", "\n".join(part.text for part in parts[: parts.index(first) + 1]))
    return first.name, [lead, *rest]


def _captioned(parts: Sequence[Part], marks: Marks) -> Iterator[Part]:
    """The parts, where a heading right above a bare mark is that paragraph's title: `Geltungsbereich`, then `§ 1.`"""
    parts = [replace(part, text=_body(part.text)) for part in parts]
    before: Part | None = None
    for part in parts:
        name = part.name.rstrip(". ")
        bare = part.mark and marks.alone.fullmatch(name) is not None and not marks.structure.match(name)
        title = before is not None and bool(before.level) and not (before.text or before.mark or marks.structure.match(before.name))
        if before is not None and not (bare and title):
            yield before
        before = replace(part, name=f"{name} {before.name}" if bare and title and before else name if bare else part.name)
    if before is not None:
        yield before


def _joined(parts: Sequence[Part], marks: Marks) -> Iterator[Part]:
    """Where paragraphs are marked every heading begins a section, else those of the highest level; the rest stay as sub-headings.

    A heading with no text but lower headings below it, or of a statute's structure, stands above the section that follows; else it is
    a section that says no more.
    """
    found = list(parts if any(part.mark for part in parts) else _grouped(parts))
    above: list[Part] = []
    higher: list[Part] = []
    for part, following in zip(found, [*found[1:], None], strict=True):
        higher = [*(other for other in higher if other.level < part.level), part]
        structural = marks.structure.match(part.name) is not None
        says = part.text or (part.mark and not structural and marks.alone.fullmatch(part.name) is None)  # § 5 (aufgehoben)
        if not says and following is not None and (structural or following.level > part.level):
            above += [part] if part.level else []
            continue
        over = [f"### {empty.name}" for empty in above]
        if part.text or part.level:
            below = higher[-2].name if len(higher) > 1 else ""
            yield replace(part, text="\n\n".join((*over, part.text or _as_text(part.name))), below=below)
        above = []


def _as_text(name: str) -> str:
    """A heading's words as a text, which is no heading, table or code whatever it begins with."""
    return re.sub(r"^(?=[#|`~])", r"\\", name)


def _grouped(parts: Sequence[Part]) -> Iterator[Part]:
    """The parts of the highest level, each with those below it as sub-headings."""
    top = min((part.level for part in parts if part.level), default=1)
    current: Part | None = None
    for part in parts:
        if current is not None and part.level > top:
            current = replace(current, text=_under(current.text, part))
            continue
        if current is not None:
            yield current
        current = part
    if current is not None:
        yield current


def _under(text: str, part: Part) -> str:
    return "\n\n".join(piece for piece in (text, f"{'#' * min(max(part.level + 1, 3), 6)} {part.name}", part.text) if piece)


def _body(text: str) -> str:
    """A section's text: no blank lines around it, definition lists in one line, tables that are whole."""
    text = _EMPTY_HEADING.sub("", text)
    text = re.sub(r"\A(?:[ \t]*\n)+", "", text).rstrip()
    text = re.sub(r"^(\S[^\n|]{0,80})\n:[ \t]+(?=\S)", r"\1: ", text, flags=re.MULTILINE)
    text = re.sub(r"\n{3,}", "\n\n", text)
    return "\n".join(_whole_tables(text)) if "|" in text else text


def _whole_tables(text: str) -> Iterator[str]:
    """The lines of a text, its tables with a rule below their head and rows of one width, since others are no tables."""
    rows: list[str] = []
    for _, line, fenced in lines(f"{text}\n"):
        if line.lstrip().startswith("|") and not fenced:
            rows.append(line)
            continue
        yield from _mended(rows)
        rows = []
        yield line


def _mended(rows: list[str]) -> Iterable[str]:
    if not rows:
        return rows
    parsed = [cells(row) for row in rows]
    width = max(len(row) for row in parsed)
    ruled = len(parsed) > 1 and all(_RULE.fullmatch(cell) for cell in parsed[1])
    if ruled and all(len(row) == width for row in parsed):
        return rows
    return table([row for number, row in enumerate(parsed) if not (ruled and number == 1)], width).split("\n")


def _named(parts: Iterable[Part]) -> Iterator[tuple[str, str]]:
    """Sections by name; a name that comes again is told apart by what it stands below, or by its number; a long one by its beginning."""
    seen: set[str] = set()
    for number, part in enumerate(parts):
        name, text = part.name, part.text.strip("\n")
        if len(name) > _LONGEST_NAME:
            name, text = f"{name[: _LONGEST_NAME - 2].rsplit(' ', 1)[0]} …", f"{_as_text(name)}\n\n{text}"
        if name in seen and part.below:
            name = f"{name} · {part.below[:_LONGEST_NAME]}"
        name = next(one for one in _numbered(name) if one not in seen) if part.level or number else ""
        seen.add(name)
        yield name, text


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name} ({number})" for number in count(2))
