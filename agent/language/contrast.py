"""Tells the rows of one table apart by what a question names: another side of an opposition, a special rule it does not ask for; pure.

"With special payments" and "without special payments" share every telling word and lie side by side in meaning, and the wrong one of
the two is a wrong answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from agent.language.analyser import Language, folded

REACH = 4
"""How many words an opposing word may stand before the word it goes with ("ohne Anspruch auf Sonderzahlungen")."""
_WORDS = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class _Table:
    before: dict[str, tuple[int, int]]
    """Opposing words that go with a following word: word -> (opposition, side)."""
    alone: dict[str, tuple[int, int]]
    """The same of words that oppose each other by themselves, by term."""
    special: frozenset[str]
    except_for: frozenset[str]
    openers: frozenset[str]


@cache
def _table(language: Language) -> _Table:
    table = language.table

    def sides(name: str) -> list[tuple[str, tuple[int, int]]]:
        return [(word, (n, side)) for n, group in enumerate(table[name]) for side, words in enumerate(group) for word in words]

    return _Table(
        {folded(word): place for word, place in sides("opposites_before")},
        {term: place for word, place in sides("opposites") for term in language.terms(word)},
        frozenset(term for word in table["special_words"] for term in language.terms(word)),
        frozenset(map(folded, table["exception_words"])),
        frozenset(map(folded, table["condition_openers"])),
    )


def opposed(question: str, text: str, language: Language) -> bool:
    """Whether the text takes only another side than the question of an opposition the question names ("unter 18" and "ab 18")."""
    table = _table(language)
    asked, said = _before(question, language), _before(text, language)
    if any(said[what] and not said[what] & sides for what, sides in asked.items() if what in said):
        return True
    asked_alone, said_alone = _alone(question, language), _alone(text, language)
    return bool(table.alone) and any(said_alone[n] and not said_alone[n] & sides for n, sides in asked_alone.items() if n in said_alone)


def excepted(question: str, text: str, language: Language) -> bool:
    """Whether the text leaves out what the question asks for ("alle Länder außer Wien")."""
    words = _table(language).except_for
    left_out = _after(text, words, language) - _after(question, words, language)
    return bool(left_out & frozenset(language.terms(question)))


def special(question: str, text: str, language: Language) -> bool:
    """Whether the text is about a reduced, raised or additional thing that the question does not ask for."""
    words = _table(language).special
    return bool(words & frozenset(language.terms(text)) - frozenset(language.terms(question)))


def conditional(text: str, language: Language) -> bool:
    """Whether a sentence begins with a condition, and so speaks of one case only."""
    first = _WORDS.search(text)
    return first is not None and folded(first.group()) in _table(language).openers


def _after(text: str, words: frozenset[str], language: Language) -> frozenset[str]:
    """The terms within reach of one of the words."""
    said = [folded(word) for word in _WORDS.findall(text)]
    near = (said[place + 1 : place + 1 + REACH] for place, word in enumerate(said) if word in words)
    return frozenset(term for reach in near for term in language.terms(" ".join(reach)) if not language.tells_time(term))


def _before(text: str, language: Language) -> dict[tuple[int, str], set[int]]:
    """The sides of each opposition, by the term they go with."""
    words, table = [folded(word) for word in _WORDS.findall(text)], _table(language)
    found: dict[tuple[int, str], set[int]] = {}
    for place, word in enumerate(words):
        if word in table.before:
            n, side = table.before[word]
            for term in language.terms(" ".join(words[place + 1 : place + 1 + REACH])):
                if not language.tells_time(term):
                    found.setdefault((n, term), set()).add(side)
    return found


def _alone(text: str, language: Language) -> dict[int, set[int]]:
    """The sides of each opposition whose words speak for themselves."""
    found: dict[int, set[int]] = {}
    for term in language.terms(text):
        if place := _table(language).alone.get(term):
            found.setdefault(place[0], set()).add(place[1])
    return found
