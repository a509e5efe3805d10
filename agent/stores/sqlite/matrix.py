"""The matrix of all vectors of one generation, as a file beside the database that is mapped into memory; derived, never the truth.

A matrix serves later generations as well, as long as few rows changed: what is gone is passed over, what is new stands in memory behind it.
So an edit need not write all vectors anew. Within a lineage (of an index that is not built anew) a row never bears another chunk.

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

_MAGIC = b"PVMATRX2"
FEW = 64
"""So many changed rows, or a twentieth of all, may be told apart when a question comes; more are written anew."""

_JOIN = "JOIN vectors ON vectors.identity = ? AND vectors.hash = chunks.hash"
_VECTORS = f"""
    SELECT chunks.row, vectors.vector FROM chunks JOIN entries ON entries.row = chunks.entry {_JOIN} ORDER BY entries.id, chunks.ordinal"""
_ROWS = f"SELECT chunks.row FROM chunks {_JOIN}"
_OF_ROWS = f"SELECT chunks.row, vectors.vector FROM chunks {_JOIN} WHERE chunks.row IN"


@dataclass(frozen=True)
class Matrix:
    """The vector (float32, normalised) of the chunk `rows[i]` is `vectors[i]`, or stands in `later` behind those; row -1 is gone.

    The order of a matrix that has nothing `later` is that of entry ids and ordinals.
    """

    rows: NDArray[np.int64]
    vectors: NDArray[np.float32]
    later: NDArray[np.float32] | None = None

    def cosines(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Of every row with a normalised vector; -inf where the row is gone."""
        import numpy as np

        scores = self.vectors @ vector
        if self.later is not None:
            scores = np.concatenate([scores, self.later @ vector])
            scores[self.rows < 0] = -np.inf
        return scores

    def at(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors at these places, as a copy."""
        import numpy as np

        if self.later is None:
            return self.vectors[places]
        before = len(self.vectors)
        return np.stack([self.vectors[place] if place < before else self.later[place - before] for place in places])

    def places_of(self, rows: Collection[int]) -> tuple[list[int], NDArray[np.int64]]:
        """Those of the `rows` that have a vector, and where it stands."""
        import numpy as np

        asked = np.fromiter(rows, dtype=np.int64, count=len(rows))
        asked = asked[(asked >= 0) & (asked < len(self._places))]
        places = self._places[asked]
        return asked[places >= 0].tolist(), places[places >= 0]

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """The place of every row, -1 where it has none."""
        import numpy as np

        there = np.flatnonzero(self.rows >= 0)
        places = np.full(int(self.rows.max(initial=-1)) + 1, -1, dtype=np.int64)
        places[self.rows[there]] = there
        return places


@dataclass(frozen=True, slots=True)
class Kind:
    """What all matrices of an index have in common while it is not built anew: its lineage, and whose vectors they hold."""

    lineage: str
    identity: str
    dimension: int


def path_of(database: Path, generation: str) -> Path:
    """Where the matrix of a generation lies."""
    return database.with_name(f"{database.name}.{generation}.f32")


def of(connection: sqlite3.Connection, database: Path, generation: str, kind: Kind) -> Matrix:
    """The matrix of the state `connection` sees: mapped where a file serves it, else read from the database and written anew."""
    path = path_of(database, generation)
    found = _mapped(path, kind)
    if found is not None:
        return found
    for other in sorted(database.parent.glob(f"{database.name}.*.f32")):
        earlier = _mapped(other, kind)
        brought = _brought_up(earlier, connection, kind) if earlier is not None else None
        if brought is not None:
            return brought
    found = _read(connection, kind)
    with suppress(OSError):
        _write(path, found, _header(kind, len(found.rows)))
    return found


def settled(connection: sqlite3.Connection, database: Path, generation: str, kind: Kind) -> None:
    """Sees to it that a file serves the generation, and removes those that do not, and what interrupted writers left."""
    of(connection, database, generation, kind)
    files = sorted(database.parent.glob(f"{database.name}.*.f32*"))
    own = path_of(database, generation)
    serves = own if own in files else next((file for file in files if file.suffix == ".f32" and _mapped(file, kind) is not None), own)
    clear(database, keep=serves)


def clear(database: Path, *, keep: Path | None = None) -> None:
    """Removes all matrices but one."""
    for path in database.parent.glob(f"{database.name}.*.f32*"):
        if path != keep:
            with suppress(OSError):
                path.unlink()


def _brought_up(earlier: Matrix, connection: sqlite3.Connection, kind: Kind) -> Matrix | None:
    """An earlier matrix as it holds now; None where too much has changed for that."""
    import numpy as np

    complete = connection.execute("SELECT value FROM meta WHERE key = 'without_vector'").fetchone() == ("0",)
    rows = connection.execute("SELECT row FROM chunks") if complete else connection.execute(_ROWS, (kind.identity,))
    now = np.array(rows.fetchall(), dtype=np.int64).reshape(-1)
    gone = ~np.isin(earlier.rows, now)
    new = np.setdiff1d(now, earlier.rows)
    if len(new) + int(gone.sum()) > max(FEW, len(now) // 20):
        return None
    if not len(new) and not gone.any():
        return earlier
    found = dict(connection.execute(f"{_OF_ROWS} ({', '.join(map(str, new))})", (kind.identity,)))
    later = np.frombuffer(b"".join(found[row] for row in new.tolist()), dtype="<f4").reshape(len(new), kind.dimension)
    return Matrix(np.concatenate([np.where(gone, -1, earlier.rows), new]), earlier.vectors, later)


def _header(kind: Kind, rows: int) -> bytes:
    text = json.dumps({"lineage": kind.lineage, "identity": kind.identity, "dimension": kind.dimension, "rows": rows}).encode()
    return text + b" " * (-(len(_MAGIC) + 4 + len(text)) % 64)


def _mapped(path: Path, kind: Kind) -> Matrix | None:
    import numpy as np

    dimension = kind.dimension
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC) + 4)
            length = int.from_bytes(start[len(_MAGIC) :], "little")
            header = file.read(length) if start.startswith(_MAGIC) and length < 1 << 20 else b""
        count = int(json.loads(header)["rows"]) if header else -1
        offset = len(start) + length
        if header != _header(kind, count) or path.stat().st_size != offset + count * (8 + 4 * dimension):
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


def _read(connection: sqlite3.Connection, kind: Kind) -> Matrix:
    import numpy as np

    dimension = kind.dimension
    found = [(row, blob) for row, blob in connection.execute(_VECTORS, (kind.identity,)) if len(blob) == 4 * dimension]
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
