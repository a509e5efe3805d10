"""Embeds texts in batches, the short ones together, and sets aside what an embedder cannot digest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from agent.errors import EmbedderError
from agent.i18n import tr
from agent.interfaces import Embedder

if TYPE_CHECKING:
    from agent.interfaces import Vector

Progress = Callable[[int, int, str], None]
"""Called with how many are done, of how many, of what."""

BATCH = 32


def quiet(done: int, total: int, what: str) -> None:
    """A progress nobody watches."""


def embedded(
    texts: Mapping[str, str], embedder: Embedder, *, progress: Progress = quiet, what: str = "vectors"
) -> Iterator[tuple[dict[str, Vector], tuple[str, ...]]]:
    """For each batch of `texts` (by hash): the vectors, and the hashes of texts that got none. Raises EmbedderError."""
    import numpy as np

    dimension = embedder.identity.dimension
    names = sorted(texts, key=lambda name: (len(texts[name]), name))
    for start in range(0, len(names), BATCH):
        batch = names[start : start + BATCH]
        vectors = embedder.passages([texts[name] for name in batch])
        if len(vectors) != len(batch) or any(vector is not None and vector.shape != (dimension,) for vector in vectors):
            raise EmbedderError(
                tr("The embedder {identity} gave vectors of another number or size.", identity=embedder.identity),
                tr("Check which model it runs."),
            )
        good = {name: vector for name, vector in zip(batch, vectors, strict=True) if vector is not None and np.isfinite(vector).all()}
        yield good, tuple(name for name in batch if name not in good)
        progress(min(start + BATCH, len(names)), len(names), what)
