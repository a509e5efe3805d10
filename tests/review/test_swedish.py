"""The chain in Swedish: its own prompts, and inflections of general words (undervisning, undervisade, undervisat) find what they mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent import publish
from agent.ingest import build
from agent.ingest.embed import quiet
from agent.settings import Settings, changed
from agent.wiring import Bench, language, place
from tests.ingest.samples import put
from tests.ollama_server import OllamaServer
from tests.review.script import proposal, rewrite, verdict

TARGET = "Prästen skötte undervisningen i socknen, och den hölls i sakristian."
FILLERS = 10


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sv") / "wissensbasis"
    put(folder, "bok-sockenskola", f"## Sammanfattning\n\n{TARGET}", titel="Sockenskola")
    for number in range(FILLERS):
        text = f"Barnen i byn nummer {number} undervisade varandra i lek och sång."
        put(folder, f"bok-lek-{number}", f"## Sammanfattning\n\n{text}", titel=f"Barnen lekte {number}")
    build.build(folder, language("sv"), licence="egen text")
    known = Settings(kb_dir=str(folder), embedder="none")
    Bench(known, place(known)).ingest(quiet)
    return folder


def asked(kb: Path, ollama: OllamaServer, question: str, queries: list[str], *, proposed: str = "") -> tuple[dict[str, Any], list[Any]]:
    """The answer's document in mode `reviewed_answer`, and what was sent; `proposed` says that the evidence does not suffice."""
    ollama.models.update({"gpt-oss:20b": "chat", "gpt-oss:120b": "chat"})
    ollama.requests.clear()
    terms = [{"surface": query, "normalized_family": "undervisa", "kind": "inflection"} for query in queries]
    wanted = [{"query": query, "purpose": "swedish_inflection"} for query in queries]
    text = "Prästen skötte undervisningen i socknen [bok-sockenskola]."
    used = [{"chunk_id": "bok-sockenskola#0", "source": "Sockenskola", "claim_supported": "prästen"}]
    replies = {
        "RetrievalRewriteResult": rewrite(
            original_question=question,
            retrieval_queries=wanted,
            must_keep_focus=["undervisning"],
            semantic_terms=terms,
            negative_constraints=["inte lek"],
        ),
        "EvidenceAnswerResult": proposal(
            proposed or text,
            original_question=question,
            evidence_used=used,
            answer_scope="insufficient_evidence" if proposed else "direct",
        ),
        "GroundingReviewResult": verdict(),
    }
    ollama.replies = lambda body: replies[body["format"]["title"]]
    settings = changed(Settings(kb_dir=str(kb), embedder="none", ollama_url=ollama.url), generator="extractive")
    answer = Bench(settings, place(settings)).asked(question, review="reviewed_answer").answer
    return publish.document(answer), ollama.chats


def test_the_prompts_are_swedish_throughout(kb: Path, ollama: OllamaServer) -> None:
    _, chats = asked(kb, ollama, "Hur undervisade barnen varandra?", ["undervisning i socknen"])
    assert len(chats) >= 2
    for body in chats:
        system, user = (message["content"] for message in body["messages"])
        assert "Du " in system
        assert "Fråga: Hur undervisade barnen varandra?" in user
        assert [word for word in (" und ", " der ", "Frage", "nicht") if word in system + user] == []


@pytest.mark.parametrize("queries", [["undervisning i socknen"], ["undervisningen", "prästens undervisning"]])
def test_a_form_of_the_word_that_the_question_lacks_finds_the_entry(kb: Path, ollama: OllamaServer, queries: list[str]) -> None:
    document, _ = asked(kb, ollama, "Hur undervisade barnen varandra i byn?", queries)
    context = document["review"]["context"]
    assert "bok-sockenskola" not in context["plain"][:8]
    assert "bok-sockenskola" in context["used"]
    assert document["origin"] == "agent2_reviewed"


@pytest.mark.parametrize("form", ["undervisning", "undervisade", "undervisat"])
def test_every_form_keeps_the_focus_and_is_searched(kb: Path, ollama: OllamaServer, form: str) -> None:
    document, _ = asked(kb, ollama, "Hur undervisade barnen varandra i byn?", [form])
    assert document["review"]["status"]["agent1"] == "valid"
    assert document["review"]["retrieval_queries"] == 1


def test_a_thin_answer_is_refused_in_swedish(kb: Path, ollama: OllamaServer) -> None:
    thin = "Posterna säger inget om hur barnen undervisade varandra i andra byar."
    document, _ = asked(kb, ollama, "Hur undervisade barnen varandra i byn?", ["undervisning"], proposed=thin)
    assert document["reason"] == "thin_evidence"
    assert document["answer"].splitlines() == [
        "Om detta innehåller kunskapsbasen ingen uppgift.",
        "Det som hittades räcker inte till ett belagt svar.",
        f"Språkmodellen om detta: ”{thin}”",
    ]
