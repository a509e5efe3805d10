"""The plain strategy: one search per sub-query, joined with guaranteed places for each."""

from __future__ import annotations

from dataclasses import replace

from agent import ranking
from agent.interfaces import Parts
from agent.values import Evidence, Gathered, Hit, Hop, Plan, Question, Searched, SubQuery

SOURCE = "wissensbasis"
UNSCOPED = "alle"


def gather(question: Question, plan: Plan, parts: Parts, /) -> Gathered:
    """Evidence from the knowledge base for every sub-query of the plan; a survey looks wider."""
    blocks = parts.settings.survey_blocks if plan.type == "survey" else parts.settings.context_blocks
    found = [_searched(subquery, plan, parts, blocks) for subquery in plan.subqueries]
    hops = tuple(
        Hop(SOURCE, subquery.query, tuple(hit.entry.id for hit in evidence.hits))
        for subquery, evidence in zip(plan.subqueries, found, strict=True)
    )
    evidence = found[0] if len(found) == 1 else _joined(found, plan, blocks, slots=parts.settings.per_query_slots)
    parts.log.step("searched", hits=[(hit.entry.id, hit.chunk.section, round(hit.score, 5)) for hit in evidence.hits])
    return Gathered(evidence, hops=hops, flags=evidence.flags)


def _searched(subquery: SubQuery, plan: Plan, parts: Parts, blocks: int) -> Evidence:
    """One search; a scope that finds nothing is left out, and where the question names a time, entries of that time may get a bonus."""
    source, bonus = parts.sources[SOURCE], parts.settings.temporal_boost
    evidence = source.search(subquery, k=blocks)
    if not evidence.hits and subquery.scope != UNSCOPED:
        evidence = source.search(replace(subquery, scope=UNSCOPED), k=blocks)
    if plan.dated and bonus:
        first, rest = _by_entry(evidence.hits)
        evidence = replace(evidence, hits=(*ranking.of_the_time(first, subquery.period, bonus), *rest))
    return evidence


def _by_entry(hits: tuple[Hit, ...]) -> tuple[list[Hit], list[Hit]]:
    """The first hit of each entry, and the further sections that came along with some of them."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.entry.id, hit)
    return list(first.values()), [hit for hit in hits if first[hit.entry.id] is not hit]


def _joined(found: list[Evidence], plan: Plan, blocks: int, *, slots: int) -> Evidence:
    """One evidence out of several: places are dealt out among the entries, their further sections come after."""
    divided = [_by_entry(evidence.hits) for evidence in found]
    hits = ranking.interleaved([first for first, _ in divided], slots=slots, blocks=blocks)
    present = {(hit.entry.id, hit.chunk.ordinal): hit for hit in hits}
    chosen = {hit.entry.id for hit in hits}
    for hit in (hit for _, rest in divided for hit in rest if hit.entry.id in chosen):
        present.setdefault((hit.entry.id, hit.chunk.ordinal), hit)
    likeness: dict[str, float] = {}
    for key, value in (item for evidence in found for item in evidence.likeness.items()):
        likeness[key] = max(value, likeness.get(key, -1.0))
    return replace(
        found[0],
        hits=tuple(present.values()),
        searched=Searched(tuple(s.query for s in plan.subqueries), plan.subqueries[0].scope, plan.subqueries[-1].period.end),
        dropped=tuple(item for evidence in found for item in evidence.dropped),
        beside=() if hits else tuple(hit for evidence in found for hit in evidence.beside),
        flags=frozenset().union(*(evidence.flags for evidence in found)),
        embedder=next((evidence.embedder for evidence in found if evidence.embedder), None),
        weights={term: weight for evidence in found for term, weight in evidence.weights.items()},
        variants={term: others for evidence in found for term, others in evidence.variants.items()},
        signals=max((evidence.signals for evidence in found), key=lambda signals: signals.get("cosine", 0.0)),
        likeness=likeness,
    )
