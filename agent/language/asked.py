"""What kind of figure a question asks for, and how well a statement gives one; pure.

"How many weeks" wants weeks, "by what per cent" a percentage; a figure that the question brings along answers nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from agent.language.analyser import Language, folded
from agent.language.figures import Figure, parse
from agent.language.timing import mentions

LIKELY = 0.5
"""How surely a question wants a figure that neither asks for one in so many words nor is one that has none for its answer."""
_WORDS = re.compile(r"[^\W\d_]+")
_CLAUSE = re.compile(r"(?:^|[.,:;!?]\s)\W*([^\W\d_]+)")
_SENTENCE = re.compile(r"(?:^|[.:!?]\s)\W*([^\W\d_]+)\s+([^\W\d_]+)")


@dataclass(frozen=True, slots=True)
class Asked:
    """How surely a figure is wanted (0 to 1), the kinds, units and periods the question names, and the values it brings along."""

    sure: float
    kinds: frozenset[str] = frozenset()
    units: frozenset[str] = frozenset()
    periods: frozenset[str] = frozenset()
    brought: frozenset[tuple[object, str | None]] = frozenset()


@lru_cache(maxsize=256)
def asked(question: str, language: Language) -> Asked:
    """What a question wants to know: "Wie viele Wochen ..." is sure of a figure, and of its unit."""
    table, text = language.table, " ".join(_WORDS.findall(folded(question)))
    if _named(table["figure_questions"], text):
        sure = 1.0
    elif _named(table["worded_questions"], text) or _whether(question, language):
        sure = 0.0
    else:
        sure = LIKELY
    kinds = frozenset(kind for kind, words in table["asked_kinds"].items() if _named(words, text))
    brought = frozenset((figure.value, figure.unit) for figure in parse(question, language.notation))
    if not sure:
        return Asked(sure, kinds, brought=brought)
    return Asked(sure, kinds, _units(question, language), _periods(question, language), brought)


def _whether(question: str, language: Language) -> bool:
    """Whether a question asks for a yes or no: a clause of it begins with a verb ("Krank gewesen. Sind ...?", "Zahlen wir ...?").

    What is no question word and has its subject behind it is a verb, without a list of all verbs.
    """
    text = folded(question)
    clauses = _CLAUSE.findall(text)
    verbs, openers, subjects, asking = (
        _folded(language, name) for name in ("opening_verbs", "condition_openers", "subjects", "question_words")
    )
    if not verbs.isdisjoint(clauses) or not openers.isdisjoint(clauses[:1]):
        return True
    return any(second in subjects and first not in asking | openers for first, second in _SENTENCE.findall(text))


@cache
def _folded(language: Language, name: str) -> frozenset[str]:
    return frozenset(map(folded, language.table[name]))


def _named(words: list[str], text: str) -> bool:
    spoken = f" {text} "
    return any(f" {folded(word)} " in spoken for word in words)


def _units(question: str, language: Language) -> frozenset[str]:
    """The units that follow a counting word ("wie viele Wochen", "in Prozent")."""
    found = (language.notation.units.match(match[1], 0) for match in _counting(language).finditer(question))
    return frozenset(unit[0].name for unit in found if unit)


def _periods(question: str, language: Language) -> frozenset[str]:
    """The periods of time a question wants its figure for ("im Jahr", "pro Tag"); "im Jahr 2026" says when, not for how long."""
    for mention in reversed(mentions(question, language)):
        before = language.notation.periods.before(question, 0, mention.span[0])
        question = question[: before[1] if before else mention.span[0]] + " " + question[mention.span[1] :]
    return language.notation.named_periods(question)


@cache
def _counting(language: Language) -> re.Pattern[str]:
    words = "|".join(re.escape(word) for word in sorted(language.table["counting_words"], key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{words})\s+([^\W\d_]+)", re.IGNORECASE)


def own_figures(text: str, wanted: Asked, language: Language) -> tuple[Figure, ...]:
    """The figures of a statement that could answer: no years, no norms, none that the question brings along."""
    return tuple(
        figure
        for figure in parse(text, language.notation)
        if figure.kind not in ("year", "norm", "name") and not figure.weak and (figure.value, figure.unit) not in wanted.brought
    )


def meets(wanted: Asked, figures: tuple[Figure, ...]) -> float:
    """Above 0 where a figure has the unit, kind or period asked for, below where all have others, 0 where the question names none."""
    kinds, periods = {_kind(figure) for figure in figures}, {figure.period for figure in figures if figure.period}
    times = 0.0 if not (wanted.periods and periods) else 0.5 if wanted.periods & periods else -0.5
    if wanted.units:
        return times + (1.0 if wanted.units & {figure.unit for figure in figures} else -1.0)
    if wanted.kinds:
        return times + (0.5 if wanted.kinds & kinds else -0.5)
    return times


def _kind(figure: Figure) -> str:
    return "date" if figure.kind == "ordinal" else figure.kind
