"""Forms a model fills in, over a real HTTP server: what is JSON is found, what is none is repaired once, and no text raises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import structured, texts
from agent.errors import ModelUnavailable
from agent.llm.ollama import Ollama
from agent.structured import Filled, Form, Malformed, filled, read
from agent.testing import Recorder, parts
from agent.transport import Server
from agent.values import Reason
from tests.ollama_server import DEAD, OllamaServer, Reply

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["day"],
    "properties": {"day": {"type": "string", "format": "date"}, "text": {"type": "string"}},
}
GOOD = '{"day": "2026-01-31"}'
VALUES = {"question": "Was kostet $5?", "stichtag": "30.11.2026"}


def fill(ollama: OllamaServer, *replies: Reply | str) -> Filled | Malformed:
    ollama.replies = list(replies)
    model = Ollama(Server(ollama.url, 1.0), "qwen3.8:27b")
    return filled(Form("plan", SCHEMA, max_tokens=64), VALUES, parts([], model=model), model)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```\nDas war es.",
        f"Hier ist das JSON: {GOOD} – bitte.",
        f"<think>{{nein}}</think>{GOOD}",
    ],
)
def test_json_is_found_fenced_or_not(ollama: OllamaServer, text: str) -> None:
    said = fill(ollama, text)
    assert isinstance(said, Filled)
    assert said.value == {"day": "2026-01-31"}
    assert len(ollama.chats) == 1
    assert ollama.chats[0]["format"] == SCHEMA
    assert "Was kostet $5?" in ollama.chats[0]["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ("Ich weiß es nicht.", "no JSON object"),
        ('{"day": "2026-01-31"', "no readable JSON"),
        ('{"day": "2026-02-30"}', "is not a 'date'"),
        ('{"day": 5}', "is not of type 'string'"),
        ('{"day": "2026-01-31", "more": 1}', "Additional properties"),
        ("{}", "'day' is a required property"),
        ('{"day": NaN}', "NaN is no JSON"),
        ('{"day": "2026-01-31", "text": "\\ud800"}', "surrogates"),
        ('{"day": ' * 100_000, "no readable JSON"),
    ],
)
def test_one_repair_is_told_the_error(ollama: OllamaServer, bad: str, told: str) -> None:
    said = fill(ollama, bad, GOOD)
    assert isinstance(said, Filled)
    first, second = (chat["messages"] for chat in ollama.chats)
    assert second[0] == first[0]
    assert second[1]["content"].startswith(first[1]["content"])
    assert told in second[1]["content"].removeprefix(first[1]["content"])
    assert said.tokens.completion is not None


def test_twice_wrong_is_an_outcome(ollama: OllamaServer) -> None:
    said = fill(ollama, "nein", '{"day": 5}', GOOD)
    assert isinstance(said, Malformed)
    assert said.reason is Reason.FORM_INVALID
    assert "$.day" in said.message
    assert len(ollama.chats) == 2
    assert said.tokens.completion


def test_a_cut_reply_is_repaired_too(ollama: OllamaServer) -> None:
    assert isinstance(fill(ollama, Reply('{"day": "2026-', fault="cut"), GOOD), Filled)


def test_both_replies_are_logged(ollama: OllamaServer) -> None:
    ollama.replies = ["nein", GOOD]
    model = Ollama(Server(ollama.url, 1.0), "qwen3.8:27b")
    bench = parts([], model=model)
    filled(Form("plan", SCHEMA), VALUES, bench, model)
    assert isinstance(bench.log, Recorder)
    assert [data["text"] for kind, data in bench.log.steps if kind == "formed"] == ["nein", GOOD]


def test_no_reply_at_all_is_the_model_s_error(ollama: OllamaServer) -> None:
    with pytest.raises(ModelUnavailable):
        fill(ollama, *[DEAD] * 4)


@given(st.text() | st.text(alphabet='{}[]":,`\\u0d8 \n'))
def test_no_text_raises(text: str) -> None:
    value, error = read(text, SCHEMA)
    assert (value is None) == bool(error)


@pytest.mark.parametrize("name", [f"{name}.internal" for name in ("plan", "router", "complexity")])
def test_every_form_is_sent_in_a_shape_that_servers_make_a_grammar_of(name: str) -> None:
    from tests.ollama_server import no_grammar

    sent = structured.shape(texts.schema(name))
    assert no_grammar(sent) == ""
    assert sent["type"] == "object"


def test_a_shape_leaves_out_what_is_checked_afterwards_and_nothing_named_like_it() -> None:
    schema = {"type": "object", "properties": {"pattern": {"type": "string", "pattern": "\\w", "maxLength": 5000}}, "required": ["pattern"]}
    assert structured.shape(schema) == {"type": "object", "properties": {"pattern": {"type": "string"}}, "required": ["pattern"]}
