"""What strategies share: one search, timed and logged, one evidence out of several, and a text that says what it rests on.

A source that fails leaves a note and no hits, so that the others may still answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from agent.errors import SourceError
from agent.interfaces import Parts, Source
from agent.language import Language, citations
from agent.language.timing import asked_periods
from agent.values import Evidence, Flag, Hit, Hop, Period, Plan, Question, Searched, SubQuery


@dataclass(frozen=True, slots=True)
class Found:
    """What one search brought, and the hop that tells of it."""

    evidence: Evidence
    hop: Hop


def search(source: Source, subquery: SubQuery, k: int, parts: Parts) -> Found:
    """The first `k` results of a source, each with the sections that came along; nothing but a note and a flag where it failed."""
    parts.log.step("searching", source=source.name, query=subquery.query)
    start, note = perf_counter(), ""
    try:
        evidence = first(source.search(subquery, k=k), k)
    except SourceError as error:
        evidence, note = Evidence(flags=frozenset({Flag.SEARCH_FAILED})), str(error)
    ms = round((perf_counter() - start) * 1000, 2)
    hop = Hop(source.name, subquery.query, tuple(dict.fromkeys(hit.entry.id for hit in evidence.hits)), note, ms)
    parts.log.step("hop", source=hop.source, query=hop.query, ids=hop.ids, ms=hop.ms, note=hop.note)
    return Found(evidence, hop)


def first(evidence: Evidence, k: int) -> Evidence:
    """The evidence with the hits of its first `k` entries only."""
    wanted = list(dict.fromkeys(hit.entry.id for hit in evidence.hits))[:k]
    return replace(evidence, hits=tuple(hit for hit in evidence.hits if hit.entry.id in wanted))


def subquery(query: str, question: Question, plan: Plan, language: Language) -> SubQuery:
    """A rewritten query as a search: over the days it names among those the question names, else over all of the plan's."""
    named = asked_periods(query, question.stichtag, language) if plan.dated else []
    whole = plan.span
    within = [Period(max(p.start, whole.start), min(p.end, whole.end)) for p in named if whole.overlaps(p.start, p.end)]
    period = Period(min(p.start for p in within), max(p.end for p in within)) if within else whole
    return SubQuery(query, period, plan.subqueries[0].scope)


def distinct(hits: Iterable[Hit]) -> Iterator[Hit]:
    """Each chunk once, where it first came."""
    seen: set[tuple[str, str, int]] = set()
    for hit in hits:
        key = (hit.source, hit.entry.id, hit.chunk.ordinal)
        if key not in seen:
            seen.add(key)
            yield hit


def joined(found: Sequence[Evidence], hits: Iterable[Hit], *, leading: Sequence[Evidence]) -> Evidence:
    """One evidence out of several searches, with the `hits` chosen from them; the words and signals of the `leading` ones judge it."""
    kept = tuple(hits)
    likeness: dict[str, float] = {}
    for key, value in (item for evidence in found for item in evidence.likeness.items()):
        likeness[key] = max(value, likeness.get(key, -1.0))
    searched = [evidence.searched for evidence in found if evidence.searched]
    return Evidence(
        hits=kept,
        searched=Searched(tuple(query for each in searched for query in each.queries), searched[0].scope, searched[-1].stichtag)
        if searched
        else None,
        dropped=tuple(item for evidence in found for item in evidence.dropped),
        beside=() if kept else tuple(hit for evidence in found for hit in evidence.beside),
        flags=frozenset().union(*(evidence.flags for evidence in found)),
        embedder=next((evidence.embedder for evidence in found if evidence.embedder), None),
        weights={term: weight for evidence in leading for term, weight in evidence.weights.items()},
        variants={term: others for evidence in leading for term, others in evidence.variants.items()},
        signals=max((evidence.signals for evidence in leading), key=lambda signals: signals.get("cosine", 0.0), default={}),
        likeness=likeness,
        named=frozenset().union(*(evidence.named for evidence in found)),
    )


def resting_on(text: str, ids: Iterable[str], language: Language) -> str:
    """A text whose every sentence cites something: those that cite nothing get `ids`, before their full stop."""
    marks = "".join(f"[{identifier}]" for identifier in dict.fromkeys(ids))
    if not marks:
        return text
    for start, end in reversed(language.sentences(text)):
        sentence = text[start:end]
        body = sentence.rstrip(".!?…")
        if body and not citations.cited(sentence):
            text = f"{text[: start + len(body)]} {marks}{text[start + len(body) :]}"
    return text
