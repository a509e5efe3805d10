"""Answers without a model: the sentences and table rows of the evidence that best answer the question, each with its id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

from agent.interfaces import Parts
from agent.language import Language
from agent.language.asked import asked, meets, own_figures
from agent.language.bounds import stated, suits
from agent.language.cases import open_cases, same_kind
from agent.language.contrast import alternative, conditional, excepted, opposed, special
from agent.language.pieces import Piece, holding, pieces
from agent.language.similarity import covered
from agent.language.timing import fits
from agent.values import Complaint, Draft, Evidence, Hit, Origin, Period, Plan, Question, SubQuery

# What a piece's score is made of. A piece must say what is asked (recall), say little else (precision), hold a figure where one is asked
# for, be the step that the question's own figures fall into, and stand in an entry that the search ranked high.
CONTEXT = 0.6
"""What a word of the question counts that stands only in the entry's title or tags."""
PRECISION = 1.0
FIGURE = 0.8
"""What a figure of its own counts where the question wants one, by how surely it does."""
KIND = 0.45
"""And what is added where it is of the kind or unit asked for, and taken off where it is of another."""
PLACE = 0.8
MEANING = 1.8
STEP = 0.65
OPPOSED = 0.8
SPECIAL = 0.4
CONDITIONAL = 0.2
"""What is taken off for another side than the question names, for a special rule it does not ask for, and for a single case."""
NAMED = 2.5
"""What is added for stating the dated value the question names by its label and year."""
SECTION: Mapping[int, float] = {0: 0.4, 1: 0.15, 3: -0.9}
"""By the section's rank in the language's order: a summary says it best, a table next; an example speaks of its own case only."""

CLOSE = 0.85
"""The share of the best piece's score that a further piece needs, and below, the share of the question it must newly cover."""
NEW = 0.15
BESIDE = 3
"""How many pieces an answer has whose question asks for no figure."""
CASES = 6
"""From how many cases of one thing on none is said beside the best: a list of a table is no answer."""
ASIDE = 0.7
"""From which share of things the question does not speak of on a figure beside another would be another thing's."""
LATE, ALIKE, FAR, SAME = 0.15, 0.6, 0.5, 0.3
"""By how much the best piece for other days must be better than any for the days asked; the share of words that two pieces about the same
thing have in common; how far behind one that shares them is about something else, if it speaks of much besides; and how much less of the
question another piece of the same entry may cover."""
FITS = 0.5
"""The share of the best piece's score that an entry's best piece needs to be a line of a survey."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A piece that could be said, how well it answers, and which of the question's terms it says itself."""

    hit: Hit
    piece: Piece
    score: float
    terms: frozenset[str]
    says: frozenset[str]
    share: float
    """The share of the question it covers, its entry's title with it."""
    figure: bool
    """Whether it states a figure of its own, so that saying it beside another could mislead."""
    aside: float
    """The share of what it says that the question does not speak of."""
    timely: bool
    """Whether it holds on any of the days asked for."""


