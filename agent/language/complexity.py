"""How much looking up a question needs, told by its form: no word of a subject, only what a language's tables know; pure.

A linear model over a few counts gives the three labels of Adaptive-RAG (Jeong et al. 2024). Its coefficients are a data file
(tables/complexity.json), fitted on labelled questions by `pv-agent fit complexity`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import log1p
from typing import Any

from agent.language.analyser import Language, folded
from agent.values import Label

FEATURES = ("words", "terms", "letters", "commas", "questions", "asks", "compares", "lists", "numbers", "names", "tasks", "chat")
"""words, terms: logarithms of their number. letters: mean length of a word. commas: pauses inside a sentence. questions: question words;
asks: whether it begins with one. compares, lists: words that compare or enumerate. numbers: words with a digit. names: share of words
written large after the first. tasks: words that ask for a text or a sum. chat: words of a conversation."""

OTHER = "other"
"""The model of a language that has none of its own."""
_WORD = re.compile(r"\w[\w'’-]*")
_PAUSE = re.compile(r"[,;:–](?=\s)")


def features(question: str, language: Language) -> dict[str, float]:
    """The counts of one question."""
    table, words = language.table, _WORD.findall(question)
    low = [folded(word) for word in words]
    text = f" {' '.join(low)} "

    def among(name: str) -> float:
        return float(sum(text.count(f" {folded(word)} ") for word in table[name]))

    return {
        "words": log1p(len(words)),
        "terms": log1p(len(language.query_terms(question))),
        "letters": sum(map(len, words)) / len(words) if words else 0.0,
        "commas": float(len(_PAUSE.findall(question))),
        "questions": among("question_words"),
        "asks": float(any(word in table["question_words"] for word in low[:3])),
        "compares": among("comparison_words"),
        "lists": among("listing_words"),
        "numbers": float(sum(any(c.isdigit() for c in word) for word in words)),
        "names": sum(word[0].isupper() for word in words[1:]) / max(len(words), 1),
        "tasks": float(among("task_words") > 0),
        "chat": among("chat_words"),
    }


def scores(found: Mapping[str, float], model: Mapping[str, Mapping[str, Any]]) -> dict[Label, float]:
    """What speaks for each label; only their differences mean anything."""
    weights = model["weights"]
    return {label: model["bias"][label] + sum(found[name] * weights[name][label] for name in weights) for label in Label}


def label(question: str, language: Language, models: Mapping[str, Mapping[str, Any]]) -> Label:
    """The label that most speaks for, by the model of the language."""
    found = scores(features(question, language), models.get(language.code) or models[OTHER])
    return max(found, key=lambda each: found[each])
