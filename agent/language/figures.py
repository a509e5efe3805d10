"""Finds the figures, dates and norms of running text, and says whether one is supported by another; pure.

Where a text is ambiguous, a claim is read strictly and a source is, too: what is not the same figure does not support.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from agent.language.days import day, stamp, with_year
from agent.language.masks import list_number, passed
from agent.language.measures import CLOCK, after_gap, measure
from agent.language.norms import norms, reference
from agent.language.notation import GAP, SPACE, Figure, Notation
from agent.language.ordinals import ordinals

__all__ = ["Figure", "Notation", "format_amount", "format_date", "format_number", "format_percent", "parse", "supports", "without"]

_TOKEN = re.compile(r"\d|[^\W\d_]+|[§\[【€$£½¼¾⅓⅔⅕⅙⅛]")
_RUN = re.compile(r"[\w-]+")
_WORD = re.compile(r"[^\W\d_]{1,60}(?![^\W\d_])")
_NAME = re.compile(r"(?<![\w-])[A-ZÄÖÜ]{1,4}\d{1,3}[a-z]?(?!\w)")
_DIGITS = re.compile(r"\d[\d.,]{0,60}\w{0,20}(?<![.,])")
_DAYS = ("date", "year")
_SIGN = re.compile(rf"(?:\A|[{SPACE}\n(])[-−]\Z")
_BESIDE = re.compile(rf"{GAP}[:=|]?{GAP}\Z")


SHORT = 1000
"""Characters up to which a text's figures are remembered."""


def parse(text: str, notation: Notation) -> list[Figure]:
    """The figures of `text` in order, their spans apart from each other. Never raises, takes time linear in the text; expects NFC.

    No figures: list numbers, `(1)`, ids in brackets, addresses, telephone numbers, IBANs, digits that belong to a word, labels (`Seite 3`).
    """
    return list(_remembered(text, notation)) if len(text) <= SHORT else _parsed(text, notation)


@lru_cache(maxsize=8192)
def _remembered(text: str, notation: Notation) -> tuple[Figure, ...]:
    """The sentences and rows of a knowledge base are read again with every question that finds them."""
    return tuple(_parsed(text, notation))


def _parsed(text: str, notation: Notation) -> list[Figure]:
    found: list[Figure] = []
    pos = floor = listed = 0
    while token := _TOKEN.search(text, pos):
        pos = token.start()
        number = list_number(text, pos, listed, notation) if token.group().isdigit() else None
        if number is not None:
            listed, pos = number
        elif (end := passed(text, pos, token.group(), notation)) is not None:
            pos = end
        elif figures := _at(text, pos, floor, notation):
            found += figures
            pos = floor = figures[-1].span[1]
        else:
            pos = _skipped(text, token)
    return _dated(_shared(found, text, notation), text, notation)


def without(text: str, notation: Notation, *, keep: Collection[str] = ()) -> str:
    """The text with a blank in place of each of its figures, but for those of the kinds to keep."""
    for figure in reversed(parse(text, notation)):
        if figure.kind not in keep:
            text = f"{text[: figure.span[0]]} {text[figure.span[1] :]}"
    return text


def _skipped(text: str, token: re.Match[str]) -> int:
    run = _RUN.match(text, token.start()) if token.group().isdigit() else None
    return run.end() if run else token.end()


def _at(text: str, pos: int, floor: int, notation: Notation) -> list[Figure]:
    """What begins at `pos`, with the words before it that belong to it."""
    single = reference(text, pos, notation)
    if single:
        return [single]
    chain = [] if text[pos].isdigit() else norms(text, pos, notation)
    if chain:
        return chain
    dated = day(text, pos, notation)
    if dated:
        return [_bounded(_ranged(dated, text, floor, notation), text, floor, notation)]
    counts = ordinals(text, pos, notation)
    if counts:
        return counts
    counted = measure(text, pos, notation) or _unread(text, pos)
    if counted is None:
        return []
    signed = _signed(counted, text, floor)
    return [_bounded(_ranged(signed, text, floor, notation), text, floor, notation)]


