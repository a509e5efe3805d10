"""The API over HTTP: the same documents as the command line's, steps as events, entries a citation can be found in."""

from __future__ import annotations

import json
from typing import Any

from jsonschema import Draft202012Validator

from agent import texts
from tests.serve.conftest import Served


def events(text: str) -> list[tuple[str, Any]]:
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def test_an_answer_is_the_document_of_the_command_line(served: Served) -> None:
    said = served.ask()
    assert said.status_code == 200
    Draft202012Validator(texts.schema("answer")).validate(said.json())
    assert "551,10 EUR" in said.json()["answer"]
    assert said.json()["run_id"]


def test_a_refusal_is_an_answer(served: Served) -> None:
    said = served.ask("Wie wird das Wetter morgen?")
    assert said.status_code == 200
    Draft202012Validator(texts.schema("refusal")).validate(said.json())


def test_the_stichtag_of_a_call_counts(served: Served) -> None:
    said = served.ask("Wie hoch ist die Geringfügigkeitsgrenze?", stichtag="31.12.2024").json()
    assert said["stichtag"] == "2024-12-31"
    assert "518,44" in said["answer"]


def test_the_stream_tells_the_steps_and_then_the_same_answer(served: Served) -> None:
    said = served.client.post("/ask/stream", json={"question": "Wie hoch ist die Geringfügigkeitsgrenze 2026?"})
    assert said.headers["content-type"].startswith("text/event-stream")
    *steps, (last, answer) = events(said.text)
    assert [name for name, _ in steps] == ["step"] * len(steps)
    assert [step["step"] for _, step in steps] == ["planning", "searching", "searching", "drafting"]
    assert {"id": "pv-geringfuegigkeitsgrenze", "title": "Geringfügigkeitsgrenze"} in steps[2][1]["sources"]
    assert last == "answer"
    Draft202012Validator(texts.schema("answer")).validate(answer)


def test_a_citation_is_found_in_its_entry(served: Served) -> None:
    cited = served.ask().json()["citations"][0]
    entry = served.client.get(f"/entries/{cited['id']}").json()
    section = next(each for each in entry["sections"] if each["span"][0] <= cited["span"][0] < each["span"][1])
    start = cited["span"][0] - section["span"][0]
    assert section["section"] == cited["section"]
    assert section["text"][start : start + cited["span"][1] - cited["span"][0]] == cited["quote"]
    assert len(section["text"]) == section["span"][1] - section["span"][0]


def test_an_entry_tells_its_validity_on_a_day_and_the_titles_of_its_references(served: Served) -> None:
    assert served.client.get("/entries/pv-geringfuegigkeitsgrenze", params={"stichtag": "2020"}).json()["validity"] == "future"
    urlaub = served.client.get("/entries/pv-urlaub").json()
    assert urlaub["cross_refs"] == [{"id": "pv-geringfuegigkeitsgrenze", "title": "Geringfügigkeitsgrenze"}]
    assert urlaub["validity"] == "unknown"


def test_a_search_is_the_document_of_the_command_line(served: Served) -> None:
    found = served.client.get("/search", params={"q": "Urlaub", "k": 1}).json()
    assert [hit["id"] for hit in found["hits"]] == ["pv-urlaub"]
    assert served.client.get("/search", params={"q": "Urlaub", "scope": "mond"}).json()["code"] == "bad_request"


def test_a_run_is_kept_and_told(served: Served) -> None:
    run_id = served.ask().json()["run_id"]
    run = served.client.get(f"/runs/{run_id}").json()
    assert run["question"] == "Wie hoch ist die Geringfügigkeitsgrenze 2026?"
    assert run["steps"][0]["kind"] == "asked"
    assert served.ask(log=False).json()["run_id"] is None
    missing = served.client.get("/runs/20200101-000000-abcdef")
    assert (missing.status_code, missing.json()["code"]) == (404, "no_such_run")


def test_the_page_may_be_kept_and_an_answer_may_not(served: Served) -> None:
    said = served.client.get("/static/main.js")
    assert said.headers["cache-control"] == "no-cache"
    again = served.client.get("/static/main.js", headers={"If-None-Match": said.headers["etag"]})
    assert again.status_code == 304
    assert served.ask().headers["cache-control"] == "no-store"


def test_health_and_config(served: Served) -> None:
    health = served.client.get("/health").json()
    assert health["index"]["entries"] == 2
    config = served.client.get("/config").json()
    assert config["strategies"][0] == "direct"
    assert config["today"] == "2026-11-30"


def test_a_strategy_s_own_searches_are_told_as_they_begin() -> None:
    from agent.serve.stream import Steps
    from agent.testing import on
    from agent.values import Plan, SubQuery

    steps = Steps(lambda ids: {})
    planned = steps.of("planned", {"plan": Plan("specific", (SubQuery("Grenze", on()),))})
    assert planned == {"step": "searching", "queries": ["Grenze"]}
    assert steps.of("searching", {"source": "wissensbasis", "query": "Grenze"}) is None
    assert steps.of("searching", {"source": "sql", "query": "Grenze 2026"}) == {"step": "searching", "queries": ["Grenze 2026"]}
