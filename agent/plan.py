"""Turns a question into the searches it needs: its dates, its scope, and whether it asks for one thing or for a survey."""

from __future__ import annotations

from datetime import date

from agent.language import Language
from agent.language.analyser import folded
from agent.language.timing import mentions
from agent.values import Period, Plan, Question, SubQuery

MOST_PERIODS = 3
"""A question that names more dates than this is searched once, over all of them."""


def by_rules(question: Question, language: Language, *, scope: str = "alle") -> Plan:
    """The plan without a model: a search per date named in the question, else one for the Stichtag."""
    periods = asked_periods(question, language)
    dated = bool(periods)
    if len(periods) > MOST_PERIODS:
        periods = [Period(min(p.start for p in periods), max(p.end for p in periods))]
    searched = periods or [Period.day(question.stichtag)]
    kind = "survey" if any(mark in folded(question.text) for mark in language.table["survey_words"]) else "specific"
    return Plan(kind, tuple(SubQuery(question.text, period, scope) for period in searched), dated)


def asked_periods(question: Question, language: Language) -> list[Period]:
    """The days, months and years the question names, in order, each once; words such as "this year" count from the Stichtag."""
    found = [mention.reach if mention.open == "range" else mention.period for mention in mentions(question.text, language)]
    text = f" {folded(question.text)} "
    for words, offset in language.table["relative_years"].items():
        if f" {words} " in text.replace("?", " ").replace(",", " "):
            found.append(_relative(question.stichtag, offset))
    return list(dict.fromkeys(found))


def _relative(stichtag: date, offset: int) -> Period:
    return Period.day(stichtag) if offset == 0 else Period.year(stichtag.year + offset)
