"""Finds the calculations a text shows (`14 × 551,10 = 7.715,40`) and does them again; pure, exact, without `eval`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from itertools import pairwise

from agent.language.measures import measure
from agent.language.notation import SPACE, Figure, Notation

_SIGNS = {"+": "+", "-": "-", "−": "-", "–": "-", "×": "*", "x": "*", "X": "*", "*": "*", "·": "*", "⋅": "*", "/": "/", "÷": "/"}
_RANK = {"+": 1, "-": 1, "*": 2, "/": 2}
_COLON = re.compile(rf"(?<=[{SPACE}]):(?=[{SPACE}])")
_SKIP = re.compile(rf"[{SPACE}\n]{{1,4}}|\*\*")
_WORD = re.compile(r"[\w.,]{0,200}\w")
_LONGEST = 60
_EXACT = Context(prec=80, rounding=ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class Calculation:
    """One shown calculation: `figures` are what it uses, `result` what it says comes out, `value` what does come out.

    `value` is rounded half up to the decimals the result is written with, and None where nothing comes out (division by zero).
    """

    figures: tuple[Figure, ...]
    result: Figure
    value: Decimal | None
    right: bool
    text: str
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Token:
    sign: str
    span: tuple[int, int]
    figure: Figure | None = None


@dataclass(frozen=True, slots=True)
class _Amount:
    """A value on the way; `percent` marks a bare percentage, which added to a value means a share of it (100 + 20 % = 120)."""

    value: Fraction
    percent: bool = False


def calculations(text: str, notation: Notation) -> list[Calculation]:
    """The calculations of `text`, in order. In a chain `a = b = c` each `=` is one. Units are set aside: 14 × 551,10 EUR = 7.715,40."""
    found: list[Calculation] = []
    for run in _runs(text, notation):
        sides = _sides(run)
        found += [made for left, right in pairwise(sides) if (made := _made(left, right, text)) is not None]
    return found


def _made(left: Sequence[_Token], right: Sequence[_Token], text: str) -> Calculation | None:
    left, right = _balanced(left, from_left=False), _balanced(right, from_left=True)
    figures = tuple(token.figure for token in left if token.figure is not None)
    results = [token.figure for token in right if token.figure is not None]
    if not results or len(figures) < 2 or max(len(left), len(right)) > _LONGEST:
        return None
    polish, stated = _polish(left), _polish(right)
    if polish is None or stated is None:
        return None
    value, expected = _worked(polish), _worked(stated)
    span = (left[0].span[0], right[-1].span[1])
    if len(results) > 1:
        same = value is not None and expected is not None and value.value == expected.value
        return Calculation(figures, results[0], None, same, text[span[0] : span[1]], span)
    said = _signed(right, results[0])
    made = _rounded(value, results[0], times_hundred=False)
    if results[0].kind == "percent" and not (made == said and any(figure.value == 100 for figure in figures)):
        made = _rounded(value, results[0], times_hundred=True)
    return Calculation(figures, results[0], made, made is not None and made == said, text[span[0] : span[1]], span)


def _rounded(value: _Amount | None, result: Figure, *, times_hundred: bool) -> Decimal | None:
    """At the decimals the result is written with, half up; `times_hundred` where a share comes out and a percentage is written."""
    if value is None or not isinstance(result.value, Decimal):
        return None
    amount = value.value * (100 if times_hundred else 1)
    exponent = result.value.as_tuple().exponent
    scale = 10 ** (-exponent if isinstance(exponent, int) and exponent < 0 else 0)
    shifted = abs(amount) * scale
    whole = (shifted.numerator * 2 + shifted.denominator) // (2 * shifted.denominator)
    return (Decimal(whole) * (-1 if amount < 0 else 1)).scaleb(-len(str(scale)) + 1, _EXACT) if len(str(whole)) < 80 else None


def _signed(side: Sequence[_Token], figure: Figure) -> Decimal | None:
    if not isinstance(figure.value, Decimal):
        return None
    return -figure.value if sum(token.sign == "-" for token in side) % 2 else figure.value


# --- reading ------------------------------------------------------------------------------------


def _runs(text: str, notation: Notation) -> list[list[_Token]]:
    """Tokens of numbers, signs and brackets with nothing else between them; only runs with an equals sign."""
    runs: list[list[_Token]] = [[]]
    pos = 0
    while pos < len(text):
        gap = _SKIP.match(text, pos)
        if gap:
            pos = gap.end()
            continue
        token = _token(text, pos, notation, operand=bool(runs[-1]) and runs[-1][-1].sign in ("n", ")"))
        if token is None:
            if runs[-1]:
                runs.append([])
            pos = _onward(text, pos)
        else:
            runs[-1].append(token)
            pos = token.span[1]
    return [run for run in runs if any(token.sign == "=" for token in run)]


def _onward(text: str, pos: int) -> int:
    """Past the character, the word or the number that is no part of a calculation."""
    if text[pos].isalnum():
        run = _WORD.match(text, pos)
        return run.end() if run else pos + 1
    return pos + 1


def _token(text: str, pos: int, notation: Notation, *, operand: bool) -> _Token | None:
    """The token at `pos`; `operand` says that a value stands before it, so that a sign may follow but no value."""
    letter = text[pos]
    if letter in "()":
        return _Token(letter, (pos, pos + 1))
    if letter in "=≈":
        return _Token("=", (pos, pos + 1))
    if operand or letter in "+-−–":
        return _operator(text, pos, notation)
    figure = measure(text, pos, notation)
    return _Token("n", figure.span, figure) if figure is not None else None


def _operator(text: str, pos: int, notation: Notation) -> _Token | None:
    for words, sign in ((notation.times, "*"), (notation.equals, "=")):
        found = words.match(text, pos)
        if found:
            return _Token(sign, (pos, found[1]))
    sign = "/" if _COLON.match(text, pos) else _SIGNS.get(text[pos], "")
    return _Token(sign, (pos, pos + 1)) if sign else None


def _sides(run: Sequence[_Token]) -> list[list[_Token]]:
    sides: list[list[_Token]] = [[]]
    for token in run:
        if token.sign == "=":
            sides.append([])
        else:
            sides[-1].append(token)
    return sides


def _balanced(side: Sequence[_Token], *, from_left: bool) -> Sequence[_Token]:
    """The part of a side next to its equals sign whose brackets close: `(14 × 551,10 = 7.715,40)` stands in brackets of the prose."""
    opened: list[int] = []
    cuts: list[int] = []
    for index, token in enumerate(side):
        if token.sign == "(":
            opened.append(index)
        elif token.sign == ")" and opened:
            opened.pop()
        elif token.sign == ")":
            cuts.append(index)
    cuts = sorted(cuts + opened)
    if not cuts:
        return side
    return side[: cuts[0]] if from_left else side[cuts[-1] + 1 :]


# --- doing the sum (shunting-yard, Dijkstra 1961) -----------------------------------------------


def _polish(side: Sequence[_Token]) -> list[_Token] | None:
    """The side in reverse Polish order; None where it is no whole expression."""
    output: list[_Token] = []
    held: list[_Token] = []
    wants_value = True
    for token in side:
        if token.sign == "n" and wants_value:
            output.append(token)
            wants_value = False
        elif token.sign == "(" and wants_value:
            held.append(token)
        elif token.sign == ")" and not wants_value:
            while held and held[-1].sign != "(":
                output.append(held.pop())
            if not held:
                return None
            held.pop()
        elif token.sign in ("-", "+") and wants_value:
            held.append(_Token("neg" if token.sign == "-" else "pos", token.span))
        elif token.sign in _RANK and not wants_value:
            while held and _RANK.get(held[-1].sign, 3 if held[-1].sign in ("neg", "pos") else 0) >= _RANK[token.sign]:
                output.append(held.pop())
            held.append(token)
            wants_value = True
        else:
            return None
    if wants_value or any(token.sign == "(" for token in held):
        return None
    return output + held[::-1]


def _worked(polish: Sequence[_Token]) -> _Amount | None:
    """What an expression in reverse Polish order comes to; None for a division by zero."""
    stack: list[_Amount] = []
    for token in polish:
        if token.figure is not None:
            value = Fraction(token.figure.value) if isinstance(token.figure.value, Decimal | Fraction) else Fraction(0)
            per = {"%": 100, "‰": 1000}.get(token.figure.unit or "", 1)
            stack.append(_Amount(value / per, per == 100))
        elif token.sign in ("neg", "pos"):
            last = stack.pop()
            stack.append(_Amount(-last.value if token.sign == "neg" else last.value, last.percent))
        else:
            right, left = stack.pop(), stack.pop()
            result = _applied(token.sign, left, right)
            if result is None:
                return None
            stack.append(result)
    return stack[-1]


def _applied(sign: str, left: _Amount, right: _Amount) -> _Amount | None:
    if sign == "*":
        return _Amount(left.value * right.value)
    if sign == "/":
        return _Amount(left.value / right.value) if right.value else None
    share = left.value if right.percent and not left.percent else Fraction(1)
    change = right.value * share
    return _Amount(left.value + change if sign == "+" else left.value - change, left.percent and right.percent)
