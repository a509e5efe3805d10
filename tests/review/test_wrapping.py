"""The chain round an answer of any strategy: what it falls back to is extractive, whoever wrote the answer before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent import review
from agent.generators import extractive
from agent.interfaces import Model
from agent.plan import by_rules
from agent.testing import STICHTAG, ListSource, Recorder, ScriptedModel, hit, parts
from agent.values import Answer, Citation, Evidence, Grounded, Origin, Question, Reason, Refused, Searched, Trace, Ungrounded, Validity
from tests.review.script import ANSWER, QUESTION, proposal, rejection, rewrite, verdict

GRENZE = hit("pv-grenze", "Die Geringfügigkeitsgrenze beträgt 2026 monatlich 551,10 EUR.", title="Geringfügigkeitsgrenze")
REJECTED = rejection(required_action="ask_for_more_evidence")


def desk(*said: str) -> tuple[review.Desk, ScriptedModel]:
    """Four roles that are one scripted model, over a source that always finds the same."""
    model = ScriptedModel(list(said))
    models: dict[str, Model] = {role.name: model for role in review.ROLES}
    return review.Desk(parts([ListSource([GRENZE])]), models, extractive.draft), model


def answer(origin: Origin = Origin.STRATEGY, text: str = "Die Strategie schrieb: 551,10 EUR [pv-grenze].", **more: Any) -> Grounded:
    bench = parts([ListSource([GRENZE])])
    question = Question(QUESTION, STICHTAG)
    plan = by_rules(question, bench.language)
    evidence = Evidence((GRENZE,), Searched((QUESTION,), "alle", STICHTAG), weights={"geringfugigkeitsgrenz": 3.0})
    trace = Trace(question, plan, evidence, strategy="ircot", **more)
    return Grounded(text, (Citation("pv-grenze", "t", STICHTAG, Validity.CURRENT, "", "wissensbasis"),), origin, trace)


def test_a_strategy_s_own_answer_is_replaced_by_the_reviewed_one() -> None:
    bench, model = desk(rewrite(), proposal(), verdict())
    found = review.run(answer(), bench, "reviewed_answer").answer
    assert isinstance(found, Grounded)
    assert (found.text, found.origin, found.trace.strategy) == (ANSWER, Origin.AGENT2_REVIEWED, "ircot")
    assert len(model.requests) == 3


@pytest.mark.parametrize("origin", [Origin.STRATEGY, Origin.POINT, Origin.SURVEY])
def test_the_fallback_is_never_a_model_s_unreviewed_text(origin: Origin) -> None:
    bench, _ = desk(rewrite(), proposal(), REJECTED)
    found = review.run(answer(origin), bench, "reviewed_answer").answer
    assert isinstance(found, Grounded)
    assert (found.text, found.origin, found.reason) == (ANSWER, Origin.FALLBACK, Reason.AGENT3_REJECT)
    assert found.citations[0].quote


def test_where_the_entries_have_no_words_of_their_own_the_fallback_is_a_refusal() -> None:
    bench, _ = desk(rewrite(), proposal(), REJECTED)
    silent = replace(bench, extractive=lambda *given: replace(extractive.draft(*given), text="Ohne Beleg."))
    outcome = review.run(answer(), silent, "reviewed_answer")
    assert isinstance(outcome.answer, Refused)
    assert outcome.answer.reason is Reason.THIN_EVIDENCE
    assert outcome.record["reasons"] == ["agent3_reject", "thin_evidence"]


@pytest.mark.parametrize("reason", [Reason.OUT_OF_SCOPE, Reason.OUT_OF_DATE, Reason.SOURCE_FAILED])
def test_a_refusal_no_search_can_change_asks_nobody(reason: Reason) -> None:
    bench, model = desk()
    refusal = Refused(reason, "Nein.", answer().trace)
    outcome = review.run(refusal, bench, "reviewed_answer")
    assert model.requests == []
    assert (outcome.answer.text, outcome.record["fallback_reason"], outcome.record["text_origin"]) == ("Nein.", reason.value, "refusal")


def test_what_rests_on_no_evidence_is_not_reviewed() -> None:
    bench, model = desk()
    before: Answer = Ungrounded("Hallo.", answer().trace)
    outcome = review.run(before, bench, "reviewed_answer")
    assert model.requests == []
    assert (outcome.answer.text, outcome.record["text_origin"], outcome.record["changed"]) == ("Hallo.", "ungrounded", False)


def test_tokens_of_all_roles_are_the_answer_s() -> None:
    bench, _ = desk(rewrite(), proposal(), verdict())
    tokens = review.run(answer(), bench, "reviewed_answer").answer.trace.tokens
    assert (tokens.prompt, tokens.completion) == (300, 60)


def test_every_call_is_a_step_of_the_log() -> None:
    bench, _ = desk(rewrite(), proposal(), verdict())
    review.run(answer(), bench, "shadow")
    log = bench.parts.log
    assert isinstance(log, Recorder)
    roles = [data["role"] for kind, data in log.steps if kind == "reviewed"]
    assert roles == ["agent1", "agent2", "agent3"]
    assert log.steps[-1][0] == "review_ended"


def test_the_original_question_is_the_one_that_was_typed_not_the_one_that_is_read() -> None:
    typed = "Wia hoch is 2026 de Geringfügigkeitsgrenz?"
    before = answer()
    question = replace(before.trace.question, typed=typed)
    before = replace(before, trace=replace(before.trace, question=question))
    bench, model = desk(rewrite(original_question=typed), proposal(original_question=typed), verdict())
    assert review.run(before, bench, "reviewed_answer").record["text_origin"] == "agent2_reviewed"
    assert all(f"Frage: {typed}" in request.user for request in model.requests)
    bench, _ = desk(rewrite(original_question=QUESTION), proposal(original_question=QUESTION))
    assert review.run(before, bench, "reviewed_answer").record["status"]["agent2"] == "changed_question"
