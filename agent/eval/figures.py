"""Which figures of one text another does not hold: how an answer's figures are checked; pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal

from agent.language import Language
from agent.language.calculations import calculations
from agent.language.figures import Figure, parse, supports

TIME_AND_RULE = frozenset({"year", "norm"})
"""Kinds that say when and by which rule, not how much."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The comparison for one language; what was read is remembered, since the same texts are compared again and again."""

    language: Language
    _read: dict[str, list[Figure]] = field(default_factory=dict)

    def missing(self, claim: str, source: str) -> tuple[str, ...]:
        """The figures of `claim`, as written, that no figure of `source` states."""
        stated = self._of(source)
        return tuple(
            dict.fromkeys(
                figure.text for figure in self._of(claim) if _counts(figure) and not any(supports(figure, other) for other in stated)
            )
        )

    def any(self, text: str) -> bool:
        """Whether a text holds a figure at all."""
        return any(_counts(figure) for figure in self._of(text))

    def worked(self, text: str) -> str:
        """What a right calculation vouches for: its result, and the whole numbers it multiplies or divides by (14 × 551,10)."""
        right = [made for made in calculations(text, self.language.notation) if made.right]
        factors = [figure.text for made in right for figure in made.figures if _whole(figure)]
        return "\n".join([*(made.result.text for made in right), *factors])

    def _of(self, text: str) -> list[Figure]:
        if text not in self._read:
            found = parse(text, self.language.notation)
            # a range states both its ends: "100 bis 436 EUR" says 100 EUR and says 436 EUR
            ends = [replace(one, end=None, bound=None) for figure in found if figure.end for one in (figure, figure.end)]
            self._read[text] = [*found, *ends]
        return self._read[text]


def _whole(figure: Figure) -> bool:
    return figure.kind == "number" and isinstance(figure.value, Decimal) and figure.value == int(figure.value)


def _counts(figure: Figure) -> bool:
    return not figure.weak and figure.kind not in TIME_AND_RULE
