"""The reviewed chain: rewrite for retrieval, answer from evidence, ground, review, publish, or correct once, or fall back.

The user's question is the anchor of answer and review; the rewriting serves the search alone. Nothing a role writes is published past
grounding, and nothing unreviewed unless the settings say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from time import monotonic, perf_counter
from typing import Any

from agent import answerability, audit, grounding, outcome
from agent.interfaces import Generator, Model, Parts
from agent.language import Language, citations
from agent.refusal import refused
from agent.review import rules, shown
from agent.review.contracts import Proposal, Review, Status, Used
from agent.review.panel import Panel
from agent.review.record import Record
from agent.review.roles import ANSWER, CORRECT, Bench
from agent.values import Answer, Complaint, Draft, Evidence, Flag, Grounded, Hit, Origin, Reason, Refused, Ungrounded

FINAL = frozenset({Reason.OUT_OF_SCOPE, Reason.OUT_OF_DATE, Reason.SOURCE_FAILED})
"""Refusals no rewriting can change."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What the chain needs besides an answer: the bench of the question, a model for each role, and the generator without a model."""

    parts: Parts
    models: Mapping[str, Model]
    extractive: Generator


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the chain came to: the answer to publish in mode `reviewed_answer`, and its record."""

    answer: Answer
    record: Mapping[str, Any]


def run(answer: Answer, desk: Desk, mode: str) -> Outcome:
    """The chain over an answer of the usual way. Never raises for a model; the answer it falls back to is extractive, or the refusal."""
    start = perf_counter()
    record_of, result = Record(), answer
    if isinstance(answer, Ungrounded):  # it rests on no evidence, so there is none to review it against
        record_of.reasons.append(Reason.NO_EVIDENCE)
    else:
        result = _Course(answer, desk, record_of).result()
    record = {**record_of.document(mode, _origin(result), desk.parts.settings), "changed": _changed(answer, result)}
    desk.parts.log.step("gathered_again", evidence=audit.evidence(record_of.used))
    desk.parts.log.step("review_ended", **{name: record[name] for name in ("verdict", "fallback_reason", "text_origin")})
    tokens, ms = answer.trace.tokens + record_of.tokens, (perf_counter() - start) * 1000
    warnings = tuple(dict.fromkeys((*result.trace.warnings, *_warnings(result, record_of, desk.parts.language))))
    timings = {**answer.trace.timings_ms, "review": ms, "total": answer.trace.timings_ms.get("total", 0.0) + ms}
    trace = replace(result.trace, tokens=tokens, timings_ms=timings, review=record, warnings=warnings)
    return Outcome(replace(result, trace=trace), record)


def _warnings(result: Answer, record: Record, language: Language) -> Iterator[str]:
    """What the user should know: which role did not reply and what mends it, and that the text is not the roles'."""
    yield from (call.message for call in record.calls if call.status in (Status.TIMEOUT, Status.UNAVAILABLE))
    if isinstance(result, Grounded) and result.origin is Origin.FALLBACK:
        yield language.message("review_fallback", reason=record.reasons[-1].value)


def _changed(before: Answer, after: Answer) -> bool:
    """Whether publishing the chain's result would have given another answer: another text, or a refusal in place of one."""
    return _origin(after) is not Origin.FALLBACK and before.text != after.text


def _origin(answer: Answer) -> Origin:
    return Origin.REFUSAL if isinstance(answer, Refused) else answer.origin if isinstance(answer, Grounded) else Origin.UNGROUNDED


