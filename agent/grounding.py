"""The only way from a draft to an answer: what is cited was found, and carries what it is cited for; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.language import Language, citations, digits
from agent.language.belonging import Fault, faults
from agent.language.pieces import Piece, pieces, quoted
from agent.language.segments import Segment, segments
from agent.values import Citation, Complaint, Draft, Evidence, Finish, Hit, Period, Reason, validity_on


@dataclass(frozen=True, slots=True)
class Supported:
    """A draft that passed: its text with canonical citations, and for each the sentence that carries it."""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Declined:
    """The model said, in whatever words, that the evidence does not answer the question."""


def ground(draft: Draft, evidence: Evidence, language: Language, *, question: str, period: Period) -> Supported | Declined | Complaint:
    """Check a draft: it is whole, everything it cites is evidence, and what it cites holds its figures, for the same thing."""
    if not any(character.isalnum() for character in citations.without(draft.text)):
        return Complaint(Reason.EMPTY_DRAFT, language.message("complaint_empty"))
    if draft.finish is not Finish.COMPLETE:
        return Complaint(Reason.DRAFT_CUT_OFF, language.message("complaint_cut"))
    text = citations.canonical(digits.plain(draft.text.strip()), evidence.ids)
    if draft.refused or _declines(text, language):
        return Declined()
    cited = citations.cited(text)
    complaint = _of_ids(cited, evidence, language) or _of_figures(text, cited, evidence, language, question=question, period=period)
    return complaint or Supported(text, tuple(_citation(identifier, text, evidence, language, period) for identifier in cited))


def _of_ids(cited: Sequence[str], evidence: Evidence, language: Language) -> Complaint | None:
    unknown = tuple(identifier for identifier in cited if identifier not in evidence.ids)
    if unknown:
        return Complaint(Reason.CITATIONS_INVALID, language.message("complaint_unknown", ids=", ".join(unknown)), unknown_ids=unknown)
    return None if cited else Complaint(Reason.CITATIONS_INVALID, language.message("complaint_none"))


def _of_figures(
    text: str, cited: Sequence[str], evidence: Evidence, language: Language, *, question: str, period: Period
) -> Complaint | None:
    quotable = {identifier: _pieces(identifier, evidence, language) for identifier in cited}
    found = faults(text, quotable, question=question, period=period, language=language)
    if not found:
        return None
    told = "; ".join(f"{', '.join(fault.figures)} („{fault.sentence}“)" for fault in found)
    return Complaint(
        Reason.FIGURES_UNSUPPORTED,
        language.message("complaint_figures", figures=told),
        unsupported=tuple(figure for fault in found for figure in fault.figures),
        remainder=_without(text, found, language),
    )


def _pieces(identifier: str, evidence: Evidence, language: Language) -> list[Piece]:
    own = (hit for hit in evidence.hits if hit.entry.id == identifier)
    found = (piece for hit in own for piece in pieces(hit.entry.title, hit.chunk.text, language))
    return [piece for piece in found if piece.key not in evidence.overruled]


def _without(text: str, found: Sequence[Fault], language: Language) -> str:
    """The text without the faulty sentences; empty where nothing cited is left, or a sentence after one of them leans on it."""
    faulty = {fault.span for fault in found}
    kept: list[str] = []
    before = False
    for span in language.sentences(text):
        sentence = text[span[0] : span[1]]
        if span in faulty:
            before = True
            continue
        if before and language.leans_back(sentence):
            return ""
        before = False
        kept.append(sentence)
    return " ".join(kept) if any(citations.cited(sentence) for sentence in kept) else ""


def _declines(text: str, language: Language) -> bool:
    """Whether what is left without the sentences that decline cites nothing: a partial answer declines a part only."""
    marks = [mark.casefold() for mark in language.table["refusal_marks"]]
    sentences = [text[a:b] for a, b in language.sentences(text)]
    declining = [sentence for sentence in sentences if any(mark in sentence.casefold() for mark in marks)]
    return bool(declining) and not any(citations.cited(sentence) for sentence in sentences if sentence not in declining)


def _citation(identifier: str, text: str, evidence: Evidence, language: Language, period: Period) -> Citation:
    claims = [text[a:b] for a, b in language.sentences(text) if identifier in citations.cited(text[a:b])]
    hits = [hit for hit in evidence.hits if hit.entry.id == identifier]
    hit, segment = carrier(claims, hits, language)
    entry = hit.entry
    span = (hit.chunk.span[0] + segment.span[0], hit.chunk.span[0] + segment.span[1]) if segment else hit.chunk.span
    return Citation(
        entry.id,
        entry.title,
        entry.stand,
        validity_on(period, entry.valid_from, entry.valid_to),
        hit.chunk.section,
        hit.source,
        quote=quoted(segment, language) if segment else "",
        span=span,
        url=hit.url,
        pages=entry.pages,
    )


def carrier(claims: Iterable[str], hits: Sequence[Hit], language: Language) -> tuple[Hit, Segment | None]:
    """The hit and the segment of it that carry the claims best: most shared terms, figures counted before words."""
    wanted = set(language.terms(" ".join(citations.without(claim) for claim in claims)))
    best: tuple[float, Hit, Segment | None] = (-1.0, hits[0], None)
    for hit in hits:
        for segment in segments(hit.chunk.text, language.sentences):
            terms = set(language.terms(segment.text))
            shared = wanted & terms
            score = sum(3.0 if any(c.isdigit() for c in term) else 1.0 for term in shared) - 0.02 * len(terms - shared)
            if score > best[0]:
                best = (score, hit, segment)
    return best[1], best[2]
