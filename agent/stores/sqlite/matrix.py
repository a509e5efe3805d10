"""The matrix of all vectors of one generation, as a file beside the database that is mapped into memory; derived, never the truth.

Layout: magic, length of the header, the header (JSON, padded with blanks to a multiple of 64 bytes), the chunk rows (int64) and the
vectors (float32, one a chunk, by entry id and ordinal). All little-endian.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAGIC = b"PVMATRX1"

_VECTORS = """
    SELECT chunks.row, vectors.vector FROM chunks JOIN entries ON entries.row = chunks.entry
    JOIN vectors ON vectors.identity = ? AND vectors.hash = chunks.hash ORDER BY entries.id, chunks.ordinal"""


@dataclass(frozen=True)
class Matrix:
    """`vectors[i]` (float32, normalised) belongs to the chunk `rows[i]`; the order is that of entry ids and ordinals."""

    rows: NDArray[np.int64]
    vectors: NDArray[np.float32]

    def places_of(self, rows: Collection[int]) -> tuple[list[int], NDArray[np.int64]]:
        """Those of the `rows` that have a vector, and where it stands."""
        import numpy as np

        asked = np.fromiter(rows, dtype=np.int64, count=len(rows))
        inside = (asked >= 0) & (asked < len(self._places))
        places = np.where(inside, self._places[np.where(inside, asked, 0)], -1) if len(self._places) else np.full(len(asked), -1)
        found = places >= 0
        return asked[found].tolist(), places[found]

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """The place of every row, -1 where it has none."""
        import numpy as np

        places = np.full(int(self.rows.max(initial=-1)) + 1, -1, dtype=np.int64)
        places[self.rows] = np.arange(len(self.rows))
        return places


def path_of(database: Path, generation: str) -> Path:
    """Where the matrix of a generation lies."""
    return database.with_name(f"{database.name}.{generation}.f32")


def of(connection: sqlite3.Connection, database: Path, generation: str, identity: str, dimension: int) -> Matrix:
    """The matrix of the state `connection` sees: mapped where its file is whole, else read from the database and written anew."""
    path = path_of(database, generation)
    found = _mapped(path, generation, identity, dimension)
    if found is None:
        found = _read(connection, identity, dimension)
        with suppress(OSError):
            _write(path, found, _header(generation, identity, dimension, len(found.rows)))
    return found


def clear(database: Path, generation: str) -> None:
    """Removes the matrices of other generations and what interrupted writers left."""
    keep = path_of(database, generation).name
    for path in database.parent.glob(f"{database.name}.*.f32*"):
        if path.name != keep:
            with suppress(OSError):
                path.unlink()


def _header(generation: str, identity: str, dimension: int, rows: int) -> bytes:
    text = json.dumps({"generation": generation, "identity": identity, "dimension": dimension, "rows": rows}).encode()
    return text + b" " * (-(len(_MAGIC) + 4 + len(text)) % 64)


def _mapped(path: Path, generation: str, identity: str, dimension: int) -> Matrix | None:
    import numpy as np

    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC) + 4)
            length = int.from_bytes(start[len(_MAGIC) :], "little")
            header = file.read(length) if start.startswith(_MAGIC) and length < 1 << 20 else b""
        count = int(json.loads(header)["rows"]) if header else -1
        offset = len(start) + length
        if header != _header(generation, identity, dimension, count) or path.stat().st_size != offset + count * (8 + 4 * dimension):
            return None
        if count == 0:
            return _empty(dimension)
        rows = np.memmap(path, dtype="<i8", mode="r", offset=offset, shape=(count,))
        vectors = np.memmap(path, dtype="<f4", mode="r", offset=offset + 8 * count, shape=(count, dimension))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    # Plain arrays over the mapped pages: arithmetic on the memmap class itself is slower.
    return Matrix(np.asarray(rows), vectors.view(np.ndarray))


def _empty(dimension: int) -> Matrix:
    import numpy as np

    return Matrix(np.empty(0, dtype=np.int64), np.empty((0, dimension), dtype=np.float32))


def _read(connection: sqlite3.Connection, identity: str, dimension: int) -> Matrix:
    import numpy as np

    found = [(row, blob) for row, blob in connection.execute(_VECTORS, (identity,)) if len(blob) == 4 * dimension]
    if not found:
        return _empty(dimension)
    rows = np.array([row for row, _ in found], dtype=np.int64)
    vectors = np.frombuffer(b"".join(blob for _, blob in found), dtype="<f4").reshape(len(found), dimension)
    return Matrix(rows, vectors)


def _write(path: Path, matrix: Matrix, header: bytes) -> None:
    # Readers may write the same generation at the same time, each under a name of its own.
    fresh = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with fresh.open("wb") as file:
            file.write(_MAGIC + len(header).to_bytes(4, "little") + header)
            file.write(matrix.rows.astype("<i8").tobytes())
            file.write(matrix.vectors.astype("<f4").tobytes())
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError:
        with suppress(OSError):
            fresh.unlink()
        raise
