"""Reads the section of an entry that lists questions it answers: `- Was kostet …? → Die Gebühr beträgt`.

What people ask and what a rule says share few words, and a question lies nearest to a question. So each listed one is embedded like a
piece of the entry and leads to the piece behind its arrow, named by how it begins; without an arrow to the entry's first piece
(document expansion: Nogueira, Lin 2019). A listed question only helps to find; it is never shown or cited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.language import Language
from agent.language.pieces import Piece
from agent.values import Entry

ARROW = "→"
_ITEM = re.compile(r"^[-*][ \t]+(?P<line>.*\S)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Listed:
    """One question of an entry; `begins` is how the pieces begin that answer it ("" = the first), `at` its offset in the file."""

    question: str
    begins: str
    at: int

    def answers(self, pieces: Sequence[Piece]) -> list[Piece]:
        """Those of an entry's pieces that answer it: the rows of several years may begin alike."""
        return [piece for piece in pieces if piece.text.startswith(self.begins)] if self.begins else list(pieces[:1])


def listed(entry: Entry, language: Language) -> Iterator[Listed]:
    """The questions an entry lists, in order."""
    for section in entry.sections:
        if section.name == language.table["questions_section"]:
            for item in _ITEM.finditer(section.text):
                question, _, begins = item["line"].partition(ARROW)
                yield Listed(question.strip(), begins.strip(), section.start + item.start())
