"""The whole way of a question on one screen: plan, gather, may it be answered, plan better, draft, ground, once more, answer or refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter

from agent import answerability, audit, clarify, conflicts, grounding
from agent.errors import ModelError, ModelTimeout
from agent.interfaces import Generator, Model, Parts, Strategy
from agent.plan import by_model, by_rules, worth_asking
from agent.refusal import refused
from agent.values import (
    Answer,
    Checks,
    Complaint,
    Draft,
    Evidence,
    Flag,
    Gathered,
    Grounded,
    Period,
    Plan,
    Question,
    Reason,
    Trace,
)


@dataclass(frozen=True, slots=True)
class Way:
    """The parts one question is answered with. `fallback` answers where the model of `generator` fails.

    `survey` writes what asks for an overview (None: `generator` does); `planner` is the model that may plan searches (None: rules alone).
    """

    strategy: Strategy
    generator: Generator
    fallback: Generator
    survey: Generator | None = None
    planner: Model | None = None
    strategy_name: str = "direct"
    scope: str = "alle"


@dataclass(slots=True)
class _Journey:
    """What has come together so far for the trace; lives for one question only."""

    trace: Trace
    timings: dict[str, float] = field(default_factory=dict)

    def note(self, **changes: object) -> None:
        self.trace = replace(self.trace, timings_ms=dict(self.timings), **changes)  # type: ignore[arg-type]

    def found(self, plan: Plan, gathered: Gathered) -> None:
        """Note the searches that count."""
        evidence, flags = gathered.evidence, self.trace.flags | gathered.flags
        self.note(plan=plan, evidence=evidence, hops=gathered.hops, flags=flags, embedder=evidence.embedder)

    def warn(self, error: ModelError) -> None:
        """Note what a model failed with, once."""
        if str(error) not in self.trace.warnings:
            self.note(warnings=(*self.trace.warnings, str(error)))

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + (perf_counter() - start) * 1000


def answered(question: Question, parts: Parts, way: Way, trace: Trace) -> Answer:
    """The answer to a question; a refusal is one too. Raises only for errors of the index or the settings, never for a model's."""
    journey = _Journey(trace)
    with journey.timed("total"):
        plan = by_rules(question, parts.language, scope=way.scope)
        gathered, verdict = _searched(question, plan, parts, way, journey)
        journey.found(plan, gathered)
        if verdict.reason is not None:
            outcome: Answer = refused(verdict.reason, journey.trace, parts.language, missing=verdict.missing)
        else:
            plan, gathered = _replanned(question, plan, gathered, parts, way, journey)
            journey.found(plan, gathered)
            outcome = _written(question, plan, gathered, parts, way, journey)
    journey.note()
    return replace(outcome, trace=replace(outcome.trace, timings_ms=journey.trace.timings_ms))


def _searched(question: Question, plan: Plan, parts: Parts, way: Way, journey: _Journey) -> tuple[Gathered, answerability.Verdict]:
    """What the strategy brings for a plan, and whether that can answer the question."""
    parts.log.step("planned", plan=plan)
    with journey.timed("search"):
        gathered = way.strategy(question, plan, parts)
    evidence = conflicts.settled(gathered.evidence, _whole(plan), parts.language)
    parts.log.step("gathered", evidence=audit.evidence(evidence), conflicts=evidence.conflicts)
    verdict = answerability.judged(question.text, evidence, parts.language, parts.tables)
    parts.log.step("judged", score=round(verdict.score, 4), reason=verdict.reason, missing=verdict.missing)
    return replace(gathered, evidence=evidence), verdict


def _replanned(question: Question, plan: Plan, gathered: Gathered, parts: Parts, way: Way, journey: _Journey) -> tuple[Plan, Gathered]:
    """A model's plan with what it finds, where one is asked and that passes the same gate; else what there is. A planner never refuses."""
    if way.planner is None or gathered.draft or not worth_asking(question, plan, parts.language):
        return plan, gathered
    try:
        with journey.timed("plan"):
            better, tokens = by_model(question, plan, parts, way.planner)
    except ModelError as error:
        parts.log.step("planner_failed", message=str(error))
        journey.warn(error)
        return plan, gathered
    journey.note(tokens=journey.trace.tokens + tokens)
    if better == plan:
        return plan, gathered
    again, verdict = _searched(question, better, parts, way, journey)
    if verdict.reason is None:
        return better, again
    parts.log.step("plan_rejected", reason=verdict.reason)
    return plan, gathered


