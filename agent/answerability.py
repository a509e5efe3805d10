"""Whether a question may be answered from this evidence at all, before any model is asked; pure.

The gate is plain: the share of the question's telling words that the best entry holds, each word weighted by how rare it is in the
knowledge base. A word the knowledge base has never seen weighs most, so one foreign noun is enough to make a neighbouring entry too thin.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.language import Language
from agent.language.similarity import covered
from agent.values import Evidence, Flag, Reason


@dataclass(frozen=True, slots=True)
class Verdict:
    """`score` is 0 to 1; `reason` is None where the question may be answered; `missing` are the words found nowhere."""

    score: float
    reason: Reason | None
    missing: tuple[str, ...] = ()


def judged(question: str, evidence: Evidence, language: Language, *, least: float) -> Verdict:
    """The verdict on a question and the evidence found for it; `least` is the share that must be covered."""
    if not evidence.hits:
        nothing = (
            Reason.OUT_OF_DATE if evidence.beside else Reason.SOURCE_FAILED if Flag.SEARCH_FAILED in evidence.flags else Reason.NO_EVIDENCE
        )
        return Verdict(0.0, nothing)
    if not evidence.weights:
        return Verdict(0.0, Reason.WEAK_EVIDENCE)
    held = entry_terms(evidence, language)
    matched = {term: max(covered(term, terms, evidence.variants.get(term, ())) for terms in held.values()) for term in evidence.weights}
    score = max(
        sum(weight * covered(term, terms, evidence.variants.get(term, ())) for term, weight in evidence.weights.items())
        for terms in held.values()
    ) / sum(evidence.weights.values())
    written = {term: word for term, word in language.tokens(question)}
    missing = tuple(written.get(term, term) for term, match in matched.items() if not match)
    return Verdict(score, None if score >= least else Reason.WEAK_EVIDENCE, missing)


def entry_terms(evidence: Evidence, language: Language) -> dict[str, frozenset[str]]:
    """The terms each entry of the evidence holds, its title and tags with them."""
    held: dict[str, set[str]] = {}
    for hit in evidence.hits:
        terms = held.setdefault(hit.entry.id, set(language.terms(" ".join((hit.entry.title, hit.entry.topic, *hit.entry.tags)))))
        terms.update(language.terms(hit.chunk.text))
    return {entry_id: frozenset(terms) for entry_id, terms in held.items()}
