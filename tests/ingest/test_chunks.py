"""Chunks: they hold the whole text, in order, once, and cut no table."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.ingest.chunks import LONGEST, cut, document, embedding_text, plain, text_hash
from agent.ingest.entries import parse
from agent.values import Entry, EntryInfo, Section
from tests.ingest.samples import GERMAN, entry_text

SENTENCE = st.builds(
    lambda words: " ".join(words).capitalize() + ".",
    st.lists(st.sampled_from(["dienstnehmer", "z.B.", "30. Juni", "551,10 EUR", "bzw."]), min_size=1, max_size=40),
)
PARAGRAPH = st.builds(" ".join, st.lists(SENTENCE, min_size=1, max_size=12))
TABLE = st.builds(
    lambda rows: "\n".join(["| a | b |", "| --- | --- |", *(f"| {row} | x |" for row in rows)]),
    st.lists(st.text("wert ", min_size=1), max_size=60),
)
CODE = st.builds(lambda lines: "```\n" + "\n\n".join(lines) + "\n```", st.lists(st.text("ab |#", max_size=60), max_size=40))
HEADING = st.sampled_from(["### Näher", "#### Noch näher"])
UNBROKEN = st.integers(1, 3 * LONGEST).map(lambda length: "x" * length)
BODY = st.lists(st.one_of(PARAGRAPH, TABLE, CODE, HEADING, UNBROKEN), min_size=1, max_size=8).map("\n\n".join)


def entry_of(*bodies: str) -> tuple[Entry, str]:
    text = "".join(f"## {n}\n{body}\n" for n, body in enumerate(bodies))
    sections, at = [], 0
    for n, body in enumerate(bodies):
        at = text.index(f"## {n}\n", at) + len(f"## {n}\n")
        sections.append(Section(str(n), body, at))
        at += len(body)
    return Entry(EntryInfo("pv-a", "Titel", date(2026, 1, 1)), tuple(sections)), text


@given(st.lists(BODY, min_size=1, max_size=3))
def test_chunks_hold_the_whole_text_in_order_and_once(bodies: list[str]) -> None:
    entry, text = entry_of(*bodies)
    chunks = cut(entry, GERMAN)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    end = 0
    covered = ""
    for chunk in chunks:
        start, stop = chunk.span
        assert text[start:stop] == chunk.text
        assert chunk.text.strip()
        assert start >= end
        covered += "".join(chunk.text.split())
        end = stop
    assert covered == "".join("".join(bodies).split())


@given(st.lists(st.one_of(PARAGRAPH, TABLE, CODE), min_size=1, max_size=8))
def test_no_table_and_no_code_is_cut(blocks: list[str]) -> None:
    entry, _ = entry_of("\n\n".join(blocks))
    texts = [chunk.text for chunk in cut(entry, GERMAN)]
    for block in blocks:
        if block.startswith(("|", "```")):
            assert any(block.strip() in text for text in texts)


@given(st.lists(st.one_of(PARAGRAPH, HEADING, UNBROKEN), min_size=1, max_size=8).map("\n\n".join))
def test_what_can_be_cut_is_no_longer_than_it_may_be(body: str) -> None:
    entry, _ = entry_of(body)
    chunks = cut(entry, GERMAN)
    assert all(len(chunk.text) <= LONGEST for chunk in chunks)
    assert all(len(a.text) + len(b.text) > LONGEST // 2 for a, b in pairwise(chunks))


def test_a_short_section_is_one_chunk_and_a_heading_ends_none() -> None:
    entry, _ = entry_of("Eins.\n\nZwei.", "A" * (LONGEST - 10) + "\n\n### Näher\n\nText.")
    assert [chunk.text for chunk in cut(entry, GERMAN)] == ["Eins.\n\nZwei.", "A" * (LONGEST - 10), "### Näher\n\nText."]


def test_a_long_paragraph_falls_into_sentences() -> None:
    sentence = "Die Abfuhr ist bis zum 15. des Folgemonats fällig, z.B. am 15.2.2026, gemäß § 79 EStG."
    entry, _ = entry_of(" ".join([sentence] * 40))
    for chunk in cut(entry, GERMAN):
        assert chunk.text.startswith("Die Abfuhr")
        assert chunk.text.endswith("EStG.")


def test_a_plain_document_is_cut_by_the_same_rules() -> None:
    (chunk,) = cut(plain("doc1", "Titel", "Ein Text."), GERMAN)
    assert (chunk.entry_id, chunk.section, chunk.text, chunk.span) == ("doc1", "", "Ein Text.", (0, 9))
    assert cut(plain("doc2", "Titel", "  \n "), GERMAN) == ()


def test_a_document_has_its_terms_and_hashes() -> None:
    text = entry_text("pv-a", "## Kernwerte\n\nDie Grenze beträgt 551,10 EUR.", titel="Geringfügigkeitsgrenze", tags="[ASVG]")
    entry = parse(text, Path("pv-a.md"))
    assert isinstance(entry, Entry)
    (chunk,) = document(entry, GERMAN).chunks
    assert chunk.head.split() == [*GERMAN.terms("Geringfügigkeitsgrenze"), *GERMAN.terms("ASVG"), *GERMAN.terms("Kernwerte")]
    assert "551_1" in chunk.body.split()
    assert embedding_text(entry.info, chunk.chunk) == "Geringfügigkeitsgrenze\nKernwerte\nDie Grenze beträgt 551,10 EUR."
    assert chunk.hash == text_hash(embedding_text(entry.info, chunk.chunk))
