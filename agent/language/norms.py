"""Reads references to norms at a place of a text: `§ 67 Abs. 1 Z 2 lit a EStG`, `§§ 23, 23a AngG`, `Rz 1101`, `BGBl I 62/2026`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from agent.language.measures import after_gap, measure
from agent.language.notation import GAP, Figure, Notation

_SECTION = re.compile(r"(\d{1,5}[a-z]{0,2}|[IVXL]{1,6}[a-z]?)(?![\w])(?![.,]\d)")
_PART = re.compile(r"(\d{1,3}[a-z]{0,2}|[a-z]{1,2})(?!\w|[.,]\d|\.\w)")
_PAREN = re.compile(rf"\.?{GAP}\((\d{{1,3}}[a-z]?)\)")
_YEAR = re.compile(r"(?:19|20)\d\d(?!\d)")
_BAND = 60


@dataclass(frozen=True, slots=True)
class _Ref:
    """A reference being read: section, then parts (label, number); `ranged` says that the one before it is the beginning of a range."""

    path: tuple[tuple[str, str], ...]
    start: int
    end: int
    law: str = ""
    ranged: bool = False
    follows: bool = False
    closed: bool = False
    """The law stands behind it: no bare number continues."""
    plural: bool = True
    """Opened by `§§`, or by a word: only then may a bare number be the next section."""


def norms(text: str, pos: int, notation: Notation) -> list[Figure]:
    """The chain of references that starts at `pos`, in order; empty where none does. A law holds for all of the chain before it."""
    first = _first(text, pos, notation)
    if first is None:
        return []
    refs = [first]
    while len(refs) < _BAND and (step := _next(text, refs[-1], notation)) is not None:
        refs.append(step)
    for index in range(len(refs) - 2, -1, -1):
        if not refs[index].law:
            refs[index] = replace(refs[index], law=refs[index + 1].law)
    figures: list[Figure] = []
    for ref in refs:
        figure = _figure(text, ref)
        if ref.ranged and figures[-1].end is None:
            start = figures[-1].span[0]
            figures[-1] = replace(figures[-1], end=figure, text=text[start : ref.end], span=(start, ref.end))
        else:
            figures.append(figure)
    return figures


def reference(text: str, pos: int, notation: Notation) -> Figure | None:
    """A reference of another form (gazette, directive, case number), by the table's patterns: `law` is the law, other groups are parts."""
    for pattern in notation.references:
        found = pattern.match(text, pos)
        if found:
            groups = {name: " ".join(value.split()) for name, value in found.groupdict().items() if value}
            law = groups.pop("law", "")
            return Figure("norm", (law, *groups.values()), text=found.group(), span=found.span())
    return None


def law_name(text: str, pos: int, notation: Notation) -> tuple[str, int] | None:
    """The law named at `pos`: one of the table, or a word of the shape such names have."""
    known = notation.laws.match(text, pos)
    if known:
        return known
    found = notation.law_shape.match(text, pos)
    return (found.group(), found.end()) if found else None


def _figure(text: str, ref: _Ref) -> Figure:
    parts = tuple(f"{label} {number}" for label, number in ref.path) + (("ff",) if ref.follows else ())
    return Figure("norm", (ref.law, *parts), text=text[ref.start : ref.end], span=(ref.start, ref.end))


def _first(text: str, pos: int, notation: Notation) -> _Ref | None:
    law = law_name(text, pos, notation)
    at = after_gap(text, law[1] + (text[law[1] : law[1] + 1] == "-")) if law else pos
    opened = _opened(text, at, notation)
    if opened is not None:
        return _rest(text, replace(opened, start=pos, law=law[0] if law else ""), notation)
    part = _part(text, at, notation)
    if part is None or part[0] not in notation.alone:
        return None
    return _rest(text, _Ref((part[:2],), pos, part[2], law[0] if law else ""), notation)


