"""Whether the figures a sentence states stand in the text it cites, and for the same thing; pure.

A figure that stands in the cited entry for another row, year or bound is a fault, and the one that costs most: so it is not enough that a
text holds the figure, the piece that holds it must be the one that speaks of what the sentence speaks of.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.language import citations
from agent.language.analyser import Language
from agent.language.calculations import calculations
from agent.language.contrast import excepted, opposed
from agent.language.figures import Figure, parse, supports
from agent.language.pieces import Piece, holding
from agent.language.similarity import covered
from agent.language.splitting import says
from agent.language.timing import fits, mentions
from agent.values import Period

TIMES = ("date", "year")
_CLAUSE = re.compile(r"[,;:](?=\s)")
VERBATIM = 0.9
"""From this fit of words on, a sentence all but copies a piece, and then its figures are compared one by one."""
TERSE = 2
"""Up to this many words a sentence may leave out what it speaks of, because the question has said it."""
MARGIN = 0.12
"""By how much another piece must fit a sentence better than the one that holds the figure, before the figure counts as another thing's."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A sentence that may not be published as it stands, and the figures of it that nothing cited supports (none: it cites nothing)."""

    sentence: str
    span: tuple[int, int]
    figures: tuple[str, ...]


def faults(text: str, cited: Mapping[str, Sequence[Piece]], *, question: str, period: Period, language: Language) -> list[Fault]:
    """The faults of an answer's sentences, in order. `cited` holds the pieces of each cited entry, `period` the days asked for."""
    asked = _Asked(parse(question, language.notation) if any(c.isdigit() for c in question) else [], _words(question, language))
    found = []
    for start, end in language.sentences(text):
        sentence = text[start:end]
        pieces = [piece for identifier in citations.cited(sentence) for piece in cited.get(identifier, ())]
        figures = _unsupported(citations.without(sentence), pieces, asked, period, language)
        if figures:
            found.append(Fault(sentence, (start, end), figures))
    return found


@dataclass(frozen=True, slots=True)
class _Asked:
    """The figures and the words of the question."""

    figures: Sequence[Figure]
    words: frozenset[str]


def _unsupported(sentence: str, pieces: Sequence[Piece], asked: _Asked, period: Period, language: Language) -> tuple[str, ...]:
    if any(_said(sentence, piece) for piece in pieces):
        return ()
    claims = [figure for figure in parse(sentence, language.notation) if not figure.weak]
    if not claims:
        return ()
    pieces = [piece for piece in pieces if not (opposed(sentence, piece.bare, language) or excepted(sentence, piece.bare, language))]
    read = [_Read.of(piece, language) for piece in pieces]
    words = _words(sentence, language)
    if len(words) <= TERSE and not words & asked.words:
        words |= asked.words  # "Sie beträgt 551,10 EUR" speaks of what was asked
    alike = [piece for piece in read if piece.fit(words) >= VERBATIM and len(piece.figures) == len(claims)]
    if alike:
        return _copied(claims, alike, sentence, language)
    worked = _worked(sentence, read, language)
    open_claims = [c for c in claims if c.span not in worked and not _quoted(c, sentence, asked, language)]
    admitted = _in_time(open_claims, read, sentence, period, language)
    # "a year 14 × 551,10" takes a monthly value to a year: where a calculation is shown, its operands keep their own period
    periods = frozenset[str]() if worked else language.notation.named_periods(sentence)
    return tuple(
        claim.text
        for claim in open_claims
        if _denied(claim, sentence, language)
        or not _held(claim, admitted[claim.span], words, periods)
        or _outdone(claim, admitted[claim.span], sentence, periods, language)
    )


def _quoted(claim: Figure, sentence: str, asked: _Asked, language: Language) -> bool:
    """Whether a figure is the question's own and only referred to ("bei 600 EUR"), not stated of something ("beträgt 600 EUR")."""
    if not any(_same(claim, figure) for figure in asked.figures):
        return False
    before = re.split(r"[,;:.]\s", sentence[: claim.span[0]])[-1]
    return claim.kind in (*TIMES, "norm") or not says(before, language.table["stating_words"])


def _denied(claim: Figure, sentence: str, language: Language) -> bool:
    """Whether a sentence says that it is not this figure ("beträgt nicht 551,10 EUR"), which no text that holds it says."""
    before = sentence[: claim.span[0]].split()
    return claim.bound is None and bool(before) and before[-1].casefold() in language.table["negations"]


def _outdone(claim: Figure, pieces: Sequence[_Read], sentence: str, periods: frozenset[str], language: Language) -> bool:
    """Whether for each piece that holds `claim` there is another, of a figure of the same kind, that names the same and more of its clause.

    "Der Dienstnehmeranteil beträgt 20,98 %" is no statement of the row of the Dienstgeberanteil, near as the two are in all other words.
    """
    if claim.kind in (*TIMES, "norm"):
        return False
    start = max((stop.end() for stop in _CLAUSE.finditer(sentence, 0, claim.span[0])), default=0)
    stop = _CLAUSE.search(sentence, claim.span[1])
    clause = sentence[start : stop.start() if stop else len(sentence)]
    capitals = language.small_word_weight(sentence) < 1
    named = {term for term, word in language.tokens(clause) if word[0].isalpha() and (not capitals or word[0].isupper())}
    named = {term for term in named if not language.tells_time(term)}

    def names(piece: _Read) -> set[str]:
        return {term for term in named if any(term in own for own in piece.words)}

    words = _words(clause, language)
    holding_it, rivals = _sides(claim, pieces, periods)
    return bool(holding_it) and all(
        any(names(piece) < names(rival) and piece.fit(words) <= rival.fit(words) for rival in rivals) for piece in holding_it
    )


