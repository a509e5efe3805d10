"""How a language writes figures, dates and norms: `Notation`, compiled once from a table, and `Figure`, what is read with it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, Generic, TypeVar

T = TypeVar("T")
SPACE = " \\t\u00a0\u2007\u2009\u202f"
GAP = rf"[{SPACE}*]{{0,6}}(?:\n[{SPACE}*>]{{0,6}})?"
"""What may lie between a number and its words: spaces, one line break, Markdown's emphasis. Bounded, so that scanning stays linear."""
_LOOK_BACK = 48
YEAR_NEXT = re.compile(rf"{GAP}(?:19|20)\d\d(?!\d)")
_WORD_BEGINS = re.compile(r"(?<!\w)[^\W\d_]")
_VULGAR = {"½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3", "⅕": "1/5", "⅙": "1/6", "⅛": "1/8"}

Value = Decimal | Fraction | date | int | str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure, date or norm of a text; `text[span[0]:span[1]]` is `text`.

    kind      value                                                    unit
    amount    Decimal                                                  currency, or currency per thing ("EUR/km")
    percent   Decimal                                                  "%" or "‰"
    quantity  Decimal (Fraction where no decimal is exact)             canonical unit ("Werktag", "h", "fach")
    number    Decimal; the digits as written where they make no number ("07.285", "23a")   None
    name      "L16": letters and digits                                None
    fraction  Fraction ("ein Zwölftel", "1/12")                        None
    ordinal   int ("15. des Folgemonats")                              canonical noun where it is one of the units
    date      date; "2026-01" (month), "--07-01" (no year), or "2026-13-39" for a day that does not exist   None
    year      int                                                      None
    norm      (law or "", "§ 67", "Abs 1", "Z 2", …)                   None
    """

    kind: str
    value: Value
    unit: str | None = None
    period: str | None = None
    """"hour", "day", "workday", "week", "month", "quarter" or "year"."""
    bound: str | None = None
    """"max" (bis, höchstens), "min" (ab, mindestens), "over" (mehr als), "under" (unter)."""
    year: int | None = None
    """The year that stands directly beside the figure ("551,10 EUR (2026)")."""
    end: Figure | None = None
    """The other end of a range; this figure is then its beginning."""
    weak: bool = False
    """May be a mere word ("zwei Fälle", "in einem Jahr"): good as a source, never held against a claim."""
    text: str = ""
    span: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Words(Generic[T]):
    """A vocabulary of words and phrases, each with its meaning, recognised at a place or right before one."""

    here: re.Pattern[str]
    before_here: re.Pattern[str]
    meaning: Mapping[str, T]

    @classmethod
    def of(cls, meaning: Mapping[str, T], folds: Mapping[str, str], *, exact: bool = False) -> Words[T]:
        """Compiled from phrase -> meaning; letter case counts only if `exact`."""
        known = {variant: value for phrase, value in meaning.items() for variant in _variants(phrase, folds)}
        keyed = {variant if exact else _key(variant): value for variant, value in known.items()}
        flags = re.NOFLAG if exact else re.IGNORECASE
        alternatives = _alternatives(known)
        return cls(re.compile(alternatives, flags), re.compile(rf"(?<![\w])(?:{alternatives}){GAP}\Z", flags), keyed)

    def match(self, text: str, pos: int) -> tuple[T, int] | None:
        """What the phrase at `pos` means, and where it ends."""
        found = self.here.match(text, pos)
        meaning = self._meaning(found.group()) if found else None
        return (meaning, found.end()) if found and meaning is not None else None

    def before(self, text: str, floor: int, pos: int) -> tuple[T, int] | None:
        """What the phrase that ends at `pos` (gap included) means, and where it starts; never reaches back past `floor`."""
        found = self.before_here.search(text, max(floor, pos - _LOOK_BACK), pos)
        meaning = self._meaning(found.group().strip(" \t\n\u00a0\u2007\u2009\u202f*>")) if found else None
        return (meaning, found.start()) if found and meaning is not None else None

    def _meaning(self, phrase: str) -> T | None:
        phrase = " ".join(phrase.split())
        return self.meaning.get(phrase, self.meaning.get(_key(phrase)))


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit in its canonical name, the kind of figure it makes, and the period it holds itself ("Wochenstunden")."""

    name: str
    kind: str = "quantity"
    period: str | None = None
    thing: bool = False
    """What "ein" mostly only introduces ("ein Dienstnehmer"): one of it is weak."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Notation:
    """All that is known of a language's way to write figures. Made by `of` from a table such as `figures.de`."""

    decimal: str
    group: str
    number: re.Pattern[str]
    currency: str
    unit_words: Mapping[str, str]
    date_format: str
    date_pattern: re.Pattern[str] | None
    day_month: re.Pattern[str]
    day_dot: bool
    months: Words[int]
    month_names: tuple[str, ...]
    numbers: Mapping[str, Decimal]
    number_parts: tuple[tuple[str, Decimal], ...]
    """What longer number words are built around, the largest first ("tausend", "hundert")."""
    number_link: str
    """What may stand between their parts ("und")."""
    articles: frozenset[str]
    articles_not_after: Words[str]
    fractions: Words[int]
    fraction_words: Mapping[str, Fraction]
    multiples: Mapping[str, Decimal]
    glued: Mapping[str, tuple[Decimal, Unit]]
    scales: Words[Decimal]
    ordinals: Mapping[str, int]
    ordinal_mark: re.Pattern[str]
    ordinal_sure: bool
    ordinal_nouns: Words[str]
    ordinal_before: Words[str]
    units: Words[Unit]
    currencies: Words[Unit]
    fillers: Words[str]
    periods: Words[str]
    per: Words[str]
    per_periods: Words[str]
    per_units: Words[str]
    bounds: Words[str]
    bounds_after: Words[str]
    date_bounds: Words[str]
    ranges: Words[str]
    between: tuple[Words[str], Words[str]]
    labels: Words[str]
    phrases: Words[str]
    phone_words: Words[str]
    year_links: Words[str]
    openers: Words[str]
    parts: Words[str]
    part_order: tuple[str, ...]
    alone: frozenset[str]
    laws: Words[str]
    law_shape: re.Pattern[str]
    joins: Words[str]
    follow: Words[str]
    references: tuple[re.Pattern[str], ...]
    times: Words[str]
    equals: Words[str]
    triggers: frozenset[str]

    def named_periods(self, text: str) -> frozenset[str]:
        """The periods a text names with a word of its own, wherever it stands: "täglich", "im Monat"."""
        found = (self.periods.match(text, match.start()) for match in _WORD_BEGINS.finditer(text))
        return frozenset(meaning for meaning, end in filter(None, found) if not YEAR_NEXT.match(text, end))

    def number_word(self, word: str) -> Decimal | None:
        """The value of a number word, one of the table's or built of them ("sechstausendneunhundertfünfzig")."""
        key = word.casefold()
        if key in self.numbers:
            return self.numbers[key]
        for part, size in self.number_parts:
            if part in key:
                above, _, below = key.partition(part)
                times = self.number_word(above) if above else Decimal(1)
                rest = self.number_word(below.removeprefix(self.number_link)) if below else Decimal(0)
                return times * size + rest if times is not None and rest is not None and rest < size else None
        return None

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Notation:
        """The notation a table describes. The tables ship with the package: a missing key is a bug (KeyError)."""
        folds: Mapping[str, str] = table["folds"]
        units = _units(table)
        numbers = _folded({word: Decimal(value) for word, value in table["numbers"].items()}, folds)
        suffixes = {word: Unit(name) for name, words in table["suffix_units"].items() for word in words}

        def words(name: str) -> Words[str]:
            return _words(table[name], folds)

        months = {name: number for number, names in enumerate(table["months"], 1) for name in names}
        values: dict[str, Any] = {
            "decimal": table["decimal"], "group": table["thousands"][0], "number": _number(table), "currency": table["currency"],
            "unit_words": {entry["unit"]: entry["words"][0] for entry in table["units"]}, "date_format": table["date_format"],
            "date_pattern": re.compile(table["date_pattern"]) if table["date_pattern"] else None, "day_dot": table["day_dot"],
            "day_month": re.compile(rf"(\d{{1,2}}){table['day_mark']}[{SPACE}]{{0,2}}"),
            "months": Words.of(months, folds), "month_names": tuple(names[0] for names in table["months"]),
            "numbers": numbers, "number_link": table["number_link"],
            "articles": frozenset(table["articles"]), "articles_not_after": words("articles_not_after"),
            "fractions": Words.of(table["fractions"], folds), "scales": Words.of(_decimals(table["scales"]), folds),
            "fraction_words": _folded({word: Fraction(value) for word, value in table["fraction_words"].items()}, folds),
            "multiples": _folded(_decimals(table["multiples"]), folds), "glued": _glued(numbers, suffixes, folds),
            "ordinals": _folded(table["ordinals"], folds), "ordinal_mark": re.compile(rf"(\d{{1,3}}){table['ordinal_mark']}"),
            "ordinal_sure": table["ordinal_sure"], "units": Words.of({**units, **suffixes}, folds),
            "currencies": Words.of({word: unit for word, unit in units.items() if unit.kind == "amount"}, folds),
            "between": (_words(table["between"][0], folds), _words(table["between"][1], folds)),
            "openers": words("openers"), "parts": _words(table["parts"], folds, exact=True), "part_order": tuple(table["parts"]),
            "alone": frozenset(table["alone"]), "laws": _words(table["laws"], folds, exact=True),
            "law_shape": re.compile(table["law_shape"]), "references": tuple(re.compile(item) for item in table["references"]),
        }  # fmt: skip
        values["number_parts"] = tuple((part, Decimal(size)) for part, size in table["number_parts"].items())
        for name in _PLAIN:
            values[name] = words(name)
        return cls(**values, triggers=_triggers(table, values))


