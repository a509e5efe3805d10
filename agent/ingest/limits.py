"""Reads `grenzen.yaml`: what a knowledge base does not hold by its nature, and which facts decide what applies.

ausserhalb:                          # a question about this is refused
  - name: das Recht Deutschlands
    wendungen: [in Deutschland]      # phrases by which a question is about it
    ausser: [Grenzgänger]            # words that make it a question for this knowledge base after all
rueckfragen:                         # the first fact that fits is asked back
  - name: Bundesland
    frage: In welchem Bundesland liegt die Betriebsstätte?
    merkmale: [je nach Bundesland]   # phrases by which a text says that it depends on the fact
    angaben: [Wien, Tirol]           # words by which a question settles it
    datum: false                     # whether a date in the question settles it, too
alternativen:                        # what is said for one of a list is said for no other of it
  - [Wien, Tirol]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agent.i18n import tr
from agent.ingest.entries import beside
from agent.ingest.problems import EntryProblem
from agent.ingest.yamlfile import Fields, Items, Node, Scalar
from agent.interfaces import NO_LIMITS

FILE = "grenzen.yaml"

_OUTSIDE = {"name": "name", "wendungen": "phrases", "ausser": "unless"}
_FACTS = {"name": "name", "frage": "question", "merkmale": "marks", "angaben": "values", "datum": "dated"}
_PARTS = {"ausserhalb": ("outside", _OUTSIDE), "rueckfragen": ("facts", _FACTS)}
_ALTERNATIVES = "alternativen"
_KNOWN = ", ".join((*_PARTS, _ALTERNATIVES))
_LISTS = {"wendungen", "ausser", "merkmale", "angaben"}
_OPTIONAL: dict[str, Any] = {"ausser": [], "datum": False}


def read(kb_dir: Path) -> Mapping[str, Any] | list[EntryProblem]:
    """The limits under the names the pure parts know ("outside", "facts", "alternatives"); none where there is no such file."""
    path = kb_dir / FILE
    node = beside(path)
    if node is None:
        return NO_LIMITS
    if isinstance(node, EntryProblem):
        return [node]
    if not isinstance(node, Fields):
        return [EntryProblem(path, node.line, tr("These are no limits."), tr("Write the lists {known}.", known=_KNOWN))]
    problems = [EntryProblem(path, line, tr("`{name}` is given twice.", name=name), tr("Join the two.")) for name, line in node.twice]
    found: dict[str, Any] = {"outside": [], "facts": [], "alternatives": []}
    for name, part in node.fields.items():
        if name not in (*_PARTS, _ALTERNATIVES) or not isinstance(part, Items):
            problems.append(
                EntryProblem(path, node.lines[name], tr("`{name}` is no list of limits.", name=name), tr("Known: {known}.", known=_KNOWN))
            )
            continue
        if name == _ALTERNATIVES:
            bad = [item for item in part.items if not _texts(item)]
            problems += [EntryProblem(path, item.line, tr("This is no list of texts."), tr("Write `- [one, another]`.")) for item in bad]
            found["alternatives"] = [_texts(item) for item in part.items]
            continue
        key, form = _PARTS[name]
        for item in part.items:
            faults = list(_faults(item, form, path))
            problems += faults
            if not faults and isinstance(item, Fields):
                found[key].append({form[field]: _value(field, item.fields.get(field)) for field in form})
    return problems or found


def _faults(item: Node, form: dict[str, str], path: Path) -> Iterator[EntryProblem]:
    known = tr("Its fields: {form}.", form=", ".join(form))
    if not isinstance(item, Fields):
        yield EntryProblem(path, item.line, tr("This limit has no fields."), known)
        return
    for name, line in item.twice:
        yield EntryProblem(path, line, tr("`{name}` is given twice.", name=name), tr("Join the two."))
    for name, node in item.fields.items():
        if name not in form:
            yield EntryProblem(path, item.lines[name], tr("There is no field `{name}` here.", name=name), known)
        elif name in _LISTS and _texts(node) is None:
            yield EntryProblem(
                path, item.lines[name], tr("`{name}` is no list of texts.", name=name), tr("Write `{name}: [one, another]`.", name=name)
            )
        elif name == "datum" and not (isinstance(node, Scalar) and node.text in ("true", "false")):
            yield EntryProblem(path, item.lines[name], tr("`{name}` is true or false.", name=name), tr("Write `{name}: true`.", name=name))
        elif name not in _LISTS and not (isinstance(node, Scalar) and node.value):
            yield EntryProblem(path, item.lines[name], tr("`{name}` is no text.", name=name), tr("Write `{name}: text`.", name=name))
    for name in form.keys() - item.fields.keys() - _OPTIONAL.keys():
        yield EntryProblem(path, item.line, tr("`{name}` is missing.", name=name), known)


def _value(name: str, node: Node | None) -> Any:
    if node is None:
        return _OPTIONAL[name]
    if name in _LISTS:
        return _texts(node)
    return node.text == "true" if name == "datum" and isinstance(node, Scalar) else str(getattr(node, "value", ""))


def _texts(node: Node) -> list[str] | None:
    if not isinstance(node, Items):
        return None
    texts = [item.value for item in node.items if isinstance(item, Scalar) and item.value]
    return texts if len(texts) == len(node.items) else None