def _unread(text: str, pos: int) -> Figure | None:
    """A name with a number (`L16`), or digits that make no number (`07.285`, `23a`): as written, so that only the same supports it."""
    named = _NAME.match(text, pos)
    found = named or _DIGITS.match(text, pos)
    return Figure("name" if named else "number", found.group(), text=found.group(), span=found.span()) if found else None


def _signed(figure: Figure, text: str, floor: int) -> Figure:
    start = figure.span[0]
    if not text[start].isdigit() or start - 1 < floor or not _SIGN.search(text, max(0, start - 2), start):
        return figure
    value = figure.value
    return replace(_respanned(figure, text, (start - 1, figure.span[1])), value=-value if isinstance(value, Decimal | Fraction) else value)


def _respanned(figure: Figure, text: str, span: tuple[int, int]) -> Figure:
    if figure.span == span:
        return figure
    return replace(figure, text=text[span[0] : span[1]], span=span)


# --- what stands before and between -------------------------------------------------------------


def _ranged(left: Figure, text: str, floor: int, notation: Notation) -> Figure:
    """`left` joined with the figure after `bis` or a dash, if the two make a range: same unit, rising."""
    if left.end is not None:
        return left
    at = after_gap(text, left.span[1])
    mark = notation.ranges.match(text, at)
    opened = notation.between[0].before(text, floor, left.span[0])
    mark = mark or (notation.between[1].match(text, at) if opened else None)
    if mark is None or (text[at] in "-–—−" and "\n" in text[left.span[1] : at + 1]):
        return left
    start = after_gap(text, mark[1])
    if start >= len(text) or (text[at] in "-–—−" and "\n" in text[at:start]):
        return left
    right = _right(text, start, notation)
    bound = mark[0] if mark[0] in ("under", "over") else None
    return _joined(left, right if bound is None or right is None else replace(right, bound=bound), text)


def _right(text: str, start: int, notation: Notation) -> Figure | None:
    if not (text[start].isalnum() or text[start] in "€$£½¼¾⅓⅔⅕⅙⅛"):
        return None
    if text[start].isalpha() and (word := _WORD.match(text, start)) and word.group().casefold() not in notation.triggers:
        return None
    return day(text, start, notation) or measure(text, start, notation)


def _joined(left: Figure, right: Figure | None, text: str) -> Figure:
    """`left` as the beginning of a range to `right`; `left` alone where the two make none."""
    if right is None or right.end is not None or (left.kind in _DAYS) != (right.kind in _DAYS):
        return left
    return _joined_days(left, right, text) if left.kind in _DAYS else _joined_numbers(left, right, text)


def _joined_days(left: Figure, right: Figure, text: str) -> Figure:
    year = stamp(right)[0]
    left = with_year(left, year)
    if (left.kind == "year" and year is None) or not _rising(stamp(left), stamp(right)):
        return left
    return replace(_respanned(left, text, (left.span[0], right.span[1])), end=right)


def _joined_numbers(left: Figure, right: Figure, text: str) -> Figure:
    if left.unit is not None and right.unit is None:
        right = replace(right, kind=left.kind, unit=left.unit)
    rising = right.unit == CLOCK or _number(left.value) < _number(right.value)
    if left.unit not in (None, right.unit) or not rising:
        return left
    kind = left.kind if left.kind == "fraction" else right.kind
    joined = replace(left, kind=kind, unit=right.unit, period=right.period or left.period, weak=left.weak and right.weak, end=right)
    return _respanned(joined, text, (left.span[0], right.span[1]))


def _number(value: object) -> Fraction:
    return Fraction(value) if isinstance(value, Decimal | Fraction | int) else Fraction(0)


def _rising(left: tuple[int | None, ...], right: tuple[int | None, ...]) -> bool:
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if a is not None and b is not None]
    return bool(pairs) and ([a for a, _ in pairs] < [b for _, b in pairs] or left[0] is None)


