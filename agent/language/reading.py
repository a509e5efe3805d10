"""Reads a question as it is meant where it is written as it is spoken or abbreviated, by a table of spellings; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agent.language.analyser import folded

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_JOINED = re.compile(rf"(?<!\w){_WORD.pattern}(?:[-/]{_WORD.pattern})*(?!\w)")
"""Words that hyphens or strokes join: looked up as a whole first ("K/6", "TG-Platz"), then one by one."""


def known_as(word: str) -> str:
    """The word as `read` looks it up: an abbreviation as it is written, any other word folded."""
    return word if _abbreviation(word) else folded(word)


def read(text: str, readings: Mapping[str, str]) -> str:
    """The text with each word that `readings` knows (see `known_as`) as it is to be read; everything else stays to the character.

    An abbreviation is read wherever it stands in its own capitals, in a compound with hyphens too. Of the other words a part of a compound
    with hyphens is no word of dialect; what stands in capitals is an abbreviation or a number ("BGBl I"); and what begins with a capital
    inside a sentence is a name or a noun, and no verb or pronoun written as it is spoken.
    """

    def joined(match: re.Match[str]) -> str:
        whole, start = match[0], match.start()

        def part(found: re.Match[str]) -> str:
            word, meant = found[0], readings.get(known_as(found[0]), found[0])
            if _abbreviation(word):
                return meant
            hyphens = "-" in (whole[found.start() - 1 : found.start()], whole[found.end() : found.end() + 1])
            named = start + found.start() > 0 and word[0].isupper() and not meant[0].isupper()
            return word if word.isupper() or hyphens or named else meant

        return readings[whole] if _abbreviation(whole) and whole in readings else _WORD.sub(part, whole)

    return _JOINED.sub(joined, text) if readings else text


def _abbreviation(word: str) -> bool:
    """Whether a word has more than small letters behind its first: a capital, a number, a hyphen or a stroke."""
    return any(not letter.islower() and letter != "'" for letter in word[1:])
