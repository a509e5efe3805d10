"""Turns a question into the searches it needs: by rules always, by one small model call where that is worth it.

The rules find the dates a question names, what it compares or lists, and whether it asks for one thing or for a survey. The model may
put the searches better; it names no dates of its own, and what it writes badly leaves the plan of the rules standing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from agent import structured, texts
from agent.errors import UsageError
from agent.i18n import tr
from agent.interfaces import Model, Parts
from agent.language import Language
from agent.language.splitting import parts as split
from agent.language.splitting import says
from agent.language.timing import asked_periods
from agent.values import Period, Plan, Question, SubQuery, Tokens

PROMPT, SCHEMA = "plan", "plan.internal"
MOST_SEARCHES = 3
"""A question that needs more searches than this gets one for each of its parts, over all its dates."""
LONG = 25
"""From how many words on a question may hold more than its rules see."""
SECONDS, TOKENS = 60.0, 512
"""What a plan may take at most: it stands between the question and its answer."""


def question_text(text: str, longest: int = 4000) -> str:
    """A question as it was typed, without what surrounds it. UsageError: it asks nothing, is too long, or no UTF-8."""
    text = text.strip()
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise UsageError(tr("The question is not written in UTF-8."), tr("Set the terminal to UTF-8 and ask again."))
    if not any(c.isalnum() for c in text):
        raise UsageError(tr("The question is empty."), tr('Ask it in quotes: pv-agent ask "Wie hoch ist …?"'))
    if len(text) > longest:
        raise UsageError(tr("The question has {count} characters.", count=len(text)), tr("Shorten it to {longest}.", longest=longest))
    return text


def by_dates(question: Question, language: Language, *, scope: str = "alle") -> Plan:
    """The question as it stands, once for each date it names, else for the Stichtag."""
    return _plan(question, (question.text,), language, scope)


def by_rules(question: Question, language: Language, *, scope: str = "alle") -> Plan:
    """The plan without a model: a search for each thing the question sets side by side, and each date."""
    return _plan(question, split(question.text, language), language, scope)


def _plan(question: Question, asked: tuple[str, ...], language: Language, scope: str) -> Plan:
    named = asked_periods(question.text, question.stichtag, language)
    searches = [(text, asked_periods(text, question.stichtag, language) or named) for text in asked]
    if sum(max(len(periods), 1) for _, periods in searches) > MOST_SEARCHES:
        searches = [(text, [_whole(periods)] if periods else []) for text, periods in searches]
    subqueries = (SubQuery(text, period, scope) for text, periods in searches for period in periods or [Period.day(question.stichtag)])
    kind = "survey" if says(question.text, language.table["survey_words"]) else "specific"
    return Plan(kind, tuple(dict.fromkeys(subqueries)), bool(named))


def _whole(periods: list[Period]) -> Period:
    return Period(min(period.start for period in periods), max(period.end for period in periods))


# --- by a model -----------------------------------------------------------------------------------


def worth_asking(question: Question, plan: Plan, language: Language) -> bool:
    """Whether a model may see more in the question than the rules do: it compares, surveys, names several things, or is long."""
    several = plan.type == "survey" or len(plan.subqueries) > 1
    return several or says(question.text, language.table["comparison_words"]) or len(question.text.split()) >= LONG


def by_model(question: Question, rules: Plan, parts: Parts, model: Model) -> tuple[Plan, Tokens]:
    """A model's plan, and what it took; the plan of the rules where the model twice gave none. Raises ModelError."""
    form = structured.Form(PROMPT, texts.schema(SCHEMA), max_tokens=TOKENS, timeout=min(SECONDS, parts.settings.model_timeout))
    values = {"question": question.text, "stichtag": parts.language.day(question.stichtag)}
    said = structured.filled(form, values, parts, model)
    if isinstance(said, structured.Malformed):
        parts.log.step("plan_malformed", reason=said.reason, message=said.message)
        return rules, said.tokens
    named = asked_periods(question.text, question.stichtag, parts.language)
    searches = (_search(one, question, named, rules) for one in said.value["subqueries"])
    return replace(rules, type=said.value["type"], subqueries=tuple(dict.fromkeys(searches))), said.tokens


def _search(told: Mapping[str, Any], question: Question, named: list[Period], rules: Plan) -> SubQuery:
    """One search of a model's plan; a scope that was given from outside stands."""
    given = rules.subqueries[0].scope
    period = _within(_period(told), _whole(named)) if named else Period.day(question.stichtag)
    return SubQuery(" ".join(told["query"].split()), period, told["scope"] if given == "alle" else given)


def _period(told: Mapping[str, Any]) -> Period | None:
    days = [date.fromisoformat(told[key]) for key in ("from", "to") if told.get(key)]
    if days:
        return Period(min(days), max(days))
    return Period.year(told["year"]) if told.get("year") else None


def _within(period: Period | None, named: Period) -> Period:
    """What a model's period has in common with the dates the question names; all of these where that is nothing."""
    if period is None or not period.overlaps(named.start, named.end):
        return named
    return Period(max(period.start, named.start), min(period.end, named.end))