class _Course:
    """One run of the chain: what the roles reply, decided step by step."""

    def __init__(self, answer: Grounded | Refused, desk: Desk, record: Record) -> None:
        self.answer, self.desk, self.parts, self.record = answer, desk, desk.parts, record
        self.language, self.settings = desk.parts.language, desk.parts.settings
        ends = monotonic() + self.settings.review_timeout
        self.panel = Panel(answer, Bench(desk.parts, desk.models, ends), record)

    def result(self) -> Answer:
        """The way on one screen; every step that fails falls back."""
        refusal = self.answer.reason if isinstance(self.answer, Refused) else None
        if refusal in FINAL:
            return self._fallback(refusal)
        rewrite = self.panel.rewritten()
        evidence = self.panel.retrieved(rewrite)
        if not evidence.hits or (refusal and self._thin(evidence)):
            return self._fallback(Reason.THIN_EVIDENCE)
        proposal, evidence = self.panel.proposed(rewrite, evidence, self._extractive())
        return self._judged(proposal, evidence) if proposal else self._fallback()

    def _judged(self, proposal: Proposal, evidence: Evidence) -> Answer:
        """What a machine can say of a proposal, before the reviewer is asked."""
        if proposal.scope == "insufficient_evidence":
            return self._insufficient(proposal, evidence)
        if not proposal.answers:
            return self._fallback(Reason.AGENT2_OFF_QUESTION)
        if self._supported(proposal.text, proposal, evidence) is None:
            return self._fallback(self._leak(proposal.text, evidence) or Reason.AGENT2_GROUNDING_FAILED)
        return self._reviewed(proposal, evidence)

    def _thin(self, evidence: Evidence) -> bool:
        """Whether what refused the question before still does, by the evidence there is now."""
        verdict = answerability.judged(self.panel.question.text, evidence, self.language, self.parts.tables)
        self.parts.log.step("judged_again", score=round(verdict.score, 4), reason=verdict.reason, missing=verdict.missing)
        return verdict.reason is not None

    def _extractive(self) -> str:
        """The present answer in the entries' own words: what the second role is to do better than."""
        base = self.answer
        if isinstance(base, Refused):
            return ""
        return base.text if base.origin is Origin.EXTRACTIVE else self._quoted().text

    def _quoted(self) -> Draft:
        return self.desk.extractive(self.panel.question, self.panel.plan, self.answer.trace.evidence, self.parts, None)

    # --- what becomes of a proposal ---------------------------------------------------------------

    def _reviewed(self, proposal: Proposal, evidence: Evidence) -> Answer:
        review = self.panel.reviewed(proposal.text, evidence)
        if review is None:
            return self._unreviewed(proposal, evidence)
        decision = rules.decided(review, proposal)
        if decision.step == "correct":
            return self._corrected(proposal, review, evidence)
        if decision.step == "revise":
            return self._revised(proposal, review, evidence)
        if decision.step == "publish":
            return self._published(proposal.text, proposal, evidence, Origin.AGENT2_REVIEWED)
        return self._fallback(decision.reason)

    def _unreviewed(self, proposal: Proposal, evidence: Evidence) -> Answer:
        """Without a review the draft is kept in the log alone, unless the settings let grounding be enough."""
        if self.settings.review_require or not (proposal.from_chunks and proposal.no_metadata):
            return self._fallback()
        return self._published(proposal.text, proposal, evidence, Origin.AGENT2_UNREVIEWED)

    def _revised(self, proposal: Proposal, review: Review, evidence: Evidence) -> Answer:
        """The reviewer's revision, where it only takes away or clarifies."""
        text = rules.by_entry(review.revision, evidence.hits)
        beside = "\n".join([self.panel.words, _text(shown.cited(proposal.text, evidence))])
        added = rules.additions(text, proposal.text, beside, self.language)
        claimed = rules.still_claimed(review, text, self.language)
        if added or claimed or self._supported(text, proposal, evidence) is None:
            self.parts.log.step("revision_refused", added=added, still_claimed=claimed)
            return self._fallback(Reason.AGENT3_INVALID_REVISION)
        return self._published(text, proposal, evidence, Origin.AGENT2_MINOR_REVISION)

    def _corrected(self, proposal: Proposal, review: Review, evidence: Evidence) -> Answer:
        """The fourth role's correction, once: grounded, within the evidence, and approved by a second review."""
        self.record.reasons.append(Reason.AGENT3_REJECT)
        found = self.panel.corrected(proposal, review, evidence)
        if found is None:
            return self._fallback()
        allowed = "\n".join([self.panel.words, proposal.text, _text(evidence.hits)])
        rest = replace(proposal, used=found.used)
        added = rules.beyond(found.text, allowed, self.language)
        if added or self._supported(found.text, rest, evidence) is None:
            self.parts.log.step("correction_refused", added=added)
            return self._fallback(Reason.AGENT4_GROUNDING_FAILED)
        again = self.panel.reviewed(found.text, evidence)
        if again is None:
            return self._fallback()
        decision = rules.decided(again, rest)
        if decision.step != "publish":
            return self._fallback(decision.reason or Reason.AGENT3_REJECT)
        return self._published(found.text, rest, evidence, Origin.AGENT4_CORRECTED)

    def _supported(self, text: str, proposal: Proposal, evidence: Evidence) -> grounding.Supported | None:
        """The text past grounding, with text and named evidence in agreement; None where either fails."""
        draft = Draft(text, Origin.AGENT2_REVIEWED)
        checked = grounding.ground(draft, evidence, self.language, question=self.panel.question.text, period=self.panel.plan.span)
        if not isinstance(checked, grounding.Supported):
            found = checked.message if isinstance(checked, Complaint) else "declined"
            self.parts.log.step("review_ungrounded", message=found)
            return None
        used = tuple(one for one in proposal.used if text == proposal.text or _cites(text, one, evidence))
        if rules.linked(checked.text, used, proposal.uncertain, evidence.hits, self.language):
            return checked
        self.parts.log.step("review_ungrounded", message="text and evidence_used do not agree, or a sentence cites nothing")
        return None

    def _published(self, text: str, proposal: Proposal, evidence: Evidence, origin: Origin) -> Answer:
        """The answer of a text; what tells of the machinery, or is not grounded, is not published whoever approved it."""
        checked, leak = self._supported(text, proposal, evidence), self._leak(text, evidence)
        if checked is None or leak:
            return self._fallback(leak or Reason.AGENT2_GROUNDING_FAILED)
        partial = proposal.scope == "partial_due_to_thin_evidence"
        trace = self.answer.trace
        flags = trace.flags | ({Flag.PARTIAL} if partial else frozenset[Flag]())
        writer = CORRECT if origin is Origin.AGENT4_CORRECTED else ANSWER
        model = next(call.model for call in self.record.calls if call.role == writer.name)
        trace = replace(trace, evidence=evidence, flags=flags, model=model)
        return outcome.grounded(checked.text, checked.citations, origin, trace, self.parts)

    def _leak(self, text: str, evidence: Evidence) -> Reason | None:
        """The reason a text that tells of the machinery is stopped for."""
        told = rules.leaks(text, "\n".join([self.panel.words, _text(evidence.hits)]), self.language)
        if told:
            self.parts.log.step("review_stopped", leaks=told)
        return Reason.AGENT2_METADATA_LEAKAGE if told else None

    def _insufficient(self, proposal: Proposal, evidence: Evidence) -> Answer:
        """A refusal with the role's first sentence as its words, where that denies; one that states something keeps no contract."""
        told = rules.leaks(proposal.text, self.panel.words, self.language)
        if told or not rules.honest(proposal, self.panel.words, self.language):
            return self._fallback(Reason.AGENT2_GROUNDING_FAILED)
        self.record.reasons.append(Reason.THIN_EVIDENCE)
        refusal = refused(Reason.THIN_EVIDENCE, replace(self.answer.trace, evidence=evidence), self.language)
        sentence = rules.denial(proposal.text, self.language)
        said = f"\n{self.language.message('model_says', sentence=sentence)}" if sentence else ""
        return replace(refusal, text=f"{refusal.text}{said}")

    def _fallback(self, reason: Reason | None = None) -> Answer:
        """The refusal there was, else the answer in the entries' own words, with what it fell back for."""
        if reason:
            self.record.reasons.append(reason)
        base, why = self.answer, self.record.reasons[-1]
        if isinstance(base, Refused):
            return base
        if base.origin is Origin.EXTRACTIVE:
            return replace(base, origin=Origin.FALLBACK, reason=why)
        evidence = base.trace.evidence
        draft = self._quoted()
        checked = grounding.ground(draft, evidence, self.language, question=self.panel.question.text, period=self.panel.plan.span)
        if not isinstance(checked, grounding.Supported):
            self.record.reasons.append(Reason.THIN_EVIDENCE)
            return refused(Reason.THIN_EVIDENCE, base.trace, self.language)
        return replace(outcome.grounded(checked.text, checked.citations, Origin.FALLBACK, base.trace, self.parts), reason=why)


def _cites(text: str, used: Used, evidence: Evidence) -> bool:
    """Whether a text that lost sentences still cites the entry of a chunk."""
    named = rules.entries([used], evidence.hits)
    return named is None or bool(named & set(citations.cited(text)))


def _text(hits: tuple[Hit, ...]) -> str:
    return "\n".join(f"{hit.entry.title}\n{hit.chunk.section}\n{hit.chunk.text}" for hit in hits)
