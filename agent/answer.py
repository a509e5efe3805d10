"""The whole way of a question on one screen: plan, gather, may it be answered, plan better, draft, ground, once more, answer or refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter

from agent import answerability, audit, conflicts, grounding, outcome
from agent.errors import ModelError, ModelTimeout
from agent.interfaces import Generator, Model, Parts, Strategy
from agent.language import citations
from agent.plan import by_model, by_rules, worth_asking
from agent.refusal import refused
from agent.values import (
    Answer,
    Checks,
    Complaint,
    Draft,
    Evidence,
    Finish,
    Flag,
    Gathered,
    Grounded,
    Origin,
    Plan,
    Question,
    Reason,
    Trace,
    Ungrounded,
)


@dataclass(frozen=True, slots=True)
class Way:
    """The parts one question is answered with. `fallback` answers where the model of `generator` fails.

    `survey` writes what asks for an overview (None: `generator` does); `planner` is the model that may plan searches (None: rules alone);
    `plain` searches where the model of `strategy` fails (None: `strategy` asks none).
    """

    strategy: Strategy
    generator: Generator
    fallback: Generator
    survey: Generator | None = None
    planner: Model | None = None
    plain: Strategy | None = None
    strategy_name: str = "direct"
    scope: str = "alle"

    def without_model(self) -> Way:
        """The same way where no model has a part in it."""
        if self.plain is None:
            return replace(self, generator=self.fallback, survey=None, planner=None)
        return Way(self.plain, self.fallback, self.fallback, scope=self.scope)


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
        self.note(complexity=gathered.complexity or self.trace.complexity)

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
        if answerability.elsewhere(question.text, parts.tables["limits"]):
            way = way.without_model()  # a rule refuses this question: no model needs to be asked first
        try:
            result = _along(question, plan, parts, way, journey)
        except ModelError as error:
            reason = _failed(error, parts, journey)
            result = _because(reason, _along(question, plan, parts, way.without_model(), journey))
    journey.note()
    return replace(result, trace=replace(result.trace, timings_ms=journey.trace.timings_ms))


def _along(question: Question, plan: Plan, parts: Parts, way: Way, journey: _Journey) -> Answer:
    """The answer along one way. Raises ModelError where the strategy's own model fails."""
    journey.note(strategy=way.strategy_name)
    gathered, verdict = _searched(question, plan, parts, way, journey)
    journey.found(plan, gathered)
    if gathered.draft and gathered.draft.origin is Origin.UNGROUNDED:
        return _ungrounded(gathered.draft, parts, journey)
    failed = _failed(gathered.failure, parts, journey) if gathered.failure else None
    if verdict.reason is not None:
        return refused(verdict.reason, journey.trace, parts.language, missing=verdict.missing)
    if failed:
        return _because(failed, _written(question, plan, gathered, parts, way.without_model(), journey))
    plan, gathered = _replanned(question, plan, gathered, parts, way, journey)
    journey.found(plan, gathered)
    return _written(question, plan, gathered, parts, way, journey)


def _ungrounded(draft: Draft, parts: Parts, journey: _Journey) -> Answer:
    """A model's answer without a search, which says what it is; a refusal where the settings forbid it, whatever strategy wrote it."""
    journey.note(model=draft.model)
    _told(draft, parts, journey)
    if not parts.settings.allow_ungrounded:
        return refused(Reason.NO_EVIDENCE, journey.trace, parts.language)
    if draft.finish is not Finish.COMPLETE or not any(character.isalnum() for character in draft.text):
        empty = draft.finish is Finish.COMPLETE
        return refused(Reason.EMPTY_DRAFT if empty else Reason.DRAFT_CUT_OFF, journey.trace, parts.language)
    parts.log.step("ungrounded")
    journey.note(flags=journey.trace.flags | {Flag.UNGROUNDED})
    return Ungrounded(f"{parts.language.message('ungrounded')}\n\n{citations.without(draft.text)}", journey.trace)


def _told(draft: Draft, parts: Parts, journey: _Journey) -> None:
    """Log a draft that came with the evidence, as a generator logs its own."""
    tokens = journey.trace.tokens
    parts.log.step("drafted", text=draft.text, finish=draft.finish, model=draft.model, tokens=tokens, again=False)


