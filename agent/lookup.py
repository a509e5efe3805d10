"""Finds the dated value a question names, without a model: the one whose label says what the question says, or none; pure.

The rows of a table of values differ by a word ("daily", "without special payments", "step 2"), and the wrong one is a wrong answer. So a
value is only found where it answers to most of what the question says and no other comes near: silence costs less than a slip.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import log

from agent.language import Language
from agent.language.analyser import folded
from agent.language.bounds import stated, suits
from agent.language.contrast import excepted, opposed, special
from agent.language.figures import Figure
from agent.language.similarity import likeness
from agent.language.timing import mentions
from agent.values import DatedValue, Period

FITS, SAYS = 0.56, 0.6
"""The least score of the value found, and the least share of the question's words that it answers to."""
NEAR, NEARER = 0.06, 0.05
"""By how much its score must be ahead of the next value's, or else its share of the question's words."""
ASKED = 1.5
"""How much more it counts that a value answers to what is asked than that it says little else (the beta of an F measure)."""
AROUND, SYNONYM = 0.6, 0.95
"""What a word counts that only the entries around a value say, and one that a synonym of it says."""
VERB = 0.25
"""What a word written small counts that no value knows, where nouns are capitalised: a verb as a rule."""
COMMON = 0.3
"""What the words for a value ("amount", "rate") count of a label."""
OPPOSED, OTHER_UNIT, OTHER_PERIOD, SPECIAL = 0.4, 0.3, 0.25, 0.15
"""What is taken off for another side or step than the question names, for another unit or period, for a special rule."""
UNSAID, HALF_SAID = 0.08, 0.5
"""What is taken off for each noun of the question that a label does not say, not even by half: it may be another thing's name."""
STEP = 0.1


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question read for a look-up."""

    text: str
    weights: Mapping[str, float]
    likely: Mapping[str, Mapping[str, float]]
    """Each of its terms -> the values' terms it may mean, and how much, 0 to 1."""
    meant: Mapping[str, float]
    """The values' terms the question says, and how much."""
    phrases: Mapping[str, Sequence[frozenset[str]]]
    """Each of its terms -> the sets of terms that together stand for it."""
    nouns: frozenset[str]
    case: Sequence[Figure]
    periods: frozenset[str]
    rate: bool


@dataclass(frozen=True, slots=True)
class _Fit:
    """How a value answers to a question: its score, the share of the question's words it says, how well its step suits."""

    value: DatedValue
    score: float
    says: float
    step: float


def looked_up(
    question: str, period: Period, values: Sequence[DatedValue], language: Language, synonyms: Mapping[str, tuple[str, ...]]
) -> tuple[DatedValue, ...]:
    """The value a question names, its rows for `period` in order of time; empty where none is named beyond doubt, or none for then.

    `values` are all there are: one that holds at other times only can still be the one that is meant.
    """
    frequencies = _frequencies(values)
    asked = _asked(question, values, frequencies, language, synonyms)
    if all(_common(term, language) for term in asked.weights):
        return ()
    holding = {value.id: value for value in values if period.overlaps(value.valid_from, value.valid_to)}
    then = {value.name for value in holding.values()}
    others = {value.name: value for value in values if value.name not in then}
    names = {fit.value.name for fit in _first(_fit(value, asked, frequencies, language) for value in (*holding.values(), *others.values()))}
    found = (value for value in holding.values() if value.name in names)
    return tuple(sorted(found, key=lambda value: value.valid_from)) if len(names) == 1 else ()


def _first(fits: Iterable[_Fit]) -> list[_Fit]:
    """The best fit and those that cannot be told from it; none where it is not good enough, or no number."""
    ranked = sorted(fits, key=lambda fit: (-fit.score, fit.value.id))
    best = ranked[0] if ranked else None
    if best is None or best.score < FITS or best.says < SAYS:
        return []
    close = [fit for fit in ranked if fit.score > best.score - NEAR]
    most = max(fit.says for fit in close)
    if best.says < most - NEARER:
        return []
    close = [fit for fit in close if fit.says >= most - NEARER]
    steps: dict[str, float] = {}
    for fit in close:
        steps[fit.value.key] = max(fit.step, steps.get(fit.value.key, -1.0))
    close = [fit for fit in close if fit.step >= steps[fit.value.key] - 0.02]
    return [] if any(isinstance(fit.value.value, str) for fit in close) else close


# --- the question ---------------------------------------------------------------------------------


def _asked(
    question: str,
    values: Sequence[DatedValue],
    frequencies: _Frequencies,
    language: Language,
    synonyms: Mapping[str, tuple[str, ...]],
) -> _Asked:
    known = frozenset[str]().union(*(term for value in values for term in (*value.labels, value.around)))
    small = language.small_word_weight(question)
    weights: dict[str, float] = {}
    nouns: set[str] = set()
    for term, word in language.tokens(question):
        if not language.tells_time(term):
            weight = 1.0 if word[0].isupper() or not word[0].isalpha() else small * (VERB if small < 1 and term not in known else 1.0)
            weights[term] = weight * frequencies.weight(term)
            nouns |= {term} if word[0].isupper() and small < 1 and not _common(term, language) else set()
    phrases = _synonyms(language.terms(question), synonyms)
    for names in language.figures["per_units"].values():
        terms = [term for name in names for term in language.terms(name)]
        for term in (term for term in terms if term in weights):
            phrases.setdefault(term, []).extend(frozenset({other}) for other in terms if other != term)
    likely = {term: {other: like for other in known if (like := likeness(term, other))} for term in weights}
    meant = {word: max(like.get(word, 0.0) for like in likely.values()) for word in {word for like in likely.values() for word in like}}
    meant |= {word: 1.0 for others in phrases.values() for phrase in others for word in phrase}
    words = [folded(word) for _, word in language.tokens(question)] + folded(question).split()
    rate = "%" in question or any(word.strip("?!.,:").endswith(tuple(language.table["rate_words"])) for word in words)
    case = stated(question, language.notation) if any(c.isdigit() for c in question) else []
    periods = language.notation.named_periods(_timeless(question, language))
    return _Asked(question, weights, likely, meant, phrases, frozenset(nouns), case, periods, rate)


