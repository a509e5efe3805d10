"""Reads which days a text or a question speaks of, and whether a statement holds in a period; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, lru_cache

from agent.language.analyser import Language, folded, spaced
from agent.values import Period

FIRST, LAST = date(1, 1, 1), date(9999, 12, 31)


@dataclass(frozen=True, slots=True)
class Mention:
    """A date, month or year in a text, with the span it opens: `since` reaches on, `until` reaches back."""

    period: Period
    open: str
    """"" | "since" | "until" | "range" (both ends told)."""
    span: tuple[int, int]

    @property
    def reach(self) -> Period:
        """The days the mention speaks of, its preposition heeded."""
        if self.open == "since":
            return Period(self.period.start, LAST)
        if self.open == "until":
            return Period(FIRST, self.period.end)
        return self.period


@lru_cache(maxsize=8192)
def mentions(text: str, language: Language) -> tuple[Mention, ...]:
    """The dates, months and years of a text in reading order; "A bis B" is one mention."""
    found = [mention for match in _pattern(language).finditer(text) if (mention := _mention(text, match, language))]
    joined: list[Mention] = []
    for mention in found:
        before = joined[-1] if joined else None
        if before and _ranges(text[before.span[1] : mention.span[0]], language) and before.period.start <= mention.period.end:
            joined[-1] = Mention(Period(before.period.start, mention.period.end), "range", (before.span[0], mention.span[1]))
        else:
            joined.append(mention)
    return tuple(joined)


def asked_periods(text: str, stichtag: date, language: Language) -> list[Period]:
    """The days, months and years a question names, in order, each once; words such as "this year" count from the Stichtag."""
    found = [mention.reach if mention.open == "range" else mention.period for mention in mentions(text, language)]
    words_said = spaced(text)
    for words, offset in language.table["relative_years"].items():
        if f" {words} " in words_said:
            year = min(max(stichtag.year + offset, FIRST.year), LAST.year)
            found.append(Period.day(stichtag) if offset == 0 else Period.year(year))
    return list(dict.fromkeys(found))


@cache
def _pattern(language: Language) -> re.Pattern[str]:
    months = "|".join(re.escape(month) for month in language.table["months"])
    counted = "|".join(rf"{re.escape(word)}(?!\w)" for word in _counted(language))
    return re.compile(
        rf"""(?<![\w/.,])(?:
          (?P<iso>\d{{4}}-\d{{2}}-\d{{2}})
        | (?P<day>\d{{1,2}})(?:\.\s?(?P<month>\d{{1,2}})\.\s?|(?:\.\s?|\s)(?P<name>{months})\s+)(?P<year>(?:19|20)\d\d)
        | (?P<of>{months})\s+(?P<of_year>(?:19|20)\d\d)
        | (?P<alone>(?:19|20)\d\d)(?:/(?P<to>\d\d)(?!\d))?
        )(?!\w|[.,:]\d|\s*(?:{counted}))""",
        re.VERBOSE | re.IGNORECASE,
    )


def _counted(language: Language) -> list[str]:
    """Words behind which a number of four digits is no year: money, shares, kilometres."""
    units = (word for unit in language.figures.get("units", ()) if unit.get("kind") in ("amount", "percent") for word in unit["words"])
    return list(dict.fromkeys(("%", "€", "EUR", "km", *units)))


def _mention(text: str, match: re.Match[str], language: Language) -> Mention | None:
    try:
        period = _period(match, language)
    except ValueError:
        return None
    opened = _openers(language).search(folded(text[max(0, match.start() - 24) : match.start()]))
    return Mention(period, (opened.lastgroup or "") if opened else "", match.span())


@cache
def _openers(language: Language) -> re.Pattern[str]:
    """What stands before a date that reaches on or back, at the end of a text; the group says which."""
    since, until = ("|".join(re.escape(folded(word)) for word in language.table[f"{name}_words"]) for name in ("since", "until"))
    return re.compile(rf"(?<!\w)(?:(?P<since>{since})|(?P<until>{until}))\s*$")


def _period(match: re.Match[str], language: Language) -> Period:
    part = match.groupdict()
    if part["iso"]:
        return Period.day(date.fromisoformat(part["iso"]))
    if part["alone"]:
        year = int(part["alone"])
        last = year // 100 * 100 + int(part["to"]) if part["to"] else year
        return Period(date(year, 1, 1), date(max(year, last), 12, 31))
    if part["of"]:
        first = date(int(part["of_year"]), _month(part["of"], language), 1)
        return Period(first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1))
    month = int(part["month"]) if part["month"] else _month(part["name"], language)
    return Period.day(date(int(part["year"]), month, int(part["day"])))


def _month(name: str, language: Language) -> int:
    numbers: dict[str, int] = language.table["month_numbers"]
    return numbers[folded(name)]


def _ranges(between: str, language: Language) -> bool:
    return folded(between.strip()) in language.table["range_words"]


def fits(text: str, period: Period, language: Language) -> float:
    """How well the days a statement speaks of fit `period`: 1 all of them or none told, 0 none of them, between where some do."""
    found = mentions(text, language)
    if not found:
        return 1.0
    fitting = sum(mention.reach.overlaps(period.start, period.end) for mention in found)
    return fitting / len(found) if fitting < len(found) else 1.0
