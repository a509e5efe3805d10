"""Cuts a document's text into parts: at its headings, or at the marks of its paragraphs (§ 5, Artikel 3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.ingest.entries import lines

_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{3,})[ \t]*$")
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


def headed(text: str, marks: Marks) -> list[Part]:
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
    """A heading's words without emphasis, links and code marks, unless nothing else is left."""
    words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", name)
    words = re.sub(r"\*\*|__|`|\\(?=[#|`~=-])|^\*|\*$", "", words)
    return " ".join(words.split()) or " ".join(name.split())


def marked(part: Part, marks: Marks) -> Iterator[Part]:
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
