"""Reads a question as it is meant where it is written as it is spoken, by a table of spellings; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agent.language.analyser import folded

_WORD = re.compile(r"(?<![\w-])[^\W_]+(?:'[^\W_]+)*(?![\w-])")


def read(text: str, readings: Mapping[str, str]) -> str:
    """The text with each word that `readings` knows (folded) as it is to be read; everything else stays to the character.

    A part of a compound with hyphens is no word of dialect; what stands in capitals is an abbreviation or a number ("BGBl I"); and what
    begins with a capital inside a sentence is a name or a noun, and no verb or pronoun written as it is spoken.
    """

    def meant(word: re.Match[str]) -> str:
        found = readings.get(folded(word[0]), word[0])
        named = word.start() > 0 and word[0][0].isupper() and not found[0].isupper()
        return word[0] if word[0].isupper() or named else found

    return _WORD.sub(meant, text) if readings else text
