"""Whether the figures a sentence states stand in the text it cites, and for the same thing; pure.

A figure that stands in the cited entry for another row, year or bound is a fault, and the one that costs most: so it is not enough that a
text holds the figure, the piece that holds it must be the one that speaks of what the sentence speaks of.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent.language import citations
from agent.language.analyser import Language
from agent.language.attribution import Facet, Told, aside, facets, known, label_words, names, outdone, unopposed
from agent.language.calculations import calculations
from agent.language.contrast import excepted, opposed
from agent.language.denial import contrary
from agent.language.figures import Figure, parse, supports, without
from agent.language.limits import fitting, stated_plainly
from agent.language.pieces import Piece, holding
from agent.language.similarity import covered
from agent.language.splitting import says
from agent.language.statements import CONDITIONS, Statement, lines, statements
from agent.language.timing import fits, mentions
from agent.values import Period

VERBATIM = 0.9
"""From this fit of words on, a sentence all but copies a piece, and then its figures are compared one by one."""

NONE = frozenset[str]()
REACH = 3
"""How many words a word such as "bei" may stand before the figure it makes a case ("nach dem vollendeten 5. Dienstjahr")."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A sentence that may not be published as it stands, and the figures of it that nothing cited supports (none: it cites nothing)."""

    sentence: str
    span: tuple[int, int]
    figures: tuple[str, ...]


def faults(text: str, cited: Mapping[str, Sequence[Piece]], *, question: str, period: Period, language: Language) -> list[Fault]:
    """The faults of an answer's sentences, in order. `cited` holds the pieces of each cited entry, `period` the days asked for."""
    asked = _Asked(parse(question, language.notation), question, period)
    read: dict[tuple[str, ...], _Read] = {}
    found = []
    for start, end in language.sentences(text):
        sentence = text[start:end]
        of_all = citations.cited(sentence)
        wrong: list[str] = []
        for line, lead in lines(sentence, language):
            ids = tuple(citations.cited(line) or of_all)
            if ids not in read:
                read[ids] = _Read.of([piece for identifier in ids for piece in cited.get(identifier, ())], language)
            wrong += _wrong(citations.without(line), citations.without(lead), read[ids], asked, language)
        if wrong:
            found.append(Fault(sentence, (start, end), tuple(dict.fromkeys(wrong))))
    return found


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the question says, and the days it is about."""

    figures: Sequence[Figure]
    text: str
    period: Period


@dataclass(frozen=True, slots=True)
class _Read:
    """The pieces a sentence cites, and what they say of each figure."""

    pieces: Sequence[Piece]
    facets: Sequence[Facet]
    labels: frozenset[str]

    @classmethod
    def of(cls, pieces: Sequence[Piece], language: Language) -> _Read:
        labels = label_words(pieces, language)
        return cls(pieces, facets(pieces, labels, language), labels)


def _wrong(sentence: str, lead: str, read: _Read, asked: _Asked, language: Language) -> list[str]:
    """What of a sentence the cited pieces do not hold: its figures, or the words that say the contrary of them."""
    if any(_said(sentence, piece) for piece in read.pieces):
        return []
    said = statements(sentence, language, lead)
    claims = [claim for statement in said for claim in statement.figures]
    against = contrary(sentence, read.pieces, language)
    if not claims or against:
        return against
    alike = [piece for piece in read.pieces if _alike(sentence, claims, piece, language)]
    if alike:
        return _copied(claims, alike, sentence, language)
    spoken = _Spoken(sentence, read, asked, frozenset(_worked(sentence, read, language)), bool(calculations(sentence, language.notation)))
    return [text for statement in said for text in _unsupported(statement, spoken, language, alone=len(said) == 1)]


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A sentence with what it cites and what was asked; `worked` are the spans its calculations vouch for, where it `calculates`."""

    text: str
    read: _Read
    asked: _Asked
    worked: frozenset[tuple[int, int]]
    calculates: bool