def _opened(text: str, pos: int, notation: Notation) -> _Ref | None:
    opener = notation.openers.match(text, pos)
    number = _SECTION.match(text, after_gap(text, opener[1])) if opener else None
    if opener is None or number is None or (number[1][0].isalpha() and opener[0] == "§"):
        return None
    plural = text[pos] != "§" or text.startswith("§§", pos)
    return _Ref(((opener[0], _written(number[1])),), pos, number.end(), plural=plural)


def _written(number: str) -> str:
    return number if number[0].isupper() else number.lower()


def _part(text: str, pos: int, notation: Notation) -> tuple[str, str, int] | None:
    """(label, number, end) of `Abs. 1` at `pos`."""
    label = notation.parts.match(text, pos)
    number = _PART.match(text, after_gap(text, label[1])) if label else None
    if label is None or number is None or number[1].isalpha() != (label[0] == "lit"):
        return None
    return label[0], number[1].lower(), number.end()


def _rest(text: str, ref: _Ref, notation: Notation) -> _Ref:
    """The parts, `ff` and the law after a section number."""
    while (part := _part(text, after_gap(text, ref.end), notation) or _in_parens(text, ref, notation)) is not None and len(ref.path) < 8:
        ref = replace(ref, path=_placed(ref.path, part[:2], notation), end=part[2])
    follow = notation.follow.match(text, after_gap(text, ref.end))
    if follow:
        ref = replace(ref, follows=True, end=follow[1])
    law = law_name(text, after_gap(text, ref.end), notation)
    return replace(ref, law=law[0], end=law[1], closed=True) if law and not ref.law else ref


def _in_parens(text: str, ref: _Ref, notation: Notation) -> tuple[str, str, int] | None:
    """`§ 67 (1)` and the statutes' own `§ 67. (1)`."""
    found = _PAREN.match(text, ref.end) if len(ref.path) == 1 else None
    return (notation.part_order[0], found[1].lower(), found.end()) if found else None


def _placed(path: tuple[tuple[str, str], ...], part: tuple[str, str], notation: Notation) -> tuple[tuple[str, str], ...]:
    """The path up to the part's level, then the part."""
    level = notation.part_order.index(part[0])
    return (*(item for item in path if item[0] not in notation.part_order or notation.part_order.index(item[0]) < level), part)


def _next(text: str, ref: _Ref, notation: Notation) -> _Ref | None:
    """The reference joined to `ref`: a new `§`, another part, or a bare number on the level of the last one."""
    join = notation.joins.match(text, after_gap(text, ref.end))
    if join is None:
        return None
    at, ranged = after_gap(text, join[1]), join[0] == "range"
    opened = _opened(text, at, notation)
    if opened is not None:
        return _rest(text, replace(opened, ranged=ranged), notation)
    if ref.closed or ref.follows:
        return None
    part = _part(text, at, notation)
    if part is not None:
        return _rest(text, replace(ref, path=_placed(ref.path, part[:2], notation), start=at, end=part[2], ranged=ranged), notation)
    bare = _bare(text, at, ref, notation) if join[0] in ("list", "range") else None
    return _rest(text, replace(bare, ranged=ranged), notation) if bare else None


def _bare(text: str, at: int, ref: _Ref, notation: Notation) -> _Ref | None:
    """`2` in `Abs 1 und 2`, `23a` in `§§ 23, 23a`, `3` in `§§ 2 Abs 1 und 3 Abs 2`; never a year, a day or what has a unit."""
    label = ref.path[-1][0]
    number = (_PART if label == "lit" else _SECTION).match(text, at)
    if number is None or number[1].isalpha() != (label == "lit") or _YEAR.match(text, at):
        return None
    counted = measure(text, at, notation) if label != "lit" else None
    if (counted is not None and counted.unit is not None) or notation.months.match(text, after_gap(text, number.end() + 1)):
        return None
    following = _part(text, after_gap(text, number.end()), notation)
    path = ref.path[:1] if following is not None and following[0] == notation.part_order[0] else ref.path
    if path[-1][0] == "§" and not ref.plural:
        return None
    return replace(ref, path=(*path[:-1], (path[-1][0], _written(number[1]))), start=at, end=number.end())
