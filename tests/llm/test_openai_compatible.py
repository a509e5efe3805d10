"""A model behind OpenAI's chat protocol, against a scripted server in three dialects: every ending, every error under its own name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent import structured
from agent.audit import options
from agent.errors import ModelError, ModelMissing, ModelTimeout, ModelUnavailable
from agent.interfaces import ChatRequest, Model
from agent.llm.openai_compatible import OpenAiCompatible
from agent.settings import Settings, load
from agent.testing import parts
from agent.transport import Server
from agent.values import Finish, Tokens
from agent.wiring import Bench, Place
from tests.ollama_server import OllamaServer, Reply
from tests.openai_server import OpenAiServer

ASK = ChatRequest("Antworte kurz.", "Wie hoch ist die Grenze?")
SCHEMA = {"type": "object", "properties": {"wert": {"type": "string"}}, "required": ["wert"], "additionalProperties": False}


@pytest.fixture(params=["vllm", "llama.cpp", "whole"])
def server(request: pytest.FixtureRequest) -> Iterator[OpenAiServer]:
    with OpenAiServer(dialect=request.param) as running:
        yield running


def model(
    server: OpenAiServer, name: str = "qwen3.8:27b", *, timeout: float = 10.0, key: str = "", think: bool = False
) -> OpenAiCompatible:
    return OpenAiCompatible(Server(server.url, key=key), name, think=think, timeout=timeout)


def test_a_reply_comes_whole_with_its_counts(server: OpenAiServer) -> None:
    server.replies = ["Die Grenze beträgt 551,10 Euro [pv-sv-werte-2026]."]
    part: Model = model(server)
    reply = part.chat(ASK)
    assert (reply.text, reply.finish, reply.model) == (
        "Die Grenze beträgt 551,10 Euro [pv-sv-werte-2026].",
        Finish.COMPLETE,
        "qwen3.8:27b",
    )
    assert reply.tokens == Tokens(9, 12)
    assert not reply.prompt_cut


def test_the_request_says_all_that_must_be_said(server: OpenAiServer) -> None:
    server.replies = ["{}"]
    model(server).chat(ChatRequest("S", "U \ud800", schema=SCHEMA, temperature=0.2, max_tokens=77))
    assert server.chats == [
        {
            "model": "qwen3.8:27b",
            "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U ?"}],
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": 0.2,
            "max_tokens": 77,
            "chat_template_kwargs": {"enable_thinking": False},
            "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}},
        }
    ]


def test_without_a_schema_no_format_is_sent_and_without_a_system_prompt_no_such_message(server: OpenAiServer) -> None:
    server.replies = ["Gut."]
    model(server, think=True).chat(ChatRequest("", "U"))
    assert "response_format" not in server.chats[0]
    assert [message["role"] for message in server.chats[0]["messages"]] == ["user"]
    assert server.chats[0]["chat_template_kwargs"] == {"enable_thinking": True}


@pytest.mark.parametrize("takes", [(), ("response_format",), ("response_format", "stream_options")])
def test_what_a_server_does_not_take_is_done_without(server: OpenAiServer, takes: tuple[str, ...]) -> None:
    server.takes = frozenset(takes)
    server.replies = ['{"wert": "5"}']
    assert model(server).chat(ChatRequest("S", "U", schema=SCHEMA)).text == '{"wert": "5"}'
    assert set(server.chats[-1]) == {"model", "messages", "stream", "temperature", "max_tokens", *takes}


def test_a_form_is_filled_in_and_repaired_once(server: OpenAiServer) -> None:
    bench = parts([])
    form = structured.Form("plan", SCHEMA)
    server.replies = ['{"falsch": 1}', '```json\n{"wert": "6.930 EUR"}\n```']
    filled = structured.filled(form, {"question": "Wie hoch?", "stichtag": "30.11.2026"}, bench, model(server))
    assert isinstance(filled, structured.Filled)
    assert filled.value == {"wert": "6.930 EUR"}
    assert len(server.chats) == 2
    assert all(body["response_format"]["json_schema"]["schema"] == SCHEMA for body in server.chats)


@pytest.mark.parametrize("size", [1, 3, 10**6])
def test_a_reply_is_read_however_the_network_cuts_it(size: int) -> None:
    text = "Sätze über Bezüge: <b> & „ß“ 🙂"
    with OpenAiServer() as server:
        server.replies = [Reply(text, cut_every=size)]
        assert model(server).chat(ASK).text == text


def test_thoughts_are_no_part_of_a_reply(server: OpenAiServer) -> None:
    server.replies = [Reply("<think>Hm.</think>Gut.", thinking="Nachdenken."), "ohne Anfang</think> Gut."]
    assert model(server).chat(ASK).text == "Gut."
    assert model(server).chat(ASK).text == "Gut."


# --- how a reply ends -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "finish"),
    [
        (Reply("Die Grenze", done_reason="length"), Finish.LENGTH),
        (Reply("Die Grenze", done_reason="stop"), Finish.COMPLETE),
        (Reply("Die Grenze", done_reason="content_filter"), Finish.BROKEN),
        (Reply("Die Grenze", fault="no_done"), Finish.BROKEN),
        (Reply("Die Grenze", fault="error"), Finish.BROKEN),
        (Reply("Die Grenze", fault="cut"), Finish.BROKEN),
    ],
)
@pytest.mark.parametrize("dialect", ["vllm", "llama.cpp"])
def test_a_reply_says_whether_it_is_whole(dialect: str, reply: Reply, finish: Finish) -> None:
    with OpenAiServer(dialect=dialect, replies=[reply]) as server:  # type: ignore[arg-type]
        said = model(server).chat(ASK)
    assert (said.text, said.finish) == ("Die Grenze", finish)


@pytest.mark.parametrize("fault", ["error", "no_done", "cut"])
@pytest.mark.parametrize("dialect", ["vllm", "llama.cpp"])
def test_what_fails_before_any_output_is_an_error(dialect: str, fault: str) -> None:
    with (
        OpenAiServer(dialect=dialect, replies=[Reply("", fault=fault)]) as server,  # type: ignore[arg-type]
        pytest.raises(ModelUnavailable),
    ):
        model(server).chat(ASK)


def test_a_prompt_that_was_cut_is_noticed(server: OpenAiServer) -> None:
    server.replies = [Reply("Gut.", prompt_tokens=10), "Gut."]
    assert model(server).chat(ChatRequest("S" * 3000, "U" * 3000)).prompt_cut
    assert not model(server).chat(ChatRequest("S" * 3000, "U" * 3000)).prompt_cut


# --- what goes wrong --------------------------------------------------------------------------------


def test_a_missing_model_and_a_missing_server_are_told_apart(server: OpenAiServer) -> None:
    with pytest.raises(ModelMissing, match="PV_ANSWER_MODEL"):
        model(server, "fehlt").chat(ASK)
    assert model(server).installed()
    assert not model(server, "fehlt").installed()
    assert model(server).digest() is None
    wrong = OpenAiCompatible(Server(server.url.removesuffix("/v1")), "qwen3.8:27b")
    assert not wrong.installed()
    with pytest.raises(ModelUnavailable, match="/v1"):
        wrong.chat(ASK)


def test_a_server_that_is_down() -> None:
    with OpenAiServer() as server:
        gone = model(server)
    assert not gone.installed()
    with pytest.raises(ModelUnavailable, match="PV_OPENAI_URL"):
        gone.chat(ASK)


def test_another_server_is_no_model(ollama: OllamaServer) -> None:
    stranger = OpenAiCompatible(Server(ollama.url), "qwen3.8:27b")
    assert not stranger.installed()
    with pytest.raises(ModelUnavailable):
        stranger.chat(ASK)


def test_a_key_is_asked_for_and_sent(server: OpenAiServer) -> None:
    server.key = "geheim"
    server.replies = ["Gut."]
    assert not model(server).installed()
    with pytest.raises(ModelUnavailable, match="PV_OPENAI_KEY"):
        model(server).chat(ASK)
    assert model(server, key="geheim").installed()
    assert model(server, key="geheim").chat(ASK).text == "Gut."


def test_too_long_a_prompt_a_time_out_and_an_overload(server: OpenAiServer) -> None:
    server.window = 3000
    with pytest.raises(ModelError, match="longer than the model's window"):
        model(server).chat(ChatRequest("S", "U" * 9000))
    server.replies = [Reply(wait=30)]
    with pytest.raises(ModelTimeout, match=r"0\.3 s"):
        model(server, timeout=0.3).chat(ASK)
    server.replies = [Reply(status=429, error="slow down")]
    with pytest.raises(ModelUnavailable, match="429: slow down"):
        model(server).chat(ASK)


def test_a_server_that_is_loading_is_asked_again(server: OpenAiServer) -> None:
    server.replies = [Reply(status=503, error="Loading model"), "Gut."]
    assert model(server).chat(ASK).text == "Gut."


# --- chosen by setting ------------------------------------------------------------------------------


def test_it_is_chosen_by_setting_and_its_key_is_kept_to_itself(server: OpenAiServer, tmp_path: Path) -> None:
    server.key, server.replies = "geheim", ["Gut."]
    environment = {"PV_LLM": "openai_compatible", "PV_OPENAI_URL": server.url, "PV_OPENAI_KEY": "geheim"}
    settings = load(environ=environment, folder=tmp_path).settings
    bench = Bench(settings, Place(tmp_path, tmp_path / "index.db", tmp_path / "runs.db", tmp_path / "goldset.yaml"), code="de")
    chosen = bench.model()
    assert isinstance(chosen, OpenAiCompatible)
    assert chosen.installed()
    assert chosen.chat(ASK).text == "Gut."
    assert "geheim" not in str(options(settings))
    assert bench.to_get("a") == "serve a there, or set PV_ANSWER_MODEL to a name of its /models"
    assert Bench(Settings(), bench.place, code="de").to_get("a", "b") == "ollama pull a; ollama pull b"
