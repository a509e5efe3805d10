"""Finds what a question sets side by side (a comparison, an enumeration, two questions in one) and puts it once for each; pure.

„Unterschied zwischen A und B bei C?“ becomes „Unterschied zwischen A bei C?“ and „Unterschied zwischen B bei C?“: every part keeps the
question's other words, so that each search knows what it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from agent.language.analyser import Language, folded

_INSIDE = r"(?:[^,.;:!?()\n]|[.,](?=\S))"
"""A character inside a phrase; a comma or a full stop ends one only before a blank."""
_STOP = r"(?=[;:!?()\n]|[.,](?:\s|$)|\s*$)"
_WORD = r"[^\s,.;:!?()]+"
SHORT = 4
"""Words of an item of an enumeration; what is longer is a clause of its own."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Patterns:
    """How a language sets things side by side; the groups `a`, `b`, `c` of a match are those things."""

    pairs: tuple[re.Pattern[str], ...]
    against: re.Pattern[str]
    question: re.Pattern[str]
    joint: re.Pattern[str]


@cache
def _patterns(language: Language) -> _Patterns:
    table = language.table
    joint, ask = _any(table["listing_words"]), _any(table["question_words"])
    link = _any(table["boundary_words"])
    item = rf"{_WORD}(?:\s+(?!{joint}\s){_WORD}){{0,{SHORT - 1}}}"
    rest = rf"{_INSIDE}+?)(?:(?=\s+{link}(?!\w))|{_STOP}"
    pairs = (
        rf"(?<!\w){_any(table['between_words'])}\s+(?P<a>{_INSIDE}+?)\s+{joint}\s+(?P<b>{rest})",
        rf"(?:^|(?<=[.!?]\s))(?P<a>{item})\s+{_any(table['or_words'])}\s+(?P<b>{item})(?=\s*[:–?])",
        rf"(?P<a>{_WORD}),\s+(?P<b>{item}),?\s+{joint}\s+(?P<c>{rest})",
        rf"(?<!\w)(?P<link>{link})\s+(?P<a>{item})\s+{joint}\s+(?:{ask}\s+)?(?P=link)\s+(?P<b>{rest})",
    )
    return _Patterns(
        tuple(re.compile(pattern, re.IGNORECASE) for pattern in pairs),
        re.compile(rf"\s+{_any(table['against_words'])}\s+(?P<b>{rest})", re.IGNORECASE),
        re.compile(rf"(?<!\w){ask}(?!\w)", re.IGNORECASE),
        re.compile(rf",?\s+{joint}\s+(?={ask}(?!\w))", re.IGNORECASE),
    )


def _any(words: Iterable[str]) -> str:
    return "(?:" + "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word))) + ")"


def says(text: str, phrases: Iterable[str]) -> bool:
    """Whether one of the phrases stands in the text as whole words, case aside."""
    return bool(re.search(rf"(?<![\w-]){_any(map(folded, phrases))}(?![\w-])", folded(text)))


def parts(text: str, language: Language) -> tuple[str, ...]:
    """The question once for each thing it sets side by side; the question alone where it does so with nothing."""
    for pattern in _patterns(language).pairs:
        for match in pattern.finditer(text):
            if split := _split(text, [match.span(group) for group in "abc" if group in match.re.groupindex], language):
                return split
    return _compared(text, language) or _asked_twice(text, language) or (text,)


def _split(text: str, items: list[Span], language: Language) -> tuple[str, ...]:
    """The text once with each item in the place of all; empty where one of them names nothing to search for.

    A first that is told by the last is completed by it („dem kleinen und dem großen Wert“); the half of a word keeps the whole text.
    """
    said = [text[start:end] for start, end in items]
    if not all(_telling(item, text, language) for item in (said if len(said) > 2 else said[1:])):
        return ()
    head, tail = text[: items[0][0]], text[items[-1][1] :]
    named = [item if _telling(item, text, language) else _completed(item, said[-1]) for item in said]
    return tuple(text if not item or item.endswith("-") else f"{head}{item}{tail}" for item in named)


def _completed(item: str, last: str) -> str:
    """A phrase without its noun, and the noun of another with more words („dem kleinen“, „dem großen Wert“); empty where that has none."""
    rest = last.split()[len(item.split()) :]
    return " ".join([item, *rest]) if rest else ""


def _compared(text: str, language: Language) -> tuple[str, ...]:
    """ "A versus B": the first thing is the nearest telling word before, with what stands between."""
    for match in _patterns(language).against.finditer(text):
        begun = max((stop.end() for stop in re.finditer(r"[;:!?()]\s*|[.,]\s", text[: match.start()])), default=0)
        for word in reversed(list(re.finditer(r"\S+", text[begun : match.start()]))):
            first = (begun + word.start(), match.start())
            if _telling(text[slice(*first)], text, language):
                return _split(text, [first, match.span("b")], language)
    return ()


def _asked_twice(text: str, language: Language) -> tuple[str, ...]:
    """Two questions in one sentence, each with what stands before the first; a second one that leans on the first is no question alone."""
    words = _patterns(language)
    begun = words.question.search(text)
    joint = words.joint.search(text, begun.end()) if begun else None
    if begun is None or joint is None:
        return ()
    first, second = text[begun.start() : joint.start()], text[joint.end() :]
    if min(_telling(first, text, language), _telling(second, text, language)) < 2:
        return ()
    return (text[: joint.start()], text[: begun.start()] + second)


def _telling(phrase: str, text: str, language: Language) -> int:
    """How many words of a phrase name something: no stop words, dates or figures; nouns where the writer of `text` capitalises them."""
    words = {word for term, word in language.tokens(phrase) if word[0].isalpha() and not language.tells_time(term)}
    return sum(word[0].isupper() for word in words) if language.small_word_weight(text) < 1 else len(words)
