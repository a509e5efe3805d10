"""Many at once, a reindex meanwhile, an end while something runs: nobody is forgotten."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.serve.gate import Gate
from agent.serve.problems import Problem
from tests.ingest.samples import put
from tests.ollama_server import OllamaServer, Reply
from tests.serve.conftest import QUESTION, Serve, Served


def ended(served: Served) -> dict[str, Any]:
    """The state of a reindex when it has ended."""
    for _ in range(300):
        state: dict[str, Any] = served.client.get("/reindex").json()
        if state["state"] not in ("idle", "running"):
            return state
        time.sleep(0.1)
    raise AssertionError("the reindex does not end")


def test_many_at_once_get_each_the_answer_to_their_own_question(served: Served) -> None:
    days = {"2024-06-30": "518,44", "2026-06-30": "551,10"}

    def asked(number: int) -> bool:
        day, amount = list(days.items())[number % 2]
        said = served.ask("Wie hoch ist die Geringfügigkeitsgrenze?", stichtag=day).json()
        return amount in said["answer"] and said["run_id"] is not None

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(asked, range(64)))


def test_a_reindex_is_seen_by_the_next_question_and_noticed_by_none(served: Served, kb: Path) -> None:
    before = served.ask().json()["kb_version"]
    put(kb, "pv-kilometergeld", "## Zusammenfassung\n\nDas Kilometergeld beträgt 0,50 EUR.", titel="Kilometergeld")
    asking = threading.Event()
    failed: list[int] = []

    def ask() -> None:
        with httpx.Client(base_url=served.client.base_url) as client:
            while not asking.is_set():
                failed.append(client.post("/ask", json={"question": QUESTION}).status_code)

    asker = threading.Thread(target=ask)
    asker.start()
    started = served.client.post("/reindex", json={"register": True, "licence": "eigene Texte"})
    again = served.client.post("/reindex")
    assert (started.status_code, started.json()["state"]) == (202, "running")
    assert (again.status_code, again.json()["code"]) == (409, "reindex_running")
    state = ended(served)
    asking.set()
    asker.join()
    assert (state["state"], state["change"]["added"]) == ("done", ["pv-kilometergeld"])
    assert set(failed) == {200}
    said = served.ask("Wie hoch ist das Kilometergeld?").json()
    assert "0,50" in said["answer"]
    assert said["kb_version"] != before


def test_a_reindex_that_fails_says_why_and_leaves_the_index(served: Served, kb: Path) -> None:
    (kb / "dokumente" / "kaputt.md").write_text("kein Kopf", encoding="utf-8")
    assert served.client.post("/reindex", json={"register": True}).status_code == 202
    state = ended(served)
    assert state["state"] == "failed"
    assert any("kaputt.md:1" in problem for problem in state["problems"])
    assert "551,10" in served.ask().json()["answer"]
    assert served.client.post("/reindex", json={"skip_bad": True}).status_code == 202
    assert ended(served)["state"] == "done"


def test_an_index_brought_up_to_date_from_outside_is_seen(serve: Serve, kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from agent.serve import desk
    from agent.wiring import Bench

    monkeypatch.setattr(desk, "LATELY", 0.0)
    served = serve()
    before = served.ask().json()["kb_version"]
    put(kb, "pv-urlaub", "## Zusammenfassung\n\nDer Urlaub beträgt 36 Werktage.", titel="Urlaubsausmaß")
    assert "kb_newer_than_index" in served.ask().json()["flags"]
    bench = Bench(served.service.settings, served.service.place)
    from agent.ingest import build

    build.build(kb, bench.language)
    bench.ingest(lambda *_: None)
    said = served.ask().json()
    assert said["kb_version"] != before
    assert "kb_newer_than_index" not in said["flags"]


def slow_model(served_by: OllamaServer, seconds: float) -> dict[str, object]:
    """Settings for a model that answers after some time."""
    said = "Die Geringfügigkeitsgrenze beträgt 2026 monatlich 551,10 EUR [pv-geringfuegigkeitsgrenze]."
    served_by.replies = lambda _: Reply(said, wait=seconds)
    return {"ollama_url": served_by.url, "query_planner": False}


def test_who_comes_when_all_places_are_taken_is_told_when_to_come_again(serve: Serve, ollama: OllamaServer) -> None:
    served = serve(**slow_model(ollama, 1.5), workers=1, queue=0)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(served.ask)
        time.sleep(0.5)
        refused = served.client.post("/ask", json={"question": QUESTION})
        assert (refused.status_code, refused.json()["code"]) == (503, "busy")
        assert int(refused.headers["retry-after"]) >= 1
        assert served.client.get("/entries/pv-urlaub").status_code == 200  # a short act does not stand in that queue
        assert served.client.get("/health").json()["load"] == {"running": 1, "waiting": 0}
        assert first.result().status_code == 200
    assert served.ask().status_code == 200


def test_who_waits_too_long_is_told_so(serve: Serve, ollama: OllamaServer) -> None:
    served = serve(**slow_model(ollama, 2), workers=1, queue=5, queue_timeout=0.3)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(served.ask)
        time.sleep(0.5)
        assert served.client.post("/ask", json={"question": QUESTION}).json()["code"] == "busy"
        events = served.client.post("/ask/stream", json={"question": QUESTION}).text
        assert "event: problem" in events
        assert '"busy"' in events
        assert first.result().status_code == 200


def test_the_end_waits_for_what_runs(serve: Serve, ollama: OllamaServer) -> None:
    served = serve(**slow_model(ollama, 1.5))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(served.ask)
        time.sleep(0.5)
        served.stop()
        assert first.result().status_code == 200


def test_a_shadow_runs_behind_the_answer_and_is_found_in_its_run(serve: Serve, ollama: OllamaServer) -> None:
    served = serve(**slow_model(ollama, 0))
    said = served.ask(review="shadow").json()
    assert said["review"] is None or said["review"]["mode"] == "shadow"
    for _ in range(100):
        run = served.client.get(f"/runs/{said['run_id']}").json()
        if run["review"]:
            break
        time.sleep(0.1)
    assert run["review"]["mode"] == "shadow"
    assert served.ask().status_code == 200


def test_a_place_is_given_back_whatever_happens() -> None:
    import asyncio

    async def fails() -> None:
        gate = Gate(1, 0, 0.1)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await gate.run(lambda: 1 // 0)
        assert await gate.run(lambda: 7) == 7
        assert (gate.running, gate.waiting) == (0, 0)
        async with gate.place():
            with pytest.raises(Problem, match="busy"):
                await gate.run(lambda: 8)
        gate.close()

    asyncio.run(fails())


def test_a_server_can_be_stopped_at_once(served: Served) -> None:
    start = time.monotonic()
    served.stop()
    assert time.monotonic() - start < 5
