"""Classifies a question by a small linear model over its form: no model call, no search."""

from __future__ import annotations

from agent.interfaces import Classified, Parts
from agent.language import complexity
from agent.values import Question


def classify(question: Question, parts: Parts, /) -> Classified:
    """The label by the table "complexity"."""
    return Classified(complexity.label(question.text, parts.language, parts.tables["complexity"]).value)