def draft(question: Question, plan: Plan, evidence: Evidence, parts: Parts, complaint: Complaint | None, /) -> Draft:
    """At most `extractive_sentences` pieces, the best first; of a survey a piece an entry; for several searches the best of each."""
    language, wanted, rivals = parts.language, asked(question.text, parts.language), _alternatives(parts)
    chosen: list[Candidate] = []
    late: list[bool] = []
    for subquery in plan.subqueries:
        own = _of(subquery, plan, evidence, language)
        every = candidates(subquery.query, own, language, subquery.period, rivals)
        found = _about(_particular(subquery, plan, language), every, own, language)
        late.append(bool(wanted.sure) and _late(found, language))
        ranked = [candidate for candidate in found if candidate.timely]
        if plan.type == "survey":
            best = surveyed(ranked, max(1, parts.settings.survey_blocks // len(plan.subqueries)), language)
        else:
            most = max(1, parts.settings.extractive_sentences // len(plan.subqueries))
            best = _answering(ranked, subquery.query, own, language, most)
        chosen += [candidate for candidate in best if all(candidate.piece.text != known.piece.text for known in chosen)]
    if plan.type != "survey" and all(late):
        return Draft("", Origin.EXTRACTIVE, untimely=True)
    return Draft("\n".join(_cited(candidate) for candidate in chosen), Origin.EXTRACTIVE)


def _answering(found: list[Candidate], question: str, evidence: Evidence, language: Language, most: int) -> list[Candidate]:
    """The best piece and what belongs beside it: the parts of the question it leaves out, and the cases the question leaves open.

    An example speaks of its own case: it is quoted where it answers best, and never beside what does.
    """
    example = language.table["example_section"]
    ranked = found[:1] + [candidate for candidate in found[1:] if candidate.hit.chunk.section != example]
    explains = asked(question, language).sure < 1 and bool(ranked) and not ranked[0].figure
    chosen = selected(ranked, evidence.weights, most, several=explains)
    return _with_cases(chosen, ranked, question, evidence, language)[:most]


def _late(found: Sequence[Candidate], language: Language) -> bool:
    """Whether the figure that answers best holds on other days only: what holds on the days asked for is worse, and about other things."""
    if not found or found[0].timely:
        return False
    best, timely = found[0], [candidate for candidate in found if candidate.timely]
    if any(_alike(candidate, best) and same_kind(candidate.piece, best.piece, language) for candidate in timely):
        return False
    return best.score > max((candidate.score for candidate in timely), default=0.0) + LATE


def _alike(other: Candidate, best: Candidate) -> bool:
    """Whether another piece is about the same thing as the best: in the same words, or of the same entry and as much of the question."""
    if other.hit.entry.id == best.hit.entry.id and other.says and other.share >= best.share - SAME and other.score >= best.score - FAR:
        return True
    return _shared(other, best) >= ALIKE and (other.aside <= ASIDE or other.score >= best.score - FAR)


def _of(subquery: SubQuery, plan: Plan, evidence: Evidence, language: Language) -> Evidence:
    """The evidence as one search of several sees it: only its own terms count, and in a survey none that merely asks for one."""
    terms = frozenset(language.terms(subquery.query))
    if plan.type == "survey":
        terms -= frozenset(language.terms(" ".join(language.table["survey_words"])))
    weights = {term: weight for term, weight in evidence.weights.items() if term in terms}
    return replace(evidence, weights=weights) if weights else evidence


def _particular(subquery: SubQuery, plan: Plan, language: Language) -> list[str]:
    """The terms by which one search differs from the others of its plan."""
    others = [frozenset(language.terms(other.query)) for other in plan.subqueries if other.query != subquery.query]
    terms = [term for term in language.query_terms(subquery.query) if not language.tells_time(term)]
    return [term for term in terms if others and max(covered(term, of_other) for of_other in others) < 0.5]


def _about(particular: Sequence[str], found: list[Candidate], evidence: Evidence, language: Language) -> list[Candidate]:
    """The candidates that speak of what one search is about in particular, in their own words or their entry's title; else all."""

    def speaks(candidate: Candidate) -> bool:
        said = candidate.terms | frozenset(language.terms(candidate.hit.entry.title))
        return any(covered(term, said, evidence.variants.get(term, ())) >= 0.5 for term in particular)

    return [candidate for candidate in found if speaks(candidate)] or found


def surveyed(found: Sequence[Candidate], most: int, language: Language) -> list[Candidate]:
    """The best piece of each entry, the best entry first, as long as it comes near enough to the best of all; no mere reference."""
    best: dict[str, Candidate] = {}
    for candidate in found:
        if candidate.score >= FITS * found[0].score and not language.only_if_alone(candidate.hit.chunk.section):
            best.setdefault(candidate.hit.entry.id, candidate)
    return list(best.values())[:most]


def _alternatives(parts: Parts) -> tuple[frozenset[str], ...]:
    """The groups of terms of which one excludes the other, as the knowledge base tells them."""
    groups = parts.tables["limits"]["alternatives"]
    return tuple(frozenset(term for word in group for term in parts.language.terms(word)) for group in groups)


def candidates(
    question: str, evidence: Evidence, language: Language, period: Period, rivals: Sequence[frozenset[str]] = ()
) -> list[Candidate]:
    """Every piece of the evidence, best first; of those that hold on no day of `period` the ones with a figure, as if they did.

    `rivals` are groups of terms that exclude one another.
    """
    places = {entry_id: place for place, entry_id in enumerate(dict.fromkeys(hit.entry.id for hit in evidence.hits))}
    found = [
        (hit, piece)
        for hit in evidence.hits
        for piece in pieces(hit.entry.title, hit.chunk.text, language)
        if piece.key not in evidence.overruled
    ]
    telling = _telling([piece.terms for _, piece in found])
    wanted = asked(question, language)
    nearness = _nearness(evidence)
    case = stated(question, language.notation) if any(c.isdigit() for c in question) else []
    around = _around(evidence, language)
    spoken = frozenset(evidence.weights).union(*evidence.variants.values())
    shared = {term: weight * covered(term, spoken) for term, weight in telling.items()}
    ranked: list[Candidate] = []
    for hit, piece in found:
        timing, figures = fits(holding(piece, language), period, language), own_figures(piece.bare, wanted, language)
        if not timing and not any(figure.kind != "date" or "date" in wanted.kinds for figure in figures):
            continue  # what held on other days is worth telling for its figure; a date says only when
        share, says = _recall(evidence, piece.terms, around[hit.entry.id])
        precision = _precision(piece.words, shared, telling)
        score = share * (timing or 1.0) + PRECISION * precision + MEANING * nearness.get(piece.key, 0.0)
        score += FIGURE * wanted.sure * bool(figures) + KIND * meets(wanted, figures) + PLACE / (1 + places[hit.entry.id])
        score += SECTION.get(language.section_rank(hit.chunk.section), 0.0)
        score += STEP * suits(case, piece.bare, language.notation) if case else 0.0
        other = opposed(question, piece.bare, language) or excepted(question, piece.bare, language)
        score -= OPPOSED * (other or alternative(spoken, piece.bare, rivals, language))
        score -= SPECIAL * special(question, piece.bare, language) + CONDITIONAL * conditional(piece.bare, language)
        score += NAMED * (piece.key in evidence.named)
        ranked.append(Candidate(hit, piece, score, piece.terms, says, share, bool(figures), 1 - precision, timing > 0))
    return sorted(ranked, key=lambda c: (-c.score, places[c.hit.entry.id], c.hit.chunk.ordinal, c.piece.segment.span))


def _nearness(evidence: Evidence) -> dict[str, float]:
    """How near each piece lies to the question in meaning, 0 for the farthest of the evidence to 1 for the nearest.

    Cosines of one embedder crowd together, so only their order and distance within this evidence say anything.
    """
    if not evidence.likeness:
        return {}
    low, high = min(evidence.likeness.values()), max(evidence.likeness.values())
    return {key: (value - low) / ((high - low) or 1.0) for key, value in evidence.likeness.items()}


def _telling(pieces: Sequence[frozenset[str]]) -> dict[str, float]:
    """How telling each term is among the pieces at hand (idf)."""
    counts = Counter(term for terms in pieces for term in terms)
    return {term: log(1 + len(pieces) / count) for term, count in counts.items()}


def _around(evidence: Evidence, language: Language) -> dict[str, dict[str, float]]:
    """How well each entry's title and tags cover each of the question's terms."""
    titles = {hit.entry.id: " ".join((hit.entry.title, hit.entry.topic, *hit.entry.tags)) for hit in evidence.hits}
    named = {entry_id: frozenset(language.terms(title)) for entry_id, title in titles.items()}
    return {
        entry_id: {term: covered(term, terms, evidence.variants.get(term, ())) for term in evidence.weights}
        for entry_id, terms in named.items()
    }


def _recall(evidence: Evidence, terms: frozenset[str], around: Mapping[str, float]) -> tuple[float, frozenset[str]]:
    """The share of the question a piece covers, and the terms of it that the piece itself says."""
    total = sum(evidence.weights.values()) or 1.0
    share, says = 0.0, set()
    for term, weight in evidence.weights.items():
        own = covered(term, terms, evidence.variants.get(term, ()))
        if own >= 0.5:
            says.add(term)
        share += weight * max(own, CONTEXT * around[term]) / total
    return share, frozenset(says)


def _precision(words: Sequence[str], shared: Mapping[str, float], telling: Mapping[str, float]) -> float:
    """The share of what a piece says that the question speaks of too; figures are what is asked for, so they do not count."""
    total = sum(telling[term] for term in words)
    return sum(shared[term] for term in words) / total if total else 0.0


def selected(found: Sequence[Candidate], weights: Mapping[str, float], most: int, *, several: bool) -> list[Candidate]:
    """The best piece, then those that come close and add a part of the question; with `several` also those that only come close.

    A further piece with a figure must speak of little that the question does not: it would be another thing's figure beside the right one.
    """
    chosen: list[Candidate] = []
    said_terms: frozenset[str] = frozenset()
    total = sum(weights.values()) or 1.0
    for candidate in found:
        if len(chosen) >= most or candidate.score < CLOSE * found[0].score:
            break
        new = sum(weights[term] for term in candidate.says - said_terms) / total
        beside = several and len(chosen) < BESIDE
        misleads = candidate.figure and candidate.aside > ASIDE
        if not chosen or ((new >= NEW or beside) and not misleads and all(_different(candidate, known) for known in chosen)):
            chosen.append(candidate)
            said_terms |= candidate.says
    return chosen


def _with_cases(
    chosen: list[Candidate], found: Sequence[Candidate], question: str, evidence: Evidence, language: Language
) -> list[Candidate]:
    """What is chosen, in place of a first figure that holds for one case only all the cases the question leaves open, as they stand."""
    if not chosen or not chosen[0].figure:
        return chosen
    best, asked_for = chosen[0], {term: evidence.variants.get(term, ()) for term in evidence.weights}
    near = [other for other in found if other.hit.chunk == best.hit.chunk and other.score >= CLOSE * best.score]
    cases = open_cases(question, best.piece, [other.piece for other in near], asked_for, language)
    if not 0 < len(cases) < CASES:
        return chosen
    group = [other for other in near if other is best or other.piece in cases]
    rest = [other for other in chosen[1:] if other not in group]
    return sorted(group, key=lambda one: one.piece.segment.span) + rest


def _different(left: Candidate, right: Candidate) -> bool:
    return _shared(left, right) < ALIKE


def _shared(left: Candidate, right: Candidate) -> float:
    """The share of the shorter piece's words that the other says too."""
    return len(left.terms & right.terms) / (min(len(left.terms), len(right.terms)) or 1)


def _cited(candidate: Candidate) -> str:
    text = candidate.piece.text
    stop = text[-1] if text[-1:] in ".!?" else "."
    return f"{text.rstrip('.!?')} [{candidate.hit.entry.id}]{stop}"
