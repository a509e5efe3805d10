"""Writes digits of any script, of full width and in circles as plain ones, so that a figure is read whatever it is written with; pure."""

from __future__ import annotations

import re
import unicodedata

_ROMAN = re.compile(r"(?=[IVXLC]{2})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})\Z")
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


def plain(text: str) -> str:
    """The text with every decimal digit as 0 to 9; raised and lowered ones ("m²") stay, they are no figure."""
    return text if text.isascii() else "".join(map(_plain, text))


def _plain(character: str) -> str:
    if character.isascii():
        return character
    kind = unicodedata.category(character)
    if kind == "Nd":
        return str(unicodedata.digit(character))
    value = unicodedata.numeric(character, None) if kind == "No" else None
    form = unicodedata.decomposition(character)
    circled = form.startswith("<circle>") or "CIRCLED" in unicodedata.name(character, "")
    return str(int(value)) if value is not None and circled and value == int(value) else character


def roman(word: str) -> int | None:
    """The value of a Roman numeral of two letters or more in capitals, up to 99; None for any other word."""
    if not _ROMAN.match(word):
        return None
    values = [_VALUES[letter] for letter in word]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))
