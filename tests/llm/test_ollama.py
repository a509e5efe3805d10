"""The Ollama model against a scripted server: every way a reply can end, and every error under its own name."""

from __future__ import annotations

import pytest

from agent.errors import ModelError, ModelMissing, ModelTimeout, ModelUnavailable
from agent.interfaces import ChatRequest, Model
from agent.llm.ollama import Ollama
from agent.transport import Server
from agent.values import Finish, Tokens
from tests.ollama_server import BUSY, DEAD, NOT_FOUND, PAGE, OllamaServer, Reply

ASK = ChatRequest("Antworte kurz.", "Wie hoch ist die Grenze?")


def model(server: OllamaServer, name: str = "qwen3.8:27b", *, think: bool = False, timeout: float = 10.0) -> Ollama:
    return Ollama(Server(server.url), name, num_ctx=8192, think=think, timeout=timeout)


def test_it_is_a_model(ollama: OllamaServer) -> None:
    part: Model = model(ollama)
    assert part.name == "qwen3.8:27b"


def test_a_reply_comes_whole_with_its_counts(ollama: OllamaServer) -> None:
    ollama.replies = ["Die Grenze beträgt 551,10 Euro [pv-sv-werte-2026]."]
    reply = model(ollama).chat(ASK)
    assert (reply.text, reply.finish, reply.model) == (
        "Die Grenze beträgt 551,10 Euro [pv-sv-werte-2026].",
        Finish.COMPLETE,
        "qwen3.8:27b",
    )
    assert reply.tokens == Tokens(9, 12)
    assert not reply.prompt_cut


def test_the_request_says_all_that_must_be_said(ollama: OllamaServer) -> None:
    ollama.replies = ["{}"]
    schema = {"type": "object"}
    model(ollama).chat(ChatRequest("S", "U \ud800", schema=schema, temperature=0.2, max_tokens=77))
    assert ollama.chats == [
        {
            "model": "qwen3.8:27b",
            "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U ?"}],
            "stream": True,
            "think": False,
            "format": schema,
            "options": {"num_ctx": 8192, "temperature": 0.2, "num_predict": 77},
        }
    ]


def test_without_a_schema_no_format_is_sent_and_without_a_system_prompt_no_such_message(ollama: OllamaServer) -> None:
    ollama.replies = ["Gut."]
    model(ollama).chat(ChatRequest("", "U"))
    assert "format" not in ollama.chats[0]
    assert [message["role"] for message in ollama.chats[0]["messages"]] == ["user"]


@pytest.mark.parametrize("size", [1, 3, 10**6])
def test_a_reply_is_read_however_the_network_cuts_it(ollama: OllamaServer, size: int) -> None:
    text = "Sätze über Bezüge: <b> & „ß“ 🙂"
    ollama.replies = [Reply(text, cut_every=size)]
    assert model(ollama).chat(ASK).text == text


# --- how a reply ends -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "finish"),
    [
        (Reply("Die Grenze", done_reason="length"), Finish.LENGTH),
        (Reply("Die Grenze", done_reason=None), Finish.COMPLETE),
        (Reply("Die Grenze", fault="no_done"), Finish.BROKEN),
        (Reply("Die Grenze", fault="error"), Finish.BROKEN),
        (Reply("Die Grenze", fault="cut"), Finish.BROKEN),
    ],
)
def test_the_ending_is_told_and_the_text_so_far_is_kept(ollama: OllamaServer, reply: Reply, finish: Finish) -> None:
    ollama.replies = [reply]
    got = model(ollama).chat(ASK)
    assert (got.text, got.finish) == ("Die Grenze", finish)
    assert len(ollama.chats) == 1


def test_an_empty_reply_is_a_reply(ollama: OllamaServer) -> None:
    ollama.replies = [""]
    reply = model(ollama).chat(ASK)
    assert (reply.text, reply.finish) == ("", Finish.COMPLETE)


def test_counts_that_are_not_told_are_none(ollama: OllamaServer) -> None:
    ollama.replies = [Reply("Gut.", prompt_tokens=0), Reply("Gut.", fault="no_done")]
    assert model(ollama).chat(ASK).tokens.prompt is None
    assert model(ollama).chat(ASK).tokens == Tokens(None, None)