def _written(question: Question, plan: Plan, gathered: Gathered, parts: Parts, way: Way, journey: _Journey) -> Answer:
    generator = way.survey if way.survey and plan.type == "survey" else way.generator

    def drafted(complaint: Complaint | None) -> Draft:
        with journey.timed("draft"):
            return generator(question, plan, gathered.evidence, parts, complaint)

    try:
        return _grounded(gathered.draft or drafted(None), drafted, plan, gathered.evidence, parts, journey)
    except ModelError as error:
        reason = Reason.MODEL_TIMEOUT if isinstance(error, ModelTimeout) else Reason.MODEL_UNAVAILABLE
        parts.log.step("model_failed", reason=reason, message=str(error))
        journey.warn(error)
        with journey.timed("draft"):
            draft = way.fallback(question, plan, gathered.evidence, parts, None)
        answer = _grounded(draft, None, plan, gathered.evidence, parts, journey)
        return replace(answer, reason=reason) if isinstance(answer, Grounded) else answer


def _grounded(
    draft: Draft, again: Callable[[Complaint], Draft] | None, plan: Plan, evidence: Evidence, parts: Parts, journey: _Journey
) -> Answer:
    """Ground a draft; after a complaint one new draft, then refuse. The tokens of both count."""
    period = _whole(plan)
    language = parts.language
    tokens, checks = journey.trace.tokens, Checks()
    for attempt in (1, 2):
        tokens = tokens + draft.tokens
        with journey.timed("ground"):
            outcome = grounding.ground(draft, evidence, language, question=journey.trace.question.text, period=period)
        journey.note(model=draft.model, tokens=tokens, checks=checks)
        if isinstance(outcome, grounding.Supported):
            return _published(outcome, draft, plan, evidence, parts, journey)
        if isinstance(outcome, grounding.Declined):
            return refused(Reason.MODEL_REFUSED, journey.trace, language)
        checks = Checks(
            (*checks.unknown_ids, *outcome.unknown_ids), (*checks.unsupported_figures, *outcome.unsupported), regenerated=again is not None
        )
        journey.note(checks=checks)
        parts.log.step("complained", reason=outcome.reason, message=outcome.message, attempt=attempt)
        if attempt == 2 or again is None:
            if outcome.remainder:
                return _shortened(replace(draft, text=outcome.remainder), plan, evidence, parts, journey)
            return refused(outcome.reason, journey.trace, language, missing=outcome.unsupported)
        draft = again(outcome)
    raise AssertionError("the second attempt returns")


def _shortened(draft: Draft, plan: Plan, evidence: Evidence, parts: Parts, journey: _Journey) -> Answer:
    """A draft whose faulty sentences were left out, checked once more; it says that something was left out."""
    language = parts.language
    outcome = grounding.ground(draft, evidence, language, question=journey.trace.question.text, period=_whole(plan))
    if not isinstance(outcome, grounding.Supported):
        return refused(Reason.FIGURES_UNSUPPORTED, journey.trace, language, missing=journey.trace.checks.unsupported_figures)
    warnings = (*journey.trace.warnings, language.message("sentence_dropped"))
    journey.note(flags=journey.trace.flags | {Flag.SENTENCE_DROPPED}, warnings=warnings)
    return _published(outcome, draft, plan, evidence, parts, journey)


def _published(outcome: grounding.Supported, draft: Draft, plan: Plan, evidence: Evidence, parts: Parts, journey: _Journey) -> Grounded:
    """The answer, with what its evidence says otherwise and the question it leaves open."""
    trace, language = _flagged(journey.trace, plan, evidence), parts.language
    parts.log.step("grounded", origin=draft.origin, citations=[citation.id for citation in outcome.citations])
    return Grounded(
        outcome.text,
        outcome.citations,
        draft.origin,
        trace,
        question_back=clarify.question_back(
            trace.question.text, [outcome.text, *(citation.quote for citation in outcome.citations)], language, parts.tables["limits"]
        ),
        conflicts=conflicts.told(evidence, outcome.text, language),
    )


def _whole(plan: Plan) -> Period:
    """The span all sub-queries lie in."""
    return Period(min(s.period.start for s in plan.subqueries), max(s.period.end for s in plan.subqueries))


def _flagged(trace: Trace, plan: Plan, evidence: Evidence) -> Trace:
    """The trace with a flag where an entry's validity begins or ends inside the period asked for."""
    changes = any(
        subquery.period.start < edge <= subquery.period.end
        for subquery in plan.subqueries
        for hit in evidence.hits[:1]
        for edge in (hit.entry.valid_from, hit.entry.valid_to)
        if edge is not None and edge != subquery.period.end
    )
    return replace(trace, flags=trace.flags | {Flag.CHANGES_WITHIN_PERIOD}) if changes else trace
