"""Cuts a chunk's Markdown into what can be quoted alone: sentences, list items and table rows; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
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
    for kind, start, end in _blocks(text):
        if kind != "row":
            heading = []
            found.extend(_sentences(text, start, end, sentences, kind))
        elif not heading:
            heading = _cells(text[start:end])
        elif not _RULE.fullmatch(text[start:end]):
            found.append(_row(heading, _cells(text[start:end]), (start, end)))
    return found


def _blocks(text: str) -> Iterator[tuple[str, int, int]]:
    """Each paragraph ("sentence"), list item and table row with where it begins and ends; a new table begins after anything else."""
    begun: int | None = None
    end, fenced = 0, False
    for start, line in _lines(text):
        kind = _kind(line)
        if kind == "text" and not fenced:
            begun = start if begun is None else begun
            end = start + len(line)
            continue
        if begun is not None:
            yield "sentence", begun, end
            begun = None
        if kind == "fence":
            fenced = not fenced
        elif fenced:
            continue
        elif kind == "alone":
            yield "sentence", start, start + len(line)
        elif kind == "item":
            bullet = _BULLET.match(line)
            yield "item", start + (bullet.end() if bullet else 0), start + len(line)
        elif kind == "row":
            yield "row", start, start + len(line.rstrip())
        elif kind == "heading":
            yield "sentence", start, start
    if begun is not None:
        yield "sentence", begun, end


def _kind(line: str) -> str:
    stripped = line.strip()
    if not stripped or stripped.startswith("#"):
        return "heading"
    if stripped.startswith("```"):
        return "fence"
    if stripped.startswith("|"):
        return "row"
    if _BULLET.match(line):
        return "item"
    return "alone" if _ALONE.match(line) else "text"


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
