"""Reads one date, month or year at a place of a text."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import date

from agent.language.measures import after_gap, measure
from agent.language.notation import GAP, Figure, Notation

_ISO = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?(?![\d-])")
_MONTH_SLASH = re.compile(r"(0?[1-9]|1[0-2])/((?:19|20)\d\d)(?![\d/]|[.,]\d)")
_YEAR = re.compile(r"((?:19|20)\d\d)(?:/(\d{4}|\d{2})|-(\d{2}))?(?![\d/]|[.,]\d|[^\W\d_])")
_OF_YEAR = re.compile(rf"\.?{GAP}(\d{{4}})(?!\d|[.,]\d)")
_DAY_YEAR = re.compile(rf"\.?{GAP}(\d{{1,2}})(?:st|nd|rd|th)?,?{GAP}(\d{{4}})(?!\d|[.,]\d)")
Stamp = tuple[int | None, int | None, int | None]


def day(text: str, pos: int, notation: Notation) -> Figure | None:
    """The date, month or year at `pos`; `1.–31. Jänner 2026` and `Jänner bis Juni 2026` come as a range, others not."""
    if not text[pos].isdigit():
        return _from_month(text, pos, notation)
    return _numeric(text, pos, notation) or _day_month(text, pos, notation) or _year(text, pos, notation)


def stamped(stamp: Stamp, text: str, span: tuple[int, int]) -> Figure:
    """A date figure for (year, month, day); what is None was not written. A day that does not exist is kept as its ISO-like string."""
    year, month, number = stamp
    head = "--" if year is None else f"{year:04d}-"
    value: date | str = f"{head}{month:02d}" + ("" if number is None else f"-{number:02d}")
    if year is not None and number is not None:
        with suppress(ValueError):
            value = date(year, month or 0, number)
    return Figure("date", value, text=text[span[0] : span[1]], span=span)


def stamp(figure: Figure) -> Stamp:
    """(year, month, day) of a date or year figure; None for what it leaves open."""
    value = figure.value
    if isinstance(value, date):
        return value.year, value.month, value.day
    if isinstance(value, int):
        return value, None, None
    pieces = [int(piece) if piece else None for piece in str(value).replace("--", "-", 1).split("-")]
    return pieces[0], pieces[1], pieces[2] if len(pieces) > 2 else None


def with_year(figure: Figure, year: int | None) -> Figure:
    """A date without a year takes the one told at the other end of its range."""
    own, month, number = stamp(figure)
    if own is not None or year is None or figure.kind != "date":
        return figure
    return replace(figure, value=stamped((year, month, number), "", (0, 0)).value)


def _numeric(text: str, pos: int, notation: Notation) -> Figure | None:
    found = _ISO.match(text, pos)
    if found and (found[3] or 1 <= int(found[2]) <= 12):
        return stamped((int(found[1]), int(found[2]), int(found[3]) if found[3] else None), text, found.span())
    found = notation.date_pattern.match(text, pos) if notation.date_pattern else None
    if found:
        named = found.groupdict()
        short = named.get("short")
        year = int(named["y"]) if named.get("y") else 2000 + int(short) if short else None
        return stamped((year, int(named["m"]), int(named["d"])), text, found.span())
    found = _MONTH_SLASH.match(text, pos)
    return stamped((int(found[2]), int(found[1]), None), text, found.span()) if found else None


def _day_month(text: str, pos: int, notation: Notation) -> Figure | None:
    found = notation.day_month.match(text, pos)
    if found is None:
        return None
    month = notation.months.match(text, after_gap(text, found.end()))
    if month:
        return _ended(text, pos, (month[0], int(found[1])), month[1])
    mark = notation.ranges.match(text, found.end()) if notation.day_dot else None
    at = after_gap(text, mark[1]) if mark else pos
    last = _day_month_only(text, at, notation) if mark else None
    if last is None:
        return None
    year, of_month, number = stamp(last)
    if number is None or int(found[1]) >= number:
        return None
    first = stamped((year, of_month, int(found[1])), text, (pos, last.span[1]))
    return replace(first, end=last)


def _day_month_only(text: str, pos: int, notation: Notation) -> Figure | None:
    found = notation.day_month.match(text, pos)
    month = notation.months.match(text, after_gap(text, found.end())) if found else None
    return _ended(text, pos, (month[0], int(found[1])), month[1]) if found and month else None


def _ended(text: str, pos: int, month_day: tuple[int, int | None], end: int) -> Figure:
    year = _OF_YEAR.match(text, end)
    return stamped((int(year[1]) if year else None, *month_day), text, (pos, year.end() if year else end))


def _from_month(text: str, pos: int, notation: Notation) -> Figure | None:
    month = notation.months.match(text, pos)
    if month is None:
        return None
    found = _DAY_YEAR.match(text, month[1]) if not notation.day_dot else None
    if found:
        return stamped((int(found[2]), month[0], int(found[1])), text, (pos, found.end()))
    if _OF_YEAR.match(text, month[1]):
        return _ended(text, pos, (month[0], None), month[1])
    mark = notation.ranges.match(text, after_gap(text, month[1]))
    right = after_gap(text, mark[1]) if mark else pos
    last = notation.months.match(text, right) if mark else None
    if last is None or not _OF_YEAR.match(text, last[1]):
        return None
    end = _ended(text, right, (last[0], None), last[1])
    return replace(stamped((stamp(end)[0], month[0], None), text, (pos, end.span[1])), end=end)


def _year(text: str, pos: int, notation: Notation) -> Figure | None:
    """A year from 1900 to 2099, unless a unit makes it a quantity; `2025/26` is a range."""
    found = _YEAR.match(text, pos)
    counted = measure(text, pos, notation) if found and not (found[2] or found[3]) else None
    if found is None or (counted is not None and counted.unit is not None):
        return None
    year, last = int(found[1]), found[2] or found[3]
    if not last:
        return Figure("year", year, text=found.group(), span=found.span())
    until = int(last) if len(last) == 4 else year // 100 * 100 + int(last)
    if until <= year:
        return None
    end = Figure("year", until, text=last, span=(found.end() - len(last), found.end()))
    return Figure("year", year, end=end, text=found.group(), span=found.span())
