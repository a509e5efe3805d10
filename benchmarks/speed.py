"""How fast an index is made and searched, beside what the machine can do: `python -m benchmarks.speed [--sizes 1000 15000] [--texts DIR]
[--questions FILE]`.

Texts are the Markdown files of a folder, cut as an ingest cuts them and repeated with other words where they do not suffice, or else drawn
from an invented vocabulary with a natural distribution of frequencies (Zipf). Vectors are random, the worst case for a search that is not
exact and none for one that is; where they have the dimension of the embedded embedder, processes begun cold embed their question with it.
Every time is also given as a multiple of one `matrix @ vector`, measured in turn with the searches, so that both find the processor's
caches in the same state.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from agent import texts
from agent.embedders import embedded
from agent.ingest.chunks import document, plain
from agent.interfaces import Document, EmbedderIdentity, Filter, Update
from agent.language import Language
from agent.settings import Settings
from agent.sources.wissensbasis import Wissensbasis
from agent.stores.sqlite import SqliteIndex, SqliteStore
from agent.values import Period, SubQuery

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

QUESTIONS = 60
DAY = Period.day(date(2026, 1, 1))
COLD = r"""
import re, sys
from agent import texts
from agent.embedders import embedded
from agent.language import Language
from agent.settings import Settings
from agent.sources.wissensbasis import Wissensbasis
from agent.stores.sqlite import SqliteStore
from agent.values import Period, SubQuery
from datetime import date
from functools import partial
from pathlib import Path
language = Language(texts.table("language.de"))
store = SqliteStore(Path(sys.argv[1]), language.version)
def embedder():
    from agent.embedders.embedded import Embedded
    return Embedded() if sys.argv[3] == "meaning" else None
source = Wissensbasis(store, language, Settings(), embedder, weights=texts.table("ranking"))
assert source.search(SubQuery(sys.argv[2], Period.day(date(2026, 1, 1))), k=8).hits
print(*re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text()) if sys.platform == "linux" else ["0"])
"""


@dataclass
class Stopwatch:
    """Milliseconds of one thing done many times."""

    name: str
    taken: list[float]

    def at(self, share: float) -> float:
        return sorted(self.taken)[min(len(self.taken) - 1, int(share * len(self.taken)))]


def in_turn(acts: Mapping[str, Callable[[str], object]], questions: Sequence[str]) -> list[Stopwatch]:
    """Every act with every question, act after act."""
    watches = [Stopwatch(name, []) for name in acts]
    for act in acts.values():
        act(questions[0])
    for question in questions:
        for watch, act in zip(watches, acts.values(), strict=True):
            start = perf_counter()
            act(question)
            watch.taken.append(1000 * (perf_counter() - start))
    return watches


class Random:
    """An embedder whose vectors are random, and ready at once."""

    def __init__(self, dimension: int) -> None:
        import numpy as np

        as_embedded = dimension == embedded.DIMENSION and embedded.available()
        self.identity = embedded.Embedded().identity if as_embedded else EmbedderIdentity("random", dimension, "1")
        self._numbers = np.random.default_rng(1)

    def query(self, _text: str, /) -> Vector:
        import numpy as np

        vector = self._numbers.standard_normal(self.identity.dimension, dtype=np.float32)
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)

    def passages(self, texts: Sequence[str], /) -> list[Vector | None]:
        return [self.query(text) for text in texts]


def invented(number: random.Random) -> Iterator[str]:
    """Texts of about a thousand characters."""
    syllables = [a + b for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "ei", "au")]
    words = ["".join(number.choices(syllables, k=number.randint(1, 5))) for _ in range(60_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    while True:
        yield " ".join(number.choices(words, weights, k=140)).capitalize() + "."


def given(folder: Path, number: random.Random) -> Iterator[str]:
    """The sections of a folder's files, over and over, from the second round on with a third of their words from another section."""
    sections = [part for path in sorted(folder.rglob("*.md")) for part in path.read_text(encoding="utf-8").split("\n#") if len(part) > 200]
    number.shuffle(sections)
    yield from sections
    while True:
        section, other = number.choice(sections).split(), number.choice(sections).split()
        yield " ".join(number.choice(other) if number.random() < 1 / 3 else word for word in section)


def documents(source: Iterator[str], chunks: int, language: Language) -> list[Document]:
    """As many documents as give that many chunks."""
    made: list[Document] = []
    count = 0
    while count < chunks:
        each = document(plain(f"doc-{len(made)}", "", next(source)), language)
        count += len(each.chunks)
        made.append(each)
    return made


def questions_of(made: Sequence[Document], number: random.Random, file: Path | None = None) -> list[str]:
    """Questions of a file with a JSON object a line, else runs of words out of the documents."""
    if file:
        asked = [str(json.loads(line)["text"]) for line in file.read_text(encoding="utf-8").splitlines()]
        return number.sample(asked, min(200, len(asked)))
    found: list[str] = []
    while len(found) < QUESTIONS:
        words = number.choice(number.choice(made).chunks or made[0].chunks).chunk.text.split()
        start = number.randrange(max(1, len(words) - 8))
        found.append(" ".join(words[start : start + 8]))
    return [question for question in found if question]


