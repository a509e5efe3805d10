"""The plain strategy: one search per sub-query, joined with guaranteed places for each."""

from __future__ import annotations

from dataclasses import replace

from agent import ranking
from agent.interfaces import Parts
from agent.values import Evidence, Gathered, Hop, Plan, Question, Searched

SOURCE = "wissensbasis"


def gather(question: Question, plan: Plan, parts: Parts, /) -> Gathered:
    """Evidence from the knowledge base for every sub-query of the plan."""
    blocks = parts.settings.context_blocks
    found = [parts.sources[SOURCE].search(subquery, k=blocks) for subquery in plan.subqueries]
    hops = tuple(
        Hop(SOURCE, subquery.query, tuple(hit.entry.id for hit in evidence.hits))
        for subquery, evidence in zip(plan.subqueries, found, strict=True)
    )
    evidence = found[0] if len(found) == 1 else _joined(found, plan, parts)
    parts.log.step("searched", hits=[(hit.entry.id, hit.chunk.section, round(hit.score, 5)) for hit in evidence.hits])
    return Gathered(evidence, hops=hops, flags=evidence.flags)


def _joined(found: list[Evidence], plan: Plan, parts: Parts) -> Evidence:
    hits = ranking.interleaved(
        [evidence.hits for evidence in found], slots=parts.settings.per_query_slots, blocks=parts.settings.context_blocks
    )
    first = found[0]
    return replace(
        first,
        hits=tuple(hits),
        searched=Searched(tuple(s.query for s in plan.subqueries), plan.subqueries[0].scope, plan.subqueries[-1].period.end),
        dropped=tuple(item for evidence in found for item in evidence.dropped),
        beside=() if hits else tuple(hit for evidence in found for hit in evidence.beside),
        flags=frozenset().union(*(evidence.flags for evidence in found)),
        weights={term: weight for evidence in found for term, weight in evidence.weights.items()},
        variants={term: others for evidence in found for term, others in evidence.variants.items()},
    )
