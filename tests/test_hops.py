"""What strategies share: a search that is told and may fail, evidence out of several searches, a text that says what it rests on."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import hops, texts
from agent.errors import SourceError
from agent.language import citations
from agent.testing import STICHTAG, ListSource, Recorder, german, hit, on, parts
from agent.values import Evidence, Flag, Period, Plan, Question, SubQuery

QUESTION = Question("Grenze 2023 und 2024?", STICHTAG)
BOTH = Plan("specific", (SubQuery("a", Period.year(2023)), SubQuery("b", Period.year(2024))), dated=True)


def test_a_search_is_told_before_and_after() -> None:
    bench = parts([source := ListSource([hit("pv-a", "x"), hit("pv-a", "y", section="Details"), hit("pv-b", "z")])])
    found = hops.search(source, SubQuery("Grenze", on()), 2, bench)
    assert isinstance(bench.log, Recorder)
    assert [kind for kind, _ in bench.log.steps] == ["searching", "hop"]
    assert found.hop.ids == ("pv-a",)  # the source gave two hits, both of one entry
    assert found.hop.ms >= 0


def test_a_source_that_gives_more_than_it_was_asked_for_is_cut_by_entries() -> None:
    many = Evidence((hit("pv-a", "x"), hit("pv-b", "y"), hit("pv-a", "z", section="Details"), hit("pv-c", "u")))
    assert [found.entry.id for found in hops.first(many, 2).hits] == ["pv-a", "pv-b", "pv-a"]


def test_a_failed_search_is_a_note_and_a_flag_and_nothing_else_is_caught() -> None:
    class Failing(ListSource):
        def search(self, subquery: SubQuery, /, k: int) -> Evidence:
            raise self.error

        error: Exception = SourceError("Aus.", "Später.")

    bench = parts([source := Failing([])])
    found = hops.search(source, SubQuery("Grenze", on()), 2, bench)
    assert (found.hop.note, found.evidence.flags) == ("Aus. Später.", frozenset({Flag.SEARCH_FAILED}))
    source.error = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        hops.search(source, SubQuery("Grenze", on()), 2, bench)


@pytest.mark.parametrize(
    ("query", "plan", "period"),
    [
        ("Grenze 2023", BOTH, Period.year(2023)),
        ("Grenze", BOTH, Period(date(2023, 1, 1), date(2024, 12, 31))),
        ("Grenze 2023 und 2024", BOTH, Period(date(2023, 1, 1), date(2024, 12, 31))),
        ("Grenze 2019", BOTH, Period(date(2023, 1, 1), date(2024, 12, 31))),
        ("Grenze 2019", Plan("specific", (SubQuery("a", on(), "kv"),)), on()),
    ],
)
def test_a_query_names_no_dates_that_the_question_does_not(query: str, plan: Plan, period: Period) -> None:
    found = hops.subquery(query, QUESTION, plan, german())
    assert (found.period, found.scope) == (period, plan.subqueries[0].scope)


def test_several_searches_make_one_evidence_judged_by_the_leading_ones() -> None:
    one = Evidence((hit("pv-a", "x"),), weights={"a": 1.0}, signals={"cosine": 0.9}, likeness={"k": 0.1})
    two = Evidence((hit("pv-b", "y"),), weights={"b": 2.0}, likeness={"k": 0.5}, flags=frozenset({Flag.LEXICAL_ONLY}))
    found = hops.joined([one, two], hops.distinct([*one.hits, *two.hits, *one.hits]), leading=[one])
    assert [each.entry.id for each in found.hits] == ["pv-a", "pv-b"]
    assert (found.weights, found.signals, found.likeness) == ({"a": 1.0}, {"cosine": 0.9}, {"k": 0.5})
    assert found.flags == {Flag.LEXICAL_ONLY}
    beside = replace(one, hits=(), beside=(hit("pv-alt", "z"),))
    assert hops.joined([beside], (), leading=[]).beside == beside.beside


@given(st.text(alphabet="ABc 1.!?\n,"))
def test_every_sentence_rests_on_something_and_no_word_is_lost(text: str) -> None:
    resting = hops.resting_on(text, ["pv-a", "pv-b", "pv-a"], german())
    assert re.sub(r" \[pv-a\]\[pv-b\]", "", resting) == text
    assert all(citations.cited(resting[a:b]) for a, b in german().sentences(resting) if resting[a:b].strip(".!?"))


def test_what_cites_already_stays_and_nothing_is_added_for_nothing() -> None:
    text = "Das gilt [pv-x].\n- Und das auch."
    assert hops.resting_on(text, ["pv-a"], german()) == "Das gilt [pv-x].\n- Und das auch [pv-a]."
    assert hops.resting_on(text, [], german()) == text


def test_prompts_of_the_languages_are_the_same_ones_with_the_same_blanks() -> None:
    def blanks(code: str) -> dict[str, set[str]]:
        names = texts.names(f"prompts/{code}", ".md")
        return {name: set(re.findall(r"\$(\w+)", texts.prompt(code, name))) for name in names}

    assert blanks("sv") == blanks("de")
