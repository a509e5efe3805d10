"""Answers without a model: the sentences and table rows of the evidence that best answer the question, each with its id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.interfaces import Parts
from agent.language import Language
from agent.language.segments import Segment, segments
from agent.language.similarity import covered
from agent.language.timing import fits
from agent.values import Complaint, Draft, Evidence, Hit, Origin, Period, Plan, Question

CONTEXT = 0.7
"""What a word counts that stands only in the title or tags of the entry, not in the sentence itself."""
CLOSE = 0.75
"""The share of the best piece's score that a further piece needs."""
FIGURE = 0.2
"""What a figure adds where the question asks for one."""
NEARBY = 0.3
"""What the place of the piece's entry in the evidence adds, at most."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A piece that could be said, how well it answers, and the terms it says."""

    hit: Hit
    segment: Segment
    text: str
    score: float
    terms: frozenset[str]


def draft(question: Question, plan: Plan, evidence: Evidence, parts: Parts, complaint: Complaint | None, /) -> Draft:
    """At most `extractive_sentences` pieces, the best first; for several periods the best of each."""
    language, most = parts.language, parts.settings.extractive_sentences
    chosen: list[Candidate] = []
    for subquery in plan.subqueries:
        for candidate in selected(candidates(question.text, evidence, language, subquery.period), most):
            if all(candidate.text != known.text for known in chosen):
                chosen.append(candidate)
    text = "\n".join(_cited(candidate) for candidate in chosen[: max(most, len(plan.subqueries))])
    return Draft(text, Origin.EXTRACTIVE)


def candidates(question: str, evidence: Evidence, language: Language, period: Period) -> list[Candidate]:
    """Every piece of the evidence that may be said for `period`, best first."""
    weights = evidence.weights
    total = sum(weights.values()) or 1.0
    wants_figure = any(mark in question.casefold() for mark in language.table["figure_questions"])
    places = {entry_id: place for place, entry_id in enumerate(dict.fromkeys(hit.entry.id for hit in evidence.hits))}
    found: list[Candidate] = []
    for hit in evidence.hits:
        around = frozenset(language.terms(" ".join((hit.entry.title, hit.entry.topic, *hit.entry.tags))))
        for segment in segments(hit.chunk.text, language.sentences):
            timing = fits(_dated_text(segment, language), period, language)
            if not timing or segment.text.endswith((":", "?")):
                continue
            terms = frozenset(language.terms(segment.text))
            match = sum(_match(term, weight, terms, around, evidence) for term, weight in weights.items()) / total
            figure = FIGURE if wants_figure and _has_figure(segment) else 0.0
            near = NEARBY / (1 + places[hit.entry.id])
            text = said(segment, language)
            found.append(Candidate(hit, segment, text, match * timing + figure + near, terms))
    return sorted(found, key=lambda c: (-c.score, places[c.hit.entry.id], c.hit.chunk.ordinal, c.segment.span))


def _match(term: str, weight: float, terms: frozenset[str], around: frozenset[str], evidence: Evidence) -> float:
    variants = evidence.variants.get(term, ())
    return weight * max(covered(term, terms, variants), CONTEXT * covered(term, around, variants))


def selected(found: Sequence[Candidate], most: int) -> list[Candidate]:
    """The best piece and what comes close to it without repeating it."""
    chosen: list[Candidate] = []
    for candidate in found:
        if len(chosen) >= most or candidate.score < CLOSE * found[0].score:
            break
        if all(_different(candidate, known) for known in chosen):
            chosen.append(candidate)
    return chosen


def _different(left: Candidate, right: Candidate) -> bool:
    shared = len(left.terms & right.terms)
    return shared < 0.6 * min(len(left.terms), len(right.terms) or 1)


def said(segment: Segment, language: Language) -> str:
    """A piece as it is said: a sentence as it stands, a row as label, value and, in parentheses, what it holds for."""
    if segment.kind != "row":
        return segment.text
    table = language.table
    shown = [(name, cell) for name, cell in segment.cells if cell and name not in table["hidden_columns"]]
    if len(shown) < 2:
        return segment.text
    label, value, rest = shown[0][1], shown[1][1], [cell for _, cell in shown[2:]]
    return f"{label}: {value}{f' ({', '.join(rest)})' if rest else ''}"


def _dated_text(segment: Segment, language: Language) -> str:
    """What tells when a piece holds: a row's column of time where it has one, else all of it."""
    times = [cell for name, cell in segment.cells if name in language.table["time_columns"]]
    return times[0] if times else segment.text


def _has_figure(segment: Segment) -> bool:
    return any(c.isdigit() for c in segment.text)


def _cited(candidate: Candidate) -> str:
    text = candidate.text
    stop = text[-1] if text[-1:] in ".!?" else "."
    return f"{text.rstrip('.!?')} [{candidate.hit.entry.id}]{stop}"
