"""The arithmetic between the legs of a search and the evidence: fusion, one section per entry, references, budget; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from agent.values import Dropped, Hit, Period

REFERENCE_DAMPING = 0.6
"""What a cross-reference keeps of the score of the hit that names it."""


def rrf(legs: Iterable[tuple[float, Sequence[int]]], *, k: int) -> dict[int, float]:
    """Weighted reciprocal rank fusion (Cormack, Clarke, Buettcher 2009): row -> sum of weight / (k + rank), ranks from 1."""
    scores: dict[int, float] = {}
    for weight, rows in legs:
        for rank, row in enumerate(rows, start=1):
            scores[row] = scores.get(row, 0.0) + weight / (k + rank)
    return scores


def ordered(scores: Mapping[int, float]) -> list[int]:
    """Rows by falling score; ties by row, so that two runs never differ."""
    return sorted(scores, key=lambda row: (-scores[row], row))


def scored(hits: Sequence[Hit], scores: Sequence[float]) -> list[Hit]:
    """The hits with these scores, best first."""
    order = sorted(range(len(hits)), key=lambda at: (-scores[at], hits[at].entry.id, hits[at].chunk.ordinal))
    return [replace(hits[at], score=scores[at]) for at in order]


def shuffled(hits: Sequence[Hit], *, seed: str) -> list[Hit]:
    """The same hits with their scores dealt out anew, the same way for the same seed: a broken search, to check what must notice one."""
    dealt = sorted(hits, key=lambda hit: sha256(f"{seed} {hit.entry.id} {hit.chunk.ordinal}".encode()).digest())
    return [replace(hit, score=other.score) for hit, other in zip(dealt, hits, strict=True)]


def first_of_each(hits: Iterable[Hit]) -> list[Hit]:
    """The first hit of each entry, in their order."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.entry.id, hit)
    return list(first.values())


def one_per_entry(
    hits: Sequence[Hit], *, section_rank: Callable[[str], int], last: Callable[[str], bool]
) -> tuple[list[Hit], list[Dropped]]:
    """The best section of each entry, best entry first; a `last` section stands only where its entry has no other hit.

    An entry's place is earned by whichever of its sections was found first.
    """
    grouped: dict[str, list[Hit]] = {}
    for hit in hits:
        grouped.setdefault(hit.entry.id, []).append(hit)
    kept: list[Hit] = []
    dropped: list[Dropped] = []
    for group in grouped.values():
        first, *rest = sorted(group, key=lambda hit: (last(hit.chunk.section), -hit.score, section_rank(hit.chunk.section)))
        best = max(hit.score for hit in group)
        kept.append(first if first.score == best else replace(first, score=best))
        dropped += [Dropped(hit.entry.id, hit.chunk.section, hit.score, "another section of the entry fits better") for hit in rest]
    return sorted(kept, key=_place), dropped


def _place(hit: Hit) -> tuple[float, str, int]:
    return (-hit.score, hit.entry.id, hit.chunk.ordinal)


def of_the_time(hits: Sequence[Hit], period: Period, bonus: float) -> list[Hit]:
    """The hits with `bonus` added to the score of entries made for the period: whose validity begins or ends in one of its years."""

    def made_for(hit: Hit) -> bool:
        ends = (hit.entry.valid_from, hit.entry.valid_to)
        return any(end is not None and period.start.year <= end.year <= period.end.year for end in ends)

    return sorted((replace(hit, score=hit.score + bonus * made_for(hit)) for hit in hits), key=_place)


def referenced(hits: Sequence[Hit], *, best: int) -> dict[str, tuple[float, str]]:
    """The entries that the `best` first hits refer to: id -> (damped score, the id that names it). Cycles end by themselves: one step."""
    found: dict[str, tuple[float, str]] = {}
    present = {hit.entry.id for hit in hits}
    for hit in hits[:best]:
        for target in hit.entry.cross_refs:
            score = REFERENCE_DAMPING * hit.score
            if target not in present and score > found.get(target, (0.0, ""))[0]:
                found[target] = (score, hit.entry.id)
    return found


def merged(hits: Sequence[Hit], more: Sequence[Hit]) -> list[Hit]:
    """Both lists by falling score; a hit goes before a reference of the same score."""
    return sorted([*hits, *more], key=lambda hit: (-hit.score, hit.why.startswith("cross-ref"), hit.entry.id, hit.chunk.ordinal))


def within(hits: Sequence[Hit], *, blocks: int, characters: int) -> tuple[list[Hit], list[Dropped]]:
    """The first hits that fit both limits; a block that does not fit is left out whole, never cut. The best one always stays."""
    kept: list[Hit] = []
    dropped: list[Dropped] = []
    used = 0
    for hit in hits:
        size = len(hit.chunk.text)
        if len(kept) >= blocks:
            dropped.append(Dropped(hit.entry.id, hit.chunk.section, hit.score, "below the number of context blocks"))
        elif kept and used + size > characters:
            dropped.append(Dropped(hit.entry.id, hit.chunk.section, hit.score, "over the context budget"))
        else:
            kept.append(hit)
            used += size
    return kept, dropped


def interleaved(lists: Sequence[Sequence[Hit]], *, slots: int, blocks: int) -> list[Hit]:
    """One list out of several sub-queries': `slots` places are kept for each, the rest goes by score; an id appears once."""
    chosen: dict[tuple[str, int], Hit] = {}
    for hits in lists:
        for hit in hits[:slots]:
            chosen.setdefault((hit.entry.id, hit.chunk.ordinal), hit)
    for hit in sorted((hit for hits in lists for hit in hits), key=_place):
        if len(chosen) >= blocks:
            break
        chosen.setdefault((hit.entry.id, hit.chunk.ordinal), hit)
    return sorted(chosen.values(), key=_place)[: max(blocks, slots * len(lists))]
