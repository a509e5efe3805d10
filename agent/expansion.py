"""What else the words of a question may be called in a knowledge base: synonyms, compounds, completed ellipses, words mistyped.

Only the question is expanded, never the index, and what is found weighs less than the word itself: it is searched for in a list of its own,
because FTS5's OR would let a rare relative outweigh the word that was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agent.interfaces import Store
from agent.language import Language, compounds
from agent.language.similarity import PART, SLIP, dice

SYNONYM = 0.8
ELLIPSIS = 0.8
LONGER = 0.4
"""A compound that the word begins or ends: what it says is narrower."""
HALF = 0.2
"""One half of a compound that was asked for."""
MOST_SLIPS = 4

Related = dict[str, dict[str, float]]
"""Term of the question -> what may stand for it, a term or several joined by blanks -> how much it does, 0 to 1."""


def related(text: str, terms: Sequence[str], language: Language, store: Store) -> Related:
    """The relatives of each of the `terms` of a question `text` (in order, with repetitions); terms without any are left out."""
    distinct = list(dict.fromkeys(terms))
    found: Related = {term: {} for term in distinct}
    for term, other, weight in (
        *_synonyms(terms, store.synonyms()),
        *_longer(distinct, store),
        *_by_vocabulary(text, distinct, language, store),
    ):
        if other not in found and other != term:
            found[term][other] = max(weight, found[term].get(other, 0.0))
    return {term: others for term, others in found.items() if others}


def called(related: Related) -> list[str]:
    """What the question's terms are also called: words to be said beside them where a text is compared as a whole."""
    return list(dict.fromkeys(other for others in related.values() for other, weight in others.items() if weight >= SYNONYM))


def _synonyms(terms: Sequence[str], synonyms: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str, float]]:
    """The synonyms of every term and of every run of terms that is a phrase of theirs; a phrase's stand for each of its terms."""
    longest = max((key.count(" ") for key in synonyms), default=-1) + 1
    for start in range(len(terms)):
        for end in range(start + 1, min(start + longest, len(terms)) + 1):
            for other in synonyms.get(" ".join(terms[start:end]), ()):
                yield from ((term, other, SYNONYM) for term in terms[start:end])


def _longer(terms: Sequence[str], store: Store) -> Iterator[tuple[str, str, float]]:
    long_enough = [term for term in terms if len(term) >= PART and term.isalpha()]
    for term, words in store.compounds(long_enough).items():
        yield from ((term, word, LONGER) for word in words)


def _by_vocabulary(text: str, terms: Sequence[str], language: Language, store: Store) -> Iterator[tuple[str, str, float]]:
    """What only counts where the index has the word: halves of compounds, completed ellipses; and for a word it has not, similar ones."""
    completed = compounds.completed(text, language)
    cuts = {term: compounds.cuts(term, language) for term in terms}
    asked = {*terms, *(word for words in completed.values() for word in words), *(half for c in cuts.values() for cut in c for half in cut)}
    vocabulary = {word for word, chunks in store.document_frequencies(asked).items() if chunks}
    for term in terms:
        halves = compounds.known(term, vocabulary, language)
        yield from ((term, half, HALF) for half in halves)
        if term not in vocabulary and not halves:
            yield from ((term, word, weight) for word, weight in _slips(term, store))
    for term, words in completed.items():
        yield from ((term, word, ELLIPSIS) for word in words if term in terms and word in vocabulary)


def _slips(term: str, store: Store) -> list[tuple[str, float]]:
    """The words most like one that no chunk holds, by their letter pairs."""
    if len(term) < PART or not term.isalpha():
        return []
    alike = sorted(((dice(term, word), word) for word in store.near(term)), key=lambda pair: (-pair[0], pair[1]))
    return [(word, likeness) for likeness, word in alike[:MOST_SLIPS] if likeness >= SLIP]