@dataclass(frozen=True, slots=True)
class _Read:
    """A piece with its figures, the words it speaks with, and the periods (daily, monthly) it names."""

    piece: Piece
    figures: tuple[Figure, ...]
    words: tuple[frozenset[str], frozenset[str]]
    """Without and with what a row holds for (its time and norm)."""
    periods: frozenset[str]

    @classmethod
    def of(cls, piece: Piece, language: Language) -> _Read:
        figures = tuple(figure for figure in parse(piece.text, language.notation) if not figure.weak)
        return cls(
            piece, figures, (_words(piece.bare, language), _words(piece.text, language)), language.notation.named_periods(piece.text)
        )

    def fit(self, words: frozenset[str]) -> float:
        """How much the piece speaks of what the words speak of, and of little else: the harmonic mean of both shares (F1)."""
        return max(_shared(words, own) for own in self.words)

    def supports(self, claim: Figure) -> bool:
        return any(supports(claim, figure) for figure in self.figures)


def _shared(words: frozenset[str], own: frozenset[str]) -> float:
    if not words or not own:
        return 0.0
    recall = sum(covered(term, own) for term in words) / len(words)
    precision = sum(covered(term, words) for term in own) / len(own)
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def _words(text: str, language: Language) -> frozenset[str]:
    """The terms of a text outside of its figures: the unit is the figure's and is compared with it."""
    for figure in reversed(parse(text, language.notation)):
        if figure.kind != "norm":
            text = f"{text[: figure.span[0]]} {text[figure.span[1] :]}"
    return frozenset(term for term in language.terms(text) if not any(c.isdigit() for c in term))


def _copied(claims: Sequence[Figure], alike: Sequence[_Read], sentence: str, language: Language) -> tuple[str, ...]:
    """The figures in which a sentence departs from the piece it all but copies: they are compared one by one, in their order."""
    periods = language.notation.named_periods(sentence)
    departures = [
        tuple(
            claim.text
            for claim, figure in zip(claims, piece.figures, strict=True)
            if not (supports(claim, figure) and periods <= piece.periods)
        )
        for piece in alike
    ]
    return min(departures, key=len)


def _worked(sentence: str, read: Sequence[_Read], language: Language) -> set[tuple[int, int]]:
    """The spans that a right calculation vouches for: its result, and the whole numbers it multiplies or divides by (14 × 551,10).

    A result that the cited text holds itself is a value with a row of its own, and must be said of that row.
    """
    spans = set()
    for made in calculations(sentence, language.notation):
        units = {figure.unit for figure in made.figures}
        if made.right and (made.result.unit is None or made.result.unit in units or units == {None}):
            spans |= set() if any(piece.supports(made.result) for piece in read) else {made.result.span}
            spans |= {f.span for f in made.figures if f.kind == "number" and f.value == int(f.value)}  # type: ignore[arg-type]
    return spans


def _said(sentence: str, piece: Piece) -> bool:
    """Whether a sentence says a piece word for word, as an answer without a model does."""
    return sentence.rstrip(".!? ") == piece.text.rstrip(".!? ")


def _same(claim: Figure, figure: Figure) -> bool:
    return supports(claim, figure) and supports(figure, claim)


def _in_time(
    claims: Sequence[Figure], read: Sequence[_Read], sentence: str, period: Period, language: Language
) -> dict[tuple[int, int], Sequence[_Read]]:
    """For each claim the pieces that hold in the time the sentence speaks of.

    A sentence that names several times compares them, if each time has a figure that only its own pieces hold; then a claim may rest on
    the pieces of any of them. Otherwise all its times are said of the same thing, and a piece must hold in all of them.
    """
    times = list(dict.fromkeys(mention.reach for mention in mentions(sentence, language))) or [period]
    valid = {days: [piece for piece in read if fits(holding(piece.piece, language), days, language)] for days in times}
    figures = [claim for claim in claims if claim.kind not in TIMES]
    holders = {claim.span: {days for days in times if any(piece.supports(claim) for piece in valid[days])} for claim in figures}
    compares = len(times) > 1 and all(any(held == {days} for held in holders.values()) for days in times)
    common = [piece for piece in read if all(piece in valid[days] for days in times)]
    anyone = [piece for piece in read if any(piece in valid[days] for days in times)]
    return {claim.span: read if claim.kind == "norm" else anyone if compares else common for claim in claims}


def _held(claim: Figure, pieces: Sequence[_Read], words: frozenset[str], periods: frozenset[str]) -> bool:
    """Whether a piece that holds `claim` is (about) the piece that fits the sentence best by its words."""
    if claim.kind == "norm":
        return any(piece.supports(claim) for piece in pieces)
    holding_it, rivals = _sides(claim, pieces, periods)
    best = max((piece.fit(words) for piece in rivals), default=0.0)
    return bool(holding_it) and max(piece.fit(words) for piece in holding_it) + MARGIN >= best


def _sides(claim: Figure, pieces: Sequence[_Read], periods: frozenset[str]) -> tuple[list[_Read], list[_Read]]:
    """The pieces that hold `claim`, and those that hold another figure of its kind and unit in its place."""
    holding_it = [piece for piece in pieces if piece.supports(claim) and periods <= piece.periods]
    rivals = [
        piece
        for piece in pieces
        if not piece.supports(claim) and any(figure.kind == claim.kind and figure.unit == claim.unit for figure in piece.figures)
    ]
    return holding_it, rivals