def measured(size: int, dimension: int, source: Iterator[str], questions: Path | None) -> None:
    """Prints the figures of one size."""
    import numpy as np

    language = Language(texts.table("language.de"))
    number = random.Random(size)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.db"
        embedder = Random(dimension)
        start = perf_counter()
        made = documents(source, size, language)
        analysed = perf_counter() - start
        with SqliteIndex(path, language.version) as index:
            start = perf_counter()
            index.write(Update(made, frozenset(), "de", "1", embedder=embedder.identity))
            written = perf_counter() - start
            pending = list(index.pending())
            for at in range(0, len(pending), 5000):
                index.add_vectors({name: embedder.query("") for name in pending[at : at + 5000]})
            index.finish()
        chunks = sum(len(each.chunks) for each in made)
        megabytes = sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6
        print(
            f"\n{chunks} chunks x {dimension}: analysed and cut {chunks / analysed:.0f}/s, indexed {chunks / written:.0f}/s, "
            f"{megabytes:.0f} MB of which vectors {2 * 4e-6 * chunks * dimension:.0f}"
        )
        asked = questions_of(made, number, questions)
        with SqliteStore(path, language.version) as store:
            matrix = np.ascontiguousarray(store._matrix.vectors)  # noqa: SLF001 (the limit is measured on the very matrix)
            hybrid = Wissensbasis(store, language, Settings(), lambda: embedder, weights=texts.table("ranking"))
            fused = Wissensbasis(store, language, Settings(fusion="rrf"), lambda: embedder, weights=texts.table("ranking"))
            words = Wissensbasis(store, language, Settings(embed_off=True), lambda: None, weights=texts.table("ranking"))
            acts: dict[str, Callable[[str], object]] = {
                "matrix @ vector": lambda _: matrix @ embedder.query(""),
                "meaning leg": lambda _: store.dense(embedder.query(""), 50, Filter()),
                "words leg": lambda q: store.lexical(language.query_terms(q), 50, Filter()),
                "search, rank fusion": lambda q: fused.search(SubQuery(q, DAY), k=8),
                "search": lambda q: hybrid.search(SubQuery(q, DAY), k=8),
                "search, words alone": lambda q: words.search(SubQuery(q, DAY), k=8),
                **_bm25s(made, language),
                **_tantivy(made, language),
            }
            watches = in_turn(acts, asked)
            kinds = ("words", "meaning") if embedder.identity.name == embedded.NAME else ("words",)
            colds = [Cold(path, kind) for kind in kinds]
            watches += in_turn({f"cold process, {cold.kind}": cold for cold in colds}, asked[:8])
        edit = partial(_edit, path, made[0].entry.id, language, embedder)
        watches += in_turn({"one edit until found": edit}, [f"Wortneu{n}x" for n in "abcdefg"])
        print(f"  memory of a cold process: {', '.join(f'{cold.kind} {cold.kilobytes / 1000:.0f} MB' for cold in colds)}")
        limit = watches[0]
        for watch in watches:
            print(f"  {watch.name:28} p50 {watch.at(0.5):8.2f} ms  p95 {watch.at(0.95):8.2f} ms  {watch.at(0.5) / limit.at(0.5):6.1f} x")


def _bm25s(made: Sequence[Document], language: Language) -> dict[str, Callable[[str], object]]:
    """The same terms in bm25s, where it is installed."""
    try:
        import bm25s
    except ImportError:
        return {}
    retriever = bm25s.BM25()
    retriever.index([chunk.body.split() for each in made for chunk in each.chunks], show_progress=False)
    return {"bm25s, the words leg's part": lambda q: retriever.retrieve([language.query_terms(q) or ["-"]], k=50, show_progress=False)}


def _tantivy(made: Sequence[Document], language: Language) -> dict[str, Callable[[str], object]]:
    """The same terms in tantivy, where it is installed."""
    try:
        import tantivy
    except ImportError:
        return {}
    index = tantivy.Index(tantivy.SchemaBuilder().add_text_field("body", tokenizer_name="whitespace").build())
    writer = index.writer()
    for chunk in (chunk for each in made for chunk in each.chunks):
        writer.add_document(tantivy.Document(body=chunk.body))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(question: str) -> object:
        terms = (term for term in language.query_terms(question) if term.isalnum())
        return searcher.search(index.parse_query(" ".join(terms) or "-", ["body"]), 50)

    return {"tantivy, the same": search}


class Cold:
    """A search in a process of its own, which says how much memory it took."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path, self.kind = path, kind
        self.kilobytes = 0

    def __call__(self, question: str) -> None:
        done = subprocess.run([sys.executable, "-c", COLD, self.path, question, self.kind], check=True, capture_output=True, text=True)
        self.kilobytes = max(self.kilobytes, int(done.stdout))


def _edit(path: Path, entry_id: str, language: Language, embedder: Random, word: str) -> None:
    """One document changed, until both legs find what is new in it; the embedding apart."""
    vector = embedder.query("")
    with SqliteIndex(path, language.version) as index:
        edited = document(plain(entry_id, "", f"Neu ist {word} seit {perf_counter()}."), language)  # another text every time
        index.write(Update([edited], frozenset(), "de", word))
        index.add_vectors(dict.fromkeys(index.pending(), vector))
        index.finish()
    with SqliteStore(path, language.version) as store:
        words, meaning = store.lexical(language.terms(word), 1, Filter()), store.dense(vector, 1, Filter())
        if not words or [hit.row for hit in words] != [hit.row for hit in meaning]:
            raise RuntimeError("the edit is not found")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=[1000, 15_000])
    options.add_argument("--dimension", type=int, default=1024)
    options.add_argument("--questions", type=Path, help="a file of questions, a JSON object with `text` a line")
    options.add_argument("--texts", type=Path, help="a folder of Markdown files")
    chosen = options.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line has it
    for size in chosen.sizes:
        number = random.Random(7)
        measured(size, chosen.dimension, given(chosen.texts, number) if chosen.texts else invented(number), chosen.questions)


if __name__ == "__main__":
    main()
