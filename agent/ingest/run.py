"""Brings an index up to date with a knowledge base: compares what is there with what is admitted, and writes only the difference.

The truth is one transaction; vectors follow in batches, each its own, so that an interrupted run goes on where it stopped. Whatever
moment a run is killed at, the index is the old one or the new one, at worst with some vectors missing, and it says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from agent.errors import IndexProblem, KnowledgeBaseError
from agent.i18n import noted, tr
from agent.ingest import cache, limits, readings, synonyms
from agent.ingest.chunks import cut, document, embedding_text, pieces_of, text_hash
from agent.ingest.embed import BATCH, Progress, embedded, quiet
from agent.ingest.problems import EntryProblem
from agent.ingest.register import Admission
from agent.interfaces import Beside, Change, Document, Embedder, EmbedderIdentity, Held, Index, Update
from agent.language import Language
from agent.values import Entry

if TYPE_CHECKING:
    from agent.interfaces import Vector

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Content:
    """What an index is to hold: entries, the version they make, what is said beside them, and vectors known beforehand, by hash."""

    entries: Sequence[Entry]
    version: str
    beside: Beside = field(default_factory=Beside)
    vectors: Callable[[EmbedderIdentity], Mapping[str, Vector]] = lambda _: {}
    with_pieces: bool = False
    """Whether sentences and table rows get vectors too: they let an answer without a model find its words by meaning."""


def ingest(
    admission: Admission, index: Index, *, language: Language, embedder: Embedder | None = None, progress: Progress = quiet
) -> Change:
    """Takes the index to what was admitted; without an embedder its vectors stay as they are.

    Raises IndexProblem or KnowledgeBaseError where nothing was changed, EmbedderError where the texts are there and vectors are missing.
    Entries that were refused are left out: who calls decides beforehand whether that may be (`admission.insist()`).
    """
    words = synonyms.analysed(_sound(synonyms.read(admission.kb_dir)), language)
    beside = Beside(words, _sound(readings.read(admission.kb_dir)), _sound(limits.read(admission.kb_dir)))
    content = Content(
        admission.entries,
        admission.version,
        beside,
        lambda identity: cache.load(admission.kb_dir, identity),
        with_pieces=True,
    )
    return bring(content, index, language=language, embedder=embedder, progress=progress)


def _sound(found: _T | list[EntryProblem]) -> _T:
    if isinstance(found, list):
        raise KnowledgeBaseError(f"{found[0].path}:{found[0].line}: {found[0].message}", found[0].mend)
    return found


def bring(content: Content, index: Index, *, language: Language, embedder: Embedder | None = None, progress: Progress = quiet) -> Change:
    """The same for content that comes from elsewhere, such as a test collection."""
    identity = embedder.identity if embedder else None
    _agree(index, identity)
    held = index.held()
    hashes = {entry.info.id: _hashes(entry, language) for entry in content.entries}
    stale = [entry for entry in content.entries if not _same(entry, held.get(entry.info.id), hashes[entry.info.id])]
    change = _compared(stale, held, hashes)
    gone = frozenset(held.keys() - hashes.keys())
    written = {name for entry in stale for name in hashes[entry.info.id]}
    if stale or gone or _stamp_differs(index, content, identity):
        documents = _documents(stale, language, progress, with_pieces=content.with_pieces)
        index.write(Update(documents, gone, language.code, content.version, content.beside, identity))
    if embedder is not None:
        done, failed, pieces = _filled(index, embedder, language, shipped=content.vectors, progress=progress)
        reused = len(written - done - failed.keys())
        change = replace(change, embedded=len(done), reused=reused, pieces=pieces, failed=tuple(sorted(failed.values())))
    index.finish()
    return change


def _agree(index: Index, wanted: EmbedderIdentity | None) -> None:
    """Vectors of two embedders never mix."""
    there = index.info.embedder if index.info else None
    if wanted and there and there != wanted:
        raise IndexProblem(
            tr("The index holds vectors of {there}, and {wanted} is set.", there=there, wanted=wanted),
            tr("Set PV_EMBEDDER to the former, or change over with `pv-agent ingest --full`."),
        )


def _hashes(entry: Entry, language: Language) -> tuple[str, ...]:
    return tuple(text_hash(embedding_text(entry.info, chunk)) for chunk in cut(entry, language))


def _same(entry: Entry, held: Held | None, hashes: tuple[str, ...]) -> bool:
    # The hashes too: a newer program may cut the same file differently.
    return held is not None and (held.sha256, held.path, held.hashes) == (entry.info.sha256, entry.info.path, hashes)


def _stamp_differs(index: Index, content: Content, identity: EmbedderIdentity | None) -> bool:
    info = index.info
    if info is None or info.kb_version != content.version or index.beside() != content.beside:
        return True
    return identity is not None and info.embedder != identity


def _compared(stale: Sequence[Entry], held: Mapping[str, Held], hashes: Mapping[str, tuple[str, ...]]) -> Change:
    """What a run is about to do: an entry whose chunks reappear under another id, or whose file has another path, was renamed."""
    added = {entry.info.id for entry in stale} - held.keys()
    removed = held.keys() - hashes.keys()
    renamed: list[tuple[str, str]] = []
    changed = []
    for old in sorted(removed):
        new = next((name for name in sorted(added) if hashes[name] == held[old].hashes), None)
        if new is not None:
            renamed.append((old, new))
            added -= {new}
            removed -= {old}
    for entry in stale:
        before = held.get(entry.info.id)
        if before and before.sha256 == entry.info.sha256 and before.path != entry.info.path:
            renamed.append((before.path, entry.info.path))
        elif before:
            changed.append(entry.info.id)
    known = {name for entry in held.values() for name in entry.hashes}
    fresh = sum(name not in known for entry in stale for name in hashes[entry.info.id])
    return Change(tuple(sorted(added)), tuple(changed), tuple(sorted(removed)), tuple(renamed), chunks=fresh)


def _documents(entries: Sequence[Entry], language: Language, progress: Progress, *, with_pieces: bool) -> Iterator[Document]:
    for done, entry in enumerate(entries, 1):
        yield document(entry, language, with_pieces=with_pieces)
        if done % BATCH == 0 or done == len(entries):
            progress(done, len(entries), noted("entries"))


def _filled(
    index: Index, embedder: Embedder, language: Language, *, shipped: Callable[[EmbedderIdentity], Mapping[str, Vector]], progress: Progress
) -> tuple[frozenset[str], dict[str, str], int]:
    """Gives every chunk, then every quotable piece, a vector that has none: a shipped one, else the embedder's, batch by batch.

    Returns the hashes of chunks that were embedded, those that could not be, each with the chunk it belongs to, and how many pieces were.
    """
    rows, pieces = index.pending(), index.pending_pieces()
    known = shipped(embedder.identity) if rows or pieces else {}
    index.add_vectors({name: known[name] for name in (*rows, *pieces) if name in known})
    rows, pieces = ({name: row for name, row in pending.items() if name not in known} for pending in (rows, pieces))
    chunks = index.fetch({*rows.values(), *pieces.values()})
    done: set[str] = set()
    failed: dict[str, str] = {}
    for vectors, without in embedded(
        {name: embedding_text(chunks[row][1], chunks[row][0]) for name, row in rows.items()}, embedder, progress=progress
    ):
        index.add_vectors(vectors)
        done |= vectors.keys()
        failed |= {name: f"{(chunk := chunks[rows[name]][0]).entry_id}#{chunk.ordinal}" for name in without}
    said = {piece.key: piece.embedded for chunk, entry in chunks.values() for piece in pieces_of(entry, chunk, language)}
    count = 0
    for vectors, _ in embedded({name: said[name] for name in pieces if name in said}, embedder, progress=progress, what=noted("sentences")):
        index.add_vectors(vectors)
        count += len(vectors)
    return frozenset(done), failed, count
