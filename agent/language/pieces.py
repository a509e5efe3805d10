"""What an entry can be quoted with: each sentence and table row as it is said, and as it is embedded; pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from agent.language.analyser import Language
from agent.language.segments import Segment, segments


@dataclass(frozen=True, slots=True)
class Piece:
    """`text` is what is said, `bare` the same without what it holds for; its vector is made of `embedded`, `key` is that text's hash."""

    segment: Segment
    text: str
    bare: str
    embedded: str
    key: str
    terms: frozenset[str]
    """The terms of `bare`, dates and years left out."""
    words: tuple[str, ...]
    """Those of them that hold no digit."""


@lru_cache(maxsize=4096)
def pieces(title: str, text: str, language: Language) -> tuple[Piece, ...]:
    """The quotable pieces of a chunk's text; a lead-in to a list, a question or an example's assumption says nothing alone."""
    assumptions = tuple(language.table["assumption_marks"])
    found = []
    for segment in segments(text, language.sentences):
        if segment.text.endswith((":", "?")) or segment.text.startswith(assumptions):
            continue
        bare = said(segment, language, bare=True)
        embedded = f"{title}: {bare}"
        terms = frozenset(term for term in language.terms(bare) if not language.tells_time(term))
        words = tuple(sorted(term for term in terms if not any(c.isdigit() for c in term)))
        key = sha256(embedded.encode()).hexdigest()[:32]
        found.append(Piece(segment, said(segment, language), bare, embedded, key, terms, words))
    return tuple(found)


def said(segment: Segment, language: Language, *, bare: bool = False) -> str:
    """A piece as it is said: a sentence as it stands, a row as label, value and, unless `bare`, what it holds for in parentheses."""
    shown = _shown(segment, language)
    if len(shown) < 2:
        return segment.text
    label, value, *rest = shown
    return f"{label}: {value}" if bare or not rest else f"{label}: {value} ({', '.join(rest)})"


def quoted(segment: Segment, language: Language) -> str:
    """A piece as its entry has it, a row's cells side by side, without the columns that only maintenance needs."""
    return " · ".join(_shown(segment, language)) or segment.text


def _shown(segment: Segment, language: Language) -> list[str]:
    """The cells of a row that a reader sees; none of a sentence."""
    if segment.kind != "row":
        return []
    return [cell for name, cell in segment.cells if cell and name not in language.table["hidden_columns"]]


def holding(piece: Piece, language: Language) -> str:
    """The text that tells when a piece holds: a row's column of time where it has one, else all of it."""
    times = [cell for name, cell in piece.segment.cells if name in language.table["time_columns"]]
    return times[0] if times else piece.segment.text


def row(piece: Piece, language: Language) -> tuple[str, ...]:
    """What tells a row of dated values from every other: its key and its days; nothing of any other piece."""
    columns = (*language.table["hidden_columns"], *language.table["time_columns"])
    cells = [cell.strip("`") for name, cell in piece.segment.cells if name in columns]
    return tuple(cells) if len(cells) == len(columns) and all(cells) else ()
