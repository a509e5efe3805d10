"""Norms a document cites, as references to the entries that hold them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent.language import Language
from agent.language.norms import norms
from agent.language.notation import Figure

_WORD = re.compile(r"(?<![\w-])[^\W\d_][\w-]{2,}")
MOST = 12
"""References an entry is given: the acts it cites most often."""

_OPENER = re.compile(r"§|\bArt(?:ikel|\.)?(?= \d)")
Norm = tuple[str, str]
"""An act's short name and, where one is named, its paragraph: ("AngG", "§ 23") or ("AngG", "")."""


class Citations:
    """Finds what a text cites: paragraphs with their act, and acts by the short names that are known."""

    def __init__(self, acts: Iterable[str], language: Language) -> None:
        self._notation = language.notation
        self._acts = frozenset(act for act in acts if len(act) > 2)

    def of(self, text: str) -> Counter[Norm]:
        """How often each norm is cited."""
        found: Counter[Norm] = Counter()
        until = 0
        rest: list[str] = []
        for opener in _OPENER.finditer(text):
            if opener.start() < until:
                continue
            rest.append(text[until : opener.start()])
            until = opener.start()
            for figure in norms(text, opener.start(), self._notation):
                until = max(until, figure.span[1])
                if (norm := _norm(figure)) is not None:
                    found[norm] += 1
        for word in _WORD.findall("\n".join((*rest, text[until:]))):
            # a long name comes inflected: des Arbeitszeitgesetzes
            act = next((form for form in (word, word.removesuffix("s"), word.removesuffix("es")) if form in self._acts), None)
            if act is not None:
                found[act, ""] += 1
        return found


def holders(entries: Iterable[tuple[str, str, Sequence[str]]], language: Language) -> dict[Norm, str]:
    """Which entry holds a norm, from (id, title, short names): `§ 49 ASVG: Entgelt` holds that paragraph, an act's names all of it."""
    held: dict[Norm, str] = {}
    for entry_id, title, short in entries:
        for figure in norms(title, 0, language.notation)[:1]:
            if (norm := _norm(figure)) is not None:
                held.setdefault(norm, entry_id)
        for name in (*short, *([title] if short and re.fullmatch(r"[^\W\d_]{8,}", title) else ())):
            held.setdefault((name, ""), entry_id)
    return held


def _norm(figure: Figure) -> Norm | None:
    """The act and the paragraph of a norm that names both."""
    value = figure.value
    return (value[0], value[1]) if isinstance(value, tuple) and len(value) > 1 and value[0] else None


def references(cited: Mapping[Norm, int], held: Mapping[Norm, str], own: str) -> tuple[str, ...]:
    """The entries that hold what is cited, those cited most first; the paragraph's own entry goes before that of its act."""
    count: Counter[str] = Counter()
    for norm, times in cited.items():
        target = held.get(norm) or held.get((norm[0], ""))
        if target and target != own:
            count[target] += times
    return tuple(name for name, _ in _ordered(count))[:MOST]


def _ordered(count: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    yield from sorted(count.items(), key=lambda item: (-item[1], item[0]))