# --- thinking ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [(0, 5), (0, 9), (0, 12), (0, 20), (0, 33)])
@pytest.mark.parametrize("name", ["qwen3.8:27b", "deepthink"])
@pytest.mark.parametrize("think", [False, True])
def test_no_thought_is_ever_shown(ollama: OllamaServer, version: tuple[int, int], name: str, think: bool) -> None:
    ollama.version = version
    ollama.replies = [Reply("Die Antwort.", thinking="Erst einmal <nachdenken>.")] * 2
    assert model(ollama, name, think=think).chat(ASK).text == "Die Antwort."


def test_a_model_that_cannot_think_is_asked_again_without(ollama: OllamaServer) -> None:
    ollama.replies = ["Gut."]
    assert model(ollama, think=True).chat(ASK).text == "Gut."
    assert [chat.get("think", "absent") for chat in ollama.chats] == [True, "absent"]


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("<think>\nHm.\n</think>\n\nDie Antwort.", "Die Antwort."),
        ("<think></think>Die Antwort.", "Die Antwort."),
        ("  <think>a</think><think>b</think>Die Antwort.", "Die Antwort."),
        ("<think>Hm. Die Antwort wäre", ""),
        ("Die Antwort.<think>Oder doch", "Die Antwort."),
        ("Hm, mal sehen.\n</think>\nDie Antwort.", "Die Antwort."),
        ("Wenn a < b, dann gilt <thema>.", "Wenn a < b, dann gilt <thema>."),
    ],
)
def test_thoughts_within_the_text_are_taken_out(ollama: OllamaServer, content: str, shown: str) -> None:
    ollama.replies = [content]
    assert model(ollama).chat(ASK).text == shown


def test_a_budget_used_up_by_thinking_is_an_empty_reply_at_the_limit(ollama: OllamaServer) -> None:
    ollama.replies = [Reply("", thinking="Lange.", done_reason="length")]
    reply = model(ollama, "deepthink", think=True).chat(ASK)
    assert (reply.text, reply.finish) == ("", Finish.LENGTH)


# --- the window -------------------------------------------------------------------------------------


def test_a_prompt_cut_in_silence_is_noticed(ollama: OllamaServer) -> None:
    ollama.replies = ["Gut."]
    reply = model(ollama).chat(ChatRequest("Regeln. " * 10, "Wort und Satz. " * 10_000))
    assert reply.prompt_cut
    assert reply.tokens.prompt == 4098


def test_a_prompt_that_fits_is_not_suspected(ollama: OllamaServer) -> None:
    ollama.replies = ["Gut.", Reply("Gut.", prompt_tokens=0)]
    ask = ChatRequest("Regeln. " * 10, "Wort und Satz. " * 1000)
    assert not model(ollama).chat(ask).prompt_cut
    assert not model(ollama).chat(ask).prompt_cut


def test_a_prompt_refused_for_its_length_is_one_sentence(ollama: OllamaServer) -> None:
    ollama.overflow = "nested"
    with pytest.raises(
        ModelError, match=r"^The prompt has 37\d{3} tokens, but the model's window holds 8192\. Lower PV_MAX_CONTEXT"
    ) as caught:
        model(ollama).chat(ChatRequest("", "Wort und Satz. " * 10_000))
    assert not isinstance(caught.value, ModelUnavailable)


@pytest.mark.parametrize(
    "said", ["the prompt is longer than the context length currently available to the model", '{"error": "exceed_context_size"}']
)
def test_other_words_for_it_are_understood(ollama: OllamaServer, said: str) -> None:
    ollama.replies = [Reply(status=400, error=said)]
    with pytest.raises(ModelError, match=r"^The prompt is longer than the model's window\."):
        model(ollama).chat(ASK)


# --- what fails before any output -------------------------------------------------------------------


def test_a_model_that_is_not_there_names_the_command(ollama: OllamaServer) -> None:
    with pytest.raises(ModelMissing, match=r"Run: ollama pull llama9$"):
        model(ollama, "llama9").chat(ASK)


