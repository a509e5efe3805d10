"""Cuts entries into chunks: a section, or where it is long, runs of its paragraphs; what is indexed and embedded of each.

A table or a code block is never cut. A chunk's text is a piece of its entry's file text, to the character, so that a citation can be
traced to where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from hashlib import sha256

from agent.ingest.entries import lines
from agent.interfaces import Document, IndexedChunk
from agent.language import Language
from agent.language.pieces import Piece, pieces
from agent.values import Chunk, Entry, EntryInfo, Section

LONGEST = 1400
"""Characters, some 400 tokens of German prose at a cautious 3.5 characters a token: below the 512 that small embedders read."""

_TABLE = re.compile(r"\s*\|")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")


def plain(entry_id: str, title: str, text: str) -> Entry:
    """A document without front matter or sections, such as one of a test collection, as an entry of one section."""
    return Entry(EntryInfo(entry_id, title, date.min), (Section("", text, 0),))


def cut(entry: Entry, language: Language) -> tuple[Chunk, ...]:
    """The chunks of an entry, in reading order; together they hold every character of its sections that is not blank."""
    chunks: list[Chunk] = []
    for section in entry.sections:
        for start, end in _packed(section.text, language):
            span = (section.start + start, section.start + end)
            chunks.append(Chunk(entry.info.id, len(chunks), section.name, section.text[start:end], span))
    return tuple(chunks)


def document(entry: Entry, language: Language, *, with_pieces: bool = False) -> Document:
    """An entry ready for the index; `with_pieces` its sentences and table rows get vectors of their own."""
    around = [term for text in (entry.info.title, *entry.info.tags) for term in language.terms(text)]
    indexed = []
    for chunk in cut(entry, language):
        head = " ".join((*around, *language.terms(chunk.section)))
        body = " ".join(language.terms(chunk.text))
        quotable = tuple(dict.fromkeys(piece.key for piece in pieces_of(entry.info, chunk, language))) if with_pieces else ()
        indexed.append(IndexedChunk(chunk, head, body, text_hash(embedding_text(entry.info, chunk)), quotable))
    return Document(entry.info, tuple(indexed))


def pieces_of(entry: EntryInfo, chunk: Chunk, language: Language) -> tuple[Piece, ...]:
    """The quotable pieces of a chunk; a section that is evidence only where it stands alone has none."""
    return () if language.only_if_alone(chunk.section) else pieces(entry.title, chunk.text, language)


def embedding_text(entry: EntryInfo, chunk: Chunk) -> str:
    """What is embedded for a chunk: by its words alone a paragraph often does not tell what it is about."""
    return "\n".join(part for part in (entry.title, chunk.section, chunk.text) if part)


def text_hash(text: str) -> str:
    """The key of an embedded text: 128 bits of SHA-256, as hexadecimal digits."""
    return sha256(text.encode()).hexdigest()[:32]


def _packed(text: str, language: Language) -> Iterator[tuple[int, int]]:
    """Runs of neighbouring pieces, each run as long as it may be."""
    start = end = -1
    for piece in _pieces(text, language):
        if start >= 0 and piece[1] - start > LONGEST:
            yield start, end
            start = -1
        start, end = (piece[0] if start < 0 else start), piece[1]
    if start >= 0:
        yield start, end


def _pieces(text: str, language: Language) -> Iterator[tuple[int, int]]:
    """What a cut may fall between: blocks where they fit, else a paragraph's sentences, else lines, else words."""
    for start, end, whole in _with_headings(text, _blocks(text)):
        if whole or end - start <= LONGEST:
            yield start, end
            continue
        for a, b in language.sentences(text[start:end]):
            if b - a <= LONGEST:
                yield start + a, start + b
            else:
                yield from _words(text, start + a, start + b)


def _words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > LONGEST:
        limit = start + LONGEST
        line, word = text.rfind("\n", start, limit), text.rfind(" ", start, limit)
        at = line if line > start + LONGEST // 2 else word if word > start else limit
        yield _trimmed(text, start, at)
        start, _ = _trimmed(text, at, end)
    if start < end:
        yield start, end


def _blocks(text: str) -> list[tuple[int, int, bool]]:
    """Spans of paragraphs, and of tables and code, which stay whole."""
    blocks: list[tuple[int, int, bool]] = []
    kind = ""
    for at, line, fenced in lines(text):
        found = "code" if fenced else _kind(line)
        if found and found == kind and found != "heading":
            blocks[-1] = (blocks[-1][0], at + len(line), blocks[-1][2])
        elif found:
            blocks.append((at, at + len(line), found in ("code", "table")))
        kind = found
    return [(*_trimmed(text, start, end), whole) for start, end, whole in blocks if text[start:end].strip()]


def _kind(line: str) -> str:
    if _TABLE.match(line):
        return "table"
    return "heading" if _HEADING.match(line) else "text" if line.strip() else ""


def _with_headings(text: str, blocks: Iterable[tuple[int, int, bool]]) -> Iterator[tuple[int, int, bool]]:
    """The blocks, where a heading goes with the block below it rather than end a chunk."""
    heading = -1
    last = (0, 0, False)
    for start, end, whole in blocks:
        last = (heading if heading >= 0 else start, end, whole)
        if not whole and _HEADING.match(text[start:end]):
            heading = last[0]
        else:
            yield last
            heading = -1
    if heading >= 0:
        yield last


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
