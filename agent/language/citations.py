"""Finds the ids a text cites in brackets, whatever the model made of the brackets, and writes them one way; pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

_BRACKETS = re.compile(r"[\[【]\s*([^\[\]【】]{1,400}?)\s*[\]】](?:\([^)\s]*\))?")
_BEHIND = re.compile(r"[ \t]*([.!?])[ \t]*((?:\[[^\[\]\s]+\])+)(?![\w(])")
"""A citation behind the full stop: it belongs to the sentence before."""
_ID = re.compile(r"[\w][\w:./@+%#?=&~-]*")


def citable(identifier: str) -> bool:
    """Whether an id is told from a word in brackets: it needs a hyphen, a colon or a digit."""
    return _ID.fullmatch(identifier) is not None and re.search(r"[-:\d]", identifier) is not None


def cited(text: str) -> list[str]:
    """The ids cited in `text`, as written, in order, each once."""
    return list(dict.fromkeys(part for match in _BRACKETS.finditer(text) for part in _parts(match.group(1))))


def _parts(inside: str) -> list[str]:
    """The ids in one pair of brackets; nothing where the brackets hold something else than ids."""
    parts = [part.strip().rstrip(".").strip("`*\"'") for part in re.split(r"[,;]| und | and | och ", inside)]
    parts = [part for part in parts if part]
    return parts if parts and all(map(citable, parts)) else []


def canonical(text: str, known: Collection[str]) -> str:
    """`text` with every citation as `[id]`, in the spelling of the `known` id it means (case aside); unknown ids stay as written."""
    spelling: Mapping[str, str] = {identifier.casefold(): identifier for identifier in known}

    def one(match: re.Match[str]) -> str:
        parts = _parts(match.group(1))
        if not parts:
            return match.group()
        return "".join(f"[{spelling.get(part.casefold(), part)}]" for part in dict.fromkeys(parts))

    return _BEHIND.sub(r" \2\1", _BRACKETS.sub(one, text))


def without(text: str) -> str:
    """`text` without its citations."""
    return re.sub(r"[ \t]+(?=[.,;:!?]|$)", "", _BRACKETS.sub(lambda m: "" if _parts(m.group(1)) else m.group(), text)).strip()
