"""A third-party test set as something to search: a temporary index of its documents, made as the product makes its own.

Documents are cut like an entry's sections and stand where their best chunk stands. Vectors are kept in one file an embedder, by the hash
of what was embedded, so that a set is embedded once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

from agent import answerability, texts
from agent.eval.beir import Query, TestSet
from agent.eval.examine import Subject, retrieval_values
from agent.eval.report import Row
from agent.ingest.chunks import plain
from agent.ingest.embed import Progress
from agent.ingest.run import Content
from agent.interfaces import NO_LIMITS
from agent.plan import by_dates
from agent.settings import Settings, changed
from agent.values import Evidence, Question
from agent.wiring import Bench, Place

if TYPE_CHECKING:
    from agent.interfaces import Vector

Memory = MutableMapping[str, "Vector"]


@contextmanager
def opened(test_set: TestSet, settings: Settings, *, language: str, vectors: Path, progress: Progress) -> Iterator[Bench]:
    """A bench over the set's documents, for as long as the context lasts. Raises ConfigError for a language without a table."""
    with TemporaryDirectory(prefix="pv-agent-") as folder, remembered(vectors) as memory:
        index = Path(folder) / "index.db"
        place = Place(Path(folder), index, index.with_name("runs.db"), index.with_name("goldset.yaml"))
        bench = Bench(settings, place, code=language, memory=memory)
        bench.bring(_content(test_set), progress)
        try:
            yield bench
        finally:
            bench.store.close()


def _content(test_set: TestSet) -> Content:
    entries = [plain(document.id, document.title, document.text) for document in test_set.documents]
    stamped = [replace(entry, info=replace(entry.info, sha256=_hash(entry.info.title, entry.sections[0].text))) for entry in entries]
    return Content(stamped, _hash(*(entry.info.id + entry.info.sha256 for entry in stamped))[:16])


def _hash(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()


@contextmanager
def remembered(path: Path) -> Iterator[Memory]:
    """A memory of vectors that is read from `path` and written back, whatever ends the context; a damaged file counts as none."""
    import numpy as np

    memory: dict[str, Vector] = {}
    for file in sorted(path.glob("*.npz")):
        try:
            with np.load(file) as held:
                memory.update(zip(held["names"].tolist(), held["vectors"], strict=True))
        except (OSError, ValueError, KeyError):
            continue
    known = len(memory)
    try:
        yield memory
    finally:
        if len(memory) > known:
            _write(path, memory)


def _write(path: Path, memory: Memory) -> None:
    """One file for each dimension: rows of one array are of one length."""
    import numpy as np

    path.mkdir(parents=True, exist_ok=True)
    for dimension in {len(vector) for vector in memory.values()}:
        names = sorted(name for name, vector in memory.items() if len(vector) == dimension)
        fresh = path / f"{dimension}.npz.tmp"
        with fresh.open("wb") as file:
            np.savez(file, names=np.array(names), vectors=np.stack([memory[name] for name in names]))
        fresh.replace(path / f"{dimension}.npz")


# --- one query ------------------------------------------------------------------------------------


def of(bench: Bench, settings: Settings) -> Subject:
    """The subject a set is searched with: no entry of it refers to another, and its documents are read as deep as a run file goes."""
    return Subject.of(bench, changed(settings, companion_entries=0, max_context_chars=10_000_000))


def examined(query: Query, test_set: TestSet, subject: Subject) -> Row:
    """What one query found, and whether the product would answer it from that."""
    bench = subject.bench
    start = perf_counter()
    plan = by_dates(Question(query.text, bench.today()), bench.language)
    evidence = bench.search(query.text, k=bench.settings.context_blocks)
    verdict = answerability.judged(query.text, evidence, bench.language, _tables(bench.language.code))
    ms = round((perf_counter() - start) * 1000, 2)
    ranked = subject.rankings(plan.subqueries[:1], evidence)
    refused = verdict.reason is not None
    judged = {query.id: test_set.qrels[query.id]} if query.id in test_set.qrels else {}
    values = retrieval_values(query.id, ranked, judged, fold=lambda run: run)
    missed = bool(judged) and not values.get("fused:hit-rate@8")
    wrong = ["source_not_found"] * missed + ["refused_wrongly"] * (refused and query.answerable)
    wrong += ["answered_wrongly"] * (not refused and not query.answerable)
    return {
        "id": query.id,
        "question": query.text,
        "should_refuse": not query.answerable,
        "refused": refused,
        "reason": verdict.reason.value if verdict.reason else None,
        "outcome": "wrong" if wrong else "right",
        "wrong": wrong,
        "found": [{"id": name, "expected": name in judged.get(query.id, {})} for name in _ids(evidence)],
        "ranked": ranked,
        "values": {**values, "answers:refusal-correct": float(refused != query.answerable)}
        | ({"answers:false-refusal": float(refused)} if query.answerable else {}),
        "evidence_score": round(verdict.score, 4),
        "ms": ms,
    }


def _tables(language: str) -> Mapping[str, Mapping[str, Any]]:
    """The gate's data; what lies outside its scope by its nature is a knowledge base's to say, and a foreign set says nothing."""
    return {"limits": NO_LIMITS, "answerability": texts.own_table("answerability", language)}


def _ids(evidence: Evidence) -> list[str]:
    return list(dict.fromkeys(hit.entry.id for hit in evidence.hits))[:8]
