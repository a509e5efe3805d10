"""Reads YAML as plain text with the line of everything in it, since a message without a line is half a message.

No scalar is interpreted here (`NO` stays `NO`, `551.10` keeps its decimals, a wrong date is still readable): the forms that are
allowed are checked by those who know them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.i18n import tr
from agent.ingest.problems import EntryProblem

_NULL = {"", "null", "Null", "NULL", "~"}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar as written; `quoted` tells `"12"` from `12`."""

    text: str
    line: int
    quoted: bool

    @property
    def value(self) -> str | None:
        """The text, or None where YAML means nothing by it."""
        return None if not self.quoted and self.text in _NULL else self.text


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Node, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping with its keys' lines; `twice` names the keys that were given again."""

    fields: dict[str, Node]
    lines: dict[str, int]
    twice: tuple[tuple[str, int], ...]
    line: int


Node = Scalar | Items | Fields


def parsed(text: str, path: Path, *, first_line: int = 1) -> Node | EntryProblem:
    """The YAML in `text`, whose first line is line `first_line` of `path`."""
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        node = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = (mark.line if mark else 0) + first_line
        what = getattr(error, "problem", None) or str(error).splitlines()[0]
        return EntryProblem(
            path, line, tr("This is no readable YAML ({what}).", what=what), tr("Quote texts that hold `: `, `#`, `[` or `{`.")
        )
    if node is None:
        return Scalar("", first_line, quoted=False)
    return _plain(node, path, first_line, depth=0)


def _plain(node: Any, path: Path, first_line: int, depth: int) -> Node | EntryProblem:
    import yaml

    line = node.start_mark.line + first_line
    if depth > 4:
        return EntryProblem(path, line, tr("The YAML is nested too deeply."), tr("Write plain fields and lists."))
    if isinstance(node, yaml.ScalarNode):
        return Scalar(node.value, line, quoted=bool(node.style))
    if isinstance(node, yaml.SequenceNode):
        items = []
        for child in node.value:
            item = _plain(child, path, first_line, depth + 1)
            if isinstance(item, EntryProblem):
                return item
            items.append(item)
        return Items(tuple(items), line)
    fields: dict[str, Node] = {}
    lines: dict[str, int] = {}
    twice = []
    for key, child in node.value:
        name, key_line = str(key.value), key.start_mark.line + first_line
        if name in fields:
            twice.append((name, key_line))
        value = _plain(child, path, first_line, depth + 1)
        if isinstance(value, EntryProblem):
            return value
        fields[name], lines[name] = value, key_line
    return Fields(fields, lines, tuple(twice), line)
