"""Cuts a sentence into what it says of each of its figures, so that a sentence that joins two rows is read as two; pure.

"The employee pays 18.07 %, the employer 20.98 %" states two things, each in its own clause; the words before the first figure hold for
both, unless the second clause names another thing in their place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from agent.language.analyser import Language
from agent.language.figures import Figure, parse
from agent.language.segments import segments

_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s+")
_BRACKETS = re.compile(r"\([^()]{0,300}\)")
CONDITIONS = ("date", "year", "norm")
"""Kinds of figures that say when and by what a thing holds, and are no value of it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a sentence says of some of its figures: the clauses up to the last of them, and the words that hold for them from elsewhere."""

    clause: str
    tail: str
    """What follows the last of the figures before the next statement begins."""
    lead: str
    """What stands before the first figure of the whole sentence, in a statement that does not begin it."""
    figures: tuple[Figure, ...]

    @property
    def text(self) -> str:
        return f"{self.clause} {self.tail}".strip()


@lru_cache(maxsize=8192)
def statements(text: str, language: Language, lead: str = "") -> tuple[Statement, ...]:
    """The statements of a sentence in order, one where it has fewer figures than two; `lead` goes before its own."""
    figures = tuple(figure for figure in parse(text, language.notation) if not figure.weak)
    joints = _joints(text, language)
    cuts = [0, *_cuts(figures, joints), len(text)]
    values = [figure for figure in figures if figure.kind not in CONDITIONS]
    opening = text[: values[0].span[0]] if values else ""
    found = []
    for start, end in pairwise(cuts):
        own = tuple(figure for figure in figures if start <= figure.span[0] < end)
        last = max((figure.span[1] for figure in own if figure.kind not in CONDITIONS), default=end)
        closed = next((joint for joint in joints if last <= joint < end), end)
        if text[start:end].strip():
            found.append(
                Statement(text[start:closed].strip(), text[closed:end].strip(), f"{lead} {opening}".strip() if start else lead, own)
            )
    return tuple(found)


def _cuts(figures: tuple[Figure, ...], joints: Sequence[int]) -> list[int]:
    """Where a statement ends: between two figures of one kind and unit, at the first mark or word that joins clauses."""
    cuts: list[int] = []
    seen: set[tuple[str, str | None]] = set()
    last: Figure | None = None
    for figure in figures:
        if figure.kind in CONDITIONS:
            continue
        said = (figure.kind, figure.unit)
        if last is not None and said in seen:
            place = next((start for start in joints if last.span[1] <= start < figure.span[0]), None)
            if place is not None and not _bare(last):
                cuts.append(place)
                seen = set()
        seen.add(said)
        last = figure
    return cuts


def _bare(figure: Figure) -> bool:
    """Whether a number is one of a list that its last one gives the unit: `20, 30 und 40 %`."""
    return figure.unit is not None and figure.text.replace(".", "").replace(",", "").isdigit()


def _joints(text: str, language: Language) -> list[int]:
    inside = [match.span() for match in _BRACKETS.finditer(text)]
    return [m.start() for m in _joint(language).finditer(text) if not any(start < m.start() < end for start, end in inside)]


@cache
def _joint(language: Language) -> re.Pattern[str]:
    words = "|".join(re.escape(word) for word in (*language.table["listing_words"], *language.table["clause_words"]))
    return re.compile(rf"[,;:](?=\s)|\s(?:{words}|[–—])(?=\s)", re.IGNORECASE)


def lines(text: str, language: Language) -> list[tuple[str, str]]:
    """A sentence as it is written over several lines: each item and table row with what leads it in; the sentence alone in one line."""
    if "\n" not in text:
        return [(text, "")]
    found: list[tuple[str, str]] = []
    running: list[str] = []
    lead = ""
    for line in [*text.split("\n"), ""]:
        listed = _BULLET.match(line)
        if line.strip() and not listed and not line.lstrip().startswith("|"):
            running.append(line.strip())
            continue
        if running:
            joined = " ".join(running)
            lead = joined if joined.endswith(":") else ""
            found.append((joined, ""))
            running = []
        if listed:
            found.append((line[listed.end() :].strip(), lead))
    return found + [(cell, lead) for cell in _rows(text, language)]


def _rows(text: str, language: Language) -> list[str]:
    """Each cell of a table, with the first cell of its row and the heading of its column."""
    rows = [segment.cells for segment in segments(text, language.sentences) if segment.kind == "row"]
    return [f"{row[0][1]}, {name}: {cell}" for row in rows for name, cell in row[1:] if cell]