_PLAIN = ("ordinal_nouns", "ordinal_before", "fillers", "periods", "per", "per_periods", "per_units", "bounds", "bounds_after",
          "date_bounds", "ranges", "labels", "phrases", "phone_words", "year_links", "joins", "follow", "times", "equals")  # fmt: skip


def _words(entry: Any, folds: Mapping[str, str], *, exact: bool = False) -> Words[str]:
    """From a list of phrases (each means itself) or from meaning -> phrases."""
    meanings = {phrase: phrase for phrase in entry} if isinstance(entry, list) else _inverse(entry)
    return Words.of(meanings, folds, exact=exact)


def _inverse(meanings: Mapping[str, Iterable[str]]) -> dict[str, str]:
    return {phrase: meaning for meaning, phrases in meanings.items() for phrase in phrases}


def _decimals(values: Mapping[str, str]) -> dict[str, Decimal]:
    return {word: Decimal(value) for word, value in values.items()}


def _units(table: Mapping[str, Any]) -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for entry in table["units"]:
        unit = Unit(entry["unit"], entry.get("kind", "quantity"), entry.get("period"), entry.get("thing", False))
        units |= dict.fromkeys(entry["words"], unit)
    return units


def _glued(numbers: Mapping[str, Decimal], suffixes: Mapping[str, Unit], folds: Mapping[str, str]) -> dict[str, tuple[Decimal, Unit]]:
    small = {word: value for word, value in numbers.items() if value <= 24}
    ends = [(end, unit) for suffix, unit in suffixes.items() for end in _variants(suffix, folds)]
    return {_key(word + end): (value, unit) for word, value in small.items() for end, unit in ends}


