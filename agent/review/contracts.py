"""What the four roles hand on: a model's reply becomes one of these values or a fault, and nothing else reaches the next role.

The contracts are types with limits (schemas/review.*.json), not judges: whether an answer is good is the third role's business, and
whether it may be published is decided in `rules`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agent import structured, texts


class Status(StrEnum):
    """What became of one role's call."""

    NOT_RUN = "not_run"
    VALID = "valid"
    INVALID_JSON = "invalid_json"
    """No JSON object alone, or one that breaks its schema."""
    CHANGED_QUESTION = "changed_question"
    """It names another question than the user's as the original one."""
    LOW_CONFIDENCE = "low_confidence"
    NO_QUERY = "no_query"
    LOST_FOCUS = "lost_focus"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Fault:
    """A reply that is no contract, and what is wrong with it."""

    status: Status
    message: str


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the text as it may be written, with the family it belongs to."""

    surface: str
    family: str
    kind: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The first role's: searches, each with its purpose; the words that must stay in focus; term families; what is not meant."""

    queries: tuple[tuple[str, str], ...]
    focus: tuple[str, ...]
    terms: tuple[Term, ...]
    excluded: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class Used:
    """A chunk a text says it rests on."""

    chunk_id: str
    source: str
    claim: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """The second role's: an answer and what it says of itself. `uncertain` is honesty, no rejection."""

    text: str
    scope: str
    used: tuple[Used, ...]
    uncertain: tuple[str, ...]
    from_chunks: bool
    answers: bool
    no_metadata: bool
    notes: str


@dataclass(frozen=True, slots=True)
class Review:
    """The third role's: its verdict, the action it asks for, its four findings, and the revision where it proposes one."""

    verdict: str
    action: str
    answers: bool
    grounded: bool
    drifts: bool
    leaks: bool
    unsupported: tuple[str, ...]
    revision: str
    notes: str

    @property
    def sound(self) -> bool:
        """All four findings are in the answer's favour."""
        return self.answers and self.grounded and not self.drifts and not self.leaks


@dataclass(frozen=True, slots=True)
class Correction:
    """The fourth role's: the answer corrected, what it rests on, and what was taken out or put right."""

    text: str
    used: tuple[Used, ...]
    removed: tuple[str, ...]
    corrected: tuple[str, ...]
    notes: str


Contract = Rewrite | Proposal | Review | Correction


def normalised(name: str, text: str, question: str) -> Contract | Fault:
    """The contract `name` ("rewrite", "answer", "verdict", "correction") in a model's reply to `question`, or what is wrong with it."""
    value, error = structured.read(text, texts.schema(f"review.{name}"), alone=True)
    if value is None:
        return Fault(Status.INVALID_JSON, error)
    if "original_question" in value and not same(str(value["original_question"]), question):
        return Fault(Status.CHANGED_QUESTION, "original_question is not the question that was asked")
    return _MADE[name](value)


def same(one: str, other: str) -> bool:
    """Whether two questions are the same text, white space and Unicode form aside."""
    return _plain(one) == _plain(other)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _rewrite(value: Mapping[str, Any]) -> Rewrite:
    return Rewrite(
        queries=tuple((_plain(query["query"]), query["purpose"]) for query in value["retrieval_queries"]),
        focus=tuple(map(_plain, value["must_keep_focus"])),
        terms=tuple(Term(_plain(term["surface"]), _plain(term["normalized_family"]), term["kind"]) for term in value["semantic_terms"]),
        excluded=tuple(map(_plain, value["negative_constraints"])),
        confidence=float(value["confidence"]),
    )


def _proposal(value: Mapping[str, Any]) -> Proposal:
    coverage = value["source_coverage"]
    return Proposal(
        text=value["answer"].strip(),
        scope=value["answer_scope"],
        used=_used(value),
        uncertain=tuple(value["unsupported_or_uncertain"]),
        from_chunks=coverage["uses_retrieved_chunks"],
        answers=coverage["answers_original_question"],
        no_metadata=coverage["ignores_metadata_as_facts"],
        notes=value["grounding_notes"],
    )


def _review(value: Mapping[str, Any]) -> Review:
    return Review(
        verdict=value["verdict"],
        action=value["required_action"],
        answers=value["answers_original_question"],
        grounded=value["grounded_in_sources"],
        drifts=value["drift_from_original_question"],
        leaks=value["metadata_leakage"],
        unsupported=tuple(claim for claim in map(_plain, value["unsupported_claims"]) if claim),
        revision=value.get("minor_revision", "").strip(),
        notes=value["review_notes"],
    )


def _correction(value: Mapping[str, Any]) -> Correction:
    return Correction(
        text=value["corrected_answer"].strip(),
        used=_used(value),
        removed=tuple(value["removed_claims"]),
        corrected=tuple(value["corrected_claims"]),
        notes=value["correction_notes"],
    )


def _used(value: Mapping[str, Any]) -> tuple[Used, ...]:
    return tuple(Used(one["chunk_id"].strip(), one["source"], one["claim_supported"]) for one in value["evidence_used"])


_MADE: Mapping[str, Callable[[Mapping[str, Any]], Contract]] = {
    "rewrite": _rewrite,
    "answer": _proposal,
    "verdict": _review,
    "correction": _correction,
}
