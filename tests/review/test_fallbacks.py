"""The fallbacks 1 to 7 and what becomes of an answer, through the whole program: every one is deterministic and tells its reason."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.ollama_server import BUSY, DEAD, Reply
from tests.review.script import (
    ANSWER,
    QUESTION,
    Chain,
    Reviewed,
    Roles,
    correction,
    proposal,
    rejection,
    revision,
    rewrite,
    verdict,
)

NO_REVIEW = ["agent1", "agent2"]
WHOLE = ["agent1", "agent2", "agent3"]
CORRECTED = [*WHOLE, "agent4", "agent3"]
SLOW = Reply(rewrite(), wait=5)
BAD = f"{ANSWER} Die Grenze wird jährlich verdoppelt [pv-grenze]."


def fell_back(found: Reviewed, reason: str) -> None:
    """It is the extractive answer, and says why."""
    assert found.outcome == ("fallback", reason)
    assert "551,10 EUR" in found.document["answer"]
    assert found.review["fallback_reason"] == reason
    assert found.review["text_origin"] == "fallback"


def published(found: Reviewed, origin: str) -> None:
    assert found.outcome == (origin, None)
    assert found.review["fallback_reason"] is None
    assert found.review["text_origin"] == origin


# --- 1. Agent 1 timeout, ogiltig JSON eller låg confidence: lokal retrieval utan rewrite ---------------


@pytest.mark.parametrize(
    ("said", "status", "reason"),
    [
        ("kein JSON", "invalid_json", "agent1_invalid_json"),
        (rewrite(retrieval_queries=None), "invalid_json", "agent1_invalid_json"),
        (rewrite(thoughts="mehr"), "invalid_json", "agent1_invalid_json"),
        (rewrite(original_question="Wie hoch ist 2025 die Grenze?"), "changed_question", "agent1_invalid_json"),
        (rewrite(confidence=0.54), "low_confidence", "agent1_low_confidence"),
        (rewrite(must_keep_focus=["Urlaub"]), "lost_focus", "agent1_lost_focus"),
        (DEAD, "unavailable", "review_unavailable"),
        ("", "invalid_json", "agent1_invalid_json"),
    ],
)
def test_fallback_1_a_failed_rewriting_costs_the_rewriting_alone(chain: Chain, said: Reply | str, status: str, reason: str) -> None:
    found = chain(Roles(agent1=[said, said, said]))
    published(found, "agent2_reviewed")
    assert (found.review["status"]["agent1"], found.review["reasons"]) == (status, [reason])
    assert found.review["retrieval_queries"] == 0
    assert found.review["context"]["used"] == found.review["context"]["plain"]


def test_fallback_1_confidence_of_just_0_55_is_enough(chain: Chain) -> None:
    assert chain(Roles(agent1=[rewrite(confidence=0.55)])).review["status"]["agent1"] == "valid"


def test_fallback_1_timeout(chain: Chain) -> None:
    found = chain(Roles(agent1=[SLOW]), agent1_timeout=0.2)
    published(found, "agent2_reviewed")
    assert (found.review["status"]["agent1"], found.review["reasons"]) == ("timeout", ["agent_timeout"])


# --- 2. Agent 1 returnerar färre än en giltig retrievalfråga -------------------------------------------


@pytest.mark.parametrize("queries", [["Grenze 600 EUR", "Grenze 2024"], ["der die das"], ["…"]])
def test_fallback_2_without_one_admissible_query_the_search_stays_as_it_was(chain: Chain, queries: list[str]) -> None:
    wanted = [{"query": query, "purpose": "literal"} for query in queries]
    found = chain(Roles(agent1=[rewrite(retrieval_queries=wanted, semantic_terms=[])]))
    published(found, "agent2_reviewed")
    assert (found.review["status"]["agent1"], found.review["reasons"]) == ("no_query", ["agent1_no_query"])


# --- 3. Agent 2 timeout, ogiltig JSON, tomt svar eller answers_original_question=false ------------------


@pytest.mark.parametrize(
    ("said", "status", "reason"),
    [
        ("kein JSON", "invalid_json", "agent2_invalid_json"),
        ("", "invalid_json", "agent2_invalid_json"),
        (proposal(""), "invalid_json", "agent2_invalid_json"),
        (proposal(" " * 60), "valid", "agent2_grounding_failed"),
        (proposal("551,10 EUR [pv-grenze]."), "invalid_json", "agent2_invalid_json"),
        (proposal("x" * 2201), "invalid_json", "agent2_invalid_json"),
        (proposal(confidence=1), "invalid_json", "agent2_invalid_json"),
        (proposal(original_question="Welche Suche?"), "changed_question", "agent2_invalid_json"),
        (proposal(coverage={"answers_original_question": False}), "valid", "agent2_off_question"),
        (DEAD, "unavailable", "review_unavailable"),
    ],
)
def test_fallback_3_a_failed_answer_is_the_extractive_one(chain: Chain, said: Reply | str, status: str, reason: str) -> None:
    found = chain(Roles(agent2=[said, said, said]))
    fell_back(found, reason)
    assert found.review["status"]["agent2"] == status
    assert "agent3" not in found.asked
    assert found.review["verdict"] is None


def test_fallback_3_timeout(chain: Chain) -> None:
    found = chain(Roles(agent2=[SLOW]), agent2_timeout=0.2)
    fell_back(found, "agent_timeout")
    assert found.asked == NO_REVIEW


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        (ANSWER.replace("551,10", "561,10"), {}),
        (ANSWER.replace("551,10", "518,44"), {}),
        (ANSWER.replace("pv-grenze", "pv-fremd"), {}),
        (ANSWER.replace(" [pv-grenze]", ""), {}),
        (ANSWER, {"evidence_used": [{"chunk_id": "pv-fremd#0", "source": "s", "claim_supported": "c"}]}),
        (ANSWER, {"evidence_used": [{"chunk_id": "pv-faelligkeit#0", "source": "s", "claim_supported": "c"}]}),
        (f"{ANSWER} Sie gilt für alle Beschäftigten im ganzen Land.", {}),
    ],
)
def test_fallback_3_what_grounding_stops_no_reviewer_sees(chain: Chain, text: str, changes: dict[str, Any]) -> None:
    found = chain(Roles(agent2=[proposal(text, **changes)]))
    fell_back(found, "agent2_grounding_failed")
    assert found.asked == NO_REVIEW


# --- 4. Agent 2 svarar med unsupported claims, metadata eller drift: Agent 3 avgör -----------------------


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (proposal(unsupported_or_uncertain=["Ob das für Lehrlinge gilt, bleibt offen."]), {"unsupported_claims": ["Lehrlinge"]}),
        (proposal(coverage={"ignores_metadata_as_facts": False}), {"metadata_leakage": True}),
        (proposal(f"{ANSWER} Im Jahr gibt es nichts dazu [pv-grenze]."), {"drift_from_original_question": True}),
    ],
)
def test_fallback_4_doubts_go_to_the_reviewer_and_fall_back_where_it_does_not_approve(
    chain: Chain, said: str, problem: dict[str, Any]
) -> None:
    found = chain(Roles(agent2=[said], agent3=[verdict(verdict="reject", required_action="ask_for_more_evidence", **problem)]))
    fell_back(found, "agent3_reject")
    assert found.asked == WHOLE


def test_fallback_4_agent_2_s_own_uncertainty_is_no_rejection(chain: Chain) -> None:
    said = proposal(unsupported_or_uncertain=["Für Lehrlinge bleibt es offen."], answer_scope="partial_due_to_thin_evidence")
    found = chain(Roles(agent2=[said]))
    published(found, "agent2_reviewed")
    assert "partial" in found.document["flags"]


@pytest.mark.parametrize(
    ("coverage", "reason"),
    [({"ignores_metadata_as_facts": False}, "agent2_metadata_leakage"), ({"uses_retrieved_chunks": False}, "agent2_grounding_failed")],
)
def test_fallback_4_an_approval_against_agent_2_s_own_word_does_not_count(chain: Chain, coverage: dict[str, bool], reason: str) -> None:
    found = chain(Roles(agent2=[proposal(coverage=coverage)]))
    fell_back(found, reason)
    assert found.asked == WHOLE


def test_metadata_leakage_is_stopped_whoever_approved_it(chain: Chain) -> None:
    fell_back(chain(Roles(agent2=[proposal(f"{ANSWER} Das fand Agent 1 [pv-grenze].")])), "agent2_metadata_leakage")
    found = chain(Roles(agent2=[proposal(f"{ANSWER} Die Suchvariante traf die Geringfügigkeitsgrenze [pv-grenze].")]))
    fell_back(found, "agent2_metadata_leakage")
    assert (found.asked, found.review["verdict"]) == (WHOLE, "approve")


# --- 5. Agent 3 timeout eller ogiltig JSON: frånvaro av review är aldrig ett godkännande -----------------

SILENT = [
    ("kein JSON", "invalid_json", "agent3_invalid_json"),
    ("", "invalid_json", "agent3_invalid_json"),
    (verdict(confidence=1), "invalid_json", "agent3_invalid_json"),
    (verdict(review_notes="x" * 701), "invalid_json", "agent3_invalid_json"),
    (DEAD, "unavailable", "review_unavailable"),
]


@pytest.mark.parametrize(("said", "status", "reason"), SILENT)
def test_fallback_5_the_absence_of_a_review_is_never_an_approval(chain: Chain, said: Reply | str, status: str, reason: str) -> None:
    found = chain(Roles(agent3=[said, said, said]))
    fell_back(found, reason)
    assert (found.review["status"]["agent3"], found.review["verdict"]) == (status, "unavailable")


def test_fallback_5_timeout(chain: Chain) -> None:
    found = chain(Roles(agent3=[SLOW]), agent3_timeout=0.2)
    fell_back(found, "agent_timeout")
    assert found.review["verdict"] == "unavailable"


def test_fallback_5_the_draft_without_a_review_is_kept_in_the_log(chain: Chain) -> None:
    chain(Roles(agent3=["kein JSON"]))
    run = chain.bench.under(chain.bench.settings)
    chain.ollama.replies = Roles(agent3=["kein JSON"])
    answer = run.asked(QUESTION, review="reviewed_answer").answer
    assert answer.trace.run_id
    drafted = [step for step in run.runs.shown(answer.trace.run_id)["steps"] if step["kind"] == "review_drafted"]
    assert [step["text"] for step in drafted] == [ANSWER]


@pytest.mark.parametrize("said", [said for said, *_ in SILENT])
def test_require_review_false_publishes_without_a_review_what_grounding_lets_pass(chain: Chain, said: Reply | str) -> None:
    published(chain(Roles(agent3=[said, said, said]), review_require=False), "agent2_unreviewed")


def test_require_review_false_goes_past_neither_grounding_nor_a_rejection(chain: Chain) -> None:
    ungrounded = Roles(agent2=[proposal(ANSWER.replace("551,10", "561,10"))], agent3=["kein JSON"])
    fell_back(chain(ungrounded, review_require=False), "agent2_grounding_failed")
    rejected = Roles(agent3=[rejection(required_action="ask_for_more_evidence")])
    fell_back(chain(rejected, review_require=False), "agent3_reject")
    doubtful = Roles(agent2=[proposal(coverage={"ignores_metadata_as_facts": False})], agent3=["kein JSON"])
    fell_back(chain(doubtful, review_require=False), "agent3_invalid_json")
    leaking = Roles(agent2=[proposal(f"{ANSWER} Agent 1 suchte die Grenze [pv-grenze].")], agent3=["kein JSON"])
    fell_back(chain(leaking, review_require=False), "agent2_metadata_leakage")


# --- 6. Tunt källunderlag: hellre kort med osäkerhet än utvecklad men ogrundad ---------------------------


def test_fallback_6_thin_evidence_becomes_a_reasoned_refusal_that_keeps_the_honest_sentence(chain: Chain) -> None:
    honest = "Die Einträge nennen die Grenze nicht für Lehrlinge in der Landwirtschaft."
    found = chain(Roles(agent2=[proposal(f"{honest} Fragen Sie besser Ihre Kasse.", answer_scope="insufficient_evidence")]))
    assert found.outcome == ("refusal", "thin_evidence")
    assert found.document["refused"]
    assert found.document["answer"].startswith("Dazu enthält die Wissensbasis keine Aussage.")
    assert found.document["answer"].endswith(f"Das Sprachmodell dazu: „{honest}“")
    assert found.document["citations"] == []
    assert found.asked == NO_REVIEW
    assert found.review["fallback_reason"] == "thin_evidence"


def test_fallback_6_a_sentence_that_denies_nothing_is_not_passed_on(chain: Chain) -> None:
    stated = "Die Grenze gilt für alle Lehrlinge in der Landwirtschaft."
    found = chain(Roles(agent2=[proposal(stated, answer_scope="insufficient_evidence")]))
    assert found.outcome == ("refusal", "thin_evidence")
    assert "Landwirtschaft" not in found.document["answer"]


@pytest.mark.parametrize(
    "text", ["Dazu steht nichts da, es werden wohl 500 EUR im Monat sein.", "Agent 1 fand dazu nichts in den Einträgen."]
)
def test_fallback_6_an_insufficient_answer_that_states_or_tells_something_is_none(chain: Chain, text: str) -> None:
    fell_back(chain(Roles(agent2=[proposal(text, answer_scope="insufficient_evidence")])), "agent2_grounding_failed")


def test_fallback_6_what_the_gate_refuses_stays_refused_unless_the_rewriting_finds_it(chain: Chain) -> None:
    question = "Was kostet die Autobahnvignette?"
    said = rewrite(
        original_question=question,
        retrieval_queries=[{"query": "Preis der Vignette", "purpose": "synonym"}],
        must_keep_focus=["Preis der Autobahnvignette"],
        semantic_terms=[],
    )
    found = chain(Roles(agent1=[said]), question)
    assert found.document["refused"]
    assert found.asked == ["agent1"]
    assert found.review["reasons"] == ["thin_evidence"]


# --- 7. Alla fallbacks loggar en maskinläsbar orsak: in each of the tests above; and together ---------------


def test_fallback_7_every_step_that_fell_back_is_told_in_order(chain: Chain) -> None:
    found = chain(Roles(agent1=["nein"], agent3=["nein"]))
    assert found.review["reasons"] == ["agent1_invalid_json", "agent3_invalid_json"]
    assert found.review["fallback_reason"] == "agent3_invalid_json"


def test_fallback_7_no_server_at_all(chain: Chain) -> None:
    found = chain(Roles(), ollama_url="http://127.0.0.1:9", connect_timeout=0.2)
    fell_back(found, "review_unavailable")
    assert found.review["reasons"] == ["review_unavailable", "review_unavailable"]
    mend, why = found.document["warnings"]
    assert mend.endswith("Start Ollama there, or set OLLAMA_URL.")
    assert why == "Die geprüfte Kette gab keine Antwort frei (review_unavailable); das sind die Worte der Einträge."


# --- approval, minor revision, rejection, correction ------------------------------------------------------


def test_a_minor_revision_is_published_as_one(chain: Chain) -> None:
    text = f"{ANSWER} Für das Finanzamt gilt das nicht [pv-grenze]."
    found = chain(Roles(agent2=[proposal(text)], agent3=[revision(ANSWER, unsupported_claims=["Für das Finanzamt gilt das nicht"])]))
    published(found, "agent2_minor_revision")
    assert found.document["answer"] == ANSWER
    assert found.asked == WHOLE


@pytest.mark.parametrize(
    "text",
    [
        f"{ANSWER} 2024 waren es 518,44 EUR [pv-grenze].",
        f"{ANSWER} Rechtsgrundlage ist § 5 ASVG [pv-grenze].",
        f"{ANSWER} Der Urlaub beträgt 30 Werktage [pv-urlaub].",
        ANSWER.replace(" [pv-grenze]", ""),
        f"{ANSWER} Sie wird vierteljährlich aufgewertet [pv-grenze].",
        ANSWER.replace("beträgt", "beträgt nicht"),
        f"{ANSWER} Agent 3 prüfte die Geringfügigkeitsgrenze [pv-grenze].",
    ],
)
def test_a_minor_revision_that_smuggles_something_in_is_refused(chain: Chain, text: str) -> None:
    fell_back(chain(Roles(agent3=[revision(text)])), "agent3_invalid_revision")


def test_a_rejection_leads_to_the_fallback_and_to_no_new_free_generation(chain: Chain) -> None:
    roles = Roles(agent2=[proposal(), proposal(), proposal()], agent3=[rejection(required_action="ask_for_more_evidence"), verdict()])
    found = chain(roles)
    fell_back(found, "agent3_reject")
    assert found.asked == WHOLE


def test_a_correction_is_published_after_a_second_review_alone(chain: Chain) -> None:
    found = chain(Roles(agent2=[proposal(BAD)], agent3=[rejection(), verdict()], agent4=[correction()]))
    published(found, "agent4_corrected")
    assert found.document["answer"] == ANSWER
    assert found.asked == CORRECTED
    assert found.review["reasons"] == ["agent3_reject"]


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (rejection(), "agent3_reject"),
        (verdict(required_action="ask_for_more_evidence"), "agent3_reject"),
        (revision(ANSWER), "agent3_reject"),
        ("kein JSON", "agent3_invalid_json"),
        (DEAD, "review_unavailable"),
    ],
)
@pytest.mark.parametrize("required", [True, False])
def test_a_correction_that_is_not_approved_falls_back(chain: Chain, second: Reply | str, reason: str, required: bool) -> None:
    roles = Roles(agent2=[proposal(BAD)], agent3=[rejection(), second, second, second], agent4=[correction(), correction()])
    found = chain(roles, review_require=required)
    fell_back(found, reason)
    assert found.asked.count("agent4") == 1


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("kein JSON", "agent4_invalid_json"),
        (correction(original_question="Etwas anderes?"), "agent4_invalid_json"),
        (correction(ANSWER.replace("551,10", "561,10")), "agent4_grounding_failed"),
        (correction(f"{ANSWER} Praktikanten sind ausgenommen [pv-grenze]."), "agent4_grounding_failed"),
        (correction(ANSWER.replace("pv-grenze", "pv-fremd")), "agent4_grounding_failed"),
        (DEAD, "review_unavailable"),
    ],
)
def test_a_correction_only_removes_or_corrects_against_the_evidence(chain: Chain, said: Reply | str, reason: str) -> None:
    found = chain(Roles(agent2=[proposal(BAD)], agent3=[rejection(), verdict()], agent4=[said, said, said]))
    fell_back(found, reason)
    assert found.asked.count("agent3") == 1


def test_a_wrong_figure_may_be_corrected_to_the_cited_one(chain: Chain) -> None:
    bad = f"{ANSWER} Der Wert gilt bis zum Jahr 2026 monatlich für das Finanzamt [pv-grenze]."
    found = chain(Roles(agent2=[proposal(bad)], agent3=[rejection(), verdict()], agent4=[correction()]))
    published(found, "agent4_corrected")


def test_a_correction_timeout(chain: Chain) -> None:
    found = chain(Roles(agent2=[proposal(BAD)], agent3=[rejection()], agent4=[SLOW]), agent4_timeout=0.2)
    fell_back(found, "agent_timeout")


# --- time and tokens ------------------------------------------------------------------------------------


def test_total_timeout_ends_the_chain_wherever_it_is(chain: Chain) -> None:
    found = chain(Roles(agent1=[Reply(rewrite(), wait=0.3)], agent2=[Reply(proposal(), wait=5)]), review_timeout=0.8)
    fell_back(found, "agent_timeout")
    assert found.review["ms"] < 2000
    assert "PV_REVIEW_TIMEOUT; pv-agent doctor measures." in found.document["warnings"][0]


def test_after_the_total_time_no_further_role_is_asked(chain: Chain) -> None:
    found = chain(Roles(agent1=[SLOW]), review_timeout=0.3)
    fell_back(found, "agent_timeout")
    assert found.asked == ["agent1"]
    assert found.review["status"] == {"agent1": "timeout", "agent2": "timeout", "agent3": "not_run", "agent4": "not_run"}


def test_the_hard_limits_and_the_contracts_go_with_every_call(chain: Chain) -> None:
    chain(Roles(agent2=[proposal(BAD)], agent3=[rejection(), verdict()], agent4=[correction()]))
    sent = [(body["format"]["title"], body["options"]["num_predict"]) for body in chain.ollama.chats]
    assert sent == [
        ("RetrievalRewriteResult", 2400),
        ("EvidenceAnswerResult", 3600),
        ("GroundingReviewResult", 2000),
        ("CorrectionResult", 2000),
        ("GroundingReviewResult", 2000),
    ]


def test_what_a_server_is_asked_to_keep_has_no_lengths_that_its_grammar_would_refuse(chain: Chain) -> None:
    chain(Roles(agent2=[proposal(BAD)], agent3=[rejection(), verdict()], agent4=[correction()]))
    for body in chain.ollama.chats:
        assert body["format"]["additionalProperties"] is False
        assert "Length" not in json.dumps(body["format"])


@pytest.mark.parametrize(("said", "suspected"), [(Reply(proposal()[:80], done_reason="length"), True), (Reply(proposal()[:80]), False)])
def test_an_output_that_hits_the_limit_and_breaks_its_contract_is_suspected_cut(chain: Chain, said: Reply, suspected: bool) -> None:
    found = chain(Roles(agent2=[said]))
    fell_back(found, "agent2_invalid_json")
    assert [call["suspected_cut"] for call in found.review["calls"]] == [False, suspected]


def test_a_whole_contract_at_the_limit_is_no_cut(chain: Chain) -> None:
    found = chain(Roles(agent2=[Reply(proposal(), done_reason="length")]))
    published(found, "agent2_reviewed")
    assert not any(call["suspected_cut"] for call in found.review["calls"])


def test_a_server_that_is_busy_for_a_moment_is_asked_again_within_the_time(chain: Chain) -> None:
    published(chain(Roles(agent1=[BUSY, rewrite()])), "agent2_reviewed")


# --- what each role is shown ------------------------------------------------------------------------------


def shown(chain: Chain, title: str) -> str:
    return "\n".join(
        json.dumps([message["content"] for message in body["messages"]], ensure_ascii=False)
        for body in chain.ollama.chats
        if body["format"]["title"] == title
    )


def test_agent_1_sees_titles_and_no_chunk(chain: Chain) -> None:
    chain()
    said = shown(chain, "RetrievalRewriteResult")
    assert "Geringfügigkeitsgrenze · Zusammenfassung" in said
    assert "551,10 EUR" not in said


def test_agent_2_answers_the_original_question_and_never_sees_the_rewritten_one(chain: Chain) -> None:
    chain(Roles(agent1=[rewrite(retrieval_queries=[{"query": "Merkwort der Geringfügigkeitsgrenze", "purpose": "literal"}])]))
    said = shown(chain, "EvidenceAnswerResult")
    assert f"Frage: {QUESTION}" in said
    assert "Merkwort" not in said


def test_agent_3_reviews_against_the_original_question_and_the_cited_excerpts_alone(chain: Chain) -> None:
    chain(Roles(agent1=[rewrite(retrieval_queries=[{"query": "Merkwort der Geringfügigkeitsgrenze", "purpose": "literal"}])]))
    said = shown(chain, "GroundingReviewResult")
    assert f"Frage: {QUESTION}" in said
    assert "551,10 EUR" in said
    assert "Merkwort" not in said
    assert "Finanzamt" not in said  # found, but not cited


def test_at_most_eight_chunks_reach_agent_2(chain: Chain) -> None:
    for most in (1, 2):
        found = chain(review_chunks=most)
        assert found.review["context_chunks"] == most
        assert shown(chain, "EvidenceAnswerResult").count("<block ") == most


# --- Agent 3 stoppar drift ---------------------------------------------------------------------------------


def test_agent_3_stops_drift(chain: Chain) -> None:
    drifted = "Die Lohnsteuer ist bis zum 15. des Folgemonats ans Finanzamt zu zahlen [pv-faelligkeit]."
    used = [{"chunk_id": "pv-faelligkeit#0", "source": "Fälligkeit", "claim_supported": "15."}]
    drift = rejection(grounded_in_sources=True, unsupported_claims=[], drift_from_original_question=True, answers_original_question=False)
    found = chain(Roles(agent2=[proposal(drifted, evidence_used=used)], agent3=[drift], agent4=["kein JSON"]))
    fell_back(found, "agent4_invalid_json")
    assert found.review["verdict"] == "reject"
    assert "Finanzamt" not in found.document["answer"]


def test_an_answer_drifts_however_sure_agent_3_is_when_it_contradicts_itself(chain: Chain) -> None:
    fell_back(chain(Roles(agent3=[verdict(drift_from_original_question=True)])), "agent3_reject")


# --- the forms a reply may have, over the wire ----------------------------------------------------------

PLAIN = {"agent1": rewrite(), "agent2": proposal(BAD), "agent3": rejection(), "agent4": correction()}


def roles(name: str, said: str) -> Roles:
    """All four roles as a correction needs them, with one reply of one of them replaced."""
    made = Roles(agent2=[proposal(BAD)], agent3=[rejection(), verdict()], agent4=[correction()])
    getattr(made, name)[0] = said
    return made


@pytest.mark.parametrize("name", ["agent1", "agent2", "agent3", "agent4"])
def test_fenced_json_is_valid_from_every_role(chain: Chain, name: str) -> None:
    found = chain(roles(name, f"```json\n{PLAIN[name]}\n```"))
    published(found, "agent4_corrected")
    assert set(found.review["status"].values()) == {"valid"}


@pytest.mark.parametrize("name", ["agent1", "agent2", "agent3", "agent4"])
@pytest.mark.parametrize("wrong", ["missing", "extra"])
def test_a_missing_or_an_extra_field_is_invalid_from_every_role(chain: Chain, name: str, wrong: str) -> None:
    whole = json.loads(PLAIN[name])
    broken = dict(list(whole.items())[1:]) if wrong == "missing" else whole | {"thoughts": "mehr"}
    found = chain(roles(name, json.dumps(broken, ensure_ascii=False)))
    assert f"{name}_invalid_json" in found.review["reasons"]
    assert found.outcome[0] == ("agent4_corrected" if name == "agent1" else "fallback")
