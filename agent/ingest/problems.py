"""What is wrong with a file of the knowledge base, as a value: one bad file never stops the reading of the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from agent.i18n import tr


class Severity(StrEnum):
    """A problem fails a check; a notice is only told."""

    PROBLEM = "problem"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True, order=True)
class EntryProblem:
    """`path:line` (from 1), what is wrong there in one sentence, and what mends it."""

    path: Path
    line: int
    message: str
    mend: str = ""
    severity: Severity = Severity.PROBLEM
    kind: str = field(default="", compare=False)
    """What notices of its kind are called where they are counted."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message} {self.mend}".rstrip()


def near(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """A hint at the known name that `word` resembles, else `otherwise`."""
    import difflib

    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.75)
    return tr("Did you mean `{name}`?", name=found[0]) if found else otherwise