@pytest.mark.parametrize("fault", [NOT_FOUND, Reply(raw=b"<html>hello</html>"), Reply(raw=b'{"a": 1}'), Reply(status=302, raw=b"")])
def test_what_is_no_ollama_is_called_so(ollama: OllamaServer, fault: Reply) -> None:
    ollama.faults["/api/chat"] = [fault]
    with pytest.raises(ModelUnavailable, match=r"no Ollama at http://127|is not JSON"):
        model(ollama).chat(ASK)


@pytest.mark.parametrize("fault", [BUSY, DEAD, PAGE, Reply(status=403, raw=b""), Reply(status=429, error="slow down"), Reply(raw=b"")])
def test_a_server_that_cannot_answer_now_is_unavailable(ollama: OllamaServer, fault: Reply) -> None:
    ollama.faults["/api/chat"] = [fault] * 3
    with pytest.raises(ModelUnavailable):
        model(ollama).chat(ASK)


def test_a_server_that_is_busy_for_a_moment_is_asked_again(ollama: OllamaServer) -> None:
    ollama.faults["/api/chat"] = [BUSY, DEAD]
    ollama.replies = ["Gut."]
    assert model(ollama).chat(ASK).text == "Gut."


def test_an_error_before_any_output_is_no_reply(ollama: OllamaServer) -> None:
    ollama.replies = [Reply("", fault="error", error="it  died\nof memory"), Reply("", fault="cut"), Reply("", fault="no_done")]
    with pytest.raises(ModelUnavailable, match=r"could not answer: it died of memory\."):
        model(ollama).chat(ASK)
    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            model(ollama).chat(ASK)


def test_an_old_server_that_puts_its_error_into_a_stream_is_unavailable_too(ollama: OllamaServer) -> None:
    ollama.version = (0, 12)
    ollama.replies = [DEAD]
    with pytest.raises(ModelUnavailable, match="unexpectedly stopped"):
        model(ollama).chat(ASK)


def test_an_embedding_model_cannot_chat(ollama: OllamaServer) -> None:
    with pytest.raises(ModelUnavailable, match="does not support chat"):
        model(ollama, "bge-m3").chat(ASK)


def test_nobody_there_says_what_to_do(ollama: OllamaServer) -> None:
    ollama.close()
    with pytest.raises(ModelUnavailable, match="Start Ollama there, or set OLLAMA_URL"):
        model(ollama).chat(ASK)


def test_the_time_limit_holds_while_the_model_loads_and_while_it_writes(ollama: OllamaServer) -> None:
    ollama.replies = [Reply("Gut.", wait=60), Reply("Sehr langsam geht das hier.", pace=0.2), Reply("Gut.", wait=60)]
    for _ in range(2):
        with pytest.raises(ModelTimeout, match=r"qwen3\.8:27b: .* took longer than 0\.3 s\. Allow more"):
            model(ollama, timeout=0.3).chat(ASK)
    with pytest.raises(ModelTimeout, match=r"longer than 0\.2 s"):
        model(ollama).chat(ChatRequest("S", "U", timeout=0.2))


def test_a_model_that_loads_slowly_is_waited_for(ollama: OllamaServer) -> None:
    ollama.replies = [Reply("Gut.", wait=0.3)]
    assert model(ollama).chat(ASK).text == "Gut."


# --- is it there ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "there"), [("qwen3.8:27b", True), ("QWEN3.8:27B", True), ("DeepThink", True), ("qwen3.8", False)])
def test_a_name_is_found_in_any_case_and_with_its_tag_implied(ollama: OllamaServer, name: str, there: bool) -> None:
    assert model(ollama, name).installed() is there
    assert (model(ollama, name).digest() is not None) is there


@pytest.mark.parametrize("fault", [NOT_FOUND, PAGE, DEAD, Reply(raw=b"hello"), Reply(raw=b"[]")])
def test_whatever_the_server_does_installed_is_only_false(ollama: OllamaServer, fault: Reply) -> None:
    ollama.faults["/api/tags"] = [fault] * 3
    assert not model(ollama).installed()


def test_without_a_server_it_is_not_installed(ollama: OllamaServer) -> None:
    ollama.close()
    assert not model(ollama).installed()
    assert model(ollama).digest() is None