def _synonyms(terms: Sequence[str], synonyms: Mapping[str, tuple[str, ...]]) -> dict[str, list[frozenset[str]]]:
    """What may stand for each term, alone or as part of a phrase that has synonyms."""
    longest = max((key.count(" ") for key in synonyms), default=-1) + 1
    found: dict[str, list[frozenset[str]]] = {}
    for start in range(len(terms)):
        for end in range(start + 1, min(start + longest, len(terms)) + 1):
            for other in synonyms.get(" ".join(terms[start:end]), ()):
                for term in terms[start:end]:
                    found.setdefault(term, []).append(frozenset(other.split()))
    return found


def _timeless(question: str, language: Language) -> str:
    """The question without the times it names: "in the year 2025" names no yearly amount."""
    for mention in reversed(mentions(question, language)):
        start, end = mention.span
        link = language.notation.year_links.before(question, 0, start)
        question = f"{question[: link[1] if link else start]} , {question[end:]}"
    return question


@dataclass(frozen=True, slots=True)
class _Frequencies:
    """In how many values' labels each term occurs."""

    counts: Mapping[str, int]
    names: int

    def weight(self, term: str) -> float:
        """How telling a term is among the values (idf)."""
        return log(1 + self.names / (1 + self.counts.get(term, 0)))


def _frequencies(values: Iterable[DatedValue]) -> _Frequencies:
    labels: dict[str, set[str]] = {}
    for value in values:
        labels.setdefault(value.name, set()).update(*value.labels)
    return _Frequencies(Counter(term for terms in labels.values() for term in terms), len(labels))


def _number(term: str) -> bool:
    return term.replace("_", "").isdigit()


def _common(term: str, language: Language) -> bool:
    return _number(term) or term in _common_terms(language)[0]


@cache
def _common_terms(language: Language) -> tuple[frozenset[str], frozenset[str]]:
    """The terms for a value as such ("amount"), and those for a period ("month")."""
    values = frozenset(term for word in language.table["value_words"] for term in language.terms(word))
    phrases = [phrase for words in (*language.figures["periods"].values(), *language.figures["per_periods"].values()) for phrase in words]
    return values, frozenset(term for phrase in phrases for term in language.terms(phrase))


# --- a value --------------------------------------------------------------------------------------


def _fit(value: DatedValue, asked: _Asked, frequencies: _Frequencies, language: Language) -> _Fit:
    if all(word not in asked.meant for label in value.labels for word in label):
        return _Fit(value, 0.0, 0.0, 0.0)
    periods = _periods(value.period or "", language)
    kept = bool(periods & asked.periods)
    around = {term: AROUND * _named(term, value.around, asked) for term in asked.weights}
    score, says = max(_alike(label, around, asked, frequencies, language, kept=kept) for label in value.labels)
    step = suits(asked.case, value.label, language.notation) if asked.case and score > NEAR else 0.0
    score += STEP * step if step >= 0 else -OPPOSED
    if score < FITS:
        return _Fit(value, score, says, step)
    if asked.rate and value.unit != "%":
        score -= OTHER_UNIT
    if periods and asked.periods and not kept:
        score -= OTHER_PERIOD
    if opposed(asked.text, value.label, language) or excepted(asked.text, value.label, language):
        score -= OPPOSED
    return _Fit(value, score - SPECIAL * special(asked.text, value.label, language), says, step)


@cache
def _periods(text: str, language: Language) -> frozenset[str]:
    return language.notation.named_periods(text)


def _said(term: str, words: frozenset[str], asked: _Asked) -> float:
    """How well a set of terms says a term of the question."""
    likely = asked.likely[term]
    return _named(term, words, asked) or max((likely[word] for word in words if word in likely), default=0.0)


def _named(term: str, words: frozenset[str], asked: _Asked) -> float:
    """How well a set of terms says a term of the question by its own name or a synonym's."""
    if term in words:
        return 1.0
    return SYNONYM if any(phrase <= words for phrase in asked.phrases.get(term, ())) else 0.0


def _alike(
    label: frozenset[str], around: Mapping[str, float], asked: _Asked, frequencies: _Frequencies, language: Language, *, kept: bool
) -> tuple[float, float]:
    """How much a label and the question say the same (an F measure of both shares), and the share of the question alone."""
    common, spans = _common_terms(language)
    total = said = 0.0
    for term, weight in asked.weights.items():
        own = _said(term, label, asked)
        if own < 1 and (_number(term) or term in common or (kept and term in spans)):
            continue
        total, said = total + weight, said + weight * max(own, around[term])
    whole = covered = 0.0
    for word in label:
        own = asked.meant.get(word, 0.0)
        if own == 1 or not _number(word):
            weight = frequencies.weight(word) * (COMMON if word in common else 1.0)
            whole, covered = whole + weight, covered + weight * own
    recall, precision = said / total if total else 0.0, covered / whole if whole else 0.0
    both = recall + ASKED**2 * precision
    alike = (1 + ASKED**2) * recall * precision / both if both else 0.0
    unsaid = sum(_said(term, label, asked) < HALF_SAID for term in asked.nouns if not (kept and term in spans))
    return alike - UNSAID * unsaid, recall
