"""Embeds with a model on an Ollama server (bge-m3 by default), in batches; a text the model cannot digest costs only itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agent.embedders import prepared, unit
from agent.errors import EmbedderError
from agent.i18n import tr
from agent.interfaces import EmbedderIdentity
from agent.transport import ErrorStatus, Server, TransportError, canonical, ollama_models

if TYPE_CHECKING:
    from agent.interfaces import Vector

_LOOK = 3.0  # seconds for a look at the model list
_BATCH = 16
_WINDOW = 8192  # tokens; without it Ollama cuts at 4096 and says nothing
_CHARS = 12000  # fewer than 8192 tokens in any European language; some versions refuse what is longer
_INDIGESTIBLE = re.compile(r"\bnan\b|\binf\b|context length|too large to process", re.IGNORECASE)


class OllamaEmbedder:
    """The embedding model `model` on `server`. `timeout` is for one batch, in seconds, a cold load of the model included."""

    def __init__(self, server: Server, model: str, *, timeout: float = 60.0) -> None:
        self._server = server
        self._model = model
        self._timeout = timeout
        self._dimension = 0

    def installed(self) -> bool:
        """Whether the server answers and has the model; never raises."""
        if not self._server.listening():
            return False
        try:
            return canonical(self._model) in ollama_models(self._server, timeout=_LOOK)
        except TransportError:
            return False

    @property
    def identity(self) -> EmbedderIdentity:
        """Asks the server for the digest, and for one vector where none has come yet, to know how long they are."""
        digest = self._digest
        if not self._dimension:
            self.query(self._model)
        return EmbedderIdentity(canonical(self._model), self._dimension, digest)

    def query(self, text: str, /) -> Vector:
        vector = self.passages([text])[0]
        if vector is None:
            raise EmbedderError(tr("This text has no vector: it is empty, or the embedder cannot digest it."))
        return vector

    def passages(self, texts: Sequence[str], /) -> list[Vector | None]:
        fronts = {row: front for row, text in enumerate(texts) if (front := prepared(text, _CHARS))}
        vectors: list[Vector | None] = [None] * len(texts)
        rows = list(fronts)
        for start in range(0, len(rows), _BATCH):
            batch = rows[start : start + _BATCH]
            for row, vector in zip(batch, self._embedded([fronts[row] for row in batch]), strict=True):
                vectors[row] = vector
        return vectors

    @cached_property
    def _digest(self) -> str:
        try:
            models = ollama_models(self._server, timeout=self._timeout)
        except TransportError as error:
            raise self._meaning(error) from error
        if canonical(self._model) not in models:
            raise self._missing()
        return models[canonical(self._model)]

    def _embedded(self, texts: list[str]) -> list[Vector | None]:
        """The vectors of a batch. A text that gives NaN fails its whole batch, and nobody says which it was: so it is halved."""
        body = {"model": self._model, "input": texts, "options": {"num_ctx": _WINDOW}}
        try:
            answer = self._server.post_json("/api/embed", body, timeout=self._timeout)
        except TransportError as error:
            if not (isinstance(error, ErrorStatus) and error.status in {400, 500} and _INDIGESTIBLE.search(error.said)):
                raise self._meaning(error) from error
            if len(texts) == 1:
                return [None]
            half = len(texts) // 2
            return self._embedded(texts[:half]) + self._embedded(texts[half:])
        return self._vectors(answer, len(texts))

    def _vectors(self, answer: Any, expected: int) -> list[Vector | None]:
        rows = answer.get("embeddings") if isinstance(answer, dict) else None
        if not isinstance(rows, list) or len(rows) != expected:
            raise EmbedderError(
                tr("{url} gave no vectors for {model}.", url=self._server.url, model=self._model),
                tr("Check that it is an Ollama, and OLLAMA_URL."),
            )
        try:
            vectors = [unit(row) for row in rows]
        except (TypeError, ValueError) as error:
            raise EmbedderError(tr("{url} gave vectors that are none for {model}.", url=self._server.url, model=self._model)) from error
        for vector in vectors:
            if vector is not None:
                self._dimension = self._dimension or len(vector)
                if len(vector) != self._dimension:
                    raise EmbedderError(
                        tr(
                            "{model} gave vectors of {dimension} and of {count} figures.",
                            model=self._model,
                            dimension=self._dimension,
                            count=len(vector),
                        )
                    )
        return vectors

    def _meaning(self, error: TransportError) -> EmbedderError:
        if not isinstance(error, ErrorStatus):
            return EmbedderError(error.message, tr("Start Ollama there, or set OLLAMA_URL."))
        if error.status == 404 and error.is_json:
            return self._missing()
        if not error.is_json and error.status < 500:
            return EmbedderError(
                tr("There is no Ollama at {url} (status {status}).", url=self._server.url, status=error.status),
                tr("Start it, or set OLLAMA_URL."),
            )
        return EmbedderError(f"{self._model}: {error.message}", tr("See the server's log."))

    def _missing(self) -> EmbedderError:
        return EmbedderError(
            tr("The model {name} is not on {url}.", name=self._model, url=self._server.url),
            tr("Run: ollama pull {name}", name=self._model),
        )
