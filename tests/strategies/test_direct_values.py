"""The plain strategy looks a dated value up: what states it in the evidence is marked and said first; nothing else changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.errors import SourceError
from agent.generators import extractive
from agent.interfaces import Parts
from agent.plan import by_rules
from agent.settings import Settings
from agent.strategies import direct
from agent.testing import STICHTAG, ListSource, german, hit
from agent.testing import parts as bare
from agent.values import Evidence, Gathered, Question, SubQuery

DE = german()


def parts(sources: list[ListSource], settings: Settings | None = None) -> Parts:
    return bare(sources, settings=settings or Settings(look_up=True))


HEAD = "| Bezeichnung | Wert | Zeitraum | Norm | Schlüssel |\n| --- | --- | --- | --- | --- |\n"
ROWS = {
    year: f"| Testgrenze {{0}}| {value} EUR monatlich | 1.1.{year} bis 31.12.{year} | § 1 | x.grenze |\n"
    for year, value in ((2022, "400"), (2023, "500"), (2024, "600"))
}
QUESTION = "Wie hoch war die Testgrenze 2023?"


def entry(*years: int) -> ListSource:
    """An entry whose table holds the value for these years, under a label of its own; another sentence lies nearer to the question."""
    table = HEAD + "".join(ROWS[year].format(f"in der Tafel {year} ") for year in years)
    text = "Die Testgrenze 2023 war so hoch wie die Testgrenze, die 2023 als Testgrenze galt: 999 EUR.\n\n"
    return ListSource([hit("pv-x", text + table, section="Kernwerte")], weights={"testgrenz": 1.0})


def looked_up(*years: int) -> ListSource:
    rows = [replace(hit(f"werte:x.grenze@{year}-01-01", HEAD + ROWS[year].format(""), title="Testgrenze"), source="sql") for year in years]
    return ListSource(rows, name="sql")


class Away(ListSource):
    def search(self, subquery: SubQuery, /, k: int) -> Evidence:
        super().search(subquery, k=k)
        raise SourceError("not here")


def gathered(text: str, bench: Parts) -> Gathered:
    question = Question(text, STICHTAG)
    return direct.gather(question, by_rules(question, DE), bench)


def said(text: str, bench: Parts) -> str:
    question, found = Question(text, STICHTAG), gathered(text, bench)
    return extractive.draft(question, by_rules(question, DE), found.evidence, bench, None).text


def test_the_row_that_states_the_value_is_said_as_its_entry_puts_it() -> None:
    bench = parts([entry(2022, 2023, 2024), looked_up(2023)])
    assert said(QUESTION, bench).startswith("Testgrenze in der Tafel 2023: 500 EUR monatlich")
    assert "[pv-x]" in said(QUESTION, bench)
    assert said(QUESTION, parts([entry(2022, 2023, 2024)])).startswith("Die Testgrenze 2023 war so hoch")


def test_a_value_no_entry_at_hand_holds_is_cited_by_its_own_row() -> None:
    bench = parts([entry(2022), looked_up(2023)])
    assert gathered(QUESTION, bench).evidence.ids == {"pv-x", "werte:x.grenze@2023-01-01"}
    assert said(QUESTION, bench).startswith("Testgrenze: 500 EUR monatlich")
    assert "[werte:x.grenze@2023-01-01]" in said(QUESTION, bench)


def test_a_failing_look_up_costs_nothing() -> None:
    without, failing = parts([entry(2022, 2023)]), Away([], name="sql")
    assert gathered(QUESTION, parts([entry(2022, 2023), failing])).evidence == gathered(QUESTION, without).evidence
    assert len(failing.queries) == 1


@pytest.mark.parametrize(
    ("question", "settings"),
    [
        (QUESTION, Settings(look_up=False)),
        ("Warum gibt es seit 2023 eine Testgrenze?", Settings(look_up=True)),
        ("Wie hoch ist die Testgrenze?", Settings(look_up=True)),
    ],
)
def test_nothing_is_looked_up_where_it_is_off_or_no_figure_or_no_time_is_asked_for(question: str, settings: Settings) -> None:
    values = looked_up(2023)
    found = gathered(question, parts([entry(2022, 2023), values], settings=settings))
    assert found.evidence.named == frozenset()
    assert values.queries == []


def test_where_nothing_is_found_there_is_no_answer_from_a_value_alone() -> None:
    empty = ListSource([], weights={"testgrenz": 1.0})
    assert gathered(QUESTION, parts([empty, looked_up(2023)])).evidence.hits == ()
