"""Whether the figures a sentence states stand in the text it cites, and for the same thing; pure.

A figure that stands in the cited entry for another row, year or bound is a fault, and the one that costs most: so it is not enough that a
text holds the figure, the piece that holds it must be the one that speaks of what the sentence speaks of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.language import citations
from agent.language.analyser import Language
from agent.language.calculations import calculations
from agent.language.figures import Figure, parse, supports
from agent.language.pieces import Piece, holding
from agent.language.similarity import covered
from agent.language.timing import fits, mentions
from agent.values import Period

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
    quoted = parse(question, language.notation) if any(c.isdigit() for c in question) else []
    found = []
    for start, end in language.sentences(text):
        sentence = text[start:end]
        pieces = [piece for identifier in citations.cited(sentence) for piece in cited.get(identifier, ())]
        figures = _unsupported(citations.without(sentence), pieces, quoted, period, language)
        if figures:
            found.append(Fault(sentence, (start, end), figures))
    return found


def _unsupported(sentence: str, pieces: Sequence[Piece], quoted: Sequence[Figure], period: Period, language: Language) -> tuple[str, ...]:
    if any(_said(sentence, piece) for piece in pieces):
        return ()
    claims = [figure for figure in parse(sentence, language.notation) if not figure.weak]
    if not claims:
        return ()
    worked = _worked(sentence, language)
    read = [(piece, parse(piece.text, language.notation)) for piece in pieces]
    return tuple(
        claim.text
        for claim in claims
        if not (claim.span in worked or any(_same(claim, figure) for figure in quoted) or _held(claim, sentence, read, period, language))
    )


def _worked(sentence: str, language: Language) -> set[tuple[int, int]]:
    """The spans that a right calculation vouches for: its result, and the whole numbers it multiplies or divides by (14 × 551,10)."""
    spans = set()
    for made in calculations(sentence, language.notation):
        if made.right:
            spans.add(made.result.span)
            spans |= {f.span for f in made.figures if f.kind == "number" and f.value == int(f.value)}  # type: ignore[arg-type]
    return spans


def _said(sentence: str, piece: Piece) -> bool:
    """Whether a sentence says a piece word for word, as an answer without a model does."""
    return sentence.rstrip(".!? ") == piece.text.rstrip(".!? ")


def _same(claim: Figure, figure: Figure) -> bool:
    return supports(claim, figure) and supports(figure, claim)


def _held(claim: Figure, sentence: str, read: Sequence[tuple[Piece, list[Figure]]], period: Period, language: Language) -> bool:
    """Whether a piece that holds `claim` is (about) the piece that fits the sentence best, in its time and by its words."""
    spoken = [mention.reach for mention in mentions(sentence, language)] or [period]
    fitting = [(piece, figures) for piece, figures in read if any(fits(holding(piece, language), days, language) for days in spoken)]
    if claim.kind in ("date", "year", "norm"):
        return any(supports(claim, figure) for _, figures in read for figure in figures)
    words = {term for term in language.terms(sentence) if not any(c.isdigit() for c in term)}
    holding_it = [_fit(words, piece, language) for piece, figures in fitting if any(supports(claim, figure) for figure in figures)]
    others = [
        _fit(words, piece, language)
        for piece, figures in fitting
        if any(figure.kind == claim.kind and figure.unit == claim.unit for figure in figures)
        and not any(supports(claim, figure) for figure in figures)
    ]
    return bool(holding_it) and max(holding_it) + MARGIN >= max(others, default=0.0)


def _fit(words: set[str], piece: Piece, language: Language) -> float:
    """How much a piece speaks of what the words speak of, and of little else: the harmonic mean of both shares (F1)."""
    said = {term for term in language.terms(piece.bare) if not any(c.isdigit() for c in term)}
    if not words or not said:
        return 0.0
    recall = sum(covered(term, said) for term in words) / len(words)
    precision = sum(covered(term, words) for term in said) / len(said)
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0
