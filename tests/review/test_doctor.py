"""`doctor` and the reviewed chain: what is missing, what was measured, and which times would suffice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent import doctor
from tests.ollama_server import OllamaServer, Reply
from tests.review.script import bench, proposal, rewrite, verdict


def check(settings: Any) -> doctor.Check:
    return next(found for found in doctor.examined(settings) if found.name == "review")


def replies(wait: float) -> Any:
    def said(body: Any) -> Reply:
        question = body["messages"][1]["content"].rpartition("Frage: ")[2]
        used = [{"chunk_id": "pv-faelligkeit#0", "source": "Fälligkeit", "claim_supported": "der 15."}]
        text = "Die Lohnsteuer ist bis zum 15. des Folgemonats ans Finanzamt zu zahlen [pv-faelligkeit]."
        made = {
            "RetrievalRewriteResult": rewrite(original_question=question, must_keep_focus=["Fälligkeit"], semantic_terms=[]),
            "EvidenceAnswerResult": proposal(text, original_question=question, evidence_used=used),
            "GroundingReviewResult": verdict(),
        }
        return Reply(made[body["format"]["title"]], wait=wait)

    return said


def test_off_measures_nothing(tmp_path: Path, ollama: OllamaServer) -> None:
    found = check(bench(tmp_path, ollama).settings)
    assert (found.state, found.found) == ("good", "off")
    assert ollama.chats == []


def test_missing_models_are_named_with_the_command_that_fetches_them(tmp_path: Path, ollama: OllamaServer) -> None:
    found = check(bench(tmp_path, ollama, review_mode="shadow", agent2_model="nowhere:7b").settings)
    assert (found.state, found.mend) == ("poor", "ollama pull nowhere:7b")
    assert ", nowhere:7b" in found.found.partition(", but")[0]
    assert ollama.chats == []


@pytest.mark.parametrize(("allowed", "state"), [(0.2, "poor"), (30, "good")])
def test_times_that_do_not_suffice_are_measured_and_suggested(tmp_path: Path, ollama: OllamaServer, allowed: float, state: str) -> None:
    times: dict[str, Any] = dict.fromkeys(("agent1_timeout", "agent2_timeout", "agent3_timeout", "agent4_timeout"), allowed)
    world = bench(tmp_path, ollama, review_mode="reviewed_answer", review_timeout=allowed * 2, **times)
    ollama.replies = replies(0.25)
    found = check(world.settings)
    assert found.state == state
    assert "measured agent1 0." in found.found
    assert ("PV_AGENT1_TIMEOUT=1 PV_AGENT2_TIMEOUT=1" in found.mend) is (state == "poor")
    assert ("PV_REVIEW_TIMEOUT=" in found.mend) is (state == "poor")
    assert len(ollama.chats) == 6


def test_roles_that_give_no_reply_are_told(tmp_path: Path, ollama: OllamaServer) -> None:
    world = bench(tmp_path, ollama, review_mode="shadow")
    ollama.replies = []
    found = check(world.settings)
    assert (found.state, "no role" in found.found) == ("poor", True)
