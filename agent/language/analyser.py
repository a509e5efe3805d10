"""Turns text into the terms that index and query share, and into sentences; everything a language needs comes from its table.

A term is a folded, stemmed word, a canonical figure (`551_1` for 551,10), a date (`d2026_01_01`) or a norm (`§67_1`). Terms hold letters,
digits, `§` and `_` only, so that they pass through FTS5 untouched. Stop words never become terms: an index of 15,000 chunks answers
some twenty times faster without them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from agent.values import Period

if TYPE_CHECKING:
    from agent.language.notation import Notation

ANALYSER_VERSION = 3
"""Counts up when the same text would give other terms: an index of another version is rebuilt. What only one language's table changes
counts up its `edition`."""

ENDINGS = 3
"""How many endings may stand one behind the other ("arbet-en-a")."""

_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"), None)
_SPACES = dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u202f"), " ")

_TEXT = r"""
    (?P<norm>§§?\s*\d+[a-z]{0,2}\b)
  | (?P<date>\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}\.\s?\d{1,2}\.\s?\d{4}\b)
  | (?P<number>\d+(?:[.\u2019' ]\d{3})+(?:,\d+)?(?![\d])|\d+(?:[.,]\d+)?)
  | (?P<word>[^\W\d_][^\W_]*)
    """
_NEXT = re.compile(r"\s*(?:,|-|–|/|[^\W\d_]{2,3})\s*(\d+[a-z]{0,2})\b(?![.,]\d|\s*[%€])")
"""The next number of an enumeration after §§."""


_TIME = re.compile(r"d\d{4}_\d\d_\d\d|(19|20)\d\d")


def normalised(text: str) -> str:
    """NFC, without soft hyphens and zero-width characters, every kind of space a plain one; the same number of visible characters."""
    return unicodedata.normalize("NFC", text).translate(_INVISIBLE).translate(_SPACES)


_MOST_KNOWN = 200_000
"""Words whose terms are remembered: more than a knowledge base has, and a bound for a process that reads texts for months."""


@dataclass(frozen=True, eq=False)
class Language:
    """One language's analyser over its table (see tables/language.*.json for what a table holds)."""

    table: Mapping[str, Any]
    figures: Mapping[str, Any] = field(default_factory=dict)
    """How the language writes figures (tables/figures.*.json)."""

    @cached_property
    def notation(self) -> Notation:
        """The figures' notation, compiled when it is first needed."""
        from agent.language.notation import Notation

        return Notation.of(self.figures)

    @property
    def code(self) -> str:
        return str(self.table["code"])

    @property
    def version(self) -> str:
        """What is stamped into an index: two indexes of the same version agree term by term."""
        edition = self.table["edition"]
        return f"{self.code}-{ANALYSER_VERSION}" + (f".{edition}" if edition else "")

    @cached_property
    def _stem(self) -> Any:
        import Stemmer

        return Stemmer.Stemmer(self.table["stemmer"]).stemWord

    @cached_property
    def _stop(self) -> frozenset[str]:
        return frozenset(folded(word) for word in self.table["stop_words"])

    @cached_property
    def _endings(self) -> tuple[tuple[str, str, int], ...]:
        """What the stemmer leaves of a word's inflection: an ending of stems, what stands for it, the letters that must precede it."""
        return tuple((ending, instead, least) for ending, instead, least in self.table["endings"])

    @cached_property
    def _light(self) -> frozenset[str]:
        return frozenset(self.term(word) for word in self.table["light_words"]) - {""}

    @cached_property
    def _levels(self) -> re.Pattern[str]:
        return re.compile(self.table["norm_levels"], re.VERBOSE | re.IGNORECASE)

    @cached_property
    def _act(self) -> re.Pattern[str]:
        return re.compile(self.table["norm_act"])

    @cached_property
    def _act_before(self) -> re.Pattern[str]:
        return re.compile(self.table["norm_act"] + r"\s*\Z")

    @cached_property
    def _references(self) -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
        return tuple((re.compile(pattern, re.IGNORECASE), tuple(terms)) for pattern, terms in self.table["norm_references"])

    @cached_property
    def _token(self) -> re.Pattern[str]:
        """One pattern for all: the language's other references (margin numbers, gazettes, articles), then norms, dates, numbers, words."""
        named = "".join(f"(?P<reference{i}>(?i:{pattern.pattern}))|" for i, (pattern, _) in enumerate(self._references))
        return re.compile(named + f"(?x:{_TEXT})")

    @cached_property
    def _known(self) -> dict[str, str]:
        return {}

    # --- terms ------------------------------------------------------------------------------------

    def terms(self, text: str) -> list[str]:
        """The terms of `text` in reading order, with repetitions, stop words left out."""
        return list(_terms(self, text))

    def query_terms(self, text: str) -> list[str]:
        """The distinct terms of `text`, in order of first use."""
        return list(dict.fromkeys(self.terms(text)))

    def tokens(self, text: str) -> Iterator[tuple[str, str]]:
        """Each term with the word as written; a norm gives one term for each of its levels, coarse to fine."""
        text = normalised(text)
        end = 0
        for match in self._token.finditer(text):
            if match.start() < end:
                continue
            written = match.group()
            if match.lastgroup == "word":
                term = self.term(written)
                if term:
                    yield term, written
            elif match.lastgroup == "number":
                yield _number(written), written
            elif match.lastgroup == "date":
                yield _date(written), written
            elif match.lastgroup == "norm":
                end = yield from self._norm(text, match)
            else:
                yield from self._reference(written)

    def term(self, word: str) -> str:
        """The term of one word; empty for a stop word."""
        known = self._known.get(word)
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[word] = self._term(folded(word))
        return known

    def tells_time(self, term: str) -> bool:
        """Whether a term is a date, a year, a month or a word such as "this year": what a search filters by rather than looks for."""
        return bool(_TIME.fullmatch(term)) or term in self._month_terms

    @cached_property
    def _month_terms(self) -> frozenset[str]:
        return frozenset(self.term(word) for word in (*self.table["months"], *self.table["time_words"]))

    def _term(self, word: str) -> str:
        if word in self._stop:
            return ""
        return self._ended(str(self._stem(word)))

    def _ended(self, stem: str) -> str:
        """The stem with what the language's endings make of it; one that stands for itself ends the matter."""
        for _ in range(ENDINGS):
            found = next(((e, instead) for e, instead, least in self._endings if stem.endswith(e) and len(stem) - len(e) >= least), None)
            if found is None or found[0] == found[1]:
                break
            stem = stem.removesuffix(found[0]) + found[1]
        return stem

    def _norm(self, text: str, match: re.Match[str]) -> Generator[tuple[str, str], None, int]:
        """Yields the terms of a norm and returns where it ends."""
        levels = self._levels.match(text, match.end())
        end = levels.end() if levels else match.end()
        written = text[match.start() : end]
        term = "§" + match.group().lstrip("§ ").lower()
        act = self._act.match(text, end) or self._act_before.search(" " + text[max(0, match.start() - 40) : match.start()])
        yield term, written
        if act:
            yield f"{term}{folded(act.group(1))}", written
        for level in levels.groups() if levels else ():
            if level:
                term = f"{term}_{level.lower()}"
                yield term, written
        while match.group().startswith("§§") and (following := _NEXT.match(text, end)):
            end = following.end()
            yield f"§{following.group(1).lower()}", following.group(1)
        return end

    def _reference(self, written: str) -> Iterator[tuple[str, str]]:
        """The terms of a reference that is no §: one for each of the table's forms whose parts were written."""
        for pattern, forms in self._references:
            match = pattern.fullmatch(written)
            if match:
                parts = match.groups()
                whole = [form for form in forms if all(parts[int(part) - 1] for part in re.findall(r"\\(\d)", form))]
                yield from ((folded(match.expand(form)).replace(" ", ""), written) for form in whole)
                return

    def small_word_weight(self, text: str) -> float:
        """What a word written small counts beside a noun: less where the language capitalises nouns and the writer did so."""
        capitals = any(word[0].isupper() for _, word in list(self.tokens(text))[1:])
        return float(self.table["small_word_weight"]) if capitals else 1.0

    def says_little(self, term: str) -> bool:
        """Whether a term is a word that says little by itself ("old", "to lie"), common as it may not be in the texts at hand."""
        return term in self._light

    def word_weights(self, text: str) -> dict[str, float]:
        """Each term of a text with what it counts by its kind of word: less where it is written small or says little by itself."""
        small = self.small_word_weight(text)
        light = float(self.table["light_word_weight"])
        return {
            term: light if self.says_little(term) else 1.0 if word[0].isupper() or not word[0].isalpha() else small
            for term, word in self.tokens(text)
        }

    # --- sentences --------------------------------------------------------------------------------

    @cached_property
    def _abbreviations(self) -> frozenset[str]:
        return frozenset(word.casefold() for word in self.table["abbreviations"])

    def sentences(self, text: str) -> list[tuple[int, int]]:
        """The spans of the sentences of running text; abbreviations, ordinals and dates end none. Line breaks count as blanks."""
        spans: list[tuple[int, int]] = []
        start = 0
        for match in re.finditer(r"[.!?…]+[\"“”»)\]’]*(?=\s)", text):
            if self._goes_on(text, match):
                continue
            spans.append((start, match.end()))
            start = match.end()
        spans.append((start, len(text)))
        return [span for span in (_trimmed(text, a, b) for a, b in spans) if span[0] < span[1]]

    def _goes_on(self, text: str, stop: re.Match[str]) -> bool:
        """Whether the stop at `stop` belongs to an abbreviation, an ordinal or a date, so that the sentence goes on."""
        if not stop.group().startswith(".") or len(stop.group()) > 1:
            return False
        word = re.search(r"\S+$", text[max(0, stop.start() - 30) : stop.start()])
        last = word.group().lstrip('(„"[»') if word else ""
        following = text[stop.end() :].lstrip()[:1]
        if last.casefold() in self._abbreviations or (
            re.fullmatch(r"(\w\.)*\w", last) and not last.isdigit() and len(last) < 6 and "." in last
        ):
            return True
        if re.fullmatch(r"[^\W\d_]", last):
            return True
        return bool(re.fullmatch(r"(\d{1,2}\.)*\d{1,3}", last)) and (
            following.islower() or following.isdigit() or self._ordinal(text, stop)
        )

    def _ordinal(self, text: str, stop: re.Match[str]) -> bool:
        following = re.match(r"\s*(\w+)", text[stop.end() :])
        return bool(following) and folded(following.group(1) if following else "") in self._after_ordinal

    @cached_property
    def _after_ordinal(self) -> frozenset[str]:
        return frozenset(folded(word) for word in (*self.table["months"], *self.table["after_ordinal"]))

    def leans_back(self, sentence: str) -> bool:
        """Whether a sentence begins with a word that points at the one before ("Dadurch", "Dieser"), so that it cannot stand without."""
        first = re.match(r"\W*(\w+)", sentence)
        return bool(first) and folded(first.group(1) if first else "") in self._backward

    @cached_property
    def _backward(self) -> frozenset[str]:
        return frozenset(folded(word) for word in self.table["leaning_words"])

    # --- sections and messages --------------------------------------------------------------------

    def section_rank(self, name: str) -> int:
        """Where a section stands in the order of preference among chunks that score alike; smaller goes first."""
        order: list[str] = self.table["sections"]
        return order.index(name) if name in order else len(order) - 1

    def only_if_alone(self, name: str) -> bool:
        """Whether a section (such as one of references) is evidence only where its entry has nothing better."""
        return name in self.table["sections_last"]

    def day(self, day: date) -> str:
        """A date as this language writes it."""
        return self.message("date", day=day.day, month=day.month, year=day.year)

    def period(self, period: Period) -> str:
        """A period as this language writes it: a day, a year, or from one day to another."""
        if period.start == period.end:
            return self.message("on_day", day=self.day(period.start))
        if period == Period.year(period.start.year):
            return self.message("in_year", year=period.start.year)
        return self.message("span", start=self.day(period.start), end=self.day(period.end))

    def validity(self, valid_from: date | None, valid_to: date | None) -> str:
        """A span of validity in words; empty where it is open on both sides."""
        if valid_from and valid_to:
            return self.message("valid_span", start=self.day(valid_from), end=self.day(valid_to))
        if valid_from:
            return self.message("valid_since", day=self.day(valid_from))
        return self.message("valid_to", day=self.day(valid_to)) if valid_to else ""

    def message(self, name: str, **values: object) -> str:
        """A sentence users read, from the table's `messages`."""
        return str(self.table["messages"][name]).format(**values)


@lru_cache(maxsize=16384)
def _terms(language: Language, text: str) -> tuple[str, ...]:
    """The terms of a text; an answer reads the same chunks several times over, and so does the next one."""
    return tuple(term for term, _ in language.tokens(text))


def folded(word: str) -> str:
    """Lower case, ß as ss; umlauts stay, the stemmer unites them with their ae, oe, ue and bare forms."""
    return word.casefold()


def spaced(text: str) -> str:
    """The words of a text in lower case between single blanks, so that a phrase is found at word boundaries only."""
    return " ".join(["", *re.findall(r"[\w-]+", folded(text)), ""])


def _number(written: str) -> str:
    plain = re.sub(r"[.\u2019' ](?=\d{3}(?:\D|$))", "", written) if re.search(r"[.\u2019' ]\d{3}(?:\D|$)", written) else written
    whole, _, rest = plain.replace(",", ".").partition(".")
    rest = rest.rstrip("0")
    return f"{whole}_{rest}" if rest else whole


def _date(written: str) -> str:
    if "-" in written:
        year, month, day = written.split("-")
    else:
        day, month, year = (part.strip() for part in written.split("."))
    return f"d{year}_{int(month):02}_{int(day):02}"


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
