"""How well the steps of a statement ("über 2.225 bis 2.427 EUR", "ab 5 Dienstjahren") suit the figures of a case; pure.

A question that says "nach 17 Dienstjahren" is about one step of a table, and the wrong step is a wrong answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from agent.language.figures import Figure, parse, supports
from agent.language.notation import Notation

BARE = 0.7
"""What the fit of a number without a unit ("3.550 brutto", "80 DN") counts."""
OTHER = -0.5
"""The fit of a step that is another one than the case's, where no bound says on which side of it the case lies."""
_LOW = ("max", "under")
_COUNTED = ("amount", "percent", "quantity", "number", "ordinal")


def stated(text: str, notation: Notation) -> list[Figure]:
    """The figures of a case: amounts, numbers, counts, no dates and no norms."""
    return [figure for figure in parse(text, notation) if figure.kind in _COUNTED]


def suits(case: Sequence[Figure], text: str, notation: Notation) -> float:
    """1 where a step of `text` is the one a figure of the case falls into, -1 where all comparable steps are others, 0 where none compares.

    Of open steps ("from 3", "from 5", "from 10") the one whose bound lies nearest suits best.
    """
    steps = stated(text, notation)
    fits = [(_fit(figure, step), _likeness(figure, step)) for figure in case for step in steps]
    return max((fit * likeness for fit, likeness in fits if fit is not None and likeness), default=0.0)


def fitted(case: Sequence[Figure], steps: Sequence[Figure]) -> float | None:
    """How well the best of the steps suits a case: as `suits`, but below 0 where a step is a plain value or a range and not the case's own.

    None where nothing compares.
    """
    fits = [fit for figure in case for step in steps if (fit := _compared(figure, step)) is not None]
    return max(fits, default=None)


def _compared(figure: Figure, step: Figure) -> float | None:
    if figure.end is not None:
        same = (figure.unit or figure.end.unit) == step.unit
        return (1.0 if supports(figure, step) else OTHER) if same and (step.end or step.bound) else None
    likeness = _likeness(figure, step)
    if not likeness:
        return None
    fit = _fit(figure, step)
    return OTHER if fit is None else fit * likeness


def _likeness(figure: Figure, step: Figure) -> float:
    """1 where both count the same (a year of service is a year), less for a number alone, 0 where they count other things."""
    left, right = (figure.unit or "").casefold(), (step.unit or "").casefold()
    if right and not left and step.bound is None and step.end is None:
        return 0.0
    if left == right or (left and right and (left.endswith(right) or right.endswith(left))):
        return 1.0
    return BARE if right and not left else 0.0


def _within(figure: Figure, step: Figure) -> bool:
    """Whether a value lies in a step that has both ends; a case that is itself a range is met by that range alone."""
    value, bound = _value(figure), _value(step)
    top = _value(step.end) if step.end else None
    if value is None or bound is None or top is None:
        return False
    if figure.end is not None:
        return (value, _value(figure.end)) == (bound, top)
    return (value > bound if step.bound == "over" else value >= bound) and value <= top


def _fit(figure: Figure, step: Figure) -> float | None:
    """How a figure lies to one step: None where the step is a plain value that says nothing of bounds."""
    value, bound = _value(figure), _value(step)
    if value is None or bound is None:
        return None
    if step.end is not None or (figure.end is not None and step.bound):
        return 1.0 if _within(figure, step) else -1.0
    if value == bound and (figure.bound or step.bound not in ("over", "under")):
        # a case that is itself a side ("unter 18") is met by that side alone
        return -1.0 if figure.bound and step.bound and (figure.bound in _LOW) != (step.bound in _LOW) else 1.0
    if step.bound in _LOW:
        return float(Fraction(1, 2) + value / bound / 2) if 0 < value < bound else -1.0
    if step.bound:
        return float(Fraction(1, 2) + bound / value / 2) if value > bound > 0 else -1.0
    return None


def _value(figure: Figure) -> Fraction | None:
    try:
        return Fraction(figure.value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
