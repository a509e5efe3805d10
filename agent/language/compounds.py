"""Takes the compounds of a question apart and completes its ellipses; which of it is a word, the vocabulary of an index decides; pure.

A list of parts would be a word list of some domain, and no splitter is right without one. So a term is only cut at every place it could
be cut at, and the cuts whose halves the knowledge base knows are kept (corpus-driven splitting: Koehn, Knight 2003).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from agent.language.analyser import Language, normalised

SHORTEST = 4
"""Letters of the shortest part; below it syllables begin to look like words."""

_JOIN = r"(?:,|/|[^\W\d_]{2,4})"
_ELLIPSIS = re.compile(
    rf"(?P<front>[^\W\d_]+)-\s*{_JOIN}\s*(?P<whole>[^\W\d_]{{6,}})|(?P<full>[^\W\d_]{{6,}})\s*{_JOIN}\s+-(?P<back>[^\W\d_]+)"
)
"""„Lohn- und Gehaltsabrechnung“ and „Lohnsteuer und -abgaben“."""


def cuts(term: str, language: Language) -> list[tuple[str, str]]:
    """Every (front, back) in two that a term could be put together of, as terms, a linking letter taken off the front."""
    if not term.isalpha() or len(term) < 2 * SHORTEST:
        return []
    return list(dict.fromkeys(_cuts(term, language)))


def _cuts(term: str, language: Language) -> Iterator[tuple[str, str]]:
    for at in range(SHORTEST, len(term) - SHORTEST + 1):
        front, back = term[:at], term[at:]
        for link in ("", *language.table["links"]):
            if front.endswith(link) and at - len(link) >= SHORTEST:
                part = language.term(front.removesuffix(link) if link else front)
                if part:
                    yield part, back


def known(term: str, vocabulary: Collection[str], language: Language) -> tuple[str, ...]:
    """The parts of a term that are words: both halves of the best cut, the one with the longest shorter half. Empty where none fits."""
    fitting = [cut for cut in cuts(term, language) if cut[0] in vocabulary and cut[1] in vocabulary]
    return max(fitting, key=lambda cut: (min(map(len, cut)), cut), default=())


def completed(text: str, language: Language) -> dict[str, tuple[str, ...]]:
    """What each ellipsis of a text could stand for: the term written out beside it -> the words it may mean, as terms."""
    found: dict[str, list[str]] = {}
    for match in _ELLIPSIS.finditer(normalised(text)):
        if match["front"]:
            whole, written = match["whole"], (match["front"] + match["whole"][at:] for at in range(3, len(match["whole"]) - 2))
        else:
            whole, written = match["full"], (match["full"][:at] + match["back"] for at in range(3, len(match["full"]) - 2))
        found.setdefault(language.term(whole), []).extend(language.term(word) for word in written)
    return {term: tuple(dict.fromkeys(words)) for term, words in found.items() if term}
