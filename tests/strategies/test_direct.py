"""Evidence out of several searches: places for each, further sections last, scopes that find nothing, entries of the year."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from agent.settings import Settings
from agent.strategies import direct
from agent.testing import STICHTAG, hit, on, parts
from agent.values import Evidence, Hit, Period, Plan, Question, SubQuery

QUESTION = Question("Was gilt?", STICHTAG)


@dataclass
class Told:
    """A source that finds what it is told to for each query and scope."""

    found: Mapping[tuple[str, str], Evidence]
    name: str = "wissensbasis"
    about: str = "told"
    asked: list[tuple[str, str, int]] = field(default_factory=list)

    def search(self, subquery: SubQuery, /, k: int) -> Evidence:
        self.asked.append((subquery.query, subquery.scope, k))
        return self.found.get((subquery.query, subquery.scope), Evidence())


def many(prefix: str, score: float, count: int = 8) -> list[Hit]:
    return [hit(f"pv-{prefix}{n}", f"{prefix} {n}", score=score - n / 100) for n in range(count)]


def ids(source: Told, plan: Plan, **changes: float) -> list[str]:
    settings = Settings(**changes)  # type: ignore[arg-type]
    return [found.entry.id for found in direct.gather(QUESTION, plan, parts([source], settings=settings)).evidence.hits]


def two(left: Sequence[Hit], right: Sequence[Hit]) -> tuple[Told, Plan]:
    source = Told(
        {("a", "alle"): Evidence(tuple(left), likeness={"x": 0.2}), ("b", "alle"): Evidence(tuple(right), likeness={"x": 0.9, "y": 0.1})}
    )
    return source, Plan("specific", (SubQuery("a", on()), SubQuery("b", on())))


def test_each_search_keeps_its_places() -> None:
    source, plan = two(many("a", 9.0), many("b", 1.0))
    assert ids(source, plan) == ["pv-a0", "pv-a1", "pv-a2", "pv-a3", "pv-a4", "pv-a5", "pv-b0", "pv-b1"]
    assert ids(source, plan, per_query_slots=4)[4:] == ["pv-b0", "pv-b1", "pv-b2", "pv-b3"]
    assert not any(name.startswith("pv-b") for name in ids(source, plan, per_query_slots=0))


def test_further_sections_take_no_entry_s_place() -> None:
    companions = [hit("pv-a0", f"mehr {n}", section=f"Details {n}", score=9.0) for n in range(6)]
    renumbered = [
        Hit(type(h.chunk)(h.entry.id, n + 1, h.chunk.section, h.chunk.text, h.chunk.span), h.entry, h.score)
        for n, h in enumerate(companions)
    ]
    source, plan = two([*many("a", 9.0), *renumbered], many("b", 1.0))
    found = ids(source, plan)
    assert len(set(found[:8])) == 8
    assert found[8:] == ["pv-a0"] * 6


def test_the_nearness_of_pieces_is_that_of_the_search_they_fit_best() -> None:
    source, plan = two(many("a", 9.0), many("b", 1.0))
    assert direct.gather(QUESTION, plan, parts([source])).evidence.likeness == {"x": 0.9, "y": 0.1}


def test_a_survey_looks_wider() -> None:
    source, plan = Told({}), Plan("survey", (SubQuery("a", on()),))
    direct.gather(QUESTION, plan, parts([source], settings=Settings(context_blocks=3, survey_blocks=20)))
    direct.gather(QUESTION, Plan("specific", plan.subqueries), parts([source], settings=Settings(context_blocks=3, survey_blocks=20)))
    assert [k for *_, k in source.asked] == [20, 3]


def test_a_scope_that_finds_nothing_is_left_out() -> None:
    source = Told({("a", "alle"): Evidence(tuple(many("a", 1.0, 1)))})
    assert ids(source, Plan("specific", (SubQuery("a", on(), "kv"),))) == ["pv-a0"]
    assert [scope for _, scope, _ in source.asked] == ["kv", "alle"]


def test_entries_of_the_year_asked_for_may_get_a_bonus() -> None:
    hits = (
        hit("pv-immer", "x", score=1.0),
        hit("pv-2024", "x", score=0.8, valid_from=date(2024, 1, 1)),
        hit("pv-immer", "y", section="Details"),
    )
    source = Told({("a", "alle"): Evidence(hits)})
    dated = Plan("specific", (SubQuery("a", Period.year(2024)),), dated=True)
    assert ids(source, dated) == ["pv-immer", "pv-2024", "pv-immer"]
    assert ids(source, dated, temporal_boost=0.5)[:2] == ["pv-2024", "pv-immer"]
    assert ids(source, Plan("specific", dated.subqueries), temporal_boost=0.5)[0] == "pv-immer"
