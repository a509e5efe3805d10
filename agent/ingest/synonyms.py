"""Reads `synonyme.yaml`: which words of a knowledge base mean the same, as `- [SZ, Sonderzahlung]` or `SZ: [Sonderzahlung]`.

In a list each word stands for all the others; a mapping works one way only, from the short form to the long ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from agent.i18n import tr
from agent.ingest.entries import beside
from agent.ingest.problems import EntryProblem
from agent.ingest.yamlfile import Fields, Items, Node, Scalar
from agent.language import Language

FILE = "synonyme.yaml"


def read(kb_dir: Path) -> dict[str, tuple[str, ...]] | list[EntryProblem]:
    """Each word with those that may stand for it, as written; none where there is no such file."""
    path = kb_dir / FILE
    node = beside(path)
    if node is None:
        return {}
    if isinstance(node, EntryProblem):
        return [node]
    found: dict[str, list[str]] = {}
    problems: list[EntryProblem] = []
    for pair in _pairs(node, path):
        if isinstance(pair, EntryProblem):
            problems.append(pair)
        else:
            found.setdefault(pair[0], []).append(pair[1])
    return problems or {word: tuple(dict.fromkeys(others)) for word, others in found.items()}


def analysed(words: Mapping[str, tuple[str, ...]], language: Language) -> dict[str, tuple[str, ...]]:
    """The same in terms: a phrase stands as its terms joined by blanks, and what has no term is left out."""
    found: dict[str, list[str]] = {}
    for word, others in words.items():
        key = " ".join(language.terms(word))
        terms = (" ".join(language.terms(other)) for other in others)
        found.setdefault(key, []).extend(term for term in terms if term and term != key)
    return {key: tuple(dict.fromkeys(terms)) for key, terms in sorted(found.items()) if key and terms}


def _pairs(node: Node, path: Path) -> Iterator[tuple[str, str] | EntryProblem]:
    match node:
        case Scalar(text=""):
            return
        case Items():
            for item in node.items:
                yield from _group(item, path)
        case Fields():
            yield from _one_way(node, path)
        case _:
            yield EntryProblem(
                path, node.line, tr("These are no synonyms."), tr("Write lists, `- [SZ, Sonderzahlung]`, or `SZ: [Sonderzahlung]`.")
            )


def _group(node: Node, path: Path) -> Iterator[tuple[str, str] | EntryProblem]:
    if isinstance(node, Fields):
        yield from _one_way(node, path)
        return
    words = _words(node)
    if words is None or len(words) < 2:
        yield EntryProblem(path, node.line, tr("A group of synonyms needs at least two words."), tr("Write it as `- [SZ, Sonderzahlung]`."))
        return
    yield from ((word, other) for word in words for other in words if other != word)


def _one_way(node: Fields, path: Path) -> Iterator[tuple[str, str] | EntryProblem]:
    for name, line in node.twice:
        yield EntryProblem(path, line, tr("`{name}` is given twice.", name=name), tr("Join the two."))
    for name, field in node.fields.items():
        words = _words(field)
        if not words:
            yield EntryProblem(
                path,
                node.lines[name],
                tr("`{name}` has no words beside it.", name=name),
                tr("Write `{name}: [word, other words]`.", name=name),
            )
        else:
            yield from ((name, word) for word in words)


def _words(node: Node) -> list[str] | None:
    """The words of a list, or of a single one; None where something else stands among them."""
    items = node.items if isinstance(node, Items) else (node,)
    words = [item.value.strip() for item in items if isinstance(item, Scalar) and item.value]
    return words if len(words) == len(items) and all(words) else None
