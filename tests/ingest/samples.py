"""A small knowledge base to work on, and an embedder that counts what it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from agent import texts
from agent.interfaces import EmbedderIdentity
from agent.language import Language

if TYPE_CHECKING:
    from agent.interfaces import Vector

GERMAN = Language(texts.table("language.de"))


def entry_text(entry_id: str, body: str = "## Zusammenfassung\n\nEin Satz.", **fields: object) -> str:
    """The text of an entry; a field given as None is left out."""
    known: dict[str, object] = {"id": entry_id, "titel": f"Titel {entry_id}", "stand": "2026-01-31", "layer": 2, "bereich": "gesetz"}
    front = "\n".join(f"{name}: {value}" for name, value in {**known, **fields}.items() if value is not None)
    return f"---\n{front}\n---\n\n{body}\n"


def put(kb: Path, entry_id: str, body: str = "## Zusammenfassung\n\nEin Satz.", **fields: object) -> Path:
    """Writes an entry into the knowledge base."""
    path = kb / "dokumente" / f"{entry_id}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(entry_text(entry_id, body, **fields), encoding="utf-8")
    return path


class CountingEmbedder:
    """Vectors from a hash of the text. Texts that hold `unverdaulich` have none; `fails_after` texts it is gone."""

    def __init__(self, name: str = "probe", fails_after: int | None = None) -> None:
        self.identity = EmbedderIdentity(name, 8, "abc")
        self.asked: list[str] = []
        self.fails_after = fails_after

    def query(self, text: str, /) -> Vector:
        import numpy as np

        raw = np.frombuffer(sha256(text.encode()).digest()[:8], dtype=np.uint8).astype(np.float32) - 127.5
        vector: Vector = raw / np.linalg.norm(raw)
        return vector

    def passages(self, texts: Sequence[str], /) -> list[Vector | None]:
        from agent.errors import EmbedderError

        if self.fails_after is not None and len(self.asked) + len(texts) > self.fails_after:
            raise EmbedderError("The embedder is gone.")
        self.asked += texts
        return [None if "unverdaulich" in text else self.query(text) for text in texts]
