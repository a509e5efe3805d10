"""Finds the other cases of a thing that a question leaves open: "for a child under 18" beside "for a child from 18 on"; pure.

A question that names no case is answered by every case, not by whichever stands first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from agent.language.analyser import Language
from agent.language.contrast import opposed, special
from agent.language.figures import Figure, parse
from agent.language.pieces import Piece
from agent.language.similarity import covered

ALIKE = 0.5
"""The share of the shorter statement's words that two cases of one thing have in common."""
NAMED = 0.5
"""How well a word of the question must match a word that tells two cases apart, to have settled the case."""

TIME_AND_RULE = frozenset({"year", "date", "norm", "name"})
"""Kinds of figures that say when and by which rule, not how much."""


def open_cases(
    question: str, said: Piece, others: Sequence[Piece], asked: Mapping[str, Collection[str]], language: Language
) -> list[Piece]:
    """Those of `others` that state another value of the thing `said` is about, for a case the question leaves open.

    `asked` maps each term of the question to its variants. A figure in the question is a case of its own, and settles which is meant.
    """
    own = values(said, language)
    brought = any(figure.kind not in TIME_AND_RULE for figure in parse(question, language.notation))
    if not own or brought:
        return []
    return [
        other
        for other in others
        if _is_case(said, other, own, language) and not special(question, other.bare, language) and not _settled(said, other, asked)
    ]


def _is_case(said: Piece, other: Piece, own: Sequence[Figure], language: Language) -> bool:
    """Whether two statements say the same in most words, each its value (`own`) in the same form, and for what the first holds alone."""
    if other.segment.kind != said.segment.kind or other.key == said.key:
        return False
    if len(said.terms & other.terms) < ALIKE * min(len(said.terms), len(other.terms)):
        return False
    if not set(said.words) - set(other.words) and not opposed(said.bare, other.bare, language):
        return False
    found = values(other, language)
    return _form(own) == _form(found) and {figure.value for figure in own} != {figure.value for figure in found}


def _settled(said: Piece, other: Piece, asked: Mapping[str, Collection[str]]) -> bool:
    """Whether the question names the one and not the other by what tells them apart."""
    apart = (said.terms - other.terms, other.terms - said.terms)
    own, others = (any(covered(term, side, variants) >= NAMED for term, variants in asked.items()) for side in apart)
    return own != others


def values(piece: Piece, language: Language) -> tuple[Figure, ...]:
    """The figures that are a piece's value: of a row those of its column of values, of a sentence all that are no time and no norm."""
    cells = [cell for name, cell in piece.segment.cells if name in language.table["value_columns"]]
    text = cells[0] if cells else piece.bare
    return tuple(figure for figure in parse(text, language.notation) if figure.kind not in TIME_AND_RULE and not figure.weak)


def same_kind(left: Piece, right: Piece, language: Language) -> bool:
    """Whether two statements have a value of the same kind and unit."""
    kinds = [{(figure.kind, figure.unit) for figure in values(piece, language)} for piece in (left, right)]
    return not kinds[0].isdisjoint(kinds[1])


def _form(figures: Sequence[Figure]) -> frozenset[tuple[str, str | None, str | None]]:
    return frozenset((figure.kind, figure.unit, figure.period) for figure in figures)