def _bounded(figure: Figure, text: str, floor: int, notation: Notation) -> Figure:
    """With the period and the bound that stand right before the figure, or the bound right after it."""
    start, end = figure.span
    period, bound = figure.period, figure.bound
    measured = figure.kind not in ("date", "year")
    before = notation.periods.before(text, floor, start) if measured and period is None and figure.unit else None
    if before:
        period, start = before
    words = notation.bounds if measured else notation.date_bounds
    found = words.before(text, floor, start)
    if found:
        bound, start = found
    if figure.end is not None and bound in ("min", "max"):
        bound = None
    if before is None and found and measured and period is None and figure.unit:
        earlier = notation.periods.before(text, floor, start)
        period, start = earlier or (period, start)
    after = notation.bounds_after.match(text, after_gap(text, end)) if not found and measured else None
    if after:
        bound, end = after
        unit = notation.units.match(text, after_gap(text, end)) if figure.kind == "number" else None
        if unit:
            figure, end = replace(figure, kind=unit[0].kind, unit=unit[0].name), unit[1]
    weak = figure.weak and not (found or after) if figure.unit is None else figure.weak
    if (period, bound, weak) != (figure.period, figure.bound, figure.weak):
        figure = replace(figure, period=period, bound=bound, weak=weak)
    return _respanned(figure, text, (start, end))


def _shared(figures: list[Figure], text: str, notation: Notation) -> list[Figure]:
    """`8 oder 9 Dienstjahren`, `20, 30 und 40 %`: numbers of a list take the unit its last one has; a comma alone makes no list."""
    shared = figures[:]
    listed = False
    for index in range(len(shared) - 2, -1, -1):
        left, right = shared[index], shared[index + 1]
        gap = text[left.span[1] : right.span[0]][:16].strip()
        join = notation.joins.match(gap, 0)
        joined = gap == "/" or (join is not None and join == ("list", len(gap)))
        whole = gap != "," and not notation.date_bounds.before(text, 0, left.span[0])
        listed = left.kind == "number" and right.unit is not None and right.kind != "ordinal" and joined and (listed or whole)
        if listed:
            shared[index] = replace(left, kind=right.kind, unit=right.unit, period=right.period, weak=right.weak)
    return shared


def _dated(figures: list[Figure], text: str, notation: Notation) -> list[Figure]:
    """Each figure with the year beside it: `551,10 EUR (2026)`, `2026: 551,10 EUR`; a range of years ties nothing."""
    dated: list[Figure] = []
    for index, figure in enumerate(figures):
        year = None
        if figure.kind in ("amount", "percent", "quantity", "number", "fraction"):
            after = figures[index + 1] if index + 1 < len(figures) else None
            year = _year_of(after) if after and _linked(text, figure, after, notation) else None
            ahead = figures[index - 1] if index and year is None else None
            year = _year_of(ahead) if ahead and _BESIDE.fullmatch(text[ahead.span[1] : figure.span[0]][:40]) else year
        dated.append(figure if year is None else replace(figure, year=year))
    return dated


def _year_of(figure: Figure) -> int | None:
    return stamp(figure)[0] if figure.kind in ("date", "year") and figure.end is None else None


def _linked(text: str, figure: Figure, after: Figure, notation: Notation) -> bool:
    """Whether the year `after` is said of the figure: nothing but a bracket and a link word (`im Jahr`, `für`) between them."""
    gap = text[figure.span[1] : after.span[0]]
    if len(gap) > 30 or "\n\n" in gap:
        return False
    words = gap.strip().removeprefix("(").strip()
    link = notation.year_links.match(words, 0) if words else None
    return ("(" in gap and not words) or bool(link and link[1] == len(words)) or (not words and after.bound is not None)


# --- support ------------------------------------------------------------------------------------


