"""Finds the one question to ask back: the text that is cited says it depends on a fact, and the question does not name it; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from agent.language import Language
from agent.language.analyser import folded
from agent.language.timing import mentions


def question_back(question: str, cited: Iterable[str], language: Language, limits: Mapping[str, Any]) -> str | None:
    """The question of the first of the `limits`' facts that a cited text hangs on and the question leaves open; None mostly.

    A fact has `marks` (phrases by which a text says that it depends on it), `values` (words by which a question settles it), and `dated`:
    whether a date in the question settles it as well.
    """
    asked, texts = _plain(question), [_plain(text) for text in cited]
    for fact in limits["facts"]:
        settled = any(_plain(value) in asked for value in fact["values"]) or (fact["dated"] and bool(mentions(question, language)))
        if not settled and any(_plain(mark) in text for mark in fact["marks"] for text in texts):
            return str(fact["question"])
    return None


def _plain(text: str) -> str:
    """The words of a text in lower case between single blanks, so that a phrase is found at word boundaries only."""
    return " ".join(["", *re.findall(r"[\w-]+", folded(text)), ""])
