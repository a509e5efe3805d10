"""Tells the rows of one table apart by what a question names: another side of an opposition, a special rule it does not ask for; pure.

"With special payments" and "without special payments" share every telling word and lie side by side in meaning, and the wrong one of
the two is a wrong answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeVar

from agent.language.analyser import Language, folded, spaced

REACH = 4
"""How many words an opposing word may stand before the word it goes with ("ohne Anspruch auf Sonderzahlungen")."""
_K = TypeVar("_K")
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
    asked: tuple[tuple[tuple[str, ...], frozenset[str]], ...]
    """Phrases of a question, and the terms of a text that tells the other end of what they ask for."""


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
        tuple(
            (tuple(f" {folded(phrase)} " for phrase in phrases), frozenset(term for word in words for term in language.terms(word)))
            for phrases, words in table["opposites_asked"]
        ),
    )


@dataclass(frozen=True, slots=True)
class _Said:
    """What a text says that another may oppose."""

    terms: frozenset[str]
    before: Mapping[tuple[int, str], set[int]]
    """The sides of each opposition, by the term they go with."""
    alone: Mapping[int, set[int]]
    """The sides of each opposition whose words speak for themselves."""
    left_out: frozenset[str]
    first: str


@lru_cache(maxsize=16384)
def _said(text: str, language: Language) -> _Said:
    """A text read once: a question meets hundreds of pieces, and a piece all the questions of a run."""
    words, table = [folded(word) for word in _WORDS.findall(text)], _table(language)
    terms = frozenset(language.terms(text))
    before: dict[tuple[int, str], set[int]] = {}
    left_out: set[str] = set()
    for place, word in enumerate(words):
        if word in table.before or word in table.except_for:
            reached = language.terms(" ".join(words[place + 1 : place + 1 + REACH]))
            near = [term for term in reached if not language.tells_time(term)]
            left_out.update(near if word in table.except_for else ())
            if word in table.before:
                n, side = table.before[word]
                for term in near:
                    before.setdefault((n, term), set()).add(side)
    alone: dict[int, set[int]] = {}
    for n, side in (table.alone[term] for term in terms if term in table.alone):
        alone.setdefault(n, set()).add(side)
    return _Said(terms, before, alone, frozenset(left_out), words[0] if words else "")


def opposed(question: str, text: str, language: Language) -> bool:
    """Whether the text takes only another side than the question of an opposition the question names ("unter 18" and "ab 18")."""
    asked, said = _said(question, language), _said(text, language)
    return _differ(asked.before, said.before) or _differ(asked.alone, said.alone) or _other_end(question, said, language)


def _other_end(question: str, said: _Said, language: Language) -> bool:
    """Whether the text tells where something ends that the question asks the beginning of, or the other way round."""
    return not said.terms.isdisjoint(_other_ends(question, language))


@lru_cache(maxsize=256)
def _other_ends(question: str, language: Language) -> frozenset[str]:
    """The terms by which a text tells the other end of what a question asks for."""
    text = spaced(question)
    return frozenset(term for phrases, terms in _table(language).asked if any(phrase in text for phrase in phrases) for term in terms)


def _differ(asked: Mapping[_K, set[int]], said: Mapping[_K, set[int]]) -> bool:
    """Whether there is an opposition that both name and take no common side of."""
    return any(said[what].isdisjoint(sides) for what, sides in asked.items() if what in said)


def excepted(question: str, text: str, language: Language) -> bool:
    """Whether one of the two leaves out what the other speaks of ("alle Länder außer Wien")."""
    asked, said = _said(question, language), _said(text, language)
    return bool((said.left_out - asked.left_out) & asked.terms or (asked.left_out - said.left_out) & said.terms)


def alternative(asked: Collection[str], text: str, groups: Iterable[frozenset[str]], language: Language) -> bool:
    """Whether the text speaks of other members of a group of alternatives than the terms `asked` ("Tirol" where Vienna is asked for)."""
    said = _said(text, language)
    named = ((group.intersection(asked), (group & said.terms) - said.left_out) for group in groups)
    return any(wanted and told and wanted.isdisjoint(told) for wanted, told in named)


def left_out(text: str, language: Language) -> frozenset[str]:
    """The terms of what a text excepts ("all but Vienna")."""
    return _said(text, language).left_out


def special(question: str, text: str, language: Language) -> bool:
    """Whether only one of the two is about a reduced, raised or additional thing ("Zuschlag zum ...")."""
    return bool(_table(language).special & (_said(text, language).terms ^ _said(question, language).terms))


def conditional(text: str, language: Language) -> bool:
    """Whether a sentence begins with a condition, and so speaks of one case only."""
    return _said(text, language).first in _table(language).openers
