"""Cuts a chunk's Markdown into what can be quoted alone: sentences, list items and table rows; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Sentences = Callable[[str], list[tuple[int, int]]]

_RULE = re.compile(r"\s*\|?[\s:|-]+\|?\s*")
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,2}[.)])\s+")
_ALONE = re.compile(r"\s*[^\W\d_][\w-]*: |.* = ")
"""A line that is a statement of its own without a full stop: a labelled one, or a calculation."""
_MARKUP = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)|`")


@dataclass(frozen=True, slots=True)
class Segment:
    """One quotable piece: `text` reads alone, `span` is where it stands in the chunk's text. `cells` are a row's, by heading."""

    text: str
    span: tuple[int, int]
    kind: str
    """"sentence" | "item" | "row"."""
    cells: tuple[tuple[str, str], ...] = ()


def segments(text: str, sentences: Sentences) -> list[Segment]:
    """The pieces of `text` in reading order. Headings and code are no pieces; a row is told by its table's heading."""
    found: list[Segment] = []
    heading: list[str] = []
    paragraph: list[tuple[int, str]] = []
    fenced = False

    def flush() -> None:
        if paragraph:
            start = paragraph[0][0]
            end = paragraph[-1][0] + len(paragraph[-1][1])
            found.extend(_sentences(text, start, end, sentences, "sentence"))
            paragraph.clear()

    for start, line in _lines(text):
        stripped = line.strip()
        if stripped.startswith("```"):
            fenced = not fenced
            flush()
            continue
        if fenced:
            continue
        if stripped.startswith("|"):
            flush()
            if _RULE.fullmatch(line):
                continue
            if not heading:
                heading = _cells(stripped)
            else:
                found.append(_row(heading, _cells(stripped), (start, start + len(line.rstrip()))))
            continue
        heading = []
        bullet = _BULLET.match(line)
        if not stripped or stripped.startswith("#"):
            flush()
        elif bullet:
            flush()
            found.extend(_sentences(text, start + bullet.end(), start + len(line), sentences, "item"))
        elif _ALONE.match(line):
            flush()
            paragraph.append((start, line))
            flush()
        else:
            paragraph.append((start, line))
    flush()
    return found


def _lines(text: str) -> list[tuple[int, str]]:
    lines, start = [], 0
    for line in text.splitlines(keepends=True):
        lines.append((start, line.rstrip("\r\n")))
        start += len(line)
    return lines


def _sentences(text: str, start: int, end: int, sentences: Sentences, kind: str) -> list[Segment]:
    piece = text[start:end]
    return [Segment(plain(piece[a:b]), (start + a, start + b), kind) for a, b in sentences(piece)]


def _cells(line: str) -> list[str]:
    return [plain(cell) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def _row(heading: Sequence[str], cells: Sequence[str], span: tuple[int, int]) -> Segment:
    named = tuple((name, cell) for name, cell in zip(heading, cells, strict=False))
    return Segment(" · ".join(cell for cell in cells if cell), span, "row", named)


def plain(text: str) -> str:
    """Without Markdown's emphasis and code marks, on one line."""
    return re.sub(r"\s+", " ", _MARKUP.sub("", text)).strip()
