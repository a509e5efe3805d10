"""The scripted server itself: what it is asked for by no other test here, but by those who check what a user sees."""

from __future__ import annotations

import socket

import pytest

from agent.transport import ErrorStatus, Server
from tests.ollama_server import OllamaServer, Reply


def test_it_listens_on_loopback_only(ollama: OllamaServer) -> None:
    assert ollama._http.socket.getsockname()[0] == "127.0.0.1"
    ollama.close()
    ollama.close()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", ollama._http.server_address[1])) != 0


def test_a_script_may_be_a_function_of_the_request(ollama: OllamaServer) -> None:
    ollama.replies = lambda body: Reply(body["messages"][-1]["content"].upper())
    body = {"model": "qwen3.8:27b", "messages": [{"role": "user", "content": "echo"}], "stream": False}
    answer = Server(ollama.url).post_json("/api/chat", body, timeout=5)
    assert answer["message"] == {"role": "assistant", "content": "ECHO", "thinking": ""}
    assert (answer["done"], answer["done_reason"]) == (True, "stop")


def test_a_script_that_is_over_says_so(ollama: OllamaServer) -> None:
    body = {"model": "qwen3.8:27b", "prompt": "echo"}
    with pytest.raises(ErrorStatus, match="no reply left"):
        Server(ollama.url).post_json("/api/generate", body, timeout=5)


def test_generate_streams_and_ends_with_its_context(ollama: OllamaServer) -> None:
    ollama.replies = ["Guten Tag."]
    lines = list(Server(ollama.url).stream("/api/generate", {"model": "qwen3.8:27b", "prompt": "?"}, timeout=5))
    assert "".join(line["response"] for line in lines) == "Guten Tag."
    assert len(lines[-1]["context"]) == 5000


def test_nothing_to_say_loads_the_model(ollama: OllamaServer) -> None:
    answer = Server(ollama.url).post_json("/api/chat", {"model": "qwen3.8:27b", "messages": []}, timeout=5)
    assert answer["done_reason"] == "load"


def test_a_pull_ends_in_success_or_in_an_error_line(ollama: OllamaServer) -> None:
    server = Server(ollama.url)
    ollama.models.clear()
    assert list(server.stream("/api/pull", {"model": "bge-m3"}, timeout=5))[-1] == {"status": "success"}
    assert list(ollama.models) == ["bge-m3:latest"]
    assert list(server.stream("/api/pull", {"model": "nope"}, timeout=5))[-1] == {"error": "pull model manifest: file does not exist"}
    with pytest.raises(ErrorStatus, match="does not exist"):
        server.post_json("/api/pull", {"model": "nope", "stream": False}, timeout=5)


def test_what_it_says_of_its_models(ollama: OllamaServer) -> None:
    server = Server(ollama.url)
    assert server.post_json("/api/show", {"model": "BGE-M3"}, timeout=5)["capabilities"] == ["embedding"]
    assert server.get_json("/api/ps", timeout=5)["models"][0]["expires_at"].startswith("2318")
    assert len(server.post_json("/api/embeddings", {"model": "bge-m3", "prompt": "Maß"}, timeout=5)["embedding"]) == 64
    assert server.post_json("/api/embed", {"model": "bge-m3", "input": ""}, timeout=5)["embeddings"] == []
    with pytest.raises(ErrorStatus, match="model is required"):
        server.post_json("/api/show", {}, timeout=5)
