"""Finds the one question to ask back: the text that is cited says it depends on a fact, and the question does not name it; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agent.language import Language
from agent.language.analyser import spaced
from agent.language.timing import mentions


def question_back(question: str, cited: Iterable[str], language: Language, limits: Mapping[str, Any]) -> str | None:
    """The question of the first of the `limits`' facts that a cited text hangs on and the question leaves open; None mostly.

    A fact has `marks` (phrases by which a text says that it depends on it), `values` (words by which a question settles it), and `dated`:
    whether a date in the question settles it as well.
    """
    asked, texts = spaced(question), [spaced(text) for text in cited]
    for fact in limits["facts"]:
        settled = any(spaced(value) in asked for value in fact["values"]) or (fact["dated"] and bool(mentions(question, language)))
        if not settled and any(spaced(mark) in text for mark in fact["marks"] for text in texts):
            return str(fact["question"])
    return None
