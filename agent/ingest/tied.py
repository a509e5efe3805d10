"""Whether every figure an entry states rests on something: a table row, a source line, a calculation that is shown; and those are right.

A row of a table is itself compared with `werte.yaml` (see `tables`), so a figure of running text that is found in one is tied to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from agent.i18n import tr
from agent.ingest.entries import line_at
from agent.ingest.folder import FileRead
from agent.ingest.problems import EntryProblem
from agent.language import Language
from agent.language.calculations import Calculation, calculations
from agent.language.figures import parse, supports
from agent.language.notation import Figure
from agent.values import Entry, Section

KINDS = ("amount", "percent", "quantity", "fraction")
_CALCULATES = re.compile(r"\d.* = ")


def problems(file: FileRead, language: Language) -> Iterator[EntryProblem]:
    """A problem for each figure that rests on nothing, each wrong calculation, and each line of an example that is not read as one."""
    entry = file.entry
    if entry is None:
        return
    for section, figure in loose(entry, language):
        message = tr("The figure `{text}` stands in no table row, source line or calculation of the entry.", text=figure.text)
        yield EntryProblem(file.path, line_at(file.text, section.start + figure.span[0]), message, tr("Add the row or the source."))
    for section, made in wrong(entry, language):
        line = line_at(file.text, section.start + made.span[0])
        yield EntryProblem(
            file.path, line, tr("The calculation `{text}` is not right.", text=made.text), tr("It gives {value}.", value=made.value)
        )
    for section, text in unread(entry, language):
        line = line_at(file.text, section.start + section.text.find(text))
        yield EntryProblem(
            file.path, line, tr("`{text}` cannot be read as a calculation.", text=text.strip()), tr("Write it as a × b = c.")
        )


def wrong(entry: Entry, language: Language) -> Iterator[tuple[Section, Calculation]]:
    """The calculations that give something else than they say."""
    for section in entry.sections:
        yield from ((section, made) for made in calculations(section.text, language.notation) if not made.right)


def unread(entry: Entry, language: Language) -> Iterator[tuple[Section, str]]:
    """The lines of examples that calculate and are not read as a calculation: nobody would recompute them."""
    for section in entry.sections:
        if section.name == language.table["example_section"]:
            for line in section.text.splitlines():
                if _CALCULATES.search(line) and not calculations(line, language.notation):
                    yield section, line


def loose(entry: Entry, language: Language) -> Iterator[tuple[Section, Figure]]:
    """The figures an entry states that rest on nothing in it."""
    known = [_bare(figure) for figure in _sources(entry, language)]
    for section, figure in _claims(entry, language):
        if not any(supports(_bare(figure), source) for source in known):
            yield section, figure


def _claims(entry: Entry, language: Language) -> Iterator[tuple[Section, Figure]]:
    """The amounts, percentages and counts stated outside of tables, assumptions and worked examples; "one" is a word."""
    aside = (language.table["example_section"],)
    for section in entry.sections:
        if section.name in aside:
            continue
        # blanks in place of what is left out, so that figures keep their place
        prose = "\n".join(" " * len(line) if _given(line, language) else line for line in section.text.split("\n"))
        worked = calculations(prose, language.notation)
        spans = {made.result.span for made in worked} | {figure.span for made in worked for figure in made.figures}
        for figure in _ends(parse(prose, language.notation)):
            digits = any(c.isdigit() for c in figure.text)
            if figure.kind in KINDS and not figure.weak and figure.span not in spans and (figure.value != 1 or digits):
                yield section, figure


def _given(line: str, language: Language) -> bool:
    """Whether a line is a table's row, or says what is assumed."""
    return line.lstrip().startswith("|") or any(mark in line for mark in language.table["assumption_marks"])


def _sources(entry: Entry, language: Language) -> Iterator[Figure]:
    """What the figures of an entry may rest on."""
    notation = language.notation
    marks = "|".join(map(re.escape, language.table["assumption_marks"]))
    for section in entry.sections:
        for line in section.text.splitlines():
            if _given(line, language):
                yield from _ends(parse(re.sub(rf"^[^:]*(?:{marks}):", "", line), notation))
        yield from (made.result for made in calculations(section.text, notation))
    for line in entry.info.sources:
        yield from _ends(parse(line, notation))


def _ends(figures: Iterable[Figure]) -> Iterator[Figure]:
    """The figures, and of each range the other end too."""
    for figure in figures:
        yield figure
        if figure.end is not None:
            yield figure.end


def _bare(figure: Figure) -> Figure:
    """A figure without what stands around it: only value and unit must be found again."""
    return replace(figure, bound=None, period=None, year=None, end=None)
