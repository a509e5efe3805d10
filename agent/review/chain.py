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
from agent.errors import ModelError
from agent.interfaces import Generator, Model, Parts
from agent.language import Language, citations
from agent.refusal import refused
from agent.review import pool, rules, shown
from agent.review.contracts import Correction, Fault, Proposal, Review, Rewrite, Status, Used
from agent.review.record import Record
from agent.review.roles import ANSWER, CORRECT, REVIEW, REWRITE, Bench, Role, asked
from agent.values import Answer, Complaint, Draft, Evidence, Flag, Grounded, Hit, Origin, Plan, Question, Reason, Refused, Ungrounded

FINAL = frozenset({Reason.OUT_OF_SCOPE, Reason.OUT_OF_DATE, Reason.SOURCE_FAILED})
"""Refusals no rewriting can change."""

_REASONS: Mapping[tuple[str, Status], Reason] = {
    ("agent1", Status.LOW_CONFIDENCE): Reason.AGENT1_LOW_CONFIDENCE,
    ("agent1", Status.NO_QUERY): Reason.AGENT1_NO_QUERY,
    ("agent1", Status.LOST_FOCUS): Reason.AGENT1_LOST_FOCUS,
}
_INVALID = {
    "agent1": Reason.AGENT1_INVALID_JSON,
    "agent2": Reason.AGENT2_INVALID_JSON,
    "agent3": Reason.AGENT3_INVALID_JSON,
    "agent4": Reason.AGENT4_INVALID_JSON,
}


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
    """One run of the chain."""

    def __init__(self, answer: Grounded | Refused, desk: Desk, record: Record) -> None:
        self.answer, self.desk, self.parts, self.record = answer, desk, desk.parts, record
        self.language, self.settings = desk.parts.language, desk.parts.settings
        self.bench = Bench(desk.parts, desk.models, monotonic() + self.settings.review_timeout)

    @property
    def question(self) -> Question:
        return self.answer.trace.question

    @property
    def words(self) -> str:
        """The question as it was typed and as it is read: what is said in either is the question's own."""
        return "\n".join(dict.fromkeys((self.question.shown, self.question.text)))

    @property
    def plan(self) -> Plan:
        plan = self.answer.trace.plan
        if plan is None:
            raise RuntimeError("an answer without a plan cannot be reviewed")
        return plan

    def result(self) -> Answer:
        """The way on one screen; every step that fails falls back."""
        refusal = self.answer.reason if isinstance(self.answer, Refused) else None
        if refusal in FINAL:
            return self._fallback(refusal)
        rewrite = self._rewritten()
        evidence = self._retrieved(rewrite)
        if not evidence.hits or (refusal and self._thin(evidence)):
            return self._fallback(Reason.THIN_EVIDENCE)
        proposal, evidence = self._proposed(rewrite, evidence)
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

    # --- the roles --------------------------------------------------------------------------------

    def _asked(self, role: Role, values: Mapping[str, str], check: Any = None) -> Any:
        """The contract of a role, or None with the reason noted."""
        contract, call = asked(role, values, self.question.shown, self.bench, check)
        self.record.calls.append(call)
        if contract is None:
            self.record.reasons.append(_reason(role, call.status))
        return contract

    def _rewritten(self) -> Rewrite | None:
        """The first role's rewriting, where it is confident, keeps the focus and holds a query that suggests no answer."""
        trace = self.answer.trace
        self.record.plain = pool.searched(trace.evidence, (), self.plan, self.parts)

        def check(found: Rewrite) -> Fault | None:
            if found.confidence < rules.LEAST_CONFIDENCE:
                return Fault(Status.LOW_CONFIDENCE, f"confidence {found.confidence:g}")
            if not rules.keeps_focus(found, self.words, self.language):
                return Fault(Status.LOST_FOCUS, "the focus shares no word with the question")
            return None if self._searches(found) else Fault(Status.NO_QUERY, "no query may be searched")

        missing = self.answer.missing if isinstance(self.answer, Refused) else ""
        found = self._asked(REWRITE, shown.to_rewrite(self.question, trace.evidence, missing, self.language), check)
        return found if isinstance(found, Rewrite) else None

    def _searches(self, rewrite: Rewrite) -> tuple[str, ...]:
        return rules.searches(rewrite, self.words, self.language, most=self.settings.review_queries)

    def _retrieved(self, rewrite: Rewrite | None) -> Evidence:
        """What the answer may rest on: the first pool, and what the rewriting found besides."""
        evidence = self.record.plain
        if rewrite is not None:
            queries = self._searches(rewrite)
            self.record.queries = len(queries)
            evidence = pool.searched(self.answer.trace.evidence, queries, self.plan, self.parts)
        self.record.used = evidence
        return evidence

    def _thin(self, evidence: Evidence) -> bool:
        """Whether what refused the question before still does, by the evidence there is now."""
        verdict = answerability.judged(self.question.text, evidence, self.language, self.parts.tables)
        self.parts.log.step("judged_again", score=round(verdict.score, 4), reason=verdict.reason, missing=verdict.missing)
        return verdict.reason is not None

    def _proposed(self, rewrite: Rewrite | None, evidence: Evidence) -> tuple[Proposal | None, Evidence]:
        """The second role's answer, its citations by entry, with the evidence it was shown."""
        try:
            values, evidence = shown.to_answer(self.question, rewrite, evidence, self._extractive(), self.bench)
        except ModelError as error:
            self.parts.log.step("review_failed", message=str(error))
            self.record.reasons.append(Reason.REVIEW_UNAVAILABLE)
            return None, evidence
        self.record.chunks, self.record.used = len(evidence.hits), evidence
        found = self._asked(ANSWER, values)
        if not isinstance(found, Proposal):
            return None, evidence
        proposal = replace(found, text=rules.by_entry(found.text, evidence.hits))
        self.parts.log.step("review_drafted", role=ANSWER.name, text=proposal.text, scope=proposal.scope)
        return proposal, evidence

    def _extractive(self) -> str:
        """The present answer in the entries' own words: what the second role is to do better than."""
        base = self.answer
        if isinstance(base, Refused):
            return ""
        return base.text if base.origin is Origin.EXTRACTIVE else self._quoted().text

    def _quoted(self) -> Draft:
        return self.desk.extractive(self.question, self.plan, self.answer.trace.evidence, self.parts, None)

    def _review(self, text: str, evidence: Evidence) -> Review | None:
        found = self._asked(REVIEW, shown.to_review(self.question, text, evidence, self.language))
        review = found if isinstance(found, Review) else None
        self.record.reviews.append(review)
        return review

    # --- what becomes of a proposal ---------------------------------------------------------------

    def _reviewed(self, proposal: Proposal, evidence: Evidence) -> Answer:
        review = self._review(proposal.text, evidence)
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
        beside = "\n".join([self.words, _text(shown.cited(proposal.text, evidence))])
        added = rules.additions(text, proposal.text, beside, self.language)
        claimed = rules.still_claimed(review, text, self.language)
        if added or claimed or self._supported(text, proposal, evidence) is None:
            self.parts.log.step("revision_refused", added=added, still_claimed=claimed)
            return self._fallback(Reason.AGENT3_INVALID_REVISION)
        return self._published(text, proposal, evidence, Origin.AGENT2_MINOR_REVISION)

    def _corrected(self, proposal: Proposal, review: Review, evidence: Evidence) -> Answer:
        """The fourth role's correction, once: grounded, within the evidence, and approved by a second review."""
        self.record.reasons.append(Reason.AGENT3_REJECT)
        found = self._asked(CORRECT, shown.to_correct(self.question, proposal, review, evidence, self.language))
        if not isinstance(found, Correction):
            return self._fallback()
        text = rules.by_entry(found.text, evidence.hits)
        self.parts.log.step("review_drafted", role=CORRECT.name, text=text, scope=proposal.scope)
        allowed = "\n".join([self.words, proposal.text, _text(evidence.hits)])
        rest = replace(proposal, used=found.used)
        added = rules.beyond(text, allowed, self.language)
        if added or self._supported(text, rest, evidence) is None:
            self.parts.log.step("correction_refused", added=added)
            return self._fallback(Reason.AGENT4_GROUNDING_FAILED)
        again = self._review(text, evidence)
        if again is None:
            return self._fallback()
        decision = rules.decided(again, rest)
        if decision.step != "publish":
            return self._fallback(decision.reason or Reason.AGENT3_REJECT)
        return self._published(text, rest, evidence, Origin.AGENT4_CORRECTED)

    def _supported(self, text: str, proposal: Proposal, evidence: Evidence) -> grounding.Supported | None:
        """The text past grounding, with text and named evidence in agreement; None where either fails."""
        draft = Draft(text, Origin.AGENT2_REVIEWED)
        checked = grounding.ground(draft, evidence, self.language, question=self.question.text, period=self.plan.span)
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
        told = rules.leaks(text, "\n".join([self.words, _text(evidence.hits)]), self.language)
        if told:
            self.parts.log.step("review_stopped", leaks=told)
        return Reason.AGENT2_METADATA_LEAKAGE if told else None

    def _insufficient(self, proposal: Proposal, evidence: Evidence) -> Answer:
        """A refusal with the role's first sentence as its words, where that denies; one that states something keeps no contract."""
        told = rules.leaks(proposal.text, self.words, self.language)
        if told or not rules.honest(proposal, self.words, self.language):
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
        checked = grounding.ground(draft, evidence, self.language, question=self.question.text, period=self.plan.span)
        if not isinstance(checked, grounding.Supported):
            self.record.reasons.append(Reason.THIN_EVIDENCE)
            return refused(Reason.THIN_EVIDENCE, base.trace, self.language)
        return replace(outcome.grounded(checked.text, checked.citations, Origin.FALLBACK, base.trace, self.parts), reason=why)


def _reason(role: Role, status: Status) -> Reason:
    if status is Status.TIMEOUT:
        return Reason.AGENT_TIMEOUT
    if status is Status.UNAVAILABLE:
        return Reason.REVIEW_UNAVAILABLE
    return _REASONS.get((role.name, status), _INVALID[role.name])


def _cites(text: str, used: Used, evidence: Evidence) -> bool:
    """Whether a text that lost sentences still cites the entry of a chunk."""
    named = rules.entries([used], evidence.hits)
    return named is None or bool(named & set(citations.cited(text)))


def _text(hits: tuple[Hit, ...]) -> str:
    return "\n".join(f"{hit.entry.title}\n{hit.chunk.section}\n{hit.chunk.text}" for hit in hits)
