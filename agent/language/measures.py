"""Reads one number with its unit and period at a place of a text: in digits, as a fraction, or spelled out."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from agent.language.digits import roman
from agent.language.notation import GAP, SPACE, YEAR_NEXT, Figure, Notation, Unit, vulgar

_GAP = re.compile(GAP)
_WORD = re.compile(r"[^\W\d_]{1,60}-[^\W\d_]{1,60}(?![^\W\d_])")
_PLAIN_WORD = re.compile(r"[^\W\d_]{1,60}(?![^\W\d_])")
_SLASHED = re.compile(rf"(?<![\w/.,])(?:(\d{{1,3}})[{SPACE}])?(\d{{1,2}})/(\d{{1,3}})(?![\d/]|[.,]\d)")
_MIXED = re.compile(rf"(?<![\w/.,])(\d{{1,3}})?[{SPACE}]?([½¼¾⅓⅔⅕⅙⅛])(?!\d)")
_CLOCK = re.compile(r"(?<![\w:.,])(\d{1,2})[:.](\d{2})(?![\d:]|[.,]\d)")
_NEGATIVE = re.compile(rf"[{SPACE}]{{1,3}}[-−](?=\d)")
CLOCK = "Uhr"


@dataclass(frozen=True, slots=True)
class _Read:
    """A bare value: where it ends, how it was written, and the unit it holds itself ("sechswöchig", ",--")."""

    value: Decimal | Fraction
    end: int
    spelled: bool = False
    article: bool = False
    fraction: bool = False
    unit: Unit | None = None


def after_gap(text: str, pos: int) -> int:
    """Where the next word begins."""
    found = _GAP.match(text, pos)
    return found.end() if found else pos


def measure(text: str, pos: int, notation: Notation) -> Figure | None:
    """The number that starts at `pos` (or the currency before it), with unit and period; no range, no bound, no sign before it."""
    currency = notation.currencies.match(text, pos)
    start = pos if currency is None else after_gap(text, currency[1])
    negative = _NEGATIVE.match(text, currency[1]) if currency else None
    if negative:
        start = negative.end()
    read = _value(text, start, notation)
    if read is None or (currency and (read.spelled or read.fraction)):
        return None
    if negative:
        read = replace(read, value=-read.value)
    unit, end = _unit(text, read, notation)
    if currency:
        unit = currency[0] if unit is None or unit.kind != "amount" else unit
    if read.article and unit is None:
        return None
    if not read.spelled and end == read.end and text[end : end + 1].isalpha() and text[end] not in "xX":
        return None
    return _figure(text, pos, replace(read, unit=unit, end=end), notation)


def _figure(text: str, pos: int, read: _Read, notation: Notation) -> Figure:
    name, kind, period, end = None, "fraction" if read.fraction else "number", None, read.end
    if read.unit is not None:
        kind, period = read.unit.kind, read.unit.period
        name, per, end = _per(text, read.unit.name, end, notation)
        period = per or period
    if period is None and read.unit is not None:
        period, end = _period(text, end, notation)
    value = read.value if kind == "fraction" else _plain(read.value)
    weak = read.spelled and read.unit is None and not read.fraction and value == int(value)
    if read.article:
        weak = (read.unit is not None and read.unit.thing) or notation.articles_not_after.before(text, 0, pos) is not None
    return Figure(kind, value, name, period, weak=weak, text=text[pos:end], span=(pos, end))


def _plain(value: Decimal | Fraction) -> Decimal | Fraction:
    """A Fraction as Decimal where that is exact."""
    if isinstance(value, Decimal):
        return value
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return Decimal(value.numerator) / Decimal(value.denominator) if rest == 1 else value


def _value(text: str, pos: int, notation: Notation) -> _Read | None:
    if text[pos : pos + 1].isalpha():
        return _spelled(text, pos, notation)
    return _mixed(text, pos) or _slashed(text, pos) or _clock(text, pos, notation) or _digits(text, pos, notation)


def _mixed(text: str, pos: int) -> _Read | None:
    found = _MIXED.match(text, pos)
    part = vulgar(found[2]) if found else None
    if found is None or part is None:
        return None
    return _Read(int(found[1] or 0) + part, found.end(), fraction=True)


def _slashed(text: str, pos: int) -> _Read | None:
    found = _SLASHED.match(text, pos)
    if found is None or not 0 < int(found[2]) <= int(found[3]) <= 365 or (found[1] and int(found[2]) == int(found[3])):
        return None
    return _Read(int(found[1] or 0) + Fraction(int(found[2]), int(found[3])), found.end(), fraction=True)


def _clock(text: str, pos: int, notation: Notation) -> _Read | None:
    found = _CLOCK.match(text, pos)
    if found is None:
        return None
    unit = notation.units.match(text, after_gap(text, found.end()))
    return _Read(Decimal(f"{found[1]}.{found[2]}"), found.end()) if unit and unit[0].name == CLOCK else None


def _digits(text: str, pos: int, notation: Notation) -> _Read | None:
    found = notation.number.match(text, pos)
    if found is None:
        return None
    whole, places = _parts(found)
    value = Decimal("".join(letter for letter in whole if letter.isdigit()) + ("." + places if places else ""))
    end = found.end()
    at = after_gap(text, end)
    part = notation.fractions.match(text, at) if not places and value <= 99 else None
    if part:
        return _Read(Fraction(int(value), part[0]), part[1], fraction=True)
    scale = notation.scales.match(text, at)
    if scale:
        return _Read(value * scale[0], scale[1])
    unit = Unit(notation.currency, "amount") if found["round"] else None
    return _Read(value, end, unit=unit)


def _parts(found: re.Match[str]) -> tuple[str, str]:
    """Digits before and after the decimal mark."""
    for name, separated in (("foreign", True), ("zero", True), ("grouped", False), ("plain", False)):
        written = found[name]
        if written is None:
            continue
        if separated:
            cut = max(written.rfind("."), written.rfind(","))
            return written[:cut], written[cut + 1 :]
        tail = found["tail"] if name == "grouped" else found["places"] or found["odd"]
        return written, tail[1:] if tail else ""
    raise AssertionError("the pattern has no other branch")


def _spelled(text: str, pos: int, notation: Notation) -> _Read | None:
    for pattern in (_WORD, _PLAIN_WORD):
        found = pattern.match(text, pos)
        if found is None:
            continue
        read = _word(found.group(), found.end(), notation)
        if read is not None:
            return _continued(text, read, notation)
        numeral = roman(found.group())
        if numeral is not None and notation.units.match(text, after_gap(text, found.end())):
            return _Read(Decimal(numeral), found.end(), spelled=True)
    return None


def _word(word: str, end: int, notation: Notation) -> _Read | None:
    key = word.casefold()
    if key in notation.glued:
        value, unit = notation.glued[key]
        return _Read(value, end, spelled=True, unit=unit)
    if key in notation.fraction_words:
        return _Read(notation.fraction_words[key], end, spelled=True, fraction=True)
    if key in notation.multiples:
        return _Read(notation.multiples[key], end, spelled=True, unit=Unit("fach"))
    number = notation.number_word(key)
    number = notation.number_word(key.replace("-", "")) if number is None and "-" in key else number
    return None if number is None else _Read(number, end, spelled=True, article=key in notation.articles)


def _continued(text: str, read: _Read, notation: Notation) -> _Read:
    """`ein Zwölftel`, `ein halbes`: the number word as numerator, or as article of the half."""
    at = after_gap(text, read.end)
    if read.unit is not None or read.fraction or text[read.end : read.end + 1] == "-":
        return read
    part = notation.fractions.match(text, at)
    if part and read.value == int(read.value):
        return _Read(Fraction(int(read.value), part[0]), part[1], spelled=True, fraction=True)
    word = _PLAIN_WORD.match(text, at)
    half = notation.fraction_words.get(word.group().casefold()) if word and read.article else None
    return _Read(half, word.end(), spelled=True, fraction=True) if word and half is not None else read


def _unit(text: str, read: _Read, notation: Notation) -> tuple[Unit | None, int]:
    """The unit after a value, and where it ends; one filling word (`volle`) may stand between."""
    end = read.end
    for at in (after_gap(text, end), end + 1) if text[end : end + 1] == "-" else (after_gap(text, end),):
        filler = notation.fillers.match(text, at)
        found = notation.units.match(text, at) or (notation.units.match(text, after_gap(text, filler[1])) if filler else None)
        if found:
            return found
    return read.unit, end


def _per(text: str, name: str, end: int, notation: Notation) -> tuple[str, str | None, int]:
    """`EUR/km` is a unit of its own, `EUR/Monat` a unit with a period."""
    per = notation.per.match(text, after_gap(text, end))
    if per is None:
        return name, None, end
    at = after_gap(text, per[1])
    period = notation.per_periods.match(text, at)
    if period:
        return name, period[0], period[1]
    thing = notation.per_units.match(text, at)
    return (f"{name}/{thing[0]}", None, thing[1]) if thing else (name, None, end)


def _period(text: str, end: int, notation: Notation) -> tuple[str | None, int]:
    """`monatlich` after a unit; but `im Jahr 2026` and `im Monat Jänner` say when, not how often."""
    at = after_gap(text, end)
    filler = notation.fillers.match(text, at)
    for begin in (end, at, after_gap(text, filler[1]) if filler else at):
        found = notation.periods.match(text, begin)
        if found and not YEAR_NEXT.match(text, found[1]) and not notation.months.match(text, after_gap(text, found[1])):
            return found
    return None, end
