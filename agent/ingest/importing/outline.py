"""Cuts a document's text at its headings, or at the marks of its paragraphs (§ 5, Artikel 3), into the sections of an entry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from agent.ingest.entries import lines
from agent.ingest.importing.html import table
from agent.ingest.tables import cells

_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{3,})[ \t]*$")
_EMPTY_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]*#*[ \t]*$", re.MULTILINE)
_RULE = re.compile(r":?-+:?")
_LONGEST_NAME = 120
_LONGEST_TITLE = 100


@dataclass(frozen=True, slots=True)
class Marks:
    """How a language marks the paragraphs of a statute: what opens a paragraph's text, and what stands in a line of its own.

    `structure` are headings above several paragraphs (Abschnitt), which are no paragraph's own title.
    """

    opens: re.Pattern[str]
    alone: re.Pattern[str]
    structure: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a document below its heading; level 0 is what stands before the first. `mark` says that the heading names a paragraph.

    `below` is the heading it stands below.
    """

    level: int
    name: str
    text: str
    mark: bool = False
    below: str = ""


@dataclass(frozen=True, slots=True)
class Outline:
    """A document's title (empty where no heading is one), and its sections in order; a section without a name can only be the first."""

    title: str
    sections: tuple[tuple[str, str], ...]


def outline(text: str, marks: Marks) -> Outline:
    """The outline of a text; every word of it that is not blank stands in the title, a section's name or a section's text."""
    parts = _headed(text, marks)
    if not any(part.mark for part in parts):
        parts = [piece for part in parts for piece in _marked(part, marks)]
    title, parts = _titled(parts)
    return Outline(title, tuple(_named(_joined(parts))))


# --- where a text is cut --------------------------------------------------------------------------


def _headed(text: str, marks: Marks) -> list[Part]:
    """The parts below the headings of Markdown, `# so` or underlined."""
    heads: list[tuple[int, int, int, str]] = [(0, 0, 0, "")]
    before, gap = (0, ""), True
    for at, line, fenced in lines(text):
        atx = None if fenced else _ATX.match(line)
        under = None if fenced or atx else _UNDERLINE.match(line)
        if atx and atx[2]:
            heads.append((at, at + len(line) + 1, len(atx[1]), atx[2]))
        elif under and before[1] and gap and not re.match(r"\s*[|>\-*+]", before[1]):
            heads.append((before[0], at + len(line) + 1, 1 if under[1][0] == "=" else 2, before[1].strip()))
        gap = not before[1].strip()
        before = (at, "" if fenced or atx else line.strip() and line)
    ends = [head[0] for head in heads[1:]] + [len(text)]
    return [
        Part(level, plain(name), text[start:end], bool(marks.alone.match(plain(name))))
        for (_, start, level, name), end in zip(heads, ends, strict=True)
    ]


def plain(name: str) -> str:
    """A heading's words without emphasis, links and code marks."""
    name = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", name)
    return " ".join(re.sub(r"\*\*|__|`|\\(?=[#|`~=-])|^\*|\*$", "", name).split())


def _marked(part: Part, marks: Marks) -> Iterator[Part]:
    """A part cut at the marks at the beginning of its paragraphs; a short line right before a mark is that paragraph's title."""
    name, level, mark = part.name, part.level, part.mark
    text: list[str] = []
    fenced: list[bool] = []
    rows = [(line, inside) for _, line, inside in lines(part.text)]
    for number, (line, inside) in enumerate(rows):
        following = next((other for other, _ in rows[number + 1 :] if other.strip()), "")
        found = None if inside or not _opens_paragraph(text) else _mark(line.strip(), following, marks)
        if found is None:
            text.append(line)
            fenced.append(inside)
            continue
        caption = _caption(text, fenced) if found[1] else ""
        if name and not mark and found[1] and not caption and not any(map(str.strip, text)) and not marks.structure.match(name):
            caption = name  # the heading is the title of the one paragraph below it
        else:
            yield Part(level, name, "\n".join(text), mark)
        name, level, mark = " ".join(piece for piece in (found[0], caption) if piece), 6, True
        text, fenced = ([line], [False]) if found[1] else ([], [])
    yield Part(level, name, "\n".join(text), mark)


def _opens_paragraph(text: Sequence[str]) -> bool:
    return not text or not text[-1].strip()


def _mark(line: str, following: str, marks: Marks) -> tuple[str, bool] | None:
    """The name of the paragraph a line begins, and whether the line is also its text."""
    opened = marks.opens.match(line)
    if opened and opened.end() < len(line):
        rest = line[opened.end() :].strip()
        if not short_line(rest) or not following:
            return opened.group().rstrip(". "), True
    alone = marks.alone.match(line)
    if alone and short_line(line) and following:
        return plain(line), False
    return (opened.group().rstrip(". "), True) if opened else None


def short_line(line: str) -> bool:
    """Whether a line is as short as a title, and ends as none of a text does."""
    return 0 < len(line) <= _LONGEST_TITLE and not line.endswith((".", ",", ";", ":"))


def _caption(text: list[str], fenced: list[bool]) -> str:
    """Takes the title of the paragraph to come off the text before it: one short line between blank ones."""
    filled = [number for number, line in enumerate(text) if line.strip()]
    if not filled:
        return ""
    last = filled[-1]
    line = text[last].strip()
    alone = last == 0 or not text[last - 1].strip()
    if not alone or fenced[last] or not short_line(line) or re.match(r"[|>*+#-]|\(|\d", line):
        return ""
    del text[last:], fenced[last:]
    return plain(line)


# --- what becomes a section -----------------------------------------------------------------------


def _titled(parts: list[Part]) -> tuple[str, list[Part]]:
    """The title, if the first heading is one (the only one of the highest level, or the first of level one), and the parts without it."""
    headed = [part for part in parts if part.level]
    if not headed or headed[0].mark:
        return "", parts
    first, *rest = headed
    if first.level != 1 and any(part.level <= first.level for part in rest):
        return "", parts
    lead = Part(0, "", "\n".join(part.text for part in parts[: parts.index(first) + 1]))
    return first.name, [lead, *rest]


def _joined(parts: Sequence[Part]) -> Iterator[Part]:
    """Where paragraphs are marked every heading begins a section, else those of the highest level; the rest stay as sub-headings.

    A heading with no text but lower headings below it stands above the section that follows; else it is a section that says no more.
    """
    parts = [replace(part, text=_body(part.text)) for part in parts]
    found = list(parts if any(part.mark for part in parts) else _grouped(parts))
    above: list[Part] = []
    higher: list[Part] = []
    for part, following in zip(found, [*found[1:], None], strict=True):
        higher = [*(other for other in higher if other.level < part.level), part]
        if not part.text and following is not None and following.level > part.level:
            above += [part] if part.level else []
            continue
        over = [f"### {empty.name}" for empty in above]
        if part.text or part.level:
            below = higher[-2].name if len(higher) > 1 else ""
            yield replace(part, text="\n\n".join((*over, part.text or part.name)), below=below)
        above = []


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
            name, text = f"{name[: _LONGEST_NAME - 2].rsplit(' ', 1)[0]} …", f"{name}\n\n{text}"
        if name in seen and part.below:
            name = f"{name} · {part.below[:_LONGEST_NAME]}"
        name = next(one for one in _numbered(name) if one not in seen) if part.level or number else ""
        seen.add(name)
        yield name, text


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name} ({number})" for number in count(2))
