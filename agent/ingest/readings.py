"""Reads `schreibweisen.yaml`: how words of dialect and shorthand are read in a question, as `wia: wie` or `NÖ: Niederösterreich`."""

from __future__ import annotations

import re
from pathlib import Path

from agent.i18n import tr
from agent.ingest.entries import beside
from agent.ingest.problems import EntryProblem
from agent.ingest.yamlfile import Fields, Scalar
from agent.language.reading import known_as

FILE = "schreibweisen.yaml"


def read(kb_dir: Path) -> dict[str, str] | list[EntryProblem]:
    """Each word, as `known_as` looks it up, with what it is read as; none where there is no such file."""
    path = kb_dir / FILE
    node = beside(path)
    if node is None:
        return {}
    if isinstance(node, EntryProblem):
        return [node]
    if not isinstance(node, Fields):
        return [EntryProblem(path, node.line, tr("These are no spellings."), tr("Write each as `wia: wie`."))]
    problems = [EntryProblem(path, line, tr("`{name}` is given twice.", name=name), tr("Keep one.")) for name, line in node.twice]
    found: dict[str, str] = {}
    for name, field in node.fields.items():
        if re.search(r"\s", name) or not isinstance(field, Scalar) or not field.value:
            problems.append(
                EntryProblem(
                    path, node.lines[name], tr("`{name}` is no spelling of one word.", name=name), tr("Write `word: how it is read`.")
                )
            )
        elif found.setdefault(known_as(name), field.value) != field.value:
            problems.append(EntryProblem(path, node.lines[name], tr("`{name}` is read in two ways.", name=name), tr("Keep one.")))
    return problems or found
