"""Whether a question may be answered from this evidence at all, before any planner or model is asked; pure.

No threshold on a BM25 score or a cosine tells answerable questions from others, so several weak signals are joined by a logistic model
(Cox 1958) whose coefficients are a data file, fitted on labelled questions by `pv-agent fit answerability`. Before it stand two rules that
need no statistics: the question names another country's law, or what it asks about is held for other days only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from typing import Any

from agent.language import Language
from agent.language.analyser import folded, spaced
from agent.language.similarity import coverage, covered
from agent.values import KNOWLEDGE_BASE, Evidence, Flag, Hit, Reason

FEATURES = ("coverage", "missing", "title", "rare", "piece", "cosine", "margin", "agreement")
"""coverage: share of the question's weight that the best entry holds. missing: the largest share of one term that no entry holds.
title: the best title's share. rare: the share of all terms that no entry holds. piece, cosine, margin: the dense leg's. agreement: how
many of the three best by words are among the ten best by meaning."""

DENSE = ("piece", "cosine", "margin", "agreement")
ALONE = 0.6
"""The share of a question's weight from which one word is what it is about: where no entry holds that word, none answers it."""
TITLED = 0.94
"""From which share of the question in one entry's title on the entry is about it, however little the embedder makes of a short question."""
AHEAD = 0.25
"""By how much the title of an entry for other days must fit better than that of any entry for the days asked."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`score` is the probability that the question can be answered; `reason` is None where it may be; `missing` is what was not found."""

    score: float
    reason: Reason | None
    missing: tuple[str, ...] = ()


def judged(question: str, evidence: Evidence, language: Language, tables: Mapping[str, Mapping[str, Any]]) -> Verdict:
    """The verdict on a question and what was found for it. `tables` holds "limits" and "answerability"."""
    outside = elsewhere(question, tables["limits"])
    if outside:
        return Verdict(0.0, Reason.OUT_OF_SCOPE, (outside,))
    if not evidence.hits:
        nothing = Reason.SOURCE_FAILED if Flag.SEARCH_FAILED in evidence.flags else Reason.NO_EVIDENCE
        return Verdict(0.0, Reason.OUT_OF_DATE if evidence.beside else nothing)
    if any(hit.source != KNOWLEDGE_BASE for hit in evidence.hits):
        return Verdict(1.0, None)  # the signals are the index's; what another source gives is for the model and for grounding
    if not evidence.weights:
        return Verdict(0.0, Reason.WEAK_EVIDENCE)
    if _for_other_days(evidence, language):
        return Verdict(0.0, Reason.OUT_OF_DATE)
    found = features(evidence, language)
    model = tables["answerability"]["hybrid" if evidence.likeness else "lexical"]
    score = probability(found, model)
    if found["title"] >= TITLED:
        score = max(score, model["threshold"])
    answerable = score >= model["threshold"] and found["missing"] < ALONE
    return Verdict(score, None if answerable else Reason.WEAK_EVIDENCE, _missing(question, evidence, language))


def elsewhere(question: str, limits: Mapping[str, Any]) -> str:
    """What the question asks for that the knowledge base does not hold by its nature; empty where it asks for nothing such."""
    text = spaced(question)
    for outside in limits["outside"]:
        if _says(text, outside["phrases"]) and not _says(text, outside["unless"]):
            return str(outside["name"])
    return ""


def _says(text: str, phrases: Sequence[str]) -> bool:
    return any(_spoken_as(phrase) in text for phrase in phrases)


@lru_cache(maxsize=4096)
def _spoken_as(phrase: str) -> str:
    return f" {folded(phrase)} "


def probability(found: Mapping[str, float], model: Mapping[str, Any]) -> float:
    """The logistic model's probability for these features."""
    weights: Mapping[str, float] = model["weights"]
    return 1 / (1 + exp(-(model["bias"] + sum(weight * found[name] for name, weight in weights.items()))))


def features(evidence: Evidence, language: Language) -> dict[str, float]:
    """The signals of one search, each about 0 to 1."""
    held = _spoken(entry_terms(evidence.hits, language), evidence)
    weights, total = evidence.weights, sum(evidence.weights.values())
    best = {term: max(covered(term, terms, evidence.variants.get(term, ())) for terms in held.values()) for term in weights}
    words = [hit.entry.id for hit in sorted(evidence.hits, key=lambda hit: hit.lexical_rank or 999)[:3] if hit.lexical_rank]
    meaning = {hit.entry.id for hit in evidence.hits if hit.dense_rank and hit.dense_rank <= 10}
    return {
        "coverage": max(coverage(weights, terms, evidence.variants) for terms in held.values()),
        "missing": max(weight * (1 - best[term]) for term, weight in weights.items()) / total,
        "title": _title(evidence.hits, evidence, language),
        "rare": sum(weight for term, weight in weights.items() if best[term] < 0.5) / total,
        "piece": max(evidence.likeness.values(), default=0.0),
        "cosine": evidence.signals.get("cosine", 0.0),
        "margin": 10 * evidence.signals.get("margin", 0.0),
        "agreement": len(meaning.intersection(words)) / 3,
    }


def entry_terms(hits: Sequence[Hit], language: Language) -> dict[str, frozenset[str]]:
    """The terms each entry holds in the chunks that were found, its title and tags with them."""
    held: dict[str, set[str]] = {}
    for hit in hits:
        terms = held.setdefault(hit.entry.id, set(language.terms(" ".join((hit.entry.title, hit.entry.topic, *hit.entry.tags)))))
        terms.update(language.terms(hit.chunk.text))
    return {entry_id: frozenset(terms) for entry_id, terms in held.items()}


def _spoken(held: Mapping[str, frozenset[str]], evidence: Evidence) -> dict[str, frozenset[str]]:
    """The terms each entry holds, with those relatives of the question's words that are phrases and stand in it with all their terms."""
    phrases = {other for others in evidence.variants.values() for other in others if " " in other}
    return {entry_id: terms | {phrase for phrase in phrases if terms.issuperset(phrase.split())} for entry_id, terms in held.items()}


def _title(hits: Sequence[Hit], evidence: Evidence, language: Language) -> float:
    return max((coverage(evidence.weights, frozenset(language.terms(hit.entry.title)), evidence.variants) for hit in hits), default=0.0)


def _for_other_days(evidence: Evidence, language: Language) -> bool:
    """Whether an entry that holds for other days names what is asked in its title, and none that holds for the days asked does."""
    return bool(evidence.beside) and _title(evidence.beside, evidence, language) > _title(evidence.hits, evidence, language) + AHEAD


def _missing(question: str, evidence: Evidence, language: Language) -> tuple[str, ...]:
    """The question's telling words that no entry of the evidence holds, as written."""
    held = _spoken(entry_terms(evidence.hits, language), evidence).values()
    return tuple(
        dict.fromkeys(
            word
            for term, word in language.tokens(question)
            if term in evidence.weights
            and not language.says_little(term)
            and max(covered(term, terms, evidence.variants.get(term, ())) for terms in held) < 0.5
        )
    )
