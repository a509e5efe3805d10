"""Reads a question as it is meant where it is written as it is spoken, by a table of spellings; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agent.language.analyser import folded

_WORD = re.compile(r"(?<![\w-])[^\W_]+(?:'[^\W_]+)*(?![\w-])")


def read(text: str, readings: Mapping[str, str]) -> str:
    """The text with each word that `readings` knows (folded) as it is to be read; everything else stays to the character.

    A part of a compound with hyphens is no word of dialect, and what stands in capitals is an abbreviation or a number ("BGBl I").
    """

    def meant(word: re.Match[str]) -> str:
        return word[0] if word[0].isupper() else readings.get(folded(word[0]), word[0])

    return _WORD.sub(meant, text) if readings else text
