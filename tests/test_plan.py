"""The plan: dates, relative years, comparisons and surveys by rules; what a model may change of it, and when it is asked."""

from __future__ import annotations

from datetime import date

import pytest

from agent.errors import ModelMissing, UsageError
from agent.plan import by_dates, by_model, by_rules, question_text, worth_asking
from agent.testing import STICHTAG, ScriptedModel, german, parts
from agent.values import Period, Plan, Question, SubQuery

DE = german()


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("Wie hoch ist die Grenze?", [Period.day(STICHTAG)]),
        ("Wie hoch ist die Grenze heuer?", [Period.day(STICHTAG)]),
        ("Wie hoch war die Grenze 2024?", [Period.year(2024)]),
        ("Wie hoch war die Grenze im Vorjahr?", [Period.year(2025)]),
        ("Unterschied zwischen 2025 und 2026", [Period.year(2025), Period.year(2026)]),
        ("Kilometergeld im März 2025?", [Period(date(2025, 3, 1), date(2025, 3, 31))]),
        ("Was gilt am 1.7.2025?", [Period.day(date(2025, 7, 1))]),
        ("2022, 2023, 2024 und 2025 im Vergleich", [Period(date(2022, 1, 1), date(2025, 12, 31))]),
        ("vom 1.1.2025 bis 30.6.2025", [Period(date(2025, 1, 1), date(2025, 6, 30))]),
        ("Bezug von 2.026 Euro nach BGBl I 62/2026", [Period.day(STICHTAG)]),
    ],
)
def test_periods(text: str, periods: list[Period]) -> None:
    plan = by_rules(Question(text, STICHTAG), DE)
    assert [subquery.period for subquery in plan.subqueries] == periods
    assert all(subquery.query == text for subquery in plan.subqueries)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Welche Neuerungen gibt es 2027?", "survey"),
        ("Was muss ich denn noch alles melden?", "survey"),
        ("Wie hoch ist die Grenze?", "specific"),
        ("Meldung fallweise Beschäftigter", "specific"),
        ("Gilt das für alle?", "specific"),
    ],
)
def test_survey(text: str, kind: str) -> None:
    assert by_rules(Question(text, STICHTAG), DE).type == kind


def test_each_thing_compared_has_its_own_search_and_its_own_dates() -> None:
    plan = by_rules(Question("Unterschied zwischen Prämie 2025 und Zulage 2026 bei Eintritt?", STICHTAG), DE)
    assert plan.subqueries == (
        SubQuery("Unterschied zwischen Prämie 2025 bei Eintritt?", Period.year(2025)),
        SubQuery("Unterschied zwischen Zulage 2026 bei Eintritt?", Period.year(2026)),
    )
    assert plan.dated


def test_more_searches_than_it_may_have_go_over_all_dates() -> None:
    plan = by_rules(Question("2025 und 2026: Unterschied zwischen Prämie und Zulage?", STICHTAG), DE)
    whole = Period(date(2025, 1, 1), date(2026, 12, 31))
    assert [s.period for s in plan.subqueries] == [whole, whole]


def test_by_dates_asks_the_question_as_it_stands() -> None:
    text = "Prämie oder Zulage: was ist frei?"
    assert [s.query for s in by_dates(Question(text, STICHTAG), DE).subqueries] == [text]


# --- by a model -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        ("Wie hoch ist die Grenze 2026?", False),
        ("Wie hoch war die Grenze 2024 und 2025?", True),
        ("Unterschied zwischen Prämie und Zulage", True),
        ("Um wie viel ist der Satz gegenüber dem Vorjahr gestiegen?", True),
        ("Welche Neuerungen gibt es?", True),
        ("Was gilt " + "für den Fall " * 8 + "?", True),
    ],
)
def test_a_model_is_asked_only_where_it_is_worth_it(text: str, worth: bool) -> None:
    question = Question(text, STICHTAG)
    assert worth_asking(question, by_rules(question, DE), DE) is worth


def planned(text: str, *replies: str, scope: str = "alle") -> tuple[Plan, ScriptedModel]:
    question, model = Question(text, STICHTAG), ScriptedModel(replies)
    plan, tokens = by_model(question, by_rules(question, DE, scope=scope), parts([], model=model), model)
    assert tokens.prompt == 100 * len(replies)
    return plan, model


def written(*subqueries: str, kind: str = "specific") -> str:
    return f'{{"type": "{kind}", "subqueries": [{", ".join(subqueries)}]}}'


def test_a_model_shares_out_the_dates_of_the_question() -> None:
    first = '{"query": "Was gilt 2024?", "year": 2024, "scope": "kv"}'
    second = '{"query": "Was gilt  im Juli?", "from": "2025-07-31", "to": "2025-07-01", "scope": "alle"}'
    plan, model = planned("Was war 2024 und was gilt 2025?", written(first, second, kind="survey"))
    assert plan.type == "survey"
    assert plan.subqueries == (
        SubQuery("Was gilt 2024?", Period.year(2024), "kv"),
        SubQuery("Was gilt im Juli?", Period(date(2025, 7, 1), date(2025, 7, 31))),
    )
    assert model.requests[0].schema
    assert "30.11.2026" in model.requests[0].user


@pytest.mark.parametrize("told", ['"year": 2019', '"from": "2031-01-01"', '"year": null', '"scope": "alle"'])
def test_a_model_names_no_dates_of_its_own(told: str) -> None:
    said = written('{"query": "Was gilt?", "scope": "alle", ' + told + "}")
    assert planned("Was gilt?", said)[0].subqueries == (SubQuery("Was gilt?", Period.day(STICHTAG)),)
    whole = Period(date(2024, 1, 1), date(2025, 12, 31))
    assert planned("Was galt 2024 und 2025?", said)[0].subqueries == (SubQuery("Was gilt?", whole),)


def test_a_given_scope_stands() -> None:
    said = written('{"query": "Was gilt?", "scope": "kv"}')
    assert planned("Was gilt?", said, scope="gesetz")[0].subqueries[0].scope == "gesetz"


@pytest.mark.parametrize(
    "bad",
    [
        "Ich plane nicht.",
        written(),
        written(*['{"query": "Was gilt?", "scope": "alle"}'] * 4),
        written('{"query": "Was gilt?", "scope": "überall"}'),
        written('{"query": "   ", "scope": "alle"}'),
    ],
)
def test_invalid_twice_leaves_the_plan_of_the_rules(bad: str) -> None:
    text = "Unterschied zwischen Prämie und Zulage"
    plan, model = planned(text, bad, bad)
    assert plan == by_rules(Question(text, STICHTAG), DE)
    assert len(model.requests) == 2


def test_invalid_once_is_repaired() -> None:
    plan, _ = planned("Was gilt?", "nein", written('{"query": "Was gilt nun?", "scope": "alle"}'))
    assert plan.subqueries[0].query == "Was gilt nun?"


def test_a_model_that_fails_is_an_error_for_the_one_who_asked() -> None:
    question, model = Question("Was gilt?", STICHTAG), ScriptedModel([ModelMissing("weg", "pull")])
    with pytest.raises(ModelMissing):
        by_model(question, by_rules(question, DE), parts([], model=model), model)


def test_a_question_that_is_no_utf_8_is_told_so() -> None:
    with pytest.raises(UsageError, match="UTF-8"):
        question_text("Wie hoch \udcff?")
