"""Reads ordinals at a place of a text: `15. des Folgemonats`, `13./14. Gehalt`, `zweiten Monat`."""

from __future__ import annotations

import re

from agent.language.measures import after_gap
from agent.language.notation import GAP, Figure, Notation

_WORD = re.compile(r"[^\W\d_]{1,60}(?![^\W\d_])")
_CHAIN = re.compile(rf"{GAP}(?:/|,|–|-|und|oder|bis|bzw\.?|och|eller|till|and|or|to){GAP}(?=\d)")
_DIGIT = re.compile(r",?\d")


def ordinals(text: str, pos: int, notation: Notation) -> list[Figure]:
    """`15. des Folgemonats`, `13./14. Gehalt`, `im zweiten Monat`: numbers in a row, the noun after the last one holds for all."""
    if not text[pos].isdigit():
        word = _WORD.match(text, pos)
        value = notation.ordinals.get(word.group().casefold()) if word else None
        noun = notation.ordinal_nouns.match(text, after_gap(text, word.end())) if word and value else None
        return [_ordinal(text, (pos, noun[1]), value, noun[0])] if noun and value else []
    row = [notation.ordinal_mark.match(text, pos)]
    while (last := row[-1]) and (step := _CHAIN.match(text, last.end())) and len(row) < 8:
        row.append(notation.ordinal_mark.match(text, step.end()))
    marks = [mark for mark in row if mark]
    if not marks or _DIGIT.match(text, marks[-1].end()):
        return []
    noun = notation.ordinal_nouns.match(text, after_gap(text, marks[-1].end()))
    if noun is None and not notation.ordinal_sure and not notation.ordinal_before.before(text, 0, pos):
        return []
    ends = [*(mark.end() for mark in marks[:-1]), noun[1] if noun else marks[-1].end()]
    return [_ordinal(text, (mark.start(), end), int(mark[1]), noun[0] if noun else "") for mark, end in zip(marks, ends, strict=True)]


def _ordinal(text: str, span: tuple[int, int], value: int, noun: str) -> Figure:
    return Figure("ordinal", value, noun or None, text=text[span[0] : span[1]], span=span)
