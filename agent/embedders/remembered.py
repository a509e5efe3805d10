"""An embedder that gives the vector of a text it has seen before without embedding it again; for evaluations, which ask the same often."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from agent.interfaces import Embedder, EmbedderIdentity

if TYPE_CHECKING:
    from agent.interfaces import Vector


class Remembered:
    """`embedder` with a memory: keys are of the identity, the kind (question or passage) and the text, so that one memory serves many."""

    def __init__(self, embedder: Embedder, memory: MutableMapping[str, Vector]) -> None:
        self._embedder = embedder
        self._memory = memory

    @property
    def identity(self) -> EmbedderIdentity:
        return self._embedder.identity

    def query(self, text: str, /) -> Vector:
        key = self._key("question", text)
        if key not in self._memory:
            self._memory[key] = self._embedder.query(text)
        return self._memory[key]

    def passages(self, texts: Sequence[str], /) -> list[Vector | None]:
        keys = [self._key("passage", text) for text in texts]
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._memory}
        for key, vector in zip(fresh, self._embedder.passages(list(fresh.values())) if fresh else [], strict=True):
            if vector is not None:
                self._memory[key] = vector
        return [self._memory.get(key) for key in keys]

    def _key(self, kind: str, text: str) -> str:
        return sha256("\0".join((str(self.identity), kind, text)).encode()).hexdigest()[:32]