def _unsupported(statement: Statement, spoken: _Spoken, language: Language, *, alone: bool) -> list[str]:
    """The figures of one statement that the cited pieces do not state of the same thing."""
    text = statement.text
    fit = [f for f in spoken.read.facets if not (opposed(text, f.text, language) or excepted(text, f.text, language))]
    timely = _in_time(statement, fit, spoken.asked.period, language)
    # "a year 14 × 551,10" takes a monthly value to a year: where a calculation is shown, its operands keep their own period
    periods = NONE if spoken.worked else language.notation.named_periods(_without_figures(statement.clause, language))
    near = _near(statement, spoken, language)
    wrong = []
    for claim in statement.figures:
        if claim.span in spoken.worked or _quoted(claim, spoken.text, spoken.asked, language):
            continue
        admitted = fit if claim.kind == "norm" else timely
        told = _told(claim, statement, spoken, near, language)
        told = told if alone or told.own_case else replace(told, case=())
        its = periods | (frozenset({claim.period}) if claim.period and not spoken.worked else NONE)
        if _denied(claim, spoken.text, language) or not _stated(told, admitted, its, spoken.text, language):
            wrong.append(claim.text)
    return wrong


def _near(statement: Statement, spoken: _Spoken, language: Language) -> tuple[frozenset[str], ...]:
    """What a statement, its lead and the question name, nearest first."""
    labels = spoken.read.labels
    own = known(names(statement.text, labels, language), spoken.read.facets)
    return unopposed([own, names(statement.lead, NONE, language), names(spoken.asked.text, labels, language)], language)


def _told(claim: Figure, statement: Statement, spoken: _Spoken, near: tuple[frozenset[str], ...], language: Language) -> Told:
    """A claim with all that its sentence and the question say around it."""
    others = tuple(figure for figure in statement.figures if figure is not claim and figure.kind not in CONDITIONS)
    own = () if spoken.calculates else others
    asked = tuple(figure for figure in spoken.asked.figures if figure.kind not in CONDITIONS)
    before = spoken.text[max(0, spoken.text.find(statement.clause)) : claim.span[0]]
    return Told(
        claim,
        near,
        own or (() if spoken.calculates else asked),
        language.notation.named_periods(f"{_without_figures(statement.clause, language)}. {spoken.asked.text}"),
        own_case=bool(own),
        referred=_referred(claim, spoken.text, language),
        aside=aside(before, near[2], spoken.read.facets, spoken.read.labels, language),
        relative=_relative(statement, language),
    )


def _without_figures(text: str, language: Language) -> str:
    """A text without its values, whose periods are their own; its times stay ("im Jahr 2026")."""
    return without(text, language.notation, keep=CONDITIONS)


def _stated(told: Told, admitted: Sequence[Facet], periods: frozenset[str], sentence: str, language: Language) -> bool:
    """Whether a facet states the claim, and no other one is nearer to what the sentence speaks of."""
    claim = told.claim
    if claim.kind in CONDITIONS:
        return any(facet.states(claim) for facet in admitted)
    if told.referred and any(_step_of(claim, figure) for facet in admitted for figure in facet.figures):
        return True
    holding_it = [
        f for f in admitted if any(fitting(claim, figure, f, sentence, language) for figure in f.figures) and periods <= f.periods
    ]
    if not holding_it or stated_plainly(claim, holding_it, sentence, language):
        return False
    others = [facet for facet in admitted if not facet.states(replace(claim, bound=None, period=None))]
    return told.relative or not outdone(told, holding_it, others)


def _quoted(claim: Figure, sentence: str, asked: _Asked, language: Language) -> bool:
    """Whether a figure is the question's own and only referred to ("bei 600 EUR"), not stated of something ("beträgt 600 EUR")."""
    if not any(_same(claim, figure) for figure in asked.figures):
        return False
    before = re.split(r"[,;:.]\s", sentence[: claim.span[0]])[-1]
    return claim.kind in CONDITIONS or not says(before, language.table["stating_words"]) or _referred(claim, sentence, language)


def _referred(claim: Figure, sentence: str, language: Language) -> bool:
    """Whether a figure says in which case something holds ("bei 45 km", "ab 20 km"), not what holds."""
    for word in reversed(sentence[: claim.span[0]].casefold().split()[-REACH:]):
        if word in language.table["case_words"]:
            return claim.kind in ("quantity", "ordinal", "number") or claim.bound is not None
        if word[-1] in ",;:" or any(c.isdigit() for c in word) or word in language.table["stating_words"]:
            return False
    return False


