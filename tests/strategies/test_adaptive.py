"""Adaptive: the label decides what runs; what needs no search is answered without one only where the settings allow it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from agent.answer import Way, answered
from agent.classifiers import prompted, trained
from agent.errors import ModelTimeout, SourceError
from agent.generators import extractive, point
from agent.interfaces import ChatReply, Classified, Parts
from agent.publish import document
from agent.settings import Settings
from agent.strategies import direct, router
from agent.strategies.adaptive import Adaptive
from agent.testing import STICHTAG, ListSource, Recorder, ScriptedModel, hit, parts
from agent.values import (
    Answer,
    Complexity,
    Evidence,
    Finish,
    Flag,
    Grounded,
    Label,
    Origin,
    Question,
    Reason,
    Refused,
    SubQuery,
    Trace,
    Ungrounded,
)

QUESTION = Question("Wie hoch ist die Grenze?", STICHTAG)
HITS = [hit("pv-grenze", "Die Grenze beträgt 551,10 EUR monatlich.", title="Grenze"), *(hit(f"pv-{n}", f"Text {n}") for n in range(9))]
GOOD = "Die Grenze beträgt 551,10 EUR monatlich [pv-grenze]."


@dataclass
class Says:
    """A classifier that says what it is told to, or raises it."""

    label: str | Exception

    def __call__(self, question: Question, parts: Parts, /) -> Classified:
        if isinstance(self.label, Exception):
            raise self.label
        return Classified(self.label)


@dataclass
class Asked:
    answer: Answer
    source: ListSource
    model: ScriptedModel
    log: Recorder

    def step(self, kind: str) -> Any:
        return next(data for name, data in self.log.steps if name == kind)


class Failing(ListSource):
    def search(self, subquery: SubQuery, /, k: int) -> Evidence:
        super().search(subquery, k)
        raise SourceError("Die Suche antwortet nicht.")


def asked(
    label: str | Exception,
    script: Sequence[Any],
    *,
    source: ListSource | None = None,
    with_model: bool = True,
    question: Question = QUESTION,
    **changes: Any,
) -> Asked:
    """The whole way with a classifier that says `label`, as the program wires it."""
    source, model = source or ListSource(HITS, weights={"grenz": 3.0}), ScriptedModel(list(script))
    bench = parts([source, ListSource([], name="web")], model=model if with_model else None, settings=Settings(**changes))
    several = router.Router(router.of_adaptive, only=("wissensbasis",))
    strategy = Adaptive({"trained": Says(label)}, several=several, plain=direct.gather)
    generator = point.draft if with_model else extractive.draft
    way = Way(strategy, generator, extractive.draft, plain=direct.gather, strategy_name="adaptive")
    answer = answered(question, bench, way, Trace(question, language="de"))
    assert isinstance(bench.log, Recorder)
    return Asked(answer, source, model, bench.log)


def search(query: str) -> str:
    return json.dumps({"action": "search", "source": "wissensbasis", "query": query})


def says(text: str, *ids: str) -> str:
    return json.dumps({"action": "answer", "answer": text, "citations": list(ids)})


# --- A --------------------------------------------------------------------------------------------


def test_a_never_calls_the_retriever_and_the_model_exactly_once() -> None:
    told = asked("A", ["Gern geschehen!"], allow_ungrounded=True)
    assert told.source.queries == []
    assert len(told.model.requests) == 1
    assert told.model.requests[0].user == QUESTION.text
    assert isinstance(told.answer, Ungrounded)


def test_a_says_that_it_is_not_from_the_knowledge_base() -> None:
    told = asked("A", ["Das sind 7.715,40 [pv-erfunden]."], allow_ungrounded=True)
    assert told.answer.text == (
        "Diese Antwort stammt nicht aus der Wissensbasis; sie ist durch keinen Eintrag belegt.\n\nDas sind 7.715,40."
    )
    shown = document(told.answer)
    assert (shown["origin"], shown["flags"], shown["citations"], shown["refused"]) == ("ungrounded", ["ungrounded"], [], False)
    assert shown["complexity"] == {"label": "A", "said": "A"}
    assert shown["model"] == "scripted"
    assert shown["tokens"]["prompt"] == 100


@pytest.mark.parametrize(
    ("reply", "reason"),
    [(" … ", Reason.EMPTY_DRAFT), (ChatReply("Das ist", Finish.LENGTH, "scripted"), Reason.DRAFT_CUT_OFF)],
)
def test_a_that_is_no_answer_is_refused(reply: Any, reason: Reason) -> None:
    told = asked("A", [reply], allow_ungrounded=True)
    assert isinstance(told.answer, Refused)
    assert told.answer.reason is reason


def test_where_the_settings_forbid_it_a_becomes_b_and_that_is_logged() -> None:
    told = asked("A", [GOOD])
    assert len(told.source.queries) == 1
    assert isinstance(told.answer, Grounded)
    assert told.answer.trace.complexity == Complexity(Label.B, Label.A)
    assert told.step("classified")["label"] == "A"
    assert told.step("adapted")["label"] == "B"


def test_no_strategy_gets_an_ungrounded_answer_past_settings_that_forbid_it() -> None:
    from agent.values import Draft, Gathered

    model = ScriptedModel([])
    bench = parts([ListSource([])], model=model)
    way = Way(lambda *_: Gathered(Evidence(), Draft("Frei erfunden.", Origin.UNGROUNDED)), point.draft, extractive.draft)
    answer = answered(QUESTION, bench, way, Trace(QUESTION, language="de"))
    assert isinstance(answer, Refused)
    assert "erfunden" not in answer.text


# --- B --------------------------------------------------------------------------------------------


def test_b_searches_once_with_the_question_for_five_documents_and_asks_the_model_once() -> None:
    told = asked("B", [GOOD])
    assert [query.query for query in told.source.queries] == [QUESTION.text]
    assert len(told.model.requests) == 1
    assert told.model.requests[0].user.count("<block id=") == 5
    assert isinstance(told.answer, Grounded)
    assert told.answer.origin is Origin.POINT


@pytest.mark.parametrize("label", ["D", "", "a", ModelTimeout("zu spät")])
def test_an_unknown_label_or_a_failure_is_b(label: str | Exception) -> None:
    told = asked(label, [GOOD])
    assert isinstance(told.answer, Grounded)
    assert told.answer.trace.complexity == Complexity(Label.B, None)
    assert len(told.source.queries) == 1


def test_b_that_finds_nothing_is_refused() -> None:
    told = asked("B", [], source=ListSource([]))
    assert isinstance(told.answer, Refused)
    assert told.answer.reason is Reason.NO_EVIDENCE
    failed = asked("B", [], source=Failing([]))
    assert isinstance(failed.answer, Refused)
    assert failed.answer.reason is Reason.SOURCE_FAILED
    assert Flag.SEARCH_FAILED in failed.answer.trace.flags


# --- C --------------------------------------------------------------------------------------------


def test_c_walks_over_the_index_alone() -> None:
    told = asked("C", [search("Grenze"), search("Grenze je Monat"), says("Die Grenze beträgt 551,10 EUR monatlich.", "pv-grenze")])
    assert [query.query for query in told.source.queries] == ["Grenze", "Grenze je Monat"]
    assert isinstance(told.answer, Grounded)
    assert told.answer.origin is Origin.STRATEGY
    assert "web" not in told.model.requests[0].user
    assert told.model.requests[1].user.count("<block id=") == 5


def test_c_ends_after_four_searches() -> None:
    told = asked("C", [*(search(f"Grenze {n}") for n in range(4)), says("Die Grenze beträgt 551,10 EUR monatlich.", "pv-grenze")])
    assert len(told.source.queries) == 4
    assert Flag.HOP_LIMIT in told.answer.trace.flags
    assert told.step("adapted")["searches"] == 4


def test_c_with_a_failed_search_answers_from_what_there_is() -> None:
    told = asked("C", [search("Grenze"), says("Dazu enthält die Wissensbasis keine Aussage.")], source=Failing([]))
    assert isinstance(told.answer, Refused)
    assert Flag.SEARCH_FAILED in told.answer.trace.flags


def test_a_model_that_fails_in_c_costs_the_prose_and_keeps_the_label() -> None:
    told = asked("C", [ModelTimeout("zu spät")])
    assert isinstance(told.answer, Grounded)
    assert (told.answer.origin, told.answer.reason) == (Origin.EXTRACTIVE, Reason.MODEL_TIMEOUT)
    assert told.answer.trace.complexity == Complexity(Label.C, Label.C)
    assert len(told.model.requests) == 1
    assert told.step("adapted")["strategy"] == "plain"


# --- without a model, and what is logged ----------------------------------------------------------


@pytest.mark.parametrize(("label", "strategy"), [("A", "single"), ("B", "single"), ("C", "plain")])
def test_without_a_model_it_searches_all_the_same(label: str, strategy: str) -> None:
    told = asked(label, [], with_model=False, allow_ungrounded=True)
    assert isinstance(told.answer, Grounded)
    assert told.answer.origin is Origin.EXTRACTIVE
    assert told.step("adapted")["strategy"] == strategy


@pytest.mark.parametrize(
    ("label", "script", "strategy", "searches"),
    [("A", ["Ja."], "none", 0), ("B", [GOOD], "single", 1), ("C", [search("Grenze"), says("Ja.", "pv-grenze")], "several", 1)],
)
def test_label_strategy_searches_and_latency_are_logged(label: str, script: list[str], strategy: str, searches: int) -> None:
    step = asked(label, script, allow_ungrounded=True).step("adapted")
    assert (step["label"], step["strategy"], step["searches"]) == (label, strategy, searches)
    assert step["ms"] >= 0


# --- the classifiers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("Hallo, danke dir!", "A"),
        ("Übersetze diesen Satz ins Englische: Wir sehen uns morgen.", "A"),
        ("Wie hoch ist die Geringfügigkeitsgrenze 2026?", "B"),
        ("Bis wann ist die Kommunalsteuer zu entrichten?", "B"),
        ("Worin unterscheiden sich freier Dienstvertrag und Werkvertrag bei Abgaben, Kündigung und Urlaub?", "C"),
        ("Welche Beiträge fallen für jemanden mit 3.000 EUR in Wien und in Graz an, und um wie viel mehr zahlt der Dienstgeber?", "C"),
    ],
)
def test_the_trained_classifier(question: str, label: str) -> None:
    assert trained.classify(Question(question, STICHTAG), parts([])).label == label


def test_the_prompted_classifier_is_shown_examples_of_all_labels() -> None:
    model = ScriptedModel(['{"label": "C"}'])
    told = prompted.classify(QUESTION, parts([], model=model))
    assert (told.label, told.tokens.prompt) == ("C", 100)
    assert all(model.requests[0].system.count(f'"label": "{label}"') >= 4 for label in "ABC")
    assert QUESTION.text in model.requests[0].user


@pytest.mark.parametrize("reply", ["Ich denke, C.", '{"label": "D"}'])
def test_a_prompted_classifier_that_gives_no_label_gives_none(reply: str) -> None:
    assert prompted.classify(QUESTION, parts([], model=ScriptedModel([reply, reply]))).label == ""
    assert prompted.classify(QUESTION, parts([])).label == ""
