"""Checks the tables in an entry: rows as wide as their head, and dated values that say what `werte.yaml` says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.i18n import tr
from agent.ingest.entries import front_end, lines
from agent.ingest.problems import EntryProblem, near
from agent.ingest.werte import Notation, Wert

_RULE = re.compile(r":?-{1,}:?")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: its cells, and the line (from 1) it stands in."""

    cells: tuple[str, ...]
    line: int


def problems(path: Path, text: str, werte: Sequence[Wert] | None, notation: Notation) -> Iterator[EntryProblem]:
    """What is wrong with the tables in an entry's file text; without `werte` only with their form."""
    for table in found(text):
        head, *rest = table
        if not rest or not all(_RULE.fullmatch(cell) for cell in rest[0].cells):
            yield EntryProblem(path, head.line, tr("The table has no rule below its head."), tr("Add a line `| --- | --- |`."))
            continue
        for row in rest:
            if len(row.cells) != len(head.cells):
                message = tr(
                    "The row has {count} cells, and the table's head has {columns}.", count=len(row.cells), columns=len(head.cells)
                )
                yield EntryProblem(path, row.line, message, tr(r"Write one cell a column; a `|` inside a cell is written `\|`."))
        if werte is not None:
            yield from _values(path, head, [row for row in rest[1:] if len(row.cells) == len(head.cells)], werte, notation)


def found(text: str) -> Iterator[list[Row]]:
    """The tables of a file text, outside of front matter and code."""
    table: list[Row] = []
    start = front_end(text) or 0
    offset = text.count("\n", 0, start)
    for number, (_, line, fenced) in enumerate(lines(text, start), 1 + offset):
        if line.lstrip().startswith("|") and not fenced:
            table.append(Row(cells(line), number))
        elif table:
            yield table
            table = []
    if table:
        yield table


def cells(line: str) -> tuple[str, ...]:
    """The cells of a row, without the blanks around them; `\\|` is a bar inside a cell."""
    inner = line.strip().removeprefix("|")
    inner = re.sub(r"(?<!\\)\|$", "", inner)
    return tuple(re.sub(r"\s+", " ", cell.replace("\\|", "|")).strip() for cell in re.split(r"(?<!\\)\|", inner))


def _values(path: Path, head: Row, rows: Iterable[Row], werte: Sequence[Wert], notation: Notation) -> Iterator[EntryProblem]:
    """Rows that name a key of the dated values, and say something else than it does."""
    _, value, period, _, key = notation.forms["columns"]
    if key not in head.cells or value not in head.cells:
        return
    for row in rows:
        said = dict(zip(head.cells, row.cells, strict=True))
        name = said[key].strip("`")
        if not name or name in "–-":
            continue
        known = [wert for wert in werte if wert.name == name]
        meant = [wert for wert in known if period not in said or notation.period(wert) == said[period]]
        if not known:
            yield EntryProblem(path, row.line, tr("There is no value `{name}`.", name=name), near(name, {wert.name for wert in werte}))
        elif not meant:
            periods = ", ".join(f"`{notation.period(wert)}`" for wert in known)
            yield EntryProblem(
                path,
                row.line,
                tr("`{name}` has no value for `{said}`.", name=name, said=said.get(period, "")),
                tr("It has values for {periods}.", periods=periods),
            )
        elif said[value] not in {notation.value(wert) for wert in meant}:
            right = " or ".join(f"`{notation.value(wert)}`" for wert in meant)
            yield EntryProblem(
                path,
                row.line,
                tr("`{name}` is given as `{said}`.", name=name, said=said[value]),
                tr("The dated values say {right}.", right=right),
            )
