"""The survey over a real HTTP server: a call a block, one for the answer; what fails is left out, and citations are checked as always."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from agent.answer import Way, answered
from agent.generators import extractive, point, survey
from agent.llm.ollama import Ollama
from agent.settings import Settings
from agent.strategies import direct
from agent.testing import STICHTAG, ListSource, Recorder, hit, parts
from agent.transport import Server
from agent.values import Answer, Grounded, Origin, Question, Reason, Refused, Trace
from tests.ollama_server import DEAD, OllamaServer, Reply

QUESTION = "Welche Neuerungen gibt es bei den Grenzen?"
HITS = [hit(f"pv-grenze-{n}", f"Die Grenze {n} beträgt {n}00 EUR.", title=f"Grenze {n}", score=1 - n / 100) for n in range(1, 7)]
NOTE = "- Die Grenze beträgt {n}00 EUR [pv-fremd]."
ANSWER = "- Die Grenze 1 beträgt 100 EUR [pv-grenze-1].\n- Die Grenze 2 beträgt 200 EUR [pv-grenze-2]."

Script = Callable[[int], Reply | str]
"""What the call for the block of that number is answered."""


class Asked:
    def __init__(self, ollama: OllamaServer, notes: Script, *answers: Reply | str, blocks: int = 16, timeout: float = 20) -> None:
        self.answers = list(answers)
        self.at_once = self.most_at_once = 0
        lock = threading.Lock()

        def reply(body: Any) -> Reply | str:
            user = body["messages"][-1]["content"]
            if user.count("<block") > 1 or "[pv-" in user or "IDs" in user:
                return self.answers.pop(0)
            with lock:
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
            try:
                return notes(int(user.split('id="pv-grenze-')[1][0]))
            finally:
                with lock:
                    self.at_once -= 1

        ollama.replies = reply
        model = Ollama(Server(ollama.url, 1.0), "qwen3.8:27b", timeout=timeout)
        bench = parts(
            [ListSource(HITS, weights={"grenz": 3.0})], model=model, settings=Settings(survey_blocks=blocks, model_timeout=timeout)
        )
        question = Question(QUESTION, STICHTAG)
        way = Way(direct.gather, point.draft, extractive.draft, survey.draft)
        self.answer: Answer = answered(question, bench, way, Trace(question, language="de"))
        assert isinstance(bench.log, Recorder)
        self.steps = dict(bench.log.steps)

    @property
    def grounded(self) -> Grounded:
        assert isinstance(self.answer, Grounded)
        return self.answer


def note(n: int) -> str:
    return NOTE.format(n=n)


def test_a_call_a_block_and_one_for_the_answer(ollama: OllamaServer) -> None:
    asked = Asked(ollama, note, ANSWER)
    assert (asked.grounded.text, asked.grounded.origin) == (ANSWER, Origin.SURVEY)
    assert [citation.id for citation in asked.grounded.citations] == ["pv-grenze-1", "pv-grenze-2"]
    assert len(ollama.chats) == len(HITS) + 1
    last = ollama.chats[-1]["messages"][-1]["content"]
    assert [last.find(f'<block id="pv-grenze-{n}">') for n in range(1, 7)] == sorted(last.find(f"pv-grenze-{n}") - 11 for n in range(1, 7))
    assert "pv-fremd" not in last
    assert "Die Grenze beträgt 600 EUR. [pv-grenze-6]" in last


def test_the_tokens_of_all_calls_are_summed(ollama: OllamaServer) -> None:
    three = Asked(ollama, note, ANSWER, blocks=3).grounded.trace.tokens
    before = len(ollama.chats)
    six = Asked(ollama, note, ANSWER, blocks=6).grounded.trace.tokens
    assert (before, len(ollama.chats) - before) == (4, 7)
    assert three.prompt
    assert six.prompt
    assert six.prompt > three.prompt > sum(map(len, (QUESTION, ANSWER))) / 4


def test_no_more_than_four_at_once(ollama: OllamaServer) -> None:
    assert 1 <= Asked(ollama, note, ANSWER).most_at_once <= survey.AT_ONCE


def test_a_call_that_fails_leaves_its_block_out(ollama: OllamaServer) -> None:
    asked = Asked(ollama, lambda n: Reply(status=400, error="cannot") if n == 3 else note(n), ANSWER)
    assert asked.grounded.origin is Origin.SURVEY
    assert "pv-grenze-3" not in ollama.chats[-1]["messages"][-1]["content"]
    assert asked.steps["noted"]["blocks"] == 5
    assert "cannot" in asked.steps["noted"]["failed"][0]


def test_all_failing_gives_the_extractive_survey(ollama: OllamaServer) -> None:
    asked = Asked(ollama, lambda n: Reply(status=400, error="cannot"))
    assert (asked.grounded.origin, asked.grounded.reason) == (Origin.EXTRACTIVE, Reason.MODEL_UNAVAILABLE)
    assert len(asked.grounded.text.splitlines()) == 6


def test_no_time_left_is_the_model_s_time_out(ollama: OllamaServer) -> None:
    asked = Asked(ollama, lambda n: Reply(note(n), wait=3), timeout=0.3)
    assert (asked.grounded.origin, asked.grounded.reason) == (Origin.EXTRACTIVE, Reason.MODEL_TIMEOUT)


@pytest.mark.parametrize("nothing", ["NICHTS", "- nichts.", "", "- Nichts [pv-grenze-1]"])
def test_nothing_to_say_anywhere_is_a_refusal(ollama: OllamaServer, nothing: str) -> None:
    asked = Asked(ollama, lambda n: nothing)
    assert isinstance(asked.answer, Refused)
    assert asked.answer.reason is Reason.MODEL_REFUSED
    assert len(ollama.chats) == len(HITS)


def test_a_note_that_broke_off_loses_its_last_line(ollama: OllamaServer) -> None:
    cut = Reply("- Die Grenze gilt.\n- Die Grenze beträgt 1", done_reason="length")
    Asked(ollama, lambda n: cut if n == 1 else note(n), ANSWER)
    last = ollama.chats[-1]["messages"][-1]["content"]
    assert "Die Grenze gilt. [pv-grenze-1]" in last
    assert "beträgt 1 " not in last


def test_a_complaint_is_answered_from_the_entries_in_one_call(ollama: OllamaServer) -> None:
    asked = Asked(ollama, lambda n: "- Die Grenze beträgt 999 EUR.", "- Die Grenze 1 beträgt 999 EUR [pv-grenze-1].", ANSWER)
    assert asked.grounded.text == ANSWER
    assert asked.grounded.trace.checks.unsupported_figures
    assert len(ollama.chats) == len(HITS) + 2
    last = ollama.chats[-1]["messages"][-1]["content"]
    assert "Die Grenze 1 beträgt 100 EUR." in last
    assert "999 EUR („" in last


def test_a_dead_server_costs_the_prose_only(ollama: OllamaServer) -> None:
    ollama.faults["/api/chat"] = [DEAD] * 60
    assert Asked(ollama, note).grounded.origin is Origin.EXTRACTIVE
