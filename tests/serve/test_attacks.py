"""Who waits, who goes away, models that hang in every role: each is answered or let go in time, and the server goes on."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.ollama_server import OllamaServer, Reply
from tests.serve.conftest import QUESTION, Serve, Served
from tests.serve.test_api import events
from tests.serve.test_load import slow_model

VALUE = """- {key: sv.gfg, label: Geringfügigkeitsgrenze, value: 551.10, unit: EUR, period: Monat, valid_from: 2026-01-01, valid_to: null,
   norm: "§ 5 ASVG", source: "https://www.gesundheitskasse.at"}
"""

ROLES = {"generator": "extractive", **{f"agent{number}_model": "qwen3.8:27b" for number in (1, 2, 3, 4)}}


def until(condition: Callable[[], bool]) -> None:
    for _ in range(200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it never came to that")


def load_of(served: Served) -> dict[str, int]:
    found: dict[str, int] = served.client.get("/health").json()["load"]
    return found


def streaming(served: Served) -> socket.socket:
    """A connection on which a stream has been asked for."""
    body = json.dumps({"question": QUESTION}).encode()
    connection = socket.create_connection(("127.0.0.1", served.port), timeout=10)
    head = f"POST /ask/stream HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body)
    return connection


# --- the queue -------------------------------------------------------------------------------------------


def test_a_stream_says_that_it_waits_and_a_full_queue_is_told_by_the_status(serve: Serve, ollama: OllamaServer) -> None:
    served = serve(**slow_model(ollama, 1.5), workers=1, queue=1)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(served.ask)
        until(lambda: load_of(served)["running"] == 1)
        second = pool.submit(served.client.post, "/ask/stream", json={"question": QUESTION})
        until(lambda: load_of(served)["waiting"] == 1)
        third = served.client.post("/ask/stream", json={"question": QUESTION})
        assert (third.status_code, third.json()["code"]) == (503, "busy")
        assert int(third.headers["retry-after"]) >= 1
        steps = [data["step"] for name, data in events(second.result().text) if name == "step"]
        assert steps[:2] == ["waiting", "planning"]
        assert first.result().status_code == 200


def test_silence_in_the_queue_is_broken(serve: Serve, ollama: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.serve.stream.BEAT", 0.1)
    served = serve(**slow_model(ollama, 1), workers=1)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(served.ask)
        until(lambda: load_of(served)["running"] == 1)
        said = served.client.post("/ask/stream", json={"question": QUESTION}).text
        before, _, _ = said.partition("planning")
        assert before.count(": still here") >= 2
        assert first.result().status_code == 200


def test_who_goes_away_while_waiting_leaves_the_queue(serve: Serve, ollama: OllamaServer) -> None:
    served = serve(**slow_model(ollama, 2), workers=1)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(served.ask)
        until(lambda: load_of(served)["running"] == 1)
        gone = streaming(served)
        until(lambda: load_of(served)["waiting"] == 1)
        gone.close()
        until(lambda: load_of(served)["waiting"] == 0)
        assert not first.done()
        assert first.result().status_code == 200
    until(lambda: load_of(served) == {"running": 0, "waiting": 0})
    assert len(ollama.chats) == 1
    assert served.ask().status_code == 200


def test_who_goes_away_amid_a_stream_gives_the_place_back(serve: Serve, ollama: OllamaServer) -> None:
    served = serve(**slow_model(ollama, 1), workers=1)
    gone = streaming(served)
    while b"drafting" not in gone.recv(65536):
        pass
    gone.close()
    until(lambda: load_of(served) == {"running": 0, "waiting": 0})
    assert served.ask().status_code == 200


# --- models that hang ------------------------------------------------------------------------------------


def test_roles_that_hang_cost_the_review_and_not_the_answer(serve: Serve, ollama: OllamaServer) -> None:
    served = serve(ollama_url=ollama.url, query_planner=False, **ROLES, **{f"agent{number}_timeout": 0.3 for number in (1, 2, 3, 4)})
    ollama.replies = lambda _: Reply("{}", wait=5)
    start = time.monotonic()
    said = served.ask(review="reviewed_answer").json()
    assert time.monotonic() - start < 4
    assert ollama.chats
    assert said["refused"] or "551,10" in said["answer"]
    assert said["review"]["fallback_reason"]
    assert served.client.get(f"/runs/{said['run_id']}").json()["review"]["mode"] == "reviewed_answer"


@pytest.mark.parametrize("strategy", ["router", "ircot", "adaptive"])
def test_a_strategy_whose_model_hangs_ends_in_an_answer_from_the_entries(serve: Serve, ollama: OllamaServer, strategy: str) -> None:
    served = serve(ollama_url=ollama.url, query_planner=False, model_timeout=0.4, classifier="prompted")
    ollama.replies = lambda _: Reply("{}", wait=5)
    start = time.monotonic()
    said = served.ask(strategy=strategy).json()
    assert time.monotonic() - start < 5
    assert (said["origin"], said["reason"]) == ("extractive", "model_timeout")
    assert "551,10" in said["answer"]


def test_the_end_does_not_wait_long_for_a_shadow_whose_models_hang(serve: Serve, ollama: OllamaServer) -> None:
    served = serve(ollama_url=ollama.url, query_planner=False, shutdown_timeout=1, agent1_timeout=15, agent2_timeout=15, **ROLES)
    ollama.replies = lambda _: Reply("{}", wait=15)
    said = [served.ask(review="shadow") for _ in range(3)]
    assert all(each.status_code == 200 for each in said)
    until(lambda: len(ollama.chats) == 1)
    start = time.monotonic()
    served.stop()
    assert time.monotonic() - start < 6


def test_the_end_does_not_wait_longer_for_an_answer_than_it_is_told_to(serve: Serve, ollama: OllamaServer) -> None:
    served = serve(**slow_model(ollama, 15), shutdown_timeout=1)
    gone = streaming(served)
    until(lambda: len(ollama.chats) == 1)
    start = time.monotonic()
    served.stop()
    assert time.monotonic() - start < 6
    gone.close()


@pytest.mark.parametrize("allowed", [False, True])
def test_what_no_entry_supports_is_said_only_where_the_server_s_settings_allow_it(
    serve: Serve, ollama: OllamaServer, allowed: bool
) -> None:
    served = serve(ollama_url=ollama.url, query_planner=False, allow_ungrounded=allowed, classifier="prompted")
    ollama.replies = lambda body: json.dumps({"label": "A", "complexity": "A"}) if body.get("format") else "Wien liegt an der Donau."
    said = served.ask("Woran liegt Wien?", strategy="adaptive").json()
    assert said["refused"] is not allowed
    assert ("Donau" in said["answer"]) is allowed
    wrong = served.client.post("/ask", json={"question": QUESTION, "allow_ungrounded": True})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid_request")


# --- entries that are none -------------------------------------------------------------------------------


def test_a_dated_value_is_shown_by_the_id_it_is_cited_with(serve: Serve, kb: Path) -> None:
    (kb / "werte.yaml").write_text(VALUE, encoding="utf-8")
    served = serve()
    shown = served.client.get("/entries/werte:sv.gfg@2026-01-01")
    assert shown.status_code == 200, shown.text
    assert shown.json()["title"] == "Geringfügigkeitsgrenze"
    assert "551,10" in shown.json()["sections"][0]["text"]
    for missing, mend in (
        ("werte:sv.gfg@1999-01-01", "A search"),
        ("https://a.example/b@2026-01-01", "Pages of the web"),
        ("a/b/c", "A search"),
    ):
        said = served.client.get(f"/entries/{missing}")
        assert (said.status_code, said.json()["code"]) == (404, "no_such_entry")
        assert said.json()["mend"].startswith(mend)
