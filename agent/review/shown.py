"""What each role is shown, and no more: titles to the first, compressed chunks to the second, cited excerpts to the other two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agent import context
from agent.language import Language, citations
from agent.language.segments import Segment, segments
from agent.review import rules
from agent.review.contracts import Proposal, Review, Rewrite
from agent.review.roles import ANSWER, Bench
from agent.values import Evidence, Hit, Question

TITLES = 12
"""How many of the first hits the rewriting role is told of."""
CHUNK, EXCERPT = 2400, 900
"""Characters of a chunk for the answering role, and of a cited excerpt for those that review and correct."""


def to_rewrite(question: Question, evidence: Evidence, missing: str, language: Language) -> Mapping[str, str]:
    """The question, the titles found so far, and the words no entry holds."""
    titles = list(dict.fromkeys(f"- {hit.entry.title} · {hit.chunk.section}" for hit in evidence.hits))[:TITLES]
    return {
        "question": question.shown,
        "stichtag": language.day(question.stichtag),
        "titles": "\n".join(map(context.harmless, titles)) or "-",
        "missing": missing or "-",
    }


def to_answer(
    question: Question, rewrite: Rewrite | None, evidence: Evidence, extractive: str, bench: Bench
) -> tuple[Mapping[str, str], Evidence]:
    """The question, what the rewriting found out, the present answer, and as many chunks as fit; with the evidence that was shown.

    Raises ModelError where not even one chunk fits.
    """
    language = bench.parts.language
    values = {
        "question": question.shown,
        "stichtag": language.day(question.stichtag),
        "focus": "; ".join(rewrite.focus) if rewrite else "-",
        "excluded": "; ".join(rewrite.excluded) if rewrite and rewrite.excluded else "-",
        "extractive": context.harmless(extractive) or "-",
    }
    words = " ".join([question.shown, *(query for query, _ in rewrite.queries)]) if rewrite else question.shown
    blocks = [_block(hit, excerpt(hit, words, language, CHUNK), language) for hit in evidence.hits]
    beside = bench.system(ANSWER) + bench.template(ANSWER).substitute(values, blocks="")
    settings = replace(bench.parts.settings, max_answer_tokens=ANSWER.tokens(bench.parts.settings))
    kept = context.kept(blocks, beside=beside, parts=replace(bench.parts, settings=settings))
    hits = tuple(hit for hit, block in zip(evidence.hits, blocks, strict=True) if block in kept)
    return {**values, "blocks": "\n\n".join(kept)}, replace(evidence, hits=hits)


def to_review(question: Question, text: str, evidence: Evidence, language: Language) -> Mapping[str, str]:
    """The question, the answer, and the excerpts of what it cites."""
    blocks = [_block(hit, excerpt(hit, text, language, EXCERPT), language) for hit in cited(text, evidence)]
    return {
        "question": question.shown,
        "stichtag": language.day(question.stichtag),
        "answer": context.harmless(text),
        "blocks": "\n\n".join(blocks),
    }


def to_correct(question: Question, proposal: Proposal, review: Review, evidence: Evidence, language: Language) -> Mapping[str, str]:
    """What the reviewer was shown, and what it objected to."""
    findings = {
        "answers_original_question": review.answers,
        "grounded_in_sources": review.grounded,
        "drift_from_original_question": review.drifts,
        "metadata_leakage": review.leaks,
    }
    objections = [*(f"- {claim}" for claim in review.unsupported), f"- {review.notes}" if review.notes else ""]
    return {
        **to_review(question, proposal.text, evidence, language),
        "findings": ", ".join(f"{name}: {str(value).lower()}" for name, value in findings.items()),
        "objections": context.harmless("\n".join(line for line in objections if line)) or "-",
    }


def cited(text: str, evidence: Evidence) -> tuple[Hit, ...]:
    """The hits of the entries a text cites."""
    names = citations.cited(text)
    return tuple(hit for hit in evidence.hits if hit.entry.id in names)


def excerpt(hit: Hit, words: str, language: Language, characters: int) -> str:
    """A chunk's text, or of a long one the lines that share most terms with `words`, in reading order, whole, up to `characters`."""
    text = hit.chunk.text
    if len(text) <= characters:
        return text
    wanted = set(language.terms(words))
    found = segments(text, language.sentences)
    ranked = sorted(found, key=lambda segment: (-len(wanted & set(language.terms(segment.text))), segment.span))
    kept: list[Segment] = []
    used = 0
    for segment in ranked:
        size = len(segment.text) + 3
        if used + size <= characters or not kept:
            kept.append(segment)
            used += size
    return "\n".join(segment.text for segment in sorted(kept, key=lambda segment: segment.span))


def _block(hit: Hit, text: str, language: Language) -> str:
    head = f'<block id="{hit.entry.id}"'
    pages = f' pages="{", ".join(map(str, hit.entry.pages))}"' if hit.entry.pages else ""
    return context.block(hit, language, text).replace(head, f'{head} chunk_id="{rules.chunk_id(hit)}"{pages}', 1)
