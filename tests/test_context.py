"""The prompt's budget: blocks whole or not at all, in their order, and the rules always there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import context
from agent.answer import Way, answered
from agent.errors import ModelError
from agent.generators import extractive, point
from agent.llm.ollama import Ollama
from agent.settings import Settings
from agent.strategies import direct
from agent.testing import STICHTAG, ListSource, german, hit, parts
from agent.transport import Server
from agent.values import Grounded, Origin, Question, Reason, Trace
from tests.ollama_server import OllamaServer

WORDS = "Die Grenze gilt je Kalendermonat und je Dienstverhältnis. "


def budget(num_ctx: int, *, characters: int = 90000, beside: str = "Regeln") -> list[str]:
    blocks = [f"{number}: {WORDS * size}" for number, size in enumerate((3, 8, 40, 2, 2))]
    bench = parts([], settings=Settings(num_ctx=num_ctx, max_context_chars=characters, max_answer_tokens=256))
    return [text.split(":")[0] for text in context.fitting(blocks, beside=beside, parts=bench).split("\n\n")]


def test_all_blocks_where_there_is_room() -> None:
    assert budget(32768) == ["0", "1", "2", "3", "4"]


def test_the_window_decides_or_the_characters_whichever_is_less() -> None:
    assert budget(1024) == ["0", "1", "3", "4"]
    assert budget(32768, characters=300) == ["0", "3"]
    assert budget(500) == ["0", "3", "4"]


def test_the_rest_of_the_prompt_and_the_answer_come_first() -> None:
    assert budget(1024, beside="x" * 1500) == ["0", "3", "4"]
    with pytest.raises(ModelError, match="no room"):
        budget(1024, beside="x" * 3000)


@given(st.text(max_size=200), st.text(max_size=200))
def test_the_estimate_never_shrinks_with_more_text(left: str, right: str) -> None:
    assert context.tokens(left) <= context.tokens(left + right) <= context.tokens(left) + context.tokens(right)
    assert context.tokens(left) >= len(left) / 3


def ask(ollama: OllamaServer, num_ctx: int, size: int) -> tuple[Grounded, list[str]]:
    """An answer over ten entries of `size` sentences, and the messages the model was sent."""
    ollama.replies = ["Die Grenze gilt je Kalendermonat [pv-grenze-0]."]
    settings = Settings(num_ctx=num_ctx, max_answer_tokens=512, context_blocks=10)
    model = Ollama(Server(ollama.url, 1.0), "qwen3.8:27b", num_ctx=num_ctx)
    hits = [hit(f"pv-grenze-{n}", WORDS * size, title=f"Grenze {n}", score=1 - n / 100) for n in range(10)]
    question = Question("Wie gilt die Grenze?", STICHTAG)
    bench = parts([ListSource(hits, weights={"grenz": 3.0})], model=model, settings=settings)
    answer = answered(question, bench, Way(direct.gather, point.draft, extractive.draft), Trace(question, language="de"))
    assert isinstance(answer, Grounded)
    return answer, [message["content"] for chat in ollama.chats for message in chat["messages"]]


@pytest.mark.parametrize(("num_ctx", "shown"), [(2048, 2), (4096, 7), (32768, 10)])
def test_the_system_prompt_is_never_pushed_out_and_the_order_is_stable(ollama: OllamaServer, num_ctx: int, shown: int) -> None:
    answer, (system, user) = ask(ollama, num_ctx, 18)
    assert answer.origin is Origin.POINT
    assert system == parts([]).prompt("point")
    assert context.tokens(system + user) + 512 <= num_ctx
    places = [user.find(f'<block id="pv-grenze-{n}">') for n in range(10)]
    assert places[:shown] == sorted(places[:shown])
    assert -1 not in places[:shown]
    assert places[shown:] == [-1] * (10 - shown)
    assert user.count("</block>") == shown


def test_a_window_too_small_for_one_entry_costs_the_prose_only(ollama: OllamaServer) -> None:
    answer, messages = ask(ollama, 1024, 60)
    assert (answer.origin, answer.reason) == (Origin.EXTRACTIVE, Reason.MODEL_UNAVAILABLE)
    assert messages == []
    assert "PV_NUM_CTX" in answer.trace.warnings[0]


def test_a_block_says_whose_it_is_and_until_when() -> None:
    from datetime import date

    text = context.block(hit("pv-a", "Text", title="Titel", valid_from=date(2026, 1, 1)), german())
    assert text.startswith('<block id="pv-a">\nTitel · Zusammenfassung · Stand 30.11.2026 · gültig ab 1.1.2026\nText')
