"""Finds entries that say nearly the same: by the share of word sequences they have in common (w-shingling: Broder 1997)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

from agent.language import Language
from agent.values import Entry

WORDS = 4
"""Words in a sequence."""
RESEMBLANCE = 0.5
"""Share of all sequences of two entries from which both have them: two texts that differ in every eighth word reach it."""
CONTAINMENT = 0.8
"""Share of the shorter one's sequences from which it stands in the other."""
_SHORTEST = 20
"""Sequences below which an entry is too short to be compared."""
_MANY = 400_000
"""Sequences of a knowledge base from which only a sample is compared, the same ones in every entry."""
_COMMON = 50
"""Entries in which a sequence stands that tells nothing any more."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entries (ids in order), and the share of sequences they have in common: of both, and of the shorter one."""

    first: str
    second: str
    resemblance: float
    containment: float


def pairs(entries: Iterable[Entry], language: Language) -> Iterator[Pair]:
    """The pairs that say nearly the same, in order of ids."""
    words = {entry.info.id: _words(entry, language) for entry in entries}
    thin = max(1, sum(map(len, words.values())) // _MANY)
    sets = {name: _shingles(of, thin) for name, of in words.items()}
    for (first, second), shared in sorted(_shared(sets).items()):
        a, b = len(sets[first]), len(sets[second])
        found = Pair(first, second, shared / (a + b - shared), shared / min(a, b))
        if found.resemblance >= RESEMBLANCE or found.containment >= CONTAINMENT:
            yield found


def _words(entry: Entry, language: Language) -> Sequence[str]:
    aside = language.table["sections_last"]
    return [word for section in entry.sections if section.name not in aside for word in _WORD.findall(section.text.casefold())]


def _shingles(words: Sequence[str], thin: int) -> set[int]:
    found = {crc32(" ".join(words[at : at + WORDS]).encode()) for at in range(len(words) - WORDS + 1)}
    kept = {one for one in found if one % thin == 0}
    return kept if len(kept) >= _SHORTEST else set()


def _shared(sets: Mapping[str, set[int]]) -> Counter[tuple[str, str]]:
    holders: defaultdict[int, list[str]] = defaultdict(list)
    for name in sorted(sets):
        for one in sets[name]:
            holders[one].append(name)
    count: Counter[tuple[str, str]] = Counter()
    for names in holders.values():
        if len(names) <= _COMMON:
            count.update((first, second) for at, first in enumerate(names) for second in names[at + 1 :])
    return count