def _folded(meaning: Mapping[str, T], folds: Mapping[str, str]) -> dict[str, T]:
    return {_key(variant): value for word, value in meaning.items() for variant in _variants(word, folds)}


def _triggers(table: Mapping[str, Any], values: Mapping[str, Any]) -> frozenset[str]:
    """First words at which something may begin, so that all other words are passed over by one look into a set."""
    single = [*values["numbers"], *values["fraction_words"], *values["multiples"], *values["glued"], *values["ordinals"]]
    vocabularies = [values[name] for name in ("months", "currencies", "openers", "parts", "laws", "phrases", "phone_words")]
    phrases = [phrase for vocabulary in vocabularies for phrase in vocabulary.meaning]
    found = [re.match(r"[^\W\d_]+", _key(phrase)) for phrase in [*single, *phrases, *table["reference_words"], "http", "https", "www"]]
    return frozenset(match.group() for match in found if match)


def _key(word: str) -> str:
    return unicodedata.normalize("NFC", word).casefold()


def _variants(phrase: str, folds: Mapping[str, str]) -> set[str]:
    folded = "".join(folds.get(letter, letter) for letter in phrase)
    return {phrase, folded}


def _alternatives(phrases: Iterable[str]) -> str:
    """Longest first; a phrase that ends in a letter or digit is followed by no letter in the text, so `Std.` is tried before `Std`."""
    ordered = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
    marks = [_spaced(phrase) for phrase in ordered if not phrase[-1].isalnum()]
    words = [_spaced(phrase) for phrase in ordered if phrase[-1].isalnum()]
    return "(?:" + "|".join([*marks, *([rf"(?:{'|'.join(words)})(?![^\W\d_])"] if words else [])] or [r"(?!)"]) + ")"


def _spaced(phrase: str) -> str:
    return r"\s{1,3}".join(map(re.escape, phrase.split(" ")))


def _number(table: Mapping[str, Any]) -> re.Pattern[str]:
    """A number in digits. What groups by threes is grouped; the other language's decimal mark is read where it can mean nothing else."""
    mark = re.escape(table["decimal"])
    other = r"\." if table["decimal"] == "," else ","
    grouping = "".join(map(re.escape, table["thousands"]))
    glued = "".join(f"|(?<={re.escape(word)})" for entry in table["units"] if entry.get("kind") == "amount" for word in entry["words"])
    round_ = "|".join(map(re.escape, table["round_amount"])) or r"(?!)"
    return re.compile(
        rf"(?:(?<!\w)|(?<=\d[xX]){glued})(?<!\d[.,])(?<![^\W\d_]-)(?:"
        rf"(?P<foreign>[1-9]\d{{0,2}}(?:{mark}\d{{3}}){{1,6}}{other}\d{{1,2}}(?!\d))"
        rf"|(?P<grouped>[1-9]\d{{0,2}}(?P<mark>[{grouping}])\d{{3}}(?:(?P=mark)\d{{3}}){{0,6}}(?!\d))(?P<tail>{mark}\d{{1,12}}+)?"
        rf"|(?P<zero>0{other}\d{{1,12}}+)"
        rf"|(?P<plain>\d{{1,30}}+)(?:(?P<places>{mark}\d{{1,12}}+)|(?P<odd>{other}(?:\d{{4,12}}|\d{{1,2}})(?!\d)))?"
        rf")(?P<round>(?:{round_})(?![\w]))?(?!\d|[.,]\d)"
    )


def vulgar(character: str) -> Fraction | None:
    """The value of a character such as ½."""
    return Fraction(_VULGAR[character]) if character in _VULGAR else None
