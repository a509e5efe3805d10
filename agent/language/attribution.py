"""Whether a figure a sentence states is stated of the thing the sentence speaks of, and not of another row, step or period beside it; pure.

Words of a sentence count in the order in which they lie near the figure: its own clause, what leads in, the question.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from agent.language import contrast
from agent.language.analyser import Language
from agent.language.bounds import fitted
from agent.language.figures import Figure, parse, supports, without
from agent.language.pieces import Piece
from agent.language.statements import CONDITIONS, statements

QUALIFIERS = 3
"""Up to this many words more than a rival a thing may be told by and still be the rival's special case ("in Vienna")."""
EXACT = 0.99
"""From this fit on, a case is the step's own."""
WHOLE = 4
"""Letters from which a word counts as named where it is part of a longer one."""


@dataclass(frozen=True, slots=True)
class Facet:
    """What a piece says of one of its figures or several of them: `names` tell the thing, `figures` what is said of it."""

    piece: Piece
    place: int
    """Where it stands in its entry's order of reading."""
    text: str
    names: frozenset[str]
    figures: tuple[Figure, ...]
    periods: frozenset[str]

    def states(self, claim: Figure) -> bool:
        return any(supports(claim, figure) for figure in self.figures)


@dataclass(frozen=True, slots=True)
class Told:
    """A claim with the words around it: the `names` of its clause, of what leads in and of the question, nearest first."""

    claim: Figure
    names: tuple[frozenset[str], ...]
    case: tuple[Figure, ...]
    """The figures that say which step is meant, its own statement's or else the question's."""
    periods: frozenset[str]
    own_case: bool = False
    """Whether the statement says its step itself."""
    referred: bool = False
    """Whether the claim is itself such a step, and not what holds for it."""
    aside: bool = False
    """Whether the sentence speaks of something else than the question before it comes to the claim."""
    relative: bool = False
    """Whether its time or step is said by what stands before it ("danach", "darüber")."""

    @property
    def levels(self) -> tuple[frozenset[str], ...]:
        """The names that count: a bound, or what speaks of another thing than was asked for, is not measured by the question."""
        return self.names[:2] if self.aside or self.claim.bound else self.names


def facets(pieces: Sequence[Piece], labels: frozenset[str], language: Language) -> list[Facet]:
    """The facets of an entry's pieces, whose rows have these `labels`. A row is one; a sentence is one for each of its statements."""
    found: list[Facet] = []
    for piece in pieces:
        periods = language.notation.named_periods(piece.text)
        if piece.segment.kind == "row":
            # when a row holds stands in its column and is compared there: "(ab 1.1.2024)" is no year of the value before it
            figures = tuple(replace(figure, year=None) for figure in parse(piece.text, language.notation) if not figure.weak)
            found.append(Facet(piece, len(found), piece.bare, names(piece.bare, labels, language), figures, periods))
            continue
        cut = statements(piece.text, language)
        for said in cut:
            text = f"{said.lead} {said.text}".strip()
            own = language.notation.named_periods(said.text) or periods if len(cut) > 1 else periods
            near = unopposed([names(said.text, labels, language), names(said.lead, labels, language)], language)
            found.append(Facet(piece, len(found), text, frozenset[str]().union(*near), said.figures, own))
    return found


def label_words(pieces: Iterable[Piece], language: Language) -> frozenset[str]:
    """The terms of the labels of rows: what tells things apart in an entry even where it is written small ("small", "free")."""
    labels = (piece.text.rsplit(": ", 1)[0] for piece in pieces if piece.segment.kind == "row")
    return frozenset(term for label in labels for term in _spoken(label, language)[0])


def names(text: str, labels: frozenset[str], language: Language) -> frozenset[str]:
    """The terms of a text that name something: its nouns and the words of labels, without times, figures and what it excepts."""
    terms, nouns = _spoken(text, language)
    return (nouns | (terms & labels)) - contrast.left_out(text, language) - _empty(language)


