"""Words a refusal: the fixed sentence, one line for its reason, and the nearest entries with why they do not suffice; pure."""

from __future__ import annotations

from collections.abc import Sequence

from agent import ranking
from agent.language import Language
from agent.values import Hit, Nearest, Period, Reason, Refused, Trace, Validity, validity_on

SHOWN = 3
"""How many of the nearest entries are named."""


def refused(reason: Reason, trace: Trace, language: Language, *, missing: Sequence[str] = ()) -> Refused:
    """A refusal. The same cause gives the same text."""
    period = trace.plan.subqueries[0].period if trace.plan else Period.day(trace.question.stichtag)
    named = reason is Reason.OUT_OF_SCOPE  # what lies outside is named, not quoted
    words = (", ".join(missing) if named else _not_found(missing, language)) if missing else ""
    return Refused(
        reason,
        f"{language.message('refusal')}\n{_line(reason, language, period, words)}",
        trace,
        missing=words,
        nearest=tuple(_nearest(hit, reason, language, period) for hit in _first(trace, reason)),
    )


def _not_found(words: Sequence[str], language: Language) -> str:
    return language.message("missing_words", words=", ".join(language.message("quoted", word=word) for word in words))


def _line(reason: Reason, language: Language, period: Period, words: str) -> str:
    if reason is Reason.WEAK_EVIDENCE and not words:
        return language.message("weak_evidence_plain")
    return language.message(reason.value, missing=words, period=language.period(period))


def _first(trace: Trace, reason: Reason) -> list[Hit]:
    evidence = trace.evidence
    hits = (evidence.beside if reason is Reason.OUT_OF_DATE else ()) or evidence.hits or evidence.beside
    return ranking.first_of_each(hits)[:SHOWN]


def _nearest(hit: Hit, reason: Reason, language: Language, period: Period) -> Nearest:
    entry = hit.entry
    state = validity_on(period, entry.valid_from, entry.valid_to)
    if state is Validity.PAST and entry.valid_to:
        why = language.message("near_past", day=language.day(entry.valid_to))
    elif state is Validity.FUTURE and entry.valid_from:
        why = language.message("near_future", day=language.day(entry.valid_from))
    elif reason is Reason.OUT_OF_DATE:
        why = language.message("near_other_days")
    elif reason in (Reason.CITATIONS_INVALID, Reason.FIGURES_UNSUPPORTED, Reason.MODEL_REFUSED, Reason.THIN_EVIDENCE):
        why = language.message("near_unsupported")
    else:
        why = language.message("near_other_words")
    return Nearest(entry.id, entry.title, why)
