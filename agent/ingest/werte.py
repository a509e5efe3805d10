"""The dated values of a knowledge base, `werte.yaml`: one scalar a row, and how such a value is written in an entry's table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

from agent.i18n import noted, tr
from agent.ingest.entries import file_text
from agent.ingest.problems import EntryProblem, near
from agent.ingest.yamlfile import Fields, Items, Node, Scalar, parsed
from agent.values import Period

FILE = "werte.yaml"

_KEY = re.compile(r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_LOOKS_NUMERIC = re.compile(r"-?[\d.,' ]*\d")
_NEEDED = ("key", "label", "value", "valid_from", "source")
_FIELDS = ("key", "row", "label", "value", "unit", "period", "valid_from", "valid_to", "norm", "source", "note", "voraussichtlich",
           "seit_ungeprueft")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wert:
    """A value for a span of days. `row` tells the cases of one key apart; `line` is where it stands."""

    key: str
    row: str | None
    label: str
    value: Decimal | str
    unit: str | None
    period: str | None
    valid_from: date
    valid_to: date | None
    norm: str | None
    source: tuple[str, ...]
    note: str | None
    voraussichtlich: bool
    """Whether the value is only expected, not yet law."""
    seit_ungeprueft: bool
    """Whether `valid_from` is not known to be the first day: it must not be shown as one."""
    line: int

    @property
    def name(self) -> str:
        return f"{self.key}/{self.row}" if self.row else self.key


def read(kb_dir: Path) -> tuple[tuple[Wert, ...], tuple[EntryProblem, ...]]:
    """The values, in order of the file, and what is wrong with the others; none where there is no such file."""
    path = kb_dir / FILE
    if not path.exists():
        return (), ()
    text = file_text(path)
    node = parsed(text, path) if isinstance(text, str) else text
    if isinstance(node, EntryProblem):
        return (), (node,)
    if not isinstance(node, Items):
        empty = isinstance(node, Scalar) and not node.text
        return (), () if empty else (EntryProblem(path, node.line, tr("The values are no list."), tr("Write one `- key: …` a value.")),)
    werte: list[Wert] = []
    problems: list[EntryProblem] = []
    for item in node.items:
        found = _wert(item, path)
        if isinstance(found, Wert):
            werte.append(found)
        else:
            problems += found
    return tuple(werte), tuple(problems + _clashes(werte, path))


def _wert(node: Node, path: Path) -> Wert | list[EntryProblem]:
    if not isinstance(node, Fields):
        return [EntryProblem(path, node.line, tr("This is no value."), tr("Write its fields: key, label, value, valid_from, …"))]
    problems = [
        EntryProblem(path, line, tr("The field `{name}` is given twice.", name=name), tr("Keep one of them.")) for name, line in node.twice
    ]
    foreign = [(name, line) for name, line in node.lines.items() if name not in _FIELDS]
    problems += [EntryProblem(path, line, tr("There is no field `{name}`.", name=name), near(name, _FIELDS)) for name, line in foreign]
    given: dict[str, Any] = {"line": node.line}
    for name in _FIELDS:
        field = node.fields.get(name, Scalar("", node.line, quoted=False))
        try:
            given[name] = _field(name, field)
        except ValueError as error:
            problems.append(
                EntryProblem(
                    path,
                    field.line,
                    tr("`{name}` {problem}.", name=name, problem=error),
                    tr(_MENDS.get(name, noted("Put the field right."))),
                )
            )
    problems += [
        EntryProblem(path, node.line, tr("The field `{name}` is missing.", name=name), tr("Add it."))
        for name in _NEEDED
        if given.get(name, "wrong") is None or given.get(name) == ()
    ]
    if not problems and given["valid_to"] and given["valid_to"] < given["valid_from"]:
        problems.append(EntryProblem(path, node.lines["valid_to"], tr("`valid_to` lies before `valid_from`."), tr("Put the dates right.")))
    return problems or Wert(**given)


_MENDS = {
    "key": noted("Write it in letters and digits, as sv.grenze."),
    "row": noted("Write it in letters and digits, as stufe-2-satz."),
    "value": noted('Write a number as 1234.50, or a text in quotes, "…".'),
    "valid_from": noted("Write it as 2026-01-31."),
    "valid_to": noted("Write it as 2026-01-31, or null."),
    "voraussichtlich": noted("Write true or false."),
    "seit_ungeprueft": noted("Write true or false."),
}


def _field(name: str, node: Node) -> Any:
    """The field's value; ValueError says how it goes on after the field's name."""
    if name == "source":
        items = node.items if isinstance(node, Items) else (node,)
        if not all(isinstance(item, Scalar) for item in items):
            raise ValueError(tr("holds something that is no text"))
        return tuple(item.value for item in items if isinstance(item, Scalar) and item.value)
    if not isinstance(node, Scalar):
        raise ValueError(tr("is a list where one value belongs"))
    text = node.value
    match name:
        case "voraussichtlich" | "seit_ungeprueft":
            if text not in (None, "true", "false"):
                raise ValueError(tr("is {text!r}", text=text))
            return text == "true"
        case _ if text is None:
            return None
        case "key" | "row" if not _KEY.fullmatch(text):
            raise ValueError(tr("is {text!r}", text=text))
        case "valid_from" | "valid_to":
            return _day(text)
        case "value":
            return _value(text, quoted=node.quoted)
        case _:
            return text


def _day(text: str) -> date:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        raise ValueError(tr("is no date: {text!r}", text=text))
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ValueError(tr("is no day of the calendar: {text!r}", text=text)) from error


def _value(text: str, *, quoted: bool) -> Decimal | str:
    if not quoted and _NUMBER.fullmatch(text):
        return Decimal(text)
    if not quoted and (_LOOKS_NUMERIC.fullmatch(text) or text in ("true", "false")):
        raise ValueError(tr("is written {text!r}", text=text))
    return text


def _clashes(werte: Iterable[Wert], path: Path) -> list[EntryProblem]:
    """Values of one name whose days overlap."""
    problems = []
    ordered = sorted(werte, key=lambda wert: (wert.name, wert.valid_from, wert.line))
    for before, after in pairwise(ordered):
        if before.name == after.name and (before.valid_to is None or before.valid_to >= after.valid_from):
            message = tr(
                "`{name}` has two values on {valid_from} (the other stands in line {line}).",
                name=after.name,
                valid_from=after.valid_from,
                line=before.line,
            )
            problems.append(EntryProblem(path, after.line, message, tr("Let `valid_to` of the earlier one end the day before.")))
    return sorted(problems)


@dataclass(frozen=True, slots=True)
class Notation:
    """How values are written for readers, over a table of forms (tables/kb.*.json)."""

    forms: Mapping[str, Any]

    def value(self, wert: Wert) -> str:
        """Such as `551,10 EUR monatlich`, `3,7 %`, `1 Monat`, or the text itself."""
        written = wert.value if isinstance(wert.value, str) else self._amount(wert.value, wert.unit, wert.period)
        return str(self.forms["expected"]).format(value=written) if wert.voraussichtlich else written

    def _amount(self, value: Decimal, unit: str | None, period: str | None) -> str:
        spoken = self.forms["singular"].get(unit, unit) if value == 1 else unit
        return " ".join(part for part in (self._number(value, unit), spoken, period) if part)

    def _number(self, value: Decimal, unit: str | None) -> str:
        decimals = max(0, -int(value.as_tuple().exponent))
        if unit in self.forms["two_decimals"] and decimals:
            decimals = max(2, decimals)
        plain = f"{value:,.{decimals}f}" if unit else f"{value:.{decimals}f}"
        return plain.translate({ord(","): self.forms["thousands"], ord("."): self.forms["decimal"]})

    def period(self, wert: Wert) -> str:
        """The days a value holds, such as `1.1.2026 bis 31.12.2026`, `ab 1.1.2025`, or `laufend`."""
        end = self._day(wert.valid_to) if wert.valid_to else ""
        if wert.seit_ungeprueft:
            return str(self.forms["until"]).format(end=end) if end else str(self.forms["ongoing"])
        return str(self.forms["span" if end else "from"]).format(start=self._day(wert.valid_from), end=end)

    def _day(self, day: date) -> str:
        return str(self.forms["day"]).format(day=day.day, month=day.month, year=day.year)

    def table(self, werte: Iterable[Wert], names: Iterable[str], period: Period | None = None) -> str:
        """A Markdown table of the values called `names` (`key` for all rows of a key, or `key/row`) that hold in `period`."""
        wanted = list(names)
        rows = [
            wert
            for name in wanted
            for wert in werte
            if name in (wert.name, wert.key) and (period is None or period.overlaps(wert.valid_from, wert.valid_to))
        ]
        lines = [self.forms["columns"], ["---"] * len(self.forms["columns"]), *(self.row(wert) for wert in rows)]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

    def row(self, wert: Wert) -> list[str]:
        """The cells of one value, in the order of the table's columns."""
        cells = (wert.label, self.value(wert), self.period(wert), wert.norm or "", wert.name)
        return [cell.replace("|", "\\|") for cell in cells]