@cache
def _empty(language: Language) -> frozenset[str]:
    """Terms that stand for any figure ("Betrag", "Wert") or tell its period, and no thing."""
    words = (*language.table["value_words"], *language.notation.periods.meaning)
    return frozenset(term for word in words for term in language.terms(word))


def aside(text: str, question: frozenset[str], read: Sequence[Facet], labels: frozenset[str], language: Language) -> bool:
    """Whether a text names something of the entry that the question does not name."""
    return any(not any(_within(term, said) for said in question) for term in known(names(text, labels, language), read))


def known(wanted: frozenset[str], facets: Iterable[Facet]) -> frozenset[str]:
    """Those of the names that an entry knows: what it never names tells nothing of its rows apart."""
    own = frozenset[str]().union(*(facet.names for facet in facets))
    return _named(wanted, own)


def unopposed(near: Sequence[frozenset[str]], language: Language) -> tuple[frozenset[str], ...]:
    """The names without those of what leads in and of the question that the clause itself puts another side in the place of."""
    local, *further = near
    sides = _sides(language)
    here = [any(stem in name for name in local for stem in side) for side in sides]
    if sum(here) != 1:
        return tuple(near)
    other = [stem for side, said in zip(sides, here, strict=True) for stem in side if not said]
    return (local, *(frozenset(name for name in names if not any(stem in name for stem in other)) for names in further))


@cache
def _sides(language: Language) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(term for word in side for term in language.terms(word)) for side in language.table["sides"])


@lru_cache(maxsize=8192)
def _spoken(text: str, language: Language) -> tuple[frozenset[str], frozenset[str]]:
    """All terms of a text outside of its figures, and those of its nouns."""
    capitals = language.small_word_weight(text) < 1
    tokens = language.tokens(without(text, language.notation))
    words = [(term, word) for term, word in tokens if word[0].isalpha() and not language.tells_time(term)]
    nouns = frozenset(term for term, word in words if not capitals or word[0].isupper())
    return frozenset(term for term, _ in words), nouns


def outdone(told: Told, holding: Sequence[Facet], others: Sequence[Facet]) -> bool:
    """Whether for each facet that holds the claim there is a rival that is nearer to what is said, or the same with less beside it.

    Rivals are those of the `others` that state another figure of the claim's kind and unit; of a step, any of its kind.
    """
    claim = told.claim
    kin = [facet for facet in others if any(figure.kind == claim.kind for figure in facet.figures)]
    rivals = [facet for facet in kin if any(figure.kind == claim.kind and figure.unit == claim.unit for figure in facet.figures)]
    if not kin or claim.end is not None or told.referred:
        return False
    near = [facet for facet in holding if not any(_closer(other, facet, told) for other in holding)]
    if rivals and (all(any(_nearer(rival, facet, told) for rival in rivals) for facet in near) or _unqualified(told, near, rivals)):
        return True
    return not claim.bound and (_other_step(told, holding, kin) or _other_period(told, holding, rivals))


def _closer(other: Facet, facet: Facet, told: Told) -> bool:
    """Whether of two facets that hold the claim the other one names more of its clause."""
    return _named(told.names[0], facet.names) < _named(told.names[0], other.names)


def _nearer(rival: Facet, facet: Facet, told: Told) -> bool:
    """Whether a rival names all that a facet names of what is said, and more: in the clause, else in the lead, else in the question."""
    for nearness, wanted in enumerate(told.levels):
        own, others = _named(wanted, facet.names), _named(wanted, rival.names)
        if own != others:
            # what is only said further off tells no more than the names a rival has beside it
            special = nearness > 0 and len(_unsaid(rival, told.levels)) > max(len(_unsaid(facet, told.levels)), QUALIFIERS - 1)
            return own < others and not (special and told.names[0])
    return False


