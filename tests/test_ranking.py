"""Rank arithmetic: the laws of fusion, one section an entry, references that push nothing out, whole blocks only."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agent import ranking
from agent.testing import german, hit

DE = german()
legs = st.lists(st.tuples(st.floats(0.1, 5), st.lists(st.integers(0, 30), unique=True, max_size=15)), max_size=4)


@given(legs, st.integers(0, 100))
def test_rrf_loses_no_row_and_does_not_heed_the_order_of_legs(lists: list[tuple[float, list[int]]], k: int) -> None:
    scores = ranking.rrf(lists, k=k)
    assert set(scores) == {row for _, rows in lists for row in rows}
    again = ranking.rrf(reversed(lists), k=k)
    assert all(abs(scores[row] - again[row]) < 1e-12 for row in scores)


@given(st.lists(st.integers(0, 30), unique=True, min_size=2, max_size=15), st.data())
def test_a_better_rank_never_hurts(rows: list[int], data: st.DataObject) -> None:
    place = data.draw(st.integers(1, len(rows) - 1))
    better = [*rows[: place - 1], rows[place], rows[place - 1], *rows[place + 1 :]]
    other = (1.0, rows)
    assert ranking.rrf([(1.0, better), other], k=20)[rows[place]] > ranking.rrf([(1.0, rows), other], k=20)[rows[place]]


def test_rrf_is_the_published_formula() -> None:
    assert ranking.rrf([(1.0, [7, 8]), (2.0, [8])], k=60) == {7: 1 / 61, 8: 1 / 62 + 2 / 61}


def test_one_section_an_entry_and_ties_go_to_the_summary() -> None:
    summary, table = hit("a", "x", section="Zusammenfassung", score=0.5), hit("a", "y", section="Kernwerte", score=0.5)
    references = hit("a", "z", section="Verweise", score=0.9)
    other = hit("b", "w", score=0.7)
    kept, dropped = ranking.one_per_entry([references, other, table, summary], section_rank=DE.section_rank, last=DE.only_if_alone)
    assert [(h.entry.id, h.chunk.section) for h in kept] == [("a", "Zusammenfassung"), ("b", "Zusammenfassung")]
    assert len(dropped) == 2


def test_a_reference_never_pushes_out_a_better_hit_and_cycles_end() -> None:
    a, b = hit("a", "x", score=1.0, cross_refs=("b", "c")), hit("b", "x", score=0.9, cross_refs=("a", "b", "d"))
    assert ranking.referenced([a, b], best=2) == {"c": (0.6, "a"), "d": (0.6 * 0.9, "b")}
    more = [replace(hit("c", "x", score=0.6), why="cross-ref from a")]
    assert [h.entry.id for h in ranking.merged([a, b, hit("e", "x", score=0.6)], more)] == ["a", "b", "e", "c"]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=12), st.integers(1, 12), st.integers(1, 200))
def test_blocks_are_kept_whole_within_both_limits(sizes: list[int], blocks: int, characters: int) -> None:
    hits = [hit(f"e{i}", "x" * size, score=1 / (i + 1)) for i, size in enumerate(sizes)]
    kept, dropped = ranking.within(hits, blocks=blocks, characters=characters)
    assert kept[0] == hits[0]
    assert len(kept) <= blocks
    assert len(kept) == 1 or sum(len(h.chunk.text) for h in kept) <= characters
    assert len(kept) + len(dropped) == len(hits)


def test_every_subquery_keeps_its_slots() -> None:
    strong = [hit(f"s{i}", "x", score=1.0 - i / 100) for i in range(8)]
    weak = [hit(f"w{i}", "x", score=0.1 - i / 100) for i in range(8)]
    chosen = ranking.interleaved([strong, weak], slots=2, blocks=8)
    assert {"w0", "w1"} <= {h.entry.id for h in chosen}
    assert len(chosen) == 8
    assert [h.score for h in chosen] == sorted((h.score for h in chosen), reverse=True)


def test_the_first_hit_of_each_entry_in_their_order() -> None:
    first, other, later = hit("pv-a", "Eins."), hit("pv-b", "Zwei."), hit("pv-a", "Drei.")
    assert ranking.first_of_each([first, other, later]) == [first, other]
    assert ranking.first_of_each([]) == []
