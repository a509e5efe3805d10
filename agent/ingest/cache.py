"""The vectors that ship with a knowledge base, so that a fresh machine need not embed what has been embedded already.

One file an embedder, `vektoren/<name>-<dimension>-<digest>.f16`: a line of JSON, then the hashes of the embedded texts in order, then
their vectors as float16. The same vectors give the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import KnowledgeBaseError
from agent.i18n import tr
from agent.ingest.embed import Progress, embedded, quiet
from agent.interfaces import Document, Embedder, EmbedderIdentity
from agent.language import Language

if TYPE_CHECKING:
    from agent.interfaces import Vector

_HASH = 16


def path_of(kb_dir: Path, identity: EmbedderIdentity) -> Path:
    """Where the vectors of an embedder lie."""
    name = "-".join((identity.name, str(identity.dimension), identity.digest))
    return kb_dir / "vektoren" / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', name)}.f16"


def load(kb_dir: Path, identity: EmbedderIdentity) -> dict[str, Vector]:
    """The shipped vectors by hash, normalised again; none where the file is missing, of another embedder or not whole."""
    import numpy as np

    vectors = {name: vector.astype(np.float32) for name, vector in _raw(kb_dir, identity).items()}
    return {name: vector / max(float(np.linalg.norm(vector)), 1e-12) for name, vector in vectors.items()}


def _raw(kb_dir: Path, identity: EmbedderIdentity) -> dict[str, Vector]:
    """As they lie in the file, in float16."""
    import numpy as np

    try:
        head, _, rest = path_of(kb_dir, identity).read_bytes().partition(b"\n")
    except OSError:
        return {}
    size = _HASH + 2 * identity.dimension
    count, odd = divmod(len(rest), size)
    if odd or head != _head(identity, count):
        return {}
    names = [rest[at : at + _HASH].hex() for at in range(0, count * _HASH, _HASH)]
    vectors = np.frombuffer(rest, dtype="<f2", offset=count * _HASH).reshape(count, identity.dimension)
    return dict(zip(names, vectors, strict=True))


def _head(identity: EmbedderIdentity, count: int) -> bytes:
    return json.dumps({"name": identity.name, "dimension": identity.dimension, "digest": identity.digest, "texts": count}).encode()


def stale(kb_dir: Path, identity: EmbedderIdentity, documents: Iterable[Document]) -> tuple[frozenset[str], frozenset[str]]:
    """The hashes that are missing in the file, and those left over in it."""
    wanted = {name for document in documents for chunk in document.chunks for name in (chunk.hash, *chunk.pieces)}
    there = _raw(kb_dir, identity).keys()
    return frozenset(wanted - there), frozenset(there - wanted)


def refresh(
    kb_dir: Path, documents: Iterable[Document], *, language: Language, embedder: Embedder, progress: Progress = quiet
) -> tuple[Path, int]:
    """Writes the file for these documents, embedding only what is not in it; returns its path and how many texts were embedded."""
    import numpy as np

    identity = embedder.identity
    there = _raw(kb_dir, identity)
    wanted = texts_of(documents, language)
    kept = {name: there[name] for name in wanted if name in there}
    fresh: dict[str, Vector] = {}
    for batch, _ in embedded({name: text for name, text in wanted.items() if name not in there}, embedder, progress=progress):
        fresh.update((name, np.asarray(vector, dtype="<f2")) for name, vector in batch.items())
    path = path_of(kb_dir, identity)
    _write(path, {**kept, **fresh}, identity)
    return path, len(fresh)


def texts_of(documents: Iterable[Document], language: Language) -> dict[str, str]:
    """The texts to embed, by hash: of each chunk, and of those of its pieces that are to have a vector."""
    from agent.ingest.chunks import embedding_text, pieces_of

    texts: dict[str, str] = {}
    for document in documents:
        for indexed in document.chunks:
            texts[indexed.hash] = embedding_text(document.entry, indexed.chunk)
            if indexed.pieces:
                texts |= {piece.key: piece.embedded for piece in pieces_of(document.entry, indexed.chunk, language)}
    return texts


def _write(path: Path, vectors: Mapping[str, Vector], identity: EmbedderIdentity) -> None:
    names = sorted(vectors)
    blob = b"".join((_head(identity, len(names)), b"\n", *map(bytes.fromhex, names), *(vectors[name].tobytes() for name in names)))
    fresh = path.with_name(path.name + ".tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(blob)
        fresh.replace(path)
    except OSError as error:
        raise KnowledgeBaseError(
            tr("The vectors cannot be written to {path} ({reason}).", path=path, reason=error.strerror),
            tr("Check permissions and room."),
        ) from error
