"""Finds what a sentence says against the text it cites without a figure: the contrary word, the same words denied, the other bearer; pure.

Cautious: a sentence is against a text only where the text says the same of the same things, and nowhere says it as the sentence does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from agent.language.analyser import Language, folded
from agent.language.figures import without
from agent.language.pieces import Piece
from agent.language.splitting import says

ENOUGH = 0.8
"""The share of a clause's terms that a text must hold for the two to speak of the same."""
NEAR = 8
"""How many words before a word with a contrary one that denies it may stand."""
FILLER = "bonus"
"""A word that is put before another to see how it ends in a compound."""
BESIDE = 2
"""How many words may stand between the bearer and what he does ("zahlt der Dienstgeber", "vom Dienstgeber getragen")."""
_STOP = re.compile(r"[,;:]\s|\s[–—]\s")
_WORD = re.compile(r"[^\W\d_][\w-]*")


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause (or a whole piece): its words' terms, its nouns, its words with a contrary, who bears what, and whether it denies."""

    terms: frozenset[str]
    nouns: frozenset[str]
    poles: frozenset[tuple[str, int, int]]
    """(what it is said of: "lohnsteuer", the pair of contraries, which of the two)."""
    bearers: frozenset[int]
    denied: bool
    unsure: bool
    against: frozenset[str]
    """The terms of those of its parts that deny."""


def contrary(sentence: str, pieces: Sequence[Piece], language: Language) -> list[str]:
    """The clauses of a sentence that say the contrary of the pieces, as written."""
    read = [_clauses(piece.bare, language, row=piece.segment.kind == "row") for piece in pieces]
    found = []
    for text in _split(sentence):
        clause = _clause(text, language)
        if clause.nouns and not clause.unsure and (_turned(clause, read) or _denied(clause, read) or _other_bearer(clause, read)):
            found.append(text.strip(" .!?*-"))
    return found


def _turned(clause: _Clause, read: Iterable[Sequence[_Clause]]) -> bool:
    """Whether a word of the clause has its contrary in the texts that name most of the same, and is in none of them itself."""
    for head, pair, side in clause.poles:
        alike = [(len(clause.nouns & whole.nouns), whole) for whole, *_ in read if not whole.unsure and _poles(whole, head, pair)]
        most = max((count for count, _ in alike), default=0)
        sides = {said for count, whole in alike if count == most for said in _poles(whole, head, pair)}
        if most and most >= ENOUGH * len(clause.nouns) and sides == {1 - side}:
            return True
    return False


def _poles(clause: _Clause, head: str, pair: int) -> set[int]:
    return {side for other, n, side in clause.poles if n == pair and _same_head(head, other)}


def _same_head(one: str, other: str) -> bool:
    return one == other or bool(one and other and (one.endswith(other) or other.endswith(one)))


def _denied(clause: _Clause, read: Iterable[Sequence[_Clause]]) -> bool:
    """Whether the texts that say the same in the same words deny it where the clause does not, or the other way."""
    if len(clause.terms) < 2 or clause.poles:
        return False
    said = [other for clauses in read for other in clauses if _covers(other, clause)]
    return bool(said) and not any(_unsure(other, clause) or other.denied == clause.denied for other in said)


def _unsure(other: _Clause, clause: _Clause) -> bool:
    """Whether a text says it on a condition, or denies something beside what the clause speaks of."""
    return other.unsure or (other.denied and not other.against & clause.nouns)


def _covers(other: _Clause, clause: _Clause) -> bool:
    return clause.nouns <= other.nouns and len(clause.terms & other.terms) >= ENOUGH * len(clause.terms)


def _other_bearer(clause: _Clause, read: Iterable[Sequence[_Clause]]) -> bool:
    """Whether the texts have another one bear what the clause lays on one side."""
    if len(clause.bearers) != 1 or clause.denied:
        return False
    said = [whole.bearers for whole, *_ in read if whole.bearers and clause.nouns <= whole.nouns and not whole.denied]
    return bool(said) and not any(clause.bearers & bearers for bearers in said)


def _split(text: str) -> list[str]:
    return [part for part in _STOP.split(text) if part.strip()]


