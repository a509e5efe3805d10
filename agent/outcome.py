"""A supported text as the answer that is published: with what its evidence says otherwise, and the question it leaves open."""

from __future__ import annotations

from dataclasses import replace

from agent import clarify, conflicts
from agent.interfaces import Parts
from agent.values import WEB, Citation, Flag, Grounded, Origin, Trace


def grounded(text: str, cited: tuple[Citation, ...], origin: Origin, trace: Trace, parts: Parts) -> Grounded:
    """The answer of a text that grounding let pass; `trace` holds the plan and the evidence it was checked against."""
    language = parts.language
    parts.log.step("grounded", origin=origin, citations=[citation.id for citation in cited])
    if any(citation.source == WEB for citation in cited):
        trace = replace(trace, warnings=(*trace.warnings, language.message("web_cited")))
    said = [text, *(citation.quote for citation in cited)]
    return Grounded(
        text,
        cited,
        origin,
        _flagged(trace),
        question_back=clarify.question_back(trace.question.text, said, language, parts.tables["limits"]),
        conflicts=conflicts.told(trace.evidence, text, language),
    )


def _flagged(trace: Trace) -> Trace:
    """The trace with a flag where an entry's validity begins or ends inside the period asked for."""
    changes = any(
        subquery.period.start < edge <= subquery.period.end
        for subquery in (trace.plan.subqueries if trace.plan else ())
        for hit in trace.evidence.hits[:1]
        for edge in (hit.entry.valid_from, hit.entry.valid_to)
        if edge is not None and edge != subquery.period.end
    )
    return replace(trace, flags=trace.flags | {Flag.CHANGES_WITHIN_PERIOD}) if changes else trace