def supports(claim: Figure, source: Figure) -> bool:
    """Whether `source` states what `claim` states, as precisely or more so; equality is of values, never of roundings or conversions.

    - Kind, value and unit are equal. A claim without a unit is supported by a number, an amount or a quantity of that value, but not by a
      percentage, a fraction or an ordinal: leaving out "EUR" says less, leaving out "%" says something else. A unit on the claim's side
      that the source lacks is not supported (the caller may put the unit of a table's heading into the source figure).
    - Period, bound and year count where both sides state one.
    - Dates, months, years: what the claim states of year, month and day is stated by the source (2026 by 1.1.2026, never the reverse).
    - Norms: the claim's law is the source's or left out; its parts begin the source's (§ 67 Abs 1 by § 67 Abs 1 Z 2), or, where it names
      no section, follow each other in them (Z 2 by § 67 Abs 1 Z 2).
    - A range is supported by the same range only. A single value is supported by a range if both ends state it (2026 by 1.1.–31.12.2026),
      or with the bound that end means (at least 25 by 25 to 75); a norm by either end, which the text names.
    """
    if claim.end is not None or source.end is not None:
        return _supports_range(claim, source)
    return _supports_one(claim, source) and _agree(claim.bound, source.bound)


def _supports_range(claim: Figure, source: Figure) -> bool:
    low, high = replace(source, end=None), source.end
    if high is None:
        return False
    if claim.end is not None:
        return _supports_one(replace(claim, end=None), low) and _supports_one(claim.end, high) and _agree(claim.bound, source.bound)
    if claim.kind == "norm":
        return _supports_one(claim, low) or _supports_one(claim, high)
    at_low = _supports_one(claim, low) and claim.bound in (None, "min", source.bound)
    at_high = _supports_one(claim, high) and claim.bound in (None, "max", high.bound)
    return at_low and at_high if claim.bound is None else at_low or at_high


def _agree(one: object, other: object) -> bool:
    return one is None or other is None or one == other


def _supports_one(claim: Figure, source: Figure) -> bool:
    """Without regard to ranges and bounds."""
    if claim.kind in ("date", "year"):
        return source.kind in ("date", "year") and all(a in (None, b) for a, b in zip(stamp(claim), stamp(source), strict=True))
    if claim.kind == "norm":
        return source.kind == "norm" and _within(claim.value, source.value)
    if claim.kind == "number" and claim.unit is None:
        same = source.kind in ("number", "amount", "quantity")
    else:
        same = claim.kind == source.kind and (claim.unit == source.unit or (claim.kind == "ordinal" and claim.unit is None))
    return same and claim.value == source.value and _agree(claim.period, source.period) and _agree(claim.year, source.year)


def _within(claim: object, source: object) -> bool:
    if not isinstance(claim, tuple) or not isinstance(source, tuple) or claim[0] not in ("", source[0]):
        return False
    parts, stated = claim[1:], source[1:]
    if parts == stated[: len(parts)]:
        return True
    loose = not parts or not parts[0].startswith(("§ ", "Art ", "Rz "))
    return loose and any(parts == stated[at : at + len(parts)] for at in range(1, len(stated)))


# --- writing ------------------------------------------------------------------------------------


def format_number(value: Decimal, notation: Notation, *, places: int = 0) -> str:
    """`value` in full, grouped by threes, with at least `places` decimals; nothing is rounded."""
    whole, _, rest = format(abs(value), "f").partition(".")
    groups = [whole[max(0, end - 3) : end] for end in range(len(whole), 0, -3)][::-1]
    rest = rest.ljust(places, "0")
    return ("-" if value < 0 else "") + notation.group.join(groups) + (notation.decimal + rest if rest else "")


def format_amount(value: Decimal, notation: Notation, *, currency: str | None = None) -> str:
    """`551,10 EUR`; the currency is the notation's own unless one is given."""
    unit = currency or notation.currency
    return f"{format_number(value, notation, places=2)}\u00a0{notation.unit_words.get(unit, unit)}"


def format_percent(value: Decimal, notation: Notation) -> str:
    """`17,07 %`."""
    return f"{format_number(value, notation)}\u00a0%"


def format_date(value: date, notation: Notation) -> str:
    """As the notation writes a day: `1.1.2026`, `2026-01-01`, `1 January 2026`."""
    named: Callable[..., str] = notation.date_format.format
    return named(day=value.day, month=value.month, year=value.year, month_name=notation.month_names[value.month - 1])
