"""The second stage of a search: a small linear model over what the candidates of all legs have in common; pure, values in, values out.

Each feature is standardised over the candidates of one question, so that its weight means the same for every question and every
knowledge base; the weights are a data file (tables/ranking.json) that `pv-agent fit ranking` writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import exp, fsum, log, sqrt

K1, B = 1.2, 0.9
HEAD = 2.0
"""What a term in the title, the tags or the section's name counts beside one in the text."""
TERMS, LETTERS = 100.0, 770.0
"""The usual length of a chunk: a constant, so that a chunk's score does not change with its neighbours."""

SAME = 0.8
"""From this share on a relative names the same thing."""
WINDOW = 8
"""How many terms in a row are looked at together."""

HYBRID = ("cosine", "closeness", "words", "grams", "window")
LEXICAL = ("words", "grams", "window")
"""The features of a search with vectors and of one without (`features` says what they are)."""

Features = Mapping[str, float | None]


@dataclass(frozen=True)
class Asked:
    """A question: its terms with their weight (idf, times how often it is said), their relatives, and its character grams with theirs."""

    terms: Mapping[str, float]
    grams: Mapping[bytes, float]
    related: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @cached_property
    def called(self) -> Mapping[str, tuple[str, float]]:
        """Each term, and each word that names the same, -> (the term, its weight in that wording)."""
        names = {
            other: (term, self.terms[term] * share)
            for term, others in self.related.items()
            for other, share in others.items()
            if share >= SAME and term in self.terms
        }
        return names | {term: (term, weight) for term, weight in self.terms.items()}

    @cached_property
    def relatives(self) -> Mapping[str, Sequence[tuple[tuple[str, ...], float]]]:
        """Each term -> what may stand for it, a word or several, and how much each of them does."""
        return {term: [(tuple(other.split()), share) for other, share in others.items()] for term, others in self.related.items()}

    @cached_property
    def telling(self) -> frozenset[str]:
        """All words that say something of a text: the terms and whatever may stand for them."""
        return frozenset(self.terms).union(*(parts for others in self.relatives.values() for parts, _ in others))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk: its terms as indexed, how often it holds each gram of the question, how many letters it has, and where it has a vector its
    cosine with the question, and its closeness to the best by cosine."""

    head: str
    body: str
    grams: Sequence[int]
    letters: int
    cosine: float | None = None
    closeness: float | None = None


def idf(chunks: int, holding: int) -> float:
    """Inverse document frequency as BM25 has it (Robertson, Spärck Jones 1976), never negative."""
    return log(1 + (chunks - holding + 0.5) / (holding + 0.5))


def features(question: Asked, candidate: Candidate) -> dict[str, float | None]:
    """What the model looks at, not yet standardised; None where the chunk has no vector.

    cosine, closeness: as the candidate has them. words: BM25 over terms, where a relative counts for a term that is not there. grams:
    BM25 over character grams. window: the most weight of the question's terms within a few words (proximity: Tao, Zhai 2007).
    """
    telling = question.telling
    places = [(place, word) for place, word in enumerate(candidate.body.split()) if word in telling]
    counts: dict[str, float] = {}
    head = candidate.head.split()
    for word in head:
        if word in telling:
            counts[word] = counts.get(word, 0.0) + HEAD
    for _, word in places:
        counts[word] = counts.get(word, 0.0) + 1
    words = ((weight, counts.get(term) or _stood_for(question.relatives.get(term, ()), counts)) for term, weight in question.terms.items())
    return {
        "cosine": candidate.cosine,
        "closeness": candidate.closeness,
        "words": _bm25(words, (HEAD * len(head) + candidate.body.count(" ") + 1) / TERMS),
        "grams": _bm25(zip(question.grams.values(), candidate.grams, strict=True), candidate.letters / LETTERS),
        "window": _window(question.called, places),
    }


def _stood_for(relatives: Iterable[tuple[tuple[str, ...], float]], counts: Mapping[str, float]) -> float:
    """The count of the best relative of a term that is not there, by its weight; of a relative of several words the rarest counts."""
    return max((share * min(counts.get(part, 0.0) for part in parts) for parts, share in relatives), default=0.0) if counts else 0.0


def _bm25(weighted: Iterable[tuple[float, float]], length: float) -> float:
    """BM25 over (weight, count) pairs for a text so many times as long as usual."""
    flat = K1 * (1 - B + B * length)
    return sum(weight * count * (K1 + 1) / (count + flat) for weight, count in weighted if count)


def _window(called: Mapping[str, tuple[str, float]], places: Sequence[tuple[int, str]]) -> float:
    """The most weight that distinct terms of a question, or what they are also called, have together in any `WINDOW` terms of a text."""
    best = 0.0
    for first, (start, _) in enumerate(places):
        inside: dict[str, float] = {}
        for place, word in places[first:]:
            if place >= start + WINDOW:
                break
            if word in called:
                term, weight = called[word]
                inside[term] = max(weight, inside.get(term, 0.0))
        best = max(best, sum(inside.values()))
    return best


def scores(found: Sequence[Features], weights: Mapping[str, float]) -> list[float]:
    """Each candidate's score between 0 and 1 from the features of all; without vectors among them give the weights that need none."""
    sums = [0.0] * len(found)
    for name, weight in weights.items():
        for place, value in enumerate(standardised([each[name] for each in found])):
            sums[place] += weight * value
    return [1 / (1 + exp(-value)) for value in sums]


def standardised(values: Sequence[float | None]) -> list[float]:
    """The values less their mean, over their standard deviation; 0 for what is missing and where all are equal."""
    known = [value for value in values if value is not None]
    if not known:
        return [0.0] * len(values)
    mean = fsum(known) / len(known)
    spread = sqrt(fsum((value - mean) ** 2 for value in known) / len(known))
    return [0.0 if value is None or spread < 1e-9 else (value - mean) / spread for value in values]