@lru_cache(maxsize=8192)
def _clauses(text: str, language: Language, *, row: bool) -> tuple[_Clause, ...]:
    """A piece as a whole, and each of its clauses; a clause that goes on with the subject of the one before is none of its own."""
    whole = _clause(text, language, row=row)
    parts = [part for part in re.split(rf"[,;:]\s|\s(?:{'|'.join(language.table['listing_words'])})\s", text) if part.strip()]
    return (whole, *(_clause(part, language, row=row) for part in parts)) if len(parts) > 1 else (whole,)


@lru_cache(maxsize=8192)
def _clause(text: str, language: Language, *, row: bool = False) -> _Clause:
    text = without(text, language.notation)
    table, words = language.table, [folded(word) for word in _WORD.findall(text)]
    capitals = float(table["small_word_weight"]) < 1  # what is checked is written prose, however few nouns it has
    tokens = [(term, word) for term, word in language.tokens(text) if word[0].isalpha() and not language.tells_time(term)]
    denying = frozenset(table["negations"]) - frozenset(table["exception_words"])  # "ohne" leaves out, and denies nothing of the rest
    denied = any(word in denying for word in words)
    poles = frozenset(_said_of(words, denying, language))
    polar = {language.term(word) for word in words if _pole(word, language)}
    bearers = frozenset(_bearers(words, language, row=row))
    sides = _side_words(language)
    terms = frozenset(term for term, word in tokens if term not in polar)
    nouns = frozenset(
        term for term, word in tokens if (not capitals or word[0].isupper()) and term not in polar and folded(word) not in sides
    )
    parts = [part for part in _STOP.split(text) if any(folded(word) in denying for word in _WORD.findall(part))]
    against = frozenset(term for part in parts for term in language.terms(part))
    return _Clause(terms, nouns, poles, bearers, denied, says(text, table["unsure_words"]), against)


def _said_of(words: Sequence[str], denying: frozenset[str], language: Language) -> Iterator[tuple[str, int, int]]:
    """The words with a contrary, turned where they are denied; "steuer- und beitragsfrei" are two."""
    open_heads: list[str] = []
    last = 0
    for place, word in enumerate(words):
        if word in language.table["listing_words"] and not open_heads:
            last = place
        if word.endswith("-"):
            open_heads.append(word.rstrip("-"))
        pole = _pole(word, language)
        if pole:
            head, pair, side = pole
            turned = 1 - side if any(w in denying for w in words[max(last, place - NEAR) : place]) else side
            last = place
            yield from ((each, pair, turned) for each in (*open_heads, head))
            open_heads = []


@lru_cache(maxsize=8192)
def _pole(word: str, language: Language) -> tuple[str, int, int] | None:
    """What a word is said of, the pair of contraries it belongs to, and which of the two it is."""
    term = language.term(word)
    found = ((pair, side, stem) for pair, side, stem in _stems(language) if term.endswith(stem))
    pair, side, stem = max(found, key=lambda each: len(each[2]), default=(0, 0, ""))
    return (term.removesuffix(stem), pair, side) if stem else None


@cache
def _stems(language: Language) -> tuple[tuple[int, int, str], ...]:
    pairs = enumerate(language.table["contraries"])
    return tuple((n, side, _ending(word, language)) for n, pair in pairs for side, word in enumerate(pair))


def _ending(word: str, language: Language) -> str:
    """The stem of a word as the last part of a compound, where it is stemmed otherwise than alone."""
    return language.term(f"{FILLER}{word}").removeprefix(FILLER)


def _bearers(words: Sequence[str], language: Language, *, row: bool) -> Iterator[int]:
    """The sides that a text lays something on: beside a word of bearing, or anywhere in the label of a row."""
    sides = _side_words(language)
    verbs = [place for place, word in enumerate(words) if word in language.table["bearing_words"]]
    for place, word in enumerate(words):
        if word in sides and (row or any(abs(place - verb) <= BESIDE for verb in verbs)):
            yield sides[word]


@cache
def _side_words(language: Language) -> dict[str, int]:
    return {folded(word): side for side, words in enumerate(language.table["sides"]) for word in words}
