"""The candidates of several searches as one: what the question itself found and what its rewritings found, joined by rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent import conflicts, ranking
from agent.errors import SourceError
from agent.interfaces import Parts
from agent.values import Evidence, Hit, Plan, Searched, SubQuery

SOURCE = "wissensbasis"
CANDIDATES = 12
"""How many chunks the searches come together to, before the answering role's share is taken."""


def searched(first: Evidence, queries: Sequence[str], plan: Plan, parts: Parts) -> Evidence:
    """The first pool and what the `queries` find, at most `review_chunks` chunks; what tells of the question stays the first search's.

    A search that fails is left out.
    """
    found = [_search(query, plan, parts) for query in queries]
    again = [hits for hits in found if hits is not None]
    parts.log.step("rewritten", queries=list(queries), found=[[hit.entry.id for hit in hits] for hits in again])
    pool = _best_twice(joined([first.hits, *again], k=parts.settings.rrf_k))
    asked = tuple(dict.fromkeys((*(subquery.query for subquery in plan.subqueries), *queries)))
    where = first.searched or Searched((), plan.subqueries[0].scope, plan.subqueries[-1].period.end)
    hits = within(within(pool, again, most=CANDIDATES), again, most=parts.settings.review_chunks)
    merged = replace(first, hits=hits, searched=replace(where, queries=asked))
    return conflicts.settled(replace(merged, conflicts=()), plan.span, parts.language)


def _search(query: str, plan: Plan, parts: Parts) -> tuple[Hit, ...] | None:
    subquery = SubQuery(query, plan.span, plan.subqueries[0].scope)
    try:
        return parts.sources[SOURCE].search(subquery, k=CANDIDATES).hits
    except SourceError as error:
        parts.log.step("rewritten_failed", query=query, message=str(error))
        return None


def joined(lists: Sequence[Sequence[Hit]], *, k: int) -> list[Hit]:
    """Each chunk once, best first by reciprocal rank fusion; a chunk found by several searches comes as the first of them found it."""
    found: dict[tuple[str, int], Hit] = {}
    for hits in lists:
        for hit in hits:
            found.setdefault((hit.entry.id, hit.chunk.ordinal), hit)
    keys = list(found)
    places = {key: place for place, key in enumerate(keys)}
    legs = ((1.0, [places[hit.entry.id, hit.chunk.ordinal] for hit in hits]) for hits in lists)
    return [found[keys[place]] for place in ranking.ordered(ranking.rrf(legs, k=k))]


def within(pool: Sequence[Hit], lists: Sequence[Sequence[Hit]], *, most: int) -> tuple[Hit, ...]:
    """The first `most` of the pool with the best hit of each rewriting among them: what one search alone found has few ranks to add up."""
    places = {(hit.entry.id, hit.chunk.ordinal): place for place, hit in enumerate(pool)}
    firsts = sorted({places[hits[0].entry.id, hits[0].chunk.ordinal] for hits in lists if hits})
    kept = [0, *(place for place in firsts if place)][:most] if pool else []
    kept += [place for place in range(len(pool)) if place not in kept][: most - len(kept)]
    return tuple(pool[place] for place in sorted(kept))


def _best_twice(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits with a second section of the best entry next: a value's table and the sentence that explains it belong together.

    More of its sections would take the places of entries that hold an answer's other half.
    """
    best = [hit for hit in hits if hit.entry.id == hits[0].entry.id][:2]
    return (*best, *(hit for hit in hits if hit not in best))
