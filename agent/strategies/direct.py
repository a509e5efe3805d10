"""The plain strategy: one search per sub-query, joined with guaranteed places for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agent import hops, ranking
from agent.errors import SourceError
from agent.hops import Found
from agent.interfaces import Parts
from agent.language.asked import asked
from agent.language.pieces import Piece, pieces, row
from agent.values import KNOWLEDGE_BASE, Evidence, Gathered, Hit, Plan, Question, SubQuery

UNSCOPED = "alle"
VALUES, MOST_ROWS = "sql", 4
"""Where dated values are looked up, and how many rows of one value are taken: it may change within the days asked for."""


def gather(question: Question, plan: Plan, parts: Parts, /) -> Gathered:
    """Evidence from the knowledge base for every sub-query of the plan; a survey looks wider."""
    blocks = parts.settings.survey_blocks if plan.type == "survey" else parts.settings.context_blocks
    found = [_searched(subquery, plan, parts, blocks) for subquery in plan.subqueries]
    evidence = found[0].evidence if len(found) == 1 else _joined([each.evidence for each in found], blocks, parts.settings.per_query_slots)
    return Gathered(evidence, hops=tuple(each.hop for each in found), flags=evidence.flags)


def _searched(subquery: SubQuery, plan: Plan, parts: Parts, blocks: int) -> Found:
    """One search; a scope that finds nothing is left out, and where the question names a time, entries of that time may get a bonus."""
    source, bonus = parts.sources[KNOWLEDGE_BASE], parts.settings.temporal_boost
    found = hops.search(source, subquery, blocks, parts)
    if not found.evidence.hits and subquery.scope != UNSCOPED:
        found = hops.search(source, replace(subquery, scope=UNSCOPED), blocks, parts)
    if plan.dated and parts.settings.look_up:
        found = replace(found, evidence=_with_value(subquery, found.evidence, parts))
    if plan.dated and bonus:
        first, rest = _by_entry(found.evidence.hits)
        hits = (*ranking.of_the_time(first, subquery.period, bonus), *rest)
        found = replace(found, evidence=replace(found.evidence, hits=hits))
    return found


def _with_value(subquery: SubQuery, evidence: Evidence, parts: Parts) -> Evidence:
    """The evidence with the pieces marked that state the dated value a search names, if it names one; where none does, with its row."""
    language, source = parts.language, parts.sources.get(VALUES)
    if source is None or not evidence.hits or not asked(subquery.query, language).sure:
        return evidence
    try:
        found = source.search(subquery, k=MOST_ROWS).hits
    except SourceError as error:
        parts.log.step("look_up_failed", message=str(error))
        return evidence
    if not found:
        return evidence
    rows = {row(piece, language) for piece in _pieces(found, parts)} - {()}
    stating = [piece.key for piece in _pieces(evidence.hits, parts) if row(piece, language) in rows]
    parts.log.step("looked_up", ids=[hit.entry.id for hit in found], held=bool(stating))
    if stating:
        return replace(evidence, named=frozenset(stating))
    return replace(evidence, hits=(*evidence.hits, *found), named=frozenset(piece.key for piece in _pieces(found, parts)))


def _pieces(hits: Iterable[Hit], parts: Parts) -> list[Piece]:
    return [piece for hit in hits for piece in pieces(hit.entry.title, hit.chunk.text, parts.language)]


def _by_entry(hits: tuple[Hit, ...]) -> tuple[list[Hit], list[Hit]]:
    """The first hit of each entry, and the further sections that came along with some of them."""
    first = ranking.first_of_each(hits)
    return first, [hit for hit in hits if all(hit is not leading for leading in first)]


def _joined(found: list[Evidence], blocks: int, slots: int) -> Evidence:
    """One evidence out of several: places are dealt out among the entries, their further sections come after."""
    divided = [_by_entry(evidence.hits) for evidence in found]
    hits = ranking.interleaved([first for first, _ in divided], slots=slots, blocks=blocks)
    chosen = {hit.entry.id for hit in hits}
    rest = (hit for _, others in divided for hit in others if hit.entry.id in chosen)
    return hops.joined(found, hops.distinct([*hits, *rest]), leading=found)