def _failed(error: ModelError, parts: Parts, journey: _Journey) -> Reason:
    """Log and warn that a model failed; the reason it gives the answer that is made without it."""
    reason = Reason.MODEL_TIMEOUT if isinstance(error, ModelTimeout) else Reason.MODEL_UNAVAILABLE
    parts.log.step("model_failed", reason=reason, message=str(error))
    journey.warn(error)
    return reason


def _because(reason: Reason, answer: Answer) -> Answer:
    """The answer with the reason why the model that was asked for did not give it; a refusal keeps its own."""
    return replace(answer, reason=reason) if isinstance(answer, Grounded) else answer


def _searched(question: Question, plan: Plan, parts: Parts, way: Way, journey: _Journey) -> tuple[Gathered, answerability.Verdict]:
    """What the strategy brings for a plan, and whether that can answer the question."""
    parts.log.step("planned", plan=plan)
    with journey.timed("search"):
        gathered = way.strategy(question, plan, parts)
    journey.note(tokens=journey.trace.tokens + gathered.tokens)
    if gathered.draft and gathered.draft.origin is Origin.UNGROUNDED:
        return gathered, answerability.Verdict(0.0, None)  # there is no evidence to judge
    evidence = conflicts.settled(gathered.evidence, plan.span, parts.language)
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

    if gathered.draft:
        _told(gathered.draft, parts, journey)
    try:
        return _grounded(gathered.draft or drafted(None), drafted, plan, gathered.evidence, parts, journey)
    except ModelError as error:
        reason = _failed(error, parts, journey)
        with journey.timed("draft"):
            draft = way.fallback(question, plan, gathered.evidence, parts, None)
        return _because(reason, _grounded(draft, None, plan, gathered.evidence, parts, journey))


def _grounded(
    draft: Draft, again: Callable[[Complaint], Draft] | None, plan: Plan, evidence: Evidence, parts: Parts, journey: _Journey
) -> Answer:
    """Ground a draft; after a complaint one new draft, then refuse. The tokens of both count."""
    language = parts.language
    tokens, checks = journey.trace.tokens, Checks()
    if draft.untimely:
        return refused(Reason.OUT_OF_DATE, journey.trace, language)
    for attempt in (1, 2):
        tokens = tokens + draft.tokens
        with journey.timed("ground"):
            checked = grounding.ground(draft, evidence, language, question=journey.trace.question.text, period=plan.span)
        journey.note(model=draft.model, tokens=tokens, checks=checks)
        if isinstance(checked, grounding.Supported):
            return outcome.grounded(checked.text, checked.citations, draft.origin, journey.trace, parts)
        if isinstance(checked, grounding.Declined):
            return refused(Reason.MODEL_REFUSED, journey.trace, language)
        checks = Checks(
            (*checks.unknown_ids, *checked.unknown_ids), (*checks.unsupported_figures, *checked.unsupported), regenerated=again is not None
        )
        journey.note(checks=checks)
        parts.log.step("complained", reason=checked.reason, message=checked.message, attempt=attempt)
        if attempt == 2 or again is None:
            if checked.remainder:
                return _shortened(replace(draft, text=checked.remainder), plan, evidence, parts, journey)
            return refused(checked.reason, journey.trace, language, missing=checked.unsupported)
        draft = again(checked)
    raise AssertionError("the second attempt returns")


def _shortened(draft: Draft, plan: Plan, evidence: Evidence, parts: Parts, journey: _Journey) -> Answer:
    """A draft whose faulty sentences were left out, checked once more; it says that something was left out."""
    language = parts.language
    checked = grounding.ground(draft, evidence, language, question=journey.trace.question.text, period=plan.span)
    if not isinstance(checked, grounding.Supported):
        return refused(Reason.FIGURES_UNSUPPORTED, journey.trace, language, missing=journey.trace.checks.unsupported_figures)
    warnings = (*journey.trace.warnings, language.message("sentence_dropped"))
    journey.note(flags=journey.trace.flags | {Flag.SENTENCE_DROPPED}, warnings=warnings)
    return outcome.grounded(checked.text, checked.citations, draft.origin, journey.trace, parts)
