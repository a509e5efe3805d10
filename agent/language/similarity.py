"""How alike two terms are (typing slips, parts of compounds), and how much of a set of terms a text covers; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

SLIP = 0.6
"""Dice similarity of the character bigrams from which two terms of six letters or more count as one word mistyped."""
PART = 5
"""Letters a term needs to count as a part of a compound."""


@lru_cache(maxsize=65536)
def bigrams(term: str) -> frozenset[str]:
    padded = f" {term} "
    return frozenset(padded[i : i + 2] for i in range(len(padded) - 1))


def dice(left: str, right: str) -> float:
    """Dice coefficient of the character bigrams (Dice 1945), 0 to 1."""
    a, b = bigrams(left), bigrams(right)
    return 2 * len(a & b) / (len(a) + len(b))


def likeness(term: str, other: str) -> float:
    """1 for the same term, less for a part of a compound (by the share of letters) or a typing slip, 0 for another word."""
    if term == other:
        return 1.0
    if not (term.isalpha() and other.isalpha()):
        return 0.0
    short, long = sorted((term, other), key=len)
    if len(short) >= PART and (long.startswith(short) or long.endswith(short)):
        # the question's word inside a longer one of the text names the thing more closely; the reverse leaves something out
        return 0.9 if short == term else 0.5 + 0.4 * len(short) / len(long)
    if len(short) >= 6 and len(long) - len(short) <= 3:
        same = dice(term, other)
        return same if same >= SLIP and term[0] == other[0] else 0.0
    return 0.0


def covered(term: str, text_terms: Collection[str], variants: Iterable[str] = ()) -> float:
    """How well the best of `text_terms` matches `term` or one of its variants, 0 to 1."""
    if term in text_terms:
        return 1.0
    if variants and any(variant in text_terms for variant in variants):
        return 0.95
    return _closest(term, text_terms) if isinstance(text_terms, frozenset) else _scanned(term, text_terms)


def _scanned(term: str, others: Iterable[str]) -> float:
    """The likeness of the term most like `term`. Only those are looked at that begin or end as it does: no other is like it at all."""
    if len(term) < PART or not term.isalpha():
        return 0.0
    first, last = term[0], term[-1]
    return max((likeness(term, other) for other in others if other[:1] == first or other[-1:] == last), default=0.0)


_closest = lru_cache(maxsize=4096)(_scanned)
"""The same texts are compared with the same terms again and again while one question is answered."""


def coverage(weights: Mapping[str, float], text_terms: Collection[str], variants: Mapping[str, tuple[str, ...]] | None = None) -> float:
    """The share of the terms' weight that a text covers, 0 to 1; 0 for no terms."""
    total = sum(weights.values())
    if not total:
        return 0.0
    variants = variants or {}
    return sum(weight * covered(term, text_terms, variants.get(term, ())) for term, weight in weights.items()) / total
