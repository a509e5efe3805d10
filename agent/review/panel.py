"""The four roles at work on one answer: each is asked with what it may see, and what became of its reply is noted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent.errors import ModelError
from agent.interfaces import Parts
from agent.language import Language
from agent.review import pool, rules, shown
from agent.review.contracts import Correction, Fault, Proposal, Review, Rewrite, Status
from agent.review.record import Record
from agent.review.roles import ANSWER, CORRECT, REVIEW, REWRITE, Bench, Role, asked
from agent.values import Evidence, Grounded, Plan, Question, Reason, Refused

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


@dataclass(frozen=True)
class Panel:
    """The roles before one answer. Every method asks one of them, once, and gives None where its reply was no contract."""

    answer: Grounded | Refused
    bench: Bench
    record: Record

    @property
    def parts(self) -> Parts:
        return self.bench.parts

    @property
    def language(self) -> Language:
        return self.bench.parts.language

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

    def _asked(self, role: Role, values: Mapping[str, str], check: Any = None) -> Any:
        """The contract of a role, or None with the reason noted."""
        contract, call = asked(role, values, self.question.shown, self.bench, check)
        self.record.calls.append(call)
        if contract is None:
            self.record.reasons.append(_reason(role, call.status))
        return contract

    def rewritten(self) -> Rewrite | None:
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
        return rules.searches(rewrite, self.words, self.language, most=self.parts.settings.review_queries)

    def retrieved(self, rewrite: Rewrite | None) -> Evidence:
        """What the answer may rest on: the first pool, and what the rewriting found besides."""
        evidence = self.record.plain
        if rewrite is not None:
            queries = self._searches(rewrite)
            self.record.queries = len(queries)
            evidence = pool.searched(self.answer.trace.evidence, queries, self.plan, self.parts)
        self.record.used = evidence
        return evidence

    def proposed(self, rewrite: Rewrite | None, evidence: Evidence, extractive: str) -> tuple[Proposal | None, Evidence]:
        """The second role's answer, its citations by entry, with the evidence it was shown."""
        try:
            values, evidence = shown.to_answer(self.question, rewrite, evidence, extractive, self.bench)
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

    def reviewed(self, text: str, evidence: Evidence) -> Review | None:
        found = self._asked(REVIEW, shown.to_review(self.question, text, evidence, self.language))
        review = found if isinstance(found, Review) else None
        self.record.reviews.append(review)
        return review

    def corrected(self, proposal: Proposal, review: Review, evidence: Evidence) -> Correction | None:
        """The fourth role's correction, its citations by entry."""
        found = self._asked(CORRECT, shown.to_correct(self.question, proposal, review, evidence, self.language))
        if not isinstance(found, Correction):
            return None
        correction = replace(found, text=rules.by_entry(found.text, evidence.hits))
        self.parts.log.step("review_drafted", role=CORRECT.name, text=correction.text, scope=proposal.scope)
        return correction


def _reason(role: Role, status: Status) -> Reason:
    if status is Status.TIMEOUT:
        return Reason.AGENT_TIMEOUT
    if status is Status.UNAVAILABLE:
        return Reason.REVIEW_UNAVAILABLE
    return _REASONS.get((role.name, status), _INVALID[role.name])
