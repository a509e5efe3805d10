"""Kills ingests at random moments and looks at what they leave: `python -m benchmarks.kill_ingest [--kills 30] [--entries 300]`.

Each time an index of one edition of a made-up knowledge base is brought to the next edition by a child process, which is killed with
SIGKILL. The index must open and equal, entry by entry and search by search, the old edition or the new one; vectors may be missing.
A run that is then let through must reach the new edition.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import texts
from agent.ingest import register, run
from agent.ingest.build import build
from agent.interfaces import EmbedderIdentity, Filter
from agent.language import Language
from agent.stores.sqlite import SqliteIndex, SqliteStore

if TYPE_CHECKING:
    from agent.interfaces import Vector

LANGUAGE = Language(texts.table("language.de"))


class SlowEmbedder:
    """Vectors from a hash, given slowly enough to be killed among them."""

    identity = EmbedderIdentity("probe", 16, "0")

    def query(self, text: str, /) -> Vector:
        import numpy as np

        raw = np.frombuffer(sha256(text.encode()).digest()[:16], dtype=np.uint8).astype(np.float32) - 127.5
        vector: Vector = raw / np.linalg.norm(raw)
        return vector

    def passages(self, texts: Sequence[str], /) -> list[Vector | None]:
        time.sleep(0.005)
        return [self.query(text) for text in texts]


def make(folder: Path, *, entries: int, edition: int) -> None:
    """Writes an edition of the knowledge base: every second entry differs from edition to edition, a tenth is only in one."""
    documents = folder / "kb" / "dokumente"
    shutil.rmtree(documents, ignore_errors=True)
    documents.mkdir(parents=True)
    for n in range(entries):
        name = f"pv-{n:04}" if n % 10 else f"pv-{n:04}-ed{edition}"
        word = f"ausgabe{edition}" if n % 2 == 0 else "immer"
        body = "\n\n".join(
            f"## {section}\n\nEintrag {n} sagt {word} zu {section}." for section in ("Zusammenfassung", "Details", "Beispiel")
        )
        front = f"id: {name}\ntitel: Eintrag {n}\nstand: 2026-01-01\nlayer: 2\nbereich: gesetz"
        (documents / f"{name}.md").write_text(f"---\n{front}\n---\n\n{body}\n", encoding="utf-8")
    build(folder / "kb", LANGUAGE, licence="made up")


def ingest(folder: Path) -> None:
    """Brings the index to the edition that lies there."""
    with SqliteIndex(folder / "index.db", LANGUAGE.version) as index:
        run.ingest(register.admitted(folder / "kb"), index, language=LANGUAGE, embedder=SlowEmbedder())


def state(folder: Path) -> Any:
    """What a question sees, without row numbers: entries, searches, version; and that every vector is the right one."""
    with SqliteStore(folder / "index.db", LANGUAGE.version) as store:
        rows = store.fetch(range(1, 10 * store.info.chunks + 10_000))
        texts_ = sorted((chunk.entry_id, chunk.ordinal, chunk.text, entry.sha256) for chunk, entry in rows.values())
        searches = []
        for word in ("ausgabe0", "ausgabe1", "immer", "eintrag"):
            hits = store.lexical([word], 50, Filter())
            searches.append([(rows[hit.row][0].entry_id, rows[hit.row][0].ordinal, round(hit.score, 9)) for hit in hits])
        for row, (chunk, entry) in list(rows.items())[::7]:
            text = f"{entry.title}\n{chunk.section}\n{chunk.text}"
            score = store.similarities(SlowEmbedder().query(text), [row]).get(row, 1.0)
            assert score > 0.999, f"{chunk.entry_id}#{chunk.ordinal} bears a foreign vector"
        return store.info.kb_version, store.info.entries, store.info.chunks, texts_, searches


def states(folder: Path, *, entries: int) -> tuple[Any, Any]:
    """The states of the two editions; the index is left at the first."""
    found = []
    for edition in (1, 0):
        make(folder, entries=entries, edition=edition)
        for path in folder.glob("index.db*"):
            path.unlink()
        ingest(folder)
        found.append(state(folder))
    return found[1], found[0]


def killed(folder: Path, after: float) -> float | None:
    """Runs a child and kills it `after` seconds from where it begins its work; None where it finished before, else the seconds."""
    child = subprocess.Popen([sys.executable, "-m", "benchmarks.kill_ingest", "--child", str(folder)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    try:
        child.wait(timeout=after)
        return None
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        return after
    finally:
        child.stdout.close()


def main() -> None:
    """Prints what each kill left, and fails at the first index that is neither the one nor the other."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--kills", type=int, default=30)
    options.add_argument("--entries", type=int, default=300)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--child", type=Path)
    given = options.parse_args()
    if given.child:
        print("begin", flush=True)
        ingest(given.child)
        return
    chance = random.Random(given.seed)
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pair = states(folder, entries=given.entries)
        make(folder, entries=given.entries, edition=1)
        began = time.perf_counter()
        killed(folder, 600)
        whole = time.perf_counter() - began
        at = 1
        for _ in range(given.kills):
            make(folder, entries=given.entries, edition=1 - at)
            after = killed(folder, chance.uniform(0, 1.2 * whole))
            found = state(folder)
            if found not in pair:
                raise SystemExit(f"a kill after {after} s left a mixture")
            seen["finished" if after is None else "old" if found == pair[at] else "new"] += 1
            ingest(folder)
            at = 1 - at
            if state(folder) != pair[at]:
                raise SystemExit("the run after a kill did not reach the new edition")
    print(f"{given.kills} kills within {1.2 * whole:.2f} s of work: {dict(seen)}; every index opened, none was a mixture")


if __name__ == "__main__":
    main()