def _unqualified(told: Told, holding: Sequence[Facet], rivals: Sequence[Facet]) -> bool:
    """Whether all that hold the claim are told by a word that nobody said ("in Vienna", "free"), and a rival is the same without it."""
    if told.claim.bound or told.own_case:
        return False
    unsaid = [_unsaid(facet, told.levels) for facet in holding]
    common = frozenset.intersection(*unsaid)
    if not 0 < len(common) <= QUALIFIERS:
        return False
    named = [tuple(_named(wanted, facet.names) for wanted in told.levels) for facet in holding]
    anywhere = frozenset[str]().union(*unsaid)
    return any(
        _unsaid(rival, told.levels) <= anywhere - common and tuple(_named(wanted, rival.names) for wanted in told.levels) in named
        for rival in rivals
    )


def _named(wanted: frozenset[str], own: frozenset[str]) -> frozenset[str]:
    """Those of the wanted terms that a text names, alone or in a compound."""
    return frozenset(term for term in wanted if term in own or (len(term) >= WHOLE and any(term in name for name in own)))


def _unsaid(facet: Facet, levels: Sequence[frozenset[str]]) -> frozenset[str]:
    """The names of a facet that neither the sentence nor the question says."""
    said = frozenset[str]().union(*levels)
    return frozenset(name for name in facet.names if not any(_within(name, term) for term in said))


def _within(name: str, term: str) -> bool:
    return name == term or (len(term) >= WHOLE and term in name) or (len(name) >= WHOLE and name in term)


def _other_step(told: Told, holding: Sequence[Facet], rivals: Sequence[Facet]) -> bool:
    """Whether the case the sentence names falls into the step of a rival and not into that of any facet that holds the claim."""
    if not told.case:
        return False
    local = frozenset(term for term in told.names[0] if not any(_within(term, said) for said in told.names[2]))
    nearest = max(len(_named(local, facet.names)) for facet in holding)
    found = [(fitted(told.case, _steps(facet, told.claim)), facet) for facet in holding if len(_named(local, facet.names)) == nearest]
    fits = [(fit, facet) for fit, facet in found if fit is not None]
    if not fits:
        return False
    best = max(fit for fit, _ in fits)
    for rival in rivals:
        fit = fitted(told.case, _steps(rival, told.claim))
        needed = 0.0 if any(figure.unit == told.claim.unit for figure in rival.figures) else EXACT
        if fit is None or fit <= max(best, needed):
            continue
        if fit >= EXACT and best < 0.0:
            if any(rival.names & facet.names for _, facet in fits):
                return True
        elif all(_alike(told, facet, rival) for _, facet in fits):
            return True
    return False


def _steps(facet: Facet, claim: Figure) -> tuple[Figure, ...]:
    return tuple(figure for figure in facet.figures if figure.kind not in CONDITIONS and not supports(claim, figure))


def _alike(told: Told, facet: Facet, rival: Facet) -> bool:
    """Whether a rival names all that the facet names of what is said."""
    return all(_named(wanted, facet.names) <= _named(wanted, rival.names) for wanted in told.names)


def _other_period(told: Told, holding: Sequence[Facet], rivals: Sequence[Facet]) -> bool:
    """Whether the sentence names no period, and the same thing is stated first for another one ("monthly" before "daily")."""
    if told.claim.period or told.periods:
        return False
    if not all(figure.period for facet in holding for figure in facet.figures if supports(told.claim, figure)):
        return False
    for rival in rivals:
        other = {figure.period for figure in rival.figures if figure.unit == told.claim.unit and figure.period}
        if other and all(rival.place < facet.place and not other & facet.periods and _same_thing(facet, rival, told) for facet in holding):
            return True
    return False


def _same_thing(facet: Facet, rival: Facet, told: Told) -> bool:
    """Whether two facets are told by the same names but for one on each side (that of the period), which the sentence does not say."""
    if any(_named(wanted, facet.names - rival.names) for wanted in told.names):
        return False
    return len(facet.names - rival.names) <= 1 and len(rival.names - facet.names) <= 1 and bool(facet.names & rival.names)