def _denied(claim: Figure, sentence: str, language: Language) -> bool:
    """Whether a sentence says that it is not this figure ("beträgt nicht 551,10 EUR"), which no text that holds it says."""
    before = sentence[: claim.span[0]].split()
    return claim.bound is None and bool(before) and before[-1].casefold() in language.table["negations"]


def _alike(sentence: str, claims: Sequence[Figure], piece: Piece, language: Language) -> bool:
    """Whether a sentence all but copies a piece: its words are the piece's, its figures as many and mostly of the same kinds in order."""
    words = _words(sentence, language)
    if max(_shared(words, _words(text, language)) for text in (piece.bare, piece.text)) < VERBATIM:
        return False
    kinds = [figure.kind for figure in parse(piece.text, language.notation) if not figure.weak]
    same = sum(claim.kind == kind for claim, kind in zip(claims, kinds, strict=False))
    return len(kinds) == len(claims) and 2 * same > len(claims)


def _shared(words: frozenset[str], own: frozenset[str]) -> float:
    """How much each of two texts speaks of what the other does: the harmonic mean of both shares (F1)."""
    if not words or not own:
        return 0.0
    recall = sum(covered(term, own) for term in words) / len(words)
    precision = sum(covered(term, words) for term in own) / len(own)
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def _words(text: str, language: Language) -> frozenset[str]:
    """The terms of a text outside of its figures: the unit is the figure's and is compared with it."""
    said = language.terms(without(text, language.notation, keep=("norm",)))
    return frozenset(term for term in said if not any(c.isdigit() for c in term))


def _copied(claims: Sequence[Figure], alike: Sequence[Piece], sentence: str, language: Language) -> list[str]:
    """The figures in which a sentence departs from the piece it all but copies: they are compared one by one, in their order."""
    periods = language.notation.named_periods(sentence)
    departures = []
    for piece in alike:
        figures = [figure for figure in parse(piece.text, language.notation) if not figure.weak]
        own = language.notation.named_periods(piece.text)
        departures.append(
            [
                claim.text
                for claim, figure in zip(claims, figures, strict=True)
                if not (supports(claim, figure) and claim.bound in (None, figure.bound) and periods <= own)
            ]
        )
    return min(departures, key=len)


def _worked(sentence: str, read: _Read, language: Language) -> set[tuple[int, int]]:
    """The spans that a right calculation vouches for: its result, and the whole numbers it multiplies or divides by (14 × 551,10).

    A result that the cited text holds itself is a value with a row of its own, and must be said of that row.
    """
    spans = set()
    for made in calculations(sentence, language.notation):
        units = {figure.unit for figure in made.figures}
        if made.right and (made.result.unit is None or made.result.unit in units or units == {None}):
            spans |= set() if any(facet.states(made.result) for facet in read.facets) else {made.result.span}
            spans |= {f.span for f in made.figures if f.kind == "number" and f.value == int(f.value)}  # type: ignore[arg-type]
    return spans


def _said(sentence: str, piece: Piece) -> bool:
    """Whether a sentence says a piece word for word, as an answer without a model does."""
    return sentence.rstrip(".!? ") == piece.text.rstrip(".!? ")


def _same(claim: Figure, figure: Figure) -> bool:
    return (supports(claim, figure) and supports(figure, claim)) or _step_of(claim, figure)


def _step_of(claim: Figure, figure: Figure) -> bool:
    """Whether a case is the figure's, its unit said shorter ("nach 12 Jahren" of years of service)."""
    units = (claim.unit or "").casefold(), (figure.unit or "").casefold()
    return claim.value == figure.value and claim.bound is None and all(units) and units[1].endswith(units[0])


def _relative(statement: Statement, language: Language) -> bool:
    """Whether a statement says its time or step by what stands before it ("danach", "darüber"), so that neither can be told from it."""
    return says(statement.clause, language.table["relative_words"])


def _in_time(statement: Statement, facets: Sequence[Facet], period: Period, language: Language) -> list[Facet]:
    """The facets that hold in the time a statement speaks of: its own, else that of what leads in, else the one asked for."""
    own = [mention.reach for mention in mentions(statement.text, language)]
    if not own and _relative(statement, language):
        return list(facets)
    times = own or [mention.reach for mention in mentions(statement.lead, language)] or [period]
    return [facet for facet in facets if all(fits(holding(facet.piece, language), days, language) for days in times)]
