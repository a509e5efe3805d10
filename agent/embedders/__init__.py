"""The shelf of embedders, and what each of them does to a text before it and to a vector after it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.interfaces import Vector

_UNFIT = re.compile("[\0\ud800-\udfff]")
_ENDLESS = re.compile(r"\S{200}(?=\S)")


def prepared(text: str, limit: int) -> str:
    """At most about `limit` characters of a text, NFC, spaces joined, without NUL and lone surrogates; empty if nothing is left.

    Words over 200 characters are broken, because the time a tokenizer takes grows with the square of a word.
    """
    front = _UNFIT.sub("", text[: 2 * limit])
    front = " ".join(unicodedata.normalize("NFC", front).split())[:limit].rstrip()
    return _ENDLESS.sub(r"\g<0> ", front)


def unit(values: Sequence[float] | Vector) -> Vector | None:
    """The values as an L2-normalised float32 vector; None where they have no direction (NaN, infinite, all zero)."""
    import numpy as np

    vector = np.asarray(values, dtype=np.float64)
    peak = float(np.abs(vector).max(initial=0.0))
    if vector.ndim != 1 or not np.isfinite(peak) or peak == 0.0:
        return None
    scaled = vector / peak  # so that no square overflows or vanishes
    return (scaled / np.linalg.norm(scaled)).astype(np.float32)
