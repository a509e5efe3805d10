"""An answer as the JSON document that programs read; its shape is published as the schema `answer`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from agent.values import Answer, Chunk, Citation, EntryInfo, Evidence, Grounded, Hit, Origin, Period, Refused, Trace, validity_on

SCHEMA_VERSION = "1.0"


def document(answer: Answer) -> dict[str, Any]:
    """The document of an answer or a refusal; every key is always there."""
    trace = answer.trace
    grounded = answer if isinstance(answer, Grounded) else None
    refused = answer if isinstance(answer, Refused) else None
    return {
        "schema_version": SCHEMA_VERSION,
        "question": trace.question.shown,
        "answer": answer.text,
        "refused": refused is not None,
        "reason": answer.reason.value if answer.reason else None,
        "flags": sorted(flag.value for flag in trace.flags),
        "origin": (grounded.origin if grounded else Origin.REFUSAL if refused else Origin.UNGROUNDED).value,
        "language": trace.language,
        "stichtag": trace.question.stichtag.isoformat(),
        "citations": [_citation(citation) for citation in grounded.citations] if grounded else [],
        "retrieved": [_hit(hit) for hit in trace.evidence.hits],
        "searched": _searched(trace),
        "nearest": [{"id": n.id, "title": n.title, "why_not": n.why_not} for n in refused.nearest] if refused else [],
        "missing": refused.missing if refused else "",
        "question_back": answer.question_back,
        "conflicts": [{"subject": c.subject, "answered": c.answered, "other": c.other} for c in grounded.conflicts] if grounded else [],
        "plan": _plan(trace),
        "strategy": trace.strategy,
        "complexity": _complexity(trace),
        "hops": [{"source": hop.source, "query": hop.query, "ids": list(hop.ids), "note": hop.note, "ms": hop.ms} for hop in trace.hops],
        "review": dict(trace.review) if trace.review else None,
        "checks": {
            "unknown_ids": list(trace.checks.unknown_ids),
            "unsupported_figures": list(trace.checks.unsupported_figures),
            "regenerated": trace.checks.regenerated,
        },
        "warnings": list(trace.warnings),
        "model": trace.model,
        "embedder": trace.embedder,
        "tokens": {"prompt": trace.tokens.prompt, "completion": trace.tokens.completion},
        "timings_ms": {name: round(value, 2) for name, value in trace.timings_ms.items()},
        "run_id": trace.run_id,
        "kb_version": trace.kb_version,
    }


def _citation(citation: Citation) -> dict[str, Any]:
    document = {
        "id": citation.id,
        "title": citation.title,
        "stand": citation.stand.isoformat(),
        "validity": citation.validity.value,
        "section": citation.section,
        "source": citation.source,
        "quote": citation.quote,
        "span": list(citation.span) if citation.span else None,
    }
    where = {"pages": list(citation.pages), "url": citation.url}
    return document | {name: value for name, value in where.items() if value}


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.entry.id,
        "section": hit.chunk.section,
        "score": round(hit.score, 6),
        "lexical_rank": hit.lexical_rank,
        "dense_rank": hit.dense_rank,
        "why": hit.why,
    }


def _searched(trace: Trace) -> dict[str, Any]:
    searched = trace.evidence.searched
    if searched is None:
        return {"queries": [], "scope": "alle", "stichtag": trace.question.stichtag.isoformat()}
    return {"queries": list(searched.queries), "scope": searched.scope, "stichtag": searched.stichtag.isoformat()}


def _complexity(trace: Trace) -> dict[str, Any] | None:
    found = trace.complexity
    return {"label": found.label.value, "said": found.said.value if found.said else None} if found else None


def _plan(trace: Trace) -> dict[str, Any] | None:
    if trace.plan is None:
        return None
    subqueries = [
        {"query": s.query, "date": [s.period.start.isoformat(), s.period.end.isoformat()], "scope": s.scope} for s in trace.plan.subqueries
    ]
    return {"type": trace.plan.type, "subqueries": subqueries}


def record(answer: Answer) -> dict[str, Any]:
    """An answer as the row of the run log that keeps it."""
    trace, told = answer.trace, document(answer)
    complexity = told["complexity"] or {"label": None, "said": None}
    return {
        "question": trace.question.shown,
        "stichtag": told["stichtag"],
        "strategy": trace.strategy,
        "kb_version": trace.kb_version,
        "refused": int(told["refused"]),
        "reason": told["reason"],
        "origin": told["origin"],
        "model": trace.model,
        "milliseconds": trace.timings_ms.get("total"),
        **complexity,
        "searches": len(trace.hops),
        "answer": json.dumps(told, ensure_ascii=False),
        "review": json.dumps(told["review"], ensure_ascii=False) if told["review"] else None,
    }


def search_document(question: str, evidence: Evidence) -> dict[str, Any]:
    """The document of a search: the hits with what each leg gave them."""
    return {
        "schema_version": SCHEMA_VERSION,
        "question": question,
        "flags": sorted(flag.value for flag in evidence.flags),
        "embedder": evidence.embedder,
        "hits": [
            {
                **_hit(hit),
                "title": hit.entry.title,
                "stand": hit.entry.stand.isoformat(),
                "lexical_score": hit.lexical_score,
                "dense_score": hit.dense_score,
                "text": hit.chunk.text,
            }
            for hit in evidence.hits
        ],
        "dropped": [{"id": d.id, "section": d.section, "score": round(d.score, 6), "why": d.why} for d in evidence.dropped],
    }


def entry_document(entry: EntryInfo, chunks: Sequence[Chunk], titles: Mapping[str, str], day: date) -> dict[str, Any]:
    """The document of an entry as the index holds it, with its validity on a day; `titles` are those of the entries it refers to.

    The spans are in characters of the entry's file, as those of citations are: a citation's sentence begins at `span[0]` less that of
    its section.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "id": entry.id,
        "title": entry.title,
        "stand": entry.stand.isoformat(),
        "validity": validity_on(Period.day(day), entry.valid_from, entry.valid_to).value,
        "valid_from": entry.valid_from.isoformat() if entry.valid_from else None,
        "valid_to": entry.valid_to.isoformat() if entry.valid_to else None,
        "stichtag": day.isoformat(),
        "topic": entry.topic,
        "category": entry.bereich,
        "tags": list(entry.tags),
        "norms": list(entry.norms),
        "sources": list(entry.sources),
        "sections": _sections(chunks),
        "cross_refs": [{"id": each, "title": titles[each]} for each in entry.cross_refs if each in titles],
    }


def _sections(chunks: Sequence[Chunk]) -> list[dict[str, Any]]:
    """The sections the chunks were cut from: what lay between two chunks of one was blank, and is so again, as long as it was."""
    found: list[dict[str, Any]] = []
    for chunk in chunks:
        start, end = chunk.span
        if found and found[-1]["section"] == chunk.section:
            gap = start - found[-1]["span"][1]
            found[-1]["text"] += (" " if gap == 1 else "\n" * gap) + chunk.text
            found[-1]["span"][1] = end
        else:
            found.append({"section": chunk.section, "text": chunk.text, "span": [start, end]})
    return found
