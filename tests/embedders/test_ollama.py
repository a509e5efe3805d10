"""The Ollama embedder against a scripted server: order, batches, texts it cannot digest, servers that are not what they should be."""

from __future__ import annotations

import json

import numpy as np
import pytest

from agent.embedders.ollama import OllamaEmbedder
from agent.errors import EmbedderError
from agent.interfaces import Embedder
from agent.transport import Server
from tests.ollama_server import BUSY, DEAD, NOT_FOUND, PAGE, OllamaServer, Reply


def embedder(server: OllamaServer, model: str = "bge-m3", *, timeout: float = 10.0) -> OllamaEmbedder:
    return OllamaEmbedder(Server(server.url), model, timeout=timeout)


def test_it_is_an_embedder_and_knows_itself(ollama: OllamaServer) -> None:
    part: Embedder = embedder(ollama, "BGE-M3")
    identity = part.identity
    assert (identity.name, identity.dimension, len(identity.digest)) == ("bge-m3:latest", 64, 12)
    assert part.identity == identity
    assert len(ollama.bodies("/api/embed")) == 1
    assert len(ollama.bodies("/api/tags")) == 1


def test_a_dimension_seen_already_is_not_asked_for(ollama: OllamaServer) -> None:
    part = embedder(ollama)
    part.query("Maß")
    assert part.identity.dimension == 64
    assert len(ollama.bodies("/api/embed")) == 1


def test_vectors_come_in_the_order_of_the_texts_whatever_the_batches(ollama: OllamaServer) -> None:
    texts = [f"Wort{number} und Zahl {number}" for number in range(40)]
    vectors = embedder(ollama).passages(texts)
    assert [len(body["input"]) for body in ollama.bodies("/api/embed")] == [16, 16, 8]
    assert all(body["options"] == {"num_ctx": 8192} for body in ollama.bodies("/api/embed"))
    for text, vector in zip(texts, vectors, strict=True):
        assert vector is not None
        assert vector.dtype == np.float32
        np.testing.assert_allclose(vector, ollama.vector(text), atol=1e-6)


def test_a_query_is_one_vector(ollama: OllamaServer) -> None:
    np.testing.assert_allclose(embedder(ollama).query("Sachbezug"), ollama.vector("Sachbezug"), atol=1e-6)


def test_empty_texts_have_no_vector_and_are_not_sent(ollama: OllamaServer) -> None:
    part = embedder(ollama)
    assert [vector is None for vector in part.passages(["", "a", " \0 ", "b"])] == [True, False, True, False]
    assert ollama.bodies("/api/embed")[0]["input"] == ["a", "b"]
    assert part.passages([]) == []
    with pytest.raises(EmbedderError, match="no vector"):
        part.query("  ")
    assert len(ollama.bodies("/api/embed")) == 1


def test_a_question_of_any_length_has_a_vector_on_every_version(ollama: OllamaServer) -> None:
    ollama.version = (0, 14)
    assert len(embedder(ollama).query("Wort und Satz " * 20_000)) == 64


@pytest.mark.parametrize("version", [(0, 17), (0, 33)])
@pytest.mark.parametrize("bad", [{0}, {5}, {3, 4, 15}, set(range(16))])
def test_a_text_that_gives_nan_costs_only_itself(ollama: OllamaServer, version: tuple[int, int], bad: set[int]) -> None:
    ollama.version = version
    texts = [f"NaN-Text {number}" if number in bad else f"Text {number}" for number in range(16)]
    vectors = embedder(ollama).passages(texts)
    assert {row for row, vector in enumerate(vectors) if vector is None} == bad
    assert len(ollama.bodies("/api/embed")) <= 31


def test_a_question_that_gives_nan_is_an_error(ollama: OllamaServer) -> None:
    with pytest.raises(EmbedderError, match="cannot digest"):
        embedder(ollama).query("NaN-Text")


@pytest.mark.parametrize("row", ["[NaN, 1]", "[1, Infinity]", "[0, 0]", "[null, 1]", "[]"])
def test_a_vector_without_direction_is_none(ollama: OllamaServer, row: str) -> None:
    ollama.faults["/api/embed"] = [Reply(raw=f'{{"embeddings": [[3, 4], {row}]}}'.encode())]
    good, bad = embedder(ollama).passages(["a", "b"])
    assert good is not None
    np.testing.assert_allclose(good, [0.6, 0.8], atol=1e-6)
    assert bad is None


@pytest.mark.parametrize(
    "answer",
    [
        {},
        [],
        {"embeddings": []},
        {"embeddings": [[1.0]]},
        {"embeddings": [[1, 2], [1]]},
        {"embeddings": [["x"], [1]]},
        {"embeddings": 1},
        {"embeddings": [{}, [1]]},
    ],
)
def test_what_is_no_list_of_vectors_is_an_error(ollama: OllamaServer, answer: object) -> None:
    ollama.faults["/api/embed"] = [Reply(raw=json.dumps(answer).encode())]
    with pytest.raises(EmbedderError):
        embedder(ollama).passages(["a", "b"])


def test_a_model_that_is_not_there_names_the_command(ollama: OllamaServer) -> None:
    part = embedder(ollama, "nomic")
    with pytest.raises(EmbedderError, match=r"Run: ollama pull nomic$"):
        part.query("a")
    with pytest.raises(EmbedderError, match=r"Run: ollama pull nomic$"):
        _ = part.identity


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (NOT_FOUND, "no Ollama at"),
        (Reply(status=301, raw=b""), "no Ollama at"),
        (Reply(raw=b"<html>"), "not JSON"),
        (PAGE, "answered 502"),
        (BUSY, "server busy"),
        (DEAD, "unexpectedly stopped"),
        (Reply(status=400, error="invalid options"), "invalid options"),
    ],
)
def test_a_failing_server_is_one_error_and_no_hole_in_the_index(ollama: OllamaServer, fault: Reply, said: str) -> None:
    ollama.faults["/api/embed"] = [fault] * 3
    with pytest.raises(EmbedderError, match=said):
        embedder(ollama).passages(["a", "b"])


def test_a_chat_model_is_no_embedder(ollama: OllamaServer) -> None:
    with pytest.raises(EmbedderError, match="does not support embeddings"):
        embedder(ollama, "qwen3.8:27b").passages(["a", "b"])


def test_the_time_limit_holds(ollama: OllamaServer) -> None:
    ollama.faults["/api/embed"] = [Reply(wait=60)]
    with pytest.raises(EmbedderError, match=r"longer than 0\.2 s"):
        embedder(ollama, timeout=0.2).query("a")


def test_installed_says_whether_the_model_is_there_and_never_fails(ollama: OllamaServer) -> None:
    assert embedder(ollama).installed()
    assert not embedder(ollama, "nomic").installed()
    ollama.faults["/api/tags"] = [PAGE]
    assert not embedder(ollama).installed()
    ollama.close()
    assert not embedder(ollama).installed()
    with pytest.raises(EmbedderError, match="OLLAMA_URL"):
        _ = embedder(ollama).identity
