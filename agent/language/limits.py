"""Whether a sentence states a figure as the text does: as a value, as the most or as the least; pure.

A text says "at most 500" with a word of bound at the figure, with its label ("upper limit: 500") or not at all; a sentence that makes a
bound of a plain value, or a plain value of a bound, says something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.language.analyser import Language, folded
from agent.language.attribution import Facet
from agent.language.figures import Figure, supports
from agent.language.splitting import says

PLAINLY = 4
"""How near before a figure a word that states it must stand, and how long it must be ("beträgt", not "sind")."""


def fitting(claim: Figure, figure: Figure, facet: Facet, sentence: str, language: Language) -> bool:
    """Whether a figure of a facet states the claim with the bound it is claimed with."""
    if not supports(claim, figure):
        told_once = claim.period in facet.periods and not any(other.period == claim.period for other in facet.figures)
        if claim.period is None or not told_once or not supports(replace(claim, period=None), replace(figure, period=None)):
            return False
    if claim.bound is None or figure.bound == claim.bound or figure.end is not None:
        return True
    if _hinted(claim.bound, facet.text, language):
        return True
    turned = claim.bound == "min" and _hinted("max", facet.text, language)
    return not turned and not _states(claim, sentence, language) and _limits(facet.text, language)


def stated_plainly(claim: Figure, holding: Sequence[Facet], sentence: str, language: Language) -> bool:
    """Whether a sentence states as a plain value what each of the facets states as a bound."""
    before = sentence[: claim.span[0]].casefold().split()[-PLAINLY:]
    stating = [word for phrase in language.table["stating_words"] if len(word := phrase.split()[0]) > PLAINLY]
    if claim.bound is not None or claim.end is not None or not any(word in stating for word in before):
        return False
    if _limits(sentence, language):
        return False
    return all(
        figure.bound in ("max", "min") and figure.end is None for facet in holding for figure in facet.figures if supports(claim, figure)
    )


def _states(claim: Figure, sentence: str, language: Language) -> bool:
    """Whether a word that states a value stands before the claim in its clause ("beträgt 500 EUR")."""
    start = claim.span[0]
    begun = max(sentence.rfind(mark, 0, start) for mark in (", ", "; ", ": ")) + 1
    return says(sentence[begun:start], [phrase.split()[0] for phrase in language.table["stating_words"]])


def _hinted(bound: str, text: str, language: Language) -> bool:
    """Whether a text says with a word or a part of one ("Höchstbetrag") that its figure is a bound of this kind."""
    said = folded(text)
    marks = language.table["bound_hints"][bound]
    return any(mark in said if len(mark) > 4 else says(said, [mark]) for mark in marks)


def _limits(text: str, language: Language) -> bool:
    return any(_hinted(side, text, language) for side in ("max", "min"))
