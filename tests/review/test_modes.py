"""The modes, through the whole program: how many calls each makes, what is answered, what is logged, and who decides."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from agent import publish, render, texts
from agent.errors import AgentError, ConfigError
from agent.settings import load
from agent.values import Grounded, Origin
from agent.wiring import Bench
from tests.ollama_server import OllamaServer
from tests.review.script import ANSWER, QUESTION, Roles, bench, correction, proposal, rejection, rewrite, verdict


def answered(found: Any) -> dict[str, Any]:
    document = publish.document(found)
    jsonschema.validate(json.loads(json.dumps(document)), texts.schema("answer"))
    return document


def test_off_asks_nothing(tmp_path: Path, ollama: OllamaServer) -> None:
    asked = bench(tmp_path, ollama).asked(QUESTION, review="off")
    assert len(ollama.chats) == 0
    assert asked.shadow is None
    assert answered(asked.answer)["review"] is None


def test_off_is_the_default(tmp_path: Path, ollama: OllamaServer) -> None:
    assert bench(tmp_path, ollama).asked(QUESTION).shadow is None
    assert ollama.chats == []


def test_reviewed_answer_makes_three_calls(tmp_path: Path, ollama: OllamaServer) -> None:
    roles = Roles()
    found = bench(tmp_path, ollama, roles).asked(QUESTION, review="reviewed_answer")
    assert roles.asked == ["agent1", "agent2", "agent3"]
    assert len(ollama.chats) == 3
    assert found.shadow is None
    assert isinstance(found.answer, Grounded)
    assert (found.answer.text, found.answer.origin, found.answer.reason) == (ANSWER, Origin.AGENT2_REVIEWED, None)
    assert [citation.id for citation in found.answer.citations] == ["pv-grenze"]
    assert answered(found.answer)["review"]["mode"] == "reviewed_answer"


def test_reviewed_answer_makes_five_calls_with_a_correction(tmp_path: Path, ollama: OllamaServer) -> None:
    bad = f"{ANSWER} Die Grenze wird jährlich verdoppelt [pv-grenze]."
    roles = Roles(agent2=[proposal(bad)], agent3=[rejection(), verdict()], agent4=[correction()])
    found = bench(tmp_path, ollama, roles).asked(QUESTION, review="reviewed_answer").answer
    assert roles.asked == ["agent1", "agent2", "agent3", "agent4", "agent3"]
    assert (found.text, publish.document(found)["origin"]) == (ANSWER, "agent4_corrected")


def test_a_model_that_would_write_the_answer_is_not_asked_too(tmp_path: Path, ollama: OllamaServer) -> None:
    roles = Roles()
    bench(tmp_path, ollama, roles, generator="auto").asked(QUESTION, review="reviewed_answer")
    assert roles.asked == ["agent1", "agent2", "agent3"]


@pytest.mark.parametrize("question", [QUESTION, "Was kostet die Autobahnvignette?"])
def test_the_printed_answer_of_shadow_is_that_of_off_to_the_byte(tmp_path: Path, ollama: OllamaServer, question: str) -> None:
    world = bench(tmp_path, ollama)
    off = world.asked(question, review="off").answer
    shadow = world.asked(question, review="shadow")
    before = ollama.chats
    assert before == []
    same = [replace(found, trace=replace(found.trace, run_id="run")) for found in (off, shadow.answer)]
    one, other = (render.answer(found, world.language).encode() for found in same)
    assert one == other
    documents = [publish.document(found) for found in same]
    for document in documents:  # the clock differs, whatever the mode
        document["timings_ms"] = {}
        document["hops"] = [{**hop, "ms": 0} for hop in document["hops"]]
    assert json.dumps(documents[0]) == json.dumps(documents[1])


def test_shadow_runs_afterwards_and_only_logs(tmp_path: Path, ollama: OllamaServer) -> None:
    roles = Roles()
    world = bench(tmp_path, ollama, roles)
    asked = world.asked(QUESTION, review="shadow")
    assert roles.asked == []
    assert asked.shadow
    before = world.runs.shown(asked.shadow.run_id)
    record = asked.shadow.run()
    assert roles.asked == ["agent1", "agent2", "agent3"]
    after = world.runs.shown(asked.shadow.run_id)
    jsonschema.validate(json.loads(json.dumps(after)), texts.schema("run"))
    assert after["answer"] == before["answer"]
    assert after["steps"][: len(before["steps"])] == before["steps"]
    assert after["review"] == record == {**record, "mode": "shadow", "text_origin": "agent2_reviewed", "verdict": "approve"}


def test_a_shadow_that_is_not_run_does_no_harm(tmp_path: Path, ollama: OllamaServer) -> None:
    world = bench(tmp_path, ollama)
    asked = world.asked(QUESTION, review="shadow")
    assert asked.shadow
    assert world.runs.shown(asked.shadow.run_id)["review"] is None


def test_a_shadow_whose_run_is_gone_says_so(tmp_path: Path, ollama: OllamaServer) -> None:
    world = bench(tmp_path, ollama)
    asked = world.asked(QUESTION, review="shadow")
    assert asked.shadow
    world.runs.purge(before=None)
    with pytest.raises(AgentError, match="nicht protokolliert"):
        asked.shadow.run()


def test_without_a_log_there_is_no_shadow(tmp_path: Path, ollama: OllamaServer) -> None:
    assert bench(tmp_path, ollama).asked(QUESTION, review="shadow", log=False).shadow is None


def test_each_role_has_its_model(tmp_path: Path, ollama: OllamaServer) -> None:
    ollama.models.update(dict.fromkeys((f"{name}:latest" for name in ("one", "two", "three", "four")), "chat"))
    roles = Roles(agent3=[rejection(), verdict()], agent4=[correction()])
    world = bench(tmp_path, ollama, roles, agent1_model="one", agent2_model="two", agent3_model="three", agent4_model="four")
    found = world.asked(QUESTION, review="reviewed_answer").answer
    assert [body["model"] for body in ollama.chats] == ["one", "two", "three", "four", "three"]
    assert found.trace.model == "four"


# --- who decides ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "given", "mode"),
    [
        ({}, None, "off"),
        ({"PV_REVIEW_MODE": "shadow"}, None, "shadow"),
        ({"SYSTEMINFORANDE_AGENTIC_RAG_MODE": "reviewed_answer"}, None, "reviewed_answer"),
        ({"SYSTEMINFORANDE_AGENTIC_RAG_MODE": "shadow", "SYSTEMINFORANDE_ENABLE_AGENTIC_RAG": "false"}, None, "off"),
        ({"SYSTEMINFORANDE_AGENTIC_RAG_MODE": "shadow", "SYSTEMINFORANDE_ENABLE_AGENTIC_RAG": "true"}, None, "shadow"),
        ({"SYSTEMINFORANDE_ENABLE_AGENTIC_RAG": "false"}, "shadow", "shadow"),
        ({"PV_REVIEW_MODE": "shadow"}, "off", "off"),
        ({"PV_REVIEW_MODE": "off", "SYSTEMINFORANDE_AGENTIC_RAG_MODE": "shadow"}, None, "off"),
    ],
)
def test_the_mode(environment: dict[str, str], given: str | None, mode: str, tmp_path: Path) -> None:
    settings = load(environ=environment, folder=tmp_path).settings
    assert Bench.review_mode(Bench(settings, None), given) == mode  # type: ignore[arg-type]


def test_every_name_of_the_seed_is_read(tmp_path: Path) -> None:
    given = {
        "SYSTEMINFORANDE_AGENT1_MODEL": "a",
        "SYSTEMINFORANDE_AGENT2_MODEL": "b",
        "SYSTEMINFORANDE_AGENT3_MODEL": "c",
        "SYSTEMINFORANDE_AGENT4_MODEL": "d",
        "SYSTEMINFORANDE_AGENTIC_RAG_MAX_RETRIEVAL_QUERIES": "3",
        "SYSTEMINFORANDE_AGENTIC_RAG_MAX_CONTEXT_CHUNKS": "6",
        "SYSTEMINFORANDE_AGENTIC_RAG_TIMEOUT_SECONDS": "60",
        "SYSTEMINFORANDE_AGENTIC_RAG_REQUIRE_REVIEW": "false",
        "SYSTEMINFORANDE_AGENTIC_RAG_LOG_CONTRACTS": "true",
    }
    settings = load(environ=given, folder=tmp_path).settings
    assert [getattr(settings, f"agent{number}_model") for number in (1, 2, 3, 4)] == ["a", "b", "c", "d"]
    assert (settings.review_queries, settings.review_chunks, settings.review_timeout) == (3, 6, 60)
    assert (settings.review_require, settings.review_log_contracts) == (False, True)


def test_an_unknown_mode_is_one_sentence(tmp_path: Path, ollama: OllamaServer) -> None:
    with pytest.raises(ConfigError, match="off, shadow, reviewed_answer"):
        bench(tmp_path, ollama).asked(QUESTION, review="on")


# --- what is kept ---------------------------------------------------------------------------------


def test_runs_are_found_by_the_fields_of_their_review(tmp_path: Path, ollama: OllamaServer) -> None:
    world = bench(tmp_path, ollama)
    world.asked(QUESTION, review="off")
    for roles in (Roles(), Roles(agent3=[rejection(unsupported_claims=[], required_action="ask_for_more_evidence")])):
        ollama.replies = roles
        world.asked(QUESTION, review="reviewed_answer")
    ollama.replies = Roles(agent1=["nein"])
    shadow = world.asked(QUESTION, review="shadow").shadow
    assert shadow
    shadow.run()

    def count(**where: str) -> int:
        return len(world.runs.listed(where=where))

    assert (count(), count(mode="off"), count(mode="reviewed_answer"), count(mode="shadow")) == (4, 1, 2, 1)
    assert (count(verdict="approve"), count(verdict="reject"), count(mode="shadow", verdict="approve")) == (2, 1, 1)
    assert (count(fallback_reason="agent3_reject"), count(text_origin="agent2_reviewed"), count(text_origin="fallback")) == (1, 2, 1)
    assert (count(agent1_status="invalid_json"), count(agent2_model="gpt-oss:120b"), count(retrieval_queries="3")) == (1, 3, 2)
    assert (count(action="ask_for_more_evidence"), count(context_chunks="3")) == (1, 3)
    assert count(origin="fallback", reason="agent3_reject") == 1


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("mode", ["shadow", "reviewed_answer"])
def test_contracts_are_logged_whole_only_where_the_settings_say_so(tmp_path: Path, ollama: OllamaServer, mode: str, whole: bool) -> None:
    world = bench(tmp_path, ollama, Roles(agent1=[rewrite(negative_constraints=["Merkwort"])]), review_log_contracts=whole)
    asked = world.asked(QUESTION, review=mode)
    if asked.shadow:
        asked.shadow.run()
    (row,) = world.runs.listed(where={})
    assert ("Merkwort" in json.dumps(world.runs.shown(row["id"]))) is whole


def test_without_drafts_nothing_a_role_wrote_is_kept(tmp_path: Path, ollama: OllamaServer) -> None:
    roles = Roles(agent2=[proposal(f"{ANSWER} Geheimwort gilt.")])
    world = bench(tmp_path, ollama, roles, log_drafts=False, review_log_contracts=True)
    world.asked(QUESTION, review="reviewed_answer")
    assert b"Geheimwort" not in world.place.runs.read_bytes()


def test_counts_the_server_does_not_tell_are_missing_and_never_nought(tmp_path: Path, ollama: OllamaServer) -> None:
    from tests.ollama_server import Reply

    world = bench(tmp_path, ollama, Roles(agent1=[Reply(rewrite(), prompt_tokens=0)]))
    review = answered(world.asked(QUESTION, review="reviewed_answer").answer)["review"]
    assert review["calls"][0]["tokens"]["prompt"] is None
    assert all(call["tokens"]["completion"] for call in review["calls"])
    assert all(call["tokens"]["prompt"] for call in review["calls"][1:])
