"""„Testbara regler“ of the reviewed chain: each of them as something a machine decides, named after it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.review import pool, rules
from agent.review.contracts import Proposal, Review, Rewrite, normalised
from agent.testing import german, hit
from agent.values import Hit, Reason
from agent.wiring import language
from tests.review.script import ANSWER, QUESTION, proposal, rejection, revision, rewrite, verdict

DE, SV = german(), language("sv")
GRENZE = hit("pv-grenze", "Die Geringfügigkeitsgrenze beträgt 2026 monatlich 551,10 EUR.", title="Geringfügigkeitsgrenze")
URLAUB = hit("pv-urlaub", "Im Jahr gebühren 30 Werktage Urlaub.", title="Urlaub")
HITS = (GRENZE, URLAUB)


def rewritten(**changes: Any) -> Rewrite:
    found = normalised("rewrite", rewrite(**changes), QUESTION)
    assert isinstance(found, Rewrite)
    return found


def proposed(text: str = ANSWER, **changes: Any) -> Proposal:
    found = normalised("answer", proposal(text, **changes), QUESTION)
    assert isinstance(found, Proposal)
    return found


def reviewed(text: str) -> Review:
    found = normalised("verdict", text, QUESTION)
    assert isinstance(found, Review)
    return found


def queries(*texts: str) -> list[dict[str, str]]:
    return [{"query": text, "purpose": "literal"} for text in texts]


# --- retrieval_queries får inte innehålla föreslagna svar eller påståenden ----------------------------


@pytest.mark.parametrize(
    "query",
    [
        "Geringfügigkeitsgrenze 551,10 EUR",
        "Geringfügigkeitsgrenze 2025",
        "Geringfügigkeitsgrenze § 5 Abs. 2 ASVG",
        "Geringfügigkeitsgrenze ab 1.1.2026",
        "Grenze 20 %",
        "Grenze Rz 1101",
    ],
)
def test_a_retrieval_query_holds_no_figure_or_norm_that_the_question_does_not(query: str) -> None:
    found = rewritten(retrieval_queries=queries(query, "Geringfügigkeitsgrenze"), semantic_terms=[])
    assert rules.searches(found, QUESTION, DE, most=5) == ("Geringfügigkeitsgrenze",)


@pytest.mark.parametrize(
    ("question", "query"),
    [
        (QUESTION, "Geringfügigkeitsgrenze 2026 monatlich"),
        ("Was gilt nach § 67 Abs 1 EStG für 620 EUR?", "sonstige Bezüge § 67 EStG 620 EUR"),
    ],
)
def test_a_retrieval_query_may_hold_the_question_s_own_figures(question: str, query: str) -> None:
    found = rewritten(retrieval_queries=queries(query), semantic_terms=[])
    assert rules.searches(found, question, DE, most=5) == (query,)


def test_queries_are_counted_once_and_never_more_than_allowed() -> None:
    found = rewritten(retrieval_queries=queries("Grenze", "Grenze", "Höhe der Grenze", "monatliche Grenze", "Betrag der Grenze"))
    assert rules.searches(found, QUESTION, DE, most=2) == ("Grenze", "Höhe der Grenze")
    assert len(rules.searches(found, QUESTION, DE, most=5)) == 5


# --- must_keep_focus måste innehålla frågans faktiska mål ---------------------------------------------


@pytest.mark.parametrize(
    ("focus", "kept"),
    [
        (["Höhe der Geringfügigkeitsgrenze"], True),
        (["Grenzbetrag", "geringfügig"], True),
        (["Urlaubsanspruch"], False),
        (["Urlaubsanspruch 2026"], False),
        (["wie hoch", "im"], False),
        ([""], False),
    ],
)
def test_must_keep_focus_shares_a_content_word_with_the_question(focus: list[str], kept: bool) -> None:
    assert rules.keeps_focus(rewritten(must_keep_focus=focus), QUESTION, DE) is kept


# --- semantic_terms: generella termfamiljer, böjningar ------------------------------------------------


@pytest.mark.parametrize("asked", ["undervisning", "undervisade", "undervisat", "undervisar", "undervisningen"])
@pytest.mark.parametrize("focus", ["undervisning", "undervisade", "undervisat"])
def test_inflections_of_one_word_are_one_focus(asked: str, focus: str) -> None:
    question = f"Hur gick det till när skolan {asked}?"
    found = rewritten(must_keep_focus=[focus])
    assert rules.keeps_focus(found, question, SV)


def test_a_word_that_only_looks_alike_is_no_inflection() -> None:
    assert not rules.keeps_focus(rewritten(must_keep_focus=["underhåll"]), "Hur går undervisning till?", SV)


def test_term_families_become_one_more_query_where_a_place_is_left() -> None:
    terms = [
        {"surface": surface, "normalized_family": "undervisa", "kind": "inflection"}
        for surface in ("undervisning", "undervisade", "undervisat", "undervisning 1998")
    ]
    found = rewritten(retrieval_queries=queries("Hur gick undervisning till"), semantic_terms=terms)
    wanted = ("Hur gick undervisning till", "undervisning undervisade undervisat")
    assert rules.searches(found, "Hur undervisade skolan?", SV, most=5) == wanted
    assert rules.searches(found, "Hur undervisade skolan?", SV, most=1) == wanted[:1]


# --- answer får inte nämna Agent 1, retrievalfrågor eller interna debugfält ---------------------------


@pytest.mark.parametrize(
    "told",
    [
        "Laut Agent 1 ist die Grenze gemeint.",
        "agent_2 fand das heraus.",
        "Die Retrievalfragen ergaben das.",
        "Das Feld retrieval_queries nennt es.",
        "Siehe chunk_id.",
        "must_keep_focus ist die Höhe.",
        "Die Suchvariante traf besser.",
    ],
)
def test_an_answer_does_not_name_agent_1_retrieval_queries_or_debug_fields(told: str) -> None:
    assert rules.leaks(f"{ANSWER} {told}", QUESTION, DE)


def test_what_question_or_evidence_speak_of_is_no_leak() -> None:
    assert not rules.leaks(ANSWER, QUESTION, DE)
    assert not rules.leaks("Ein Chunk ist ein Stück Text [pv-a].", "Was ist ein Chunk?", DE)
    assert rules.leaks("Der Re\u00adviewer sagt: 551,10 EUR [pv-a].", QUESTION, DE) == ("reviewer",)
    assert rules.leaks("Svaret kom av en retrievalfråga.", "Hur går det?", SV) == ("retrievalfråga",)


# --- varje central påståendemening kopplas till minst ett objekt i evidence_used ----------------------


def linked(text: str, *chunk_ids: str, uncertain: tuple[str, ...] = ()) -> bool:
    used = [{"chunk_id": name, "source": "s", "claim_supported": "c"} for name in chunk_ids]
    return rules.linked(text, proposed(evidence_used=used).used, uncertain, HITS, DE)


def test_every_sentence_that_claims_something_cites_what_is_named_as_used() -> None:
    two = f"{ANSWER} Im Jahr gebühren 30 Werktage Urlaub [pv-urlaub]."
    assert linked(ANSWER, "pv-grenze#0")
    assert linked(ANSWER, "pv-grenze")
    assert linked(two, "pv-grenze#0", "pv-urlaub#0")
    assert not linked(f"{ANSWER} Im Jahr gebühren Werktage Urlaub.", "pv-grenze#0")


def test_text_and_evidence_used_name_the_same_entries() -> None:
    assert not linked(ANSWER, "pv-urlaub#0")
    assert not linked(ANSWER, "pv-grenze#0", "pv-urlaub#0")
    assert not linked(f"{ANSWER} Im Jahr gebühren Werktage [pv-urlaub].", "pv-grenze#0")


@pytest.mark.parametrize("unknown", ["pv-fremd#0", "pv-grenze#7", "", "0"])
def test_a_chunk_that_was_not_shown_is_no_evidence(unknown: str) -> None:
    assert not linked(ANSWER, unknown)


def test_a_question_and_a_declared_uncertainty_claim_nothing() -> None:
    assert linked(f"{ANSWER} Für welchen Monat fragen Sie?", "pv-grenze#0")
    open_part = "Offen bleibt die Grenze für Lehrlinge."
    assert not linked(f"{ANSWER} {open_part}", "pv-grenze#0")
    assert linked(f"{ANSWER} {open_part}", "pv-grenze#0", uncertain=("Die Grenze für Lehrlinge bleibt offen",))


def test_a_chunk_cited_in_the_text_is_its_entry() -> None:
    assert rules.by_entry("Es sind 551,10 EUR [pv-grenze#0].", HITS) == "Es sind 551,10 EUR [pv-grenze]."
    assert rules.by_entry("Es sind 551,10 EUR. [PV-Grenze]", HITS) == "Es sind 551,10 EUR [pv-grenze]."


# --- insufficient_evidence: ett ärligt icke-svar -------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "honest"),
    [
        ("Die Einträge sagen nichts über die Grenze in anderen Ländern.", True),
        ("Die Einträge nennen für 2026 keine solche Grenze im Monat.", True),
        ("Die Einträge sagen dazu nichts, üblich sind aber 500 EUR im Monat.", False),
        ("Dazu steht nichts da, es gilt wohl § 5 ASVG für alle Fälle.", False),
    ],
)
def test_an_insufficient_answer_states_no_figure(text: str, honest: bool) -> None:
    assert rules.honest(proposed(text), QUESTION, DE) is honest


# --- publicering kräver … -----------------------------------------------------------------------------


def test_publishing_needs_verdict_action_and_all_four_findings_in_favour() -> None:
    assert rules.decided(reviewed(verdict()), proposed()).step == "publish"
    assert rules.decided(reviewed(revision(ANSWER)), proposed()).step == "revise"


@pytest.mark.parametrize(
    "changes",
    [
        {"answers_original_question": False},
        {"grounded_in_sources": False},
        {"drift_from_original_question": True},
        {"metadata_leakage": True},
        {"unsupported_claims": ["Die Grenze wird verdoppelt"]},
        {"required_action": "fallback_to_extractive"},
        {"required_action": "ask_for_more_evidence"},
        {"required_action": "publish_after_minor_revision"},
        {"verdict": "revise_minor"},
        {"verdict": "revise_minor", "required_action": "publish_after_minor_revision"},
        {"verdict": "revise_minor", "required_action": "publish_after_minor_revision", "minor_revision": "  "},
        {"verdict": "revise_minor", "required_action": "publish", "minor_revision": ANSWER},
        {"verdict": "reject"},
        {"verdict": "reject", "required_action": "publish"},
        {"verdict": "reject", "required_action": "ask_for_more_evidence", "grounded_in_sources": False},
    ],
)
def test_a_reply_that_contradicts_itself_is_not_approved(changes: dict[str, Any]) -> None:
    assert rules.decided(reviewed(verdict(**changes)), proposed()) == rules.Decision("fallback", Reason.AGENT3_REJECT)


@pytest.mark.parametrize(
    ("coverage", "reason"),
    [
        ({"uses_retrieved_chunks": False}, Reason.AGENT2_GROUNDING_FAILED),
        ({"ignores_metadata_as_facts": False}, Reason.AGENT2_METADATA_LEAKAGE),
    ],
)
def test_what_the_answering_role_says_against_itself_outweighs_an_approval(coverage: dict[str, bool], reason: Reason) -> None:
    assert rules.decided(reviewed(verdict()), proposed(coverage=coverage)) == rules.Decision("fallback", reason)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"unsupported_claims": []},
        {"grounded_in_sources": True},
        {"grounded_in_sources": True, "unsupported_claims": [], "drift_from_original_question": True},
        {"grounded_in_sources": True, "unsupported_claims": [], "metadata_leakage": True},
        {"grounded_in_sources": True, "unsupported_claims": [], "answers_original_question": False},
    ],
)
def test_a_correction_follows_only_an_explicit_rejection_with_a_content_problem(changes: dict[str, Any]) -> None:
    assert rules.decided(reviewed(rejection(**changes)), proposed()).step == "correct"
    nothing = {"grounded_in_sources": True, "unsupported_claims": []}
    assert rules.decided(reviewed(rejection(**nothing)), proposed()).step == "fallback"


booleans = st.booleans()


@given(
    st.sampled_from(["approve", "revise_minor", "reject"]),
    st.sampled_from(["publish", "publish_after_minor_revision", "fallback_to_extractive", "ask_for_more_evidence"]),
    st.tuples(booleans, booleans, booleans, booleans),
    st.lists(st.just("Behauptung"), max_size=2),
    st.sampled_from(["", ANSWER]),
)
def test_of_all_possible_reviews_two_let_something_through(
    said: str, action: str, findings: tuple[bool, bool, bool, bool], claims: list[str], text: str
) -> None:
    answers, grounded, drifts, leaks = findings
    review = Review(said, action, answers, grounded, drifts, leaks, tuple(claims), text, "")
    step = rules.decided(review, proposed()).step
    sound = findings == (True, True, False, False)
    assert (step == "publish") is (sound and (said, action) == ("approve", "publish") and not claims)
    assert (step == "revise") is (sound and (said, action) == ("revise_minor", "publish_after_minor_revision") and bool(text))
    assert step != "correct" or said == "reject"


# --- revise_minor: tar bort eller förtydligar, inga nya sakpåståenden -----------------------------------


def added(text: str, draft: str = f"{ANSWER} Sie gilt nicht für Lehrlinge [pv-grenze].") -> tuple[str, ...]:
    return rules.additions(text, draft, f"{QUESTION}\n{GRENZE.entry.title}\n{GRENZE.chunk.text}", DE)


@pytest.mark.parametrize(
    "text",
    [
        ANSWER,
        f"{ANSWER} Sie gilt nicht für Lehrlinge [pv-grenze].",
        "Monatlich beträgt die Geringfügigkeitsgrenze 2026 genau das: 551,10 EUR [pv-grenze].".replace("genau das: ", ""),
        "Die Grenze beträgt im Monat 551,10 EUR [pv-grenze].",
    ],
)
def test_a_revision_may_take_away_or_say_it_more_clearly(text: str) -> None:
    assert added(text) == ()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (f"{ANSWER} Im Vorjahr waren es 518,44 EUR [pv-grenze].", "518,44 EUR"),
        (ANSWER.replace("551,10", "551,20"), "monatlich 551,20 EUR"),
        (f"{ANSWER} Das folgt aus § 5 Abs 2 ASVG [pv-grenze].", "§ 5 Abs 2 ASVG"),
        (f"{ANSWER} Sie gilt nicht für Lehrlinge [pv-urlaub].", "pv-urlaub"),
        (f"{ANSWER} Sie gilt nicht für Praktikanten [pv-grenze].", "Praktikanten"),
        (f"{ANSWER} Sie gilt für Lehrlinge [pv-grenze].", "Sie gilt für Lehrlinge [pv-grenze]."),
        (ANSWER.replace("beträgt", "beträgt nicht"), ANSWER.replace("beträgt", "beträgt nicht")),
    ],
)
def test_a_revision_adds_no_figure_norm_id_or_content_word_and_turns_nothing_round(text: str, what: str) -> None:
    assert what in added(text)


def test_a_revision_that_keeps_what_was_found_unsupported_is_none() -> None:
    review = reviewed(revision(ANSWER, unsupported_claims=["Die Grenze gilt auch für Lehrlinge"]))
    assert rules.still_claimed(review, f"{ANSWER} Die Grenze gilt für Lehrlinge [pv-grenze].", DE)
    assert not rules.still_claimed(review, ANSWER, DE)


def test_the_whole_draft_is_always_an_admissible_revision() -> None:
    for found in HITS:
        assert isinstance(found, Hit)
        draft = f"{found.chunk.text[:-1]} [{found.entry.id}]."
        assert rules.additions(draft, draft, "", DE) == ()


# --- the pool of candidates ---------------------------------------------------------------------------


def named(*names: str) -> list[Hit]:
    return [hit(name, f"Text {name}") for name in names]


def ids(hits: Any) -> list[str]:
    return [found.entry.id for found in hits]


def test_what_several_searches_find_goes_first_and_each_chunk_comes_once() -> None:
    assert ids(pool.joined([named("a", "b", "c"), named("c", "d")], k=20)) == ["c", "a", "b", "d"]


def test_the_best_of_each_rewriting_has_a_place() -> None:
    first, again = named(*"abcdefgh"), [named("x", "a"), named("y")]
    everything = pool.joined([first, *again], k=20)
    kept = ids(pool.within(everything, again, most=4))
    assert len(kept) == 4
    assert {"a", "x", "y"} <= set(kept)
    assert ids(pool.within(everything, [], most=4)) == ids(everything[:4])
    assert ids(pool.within(everything, again, most=1)) == ["a"]
    assert pool.within([], [], most=4) == ()


@given(st.lists(st.lists(st.sampled_from("abcdefghijkl"), unique=True, max_size=8), max_size=5), st.integers(1, 8))
def test_the_pool_is_a_part_of_what_was_found_without_repetition(lists: list[list[str]], most: int) -> None:
    found = [named(*names) for names in lists]
    everything = pool.joined(found, k=20)
    kept = ids(pool.within(everything, found[1:], most=most))
    assert len(kept) == len(set(kept)) == min(most, len({name for names in lists for name in names}))
