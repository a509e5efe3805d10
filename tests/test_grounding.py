"""Grounding: what passes cites a non-empty subset of the evidence; anything else is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.grounding import Declined, Supported, ground
from agent.language.citations import cited
from agent.testing import german, hit, on
from agent.values import Complaint, Draft, Evidence, Finish, Origin, Reason, Validity

DE = german()
EVIDENCE = Evidence(
    (
        hit("pv-a", "Die Grenze beträgt 2026 monatlich 551,10 EUR. Der andere Satz sagt nichts."),
        hit("pv-b", "Die Frist beträgt sechs Wochen."),
    )
)


def grounded(text: str, finish: Finish = Finish.COMPLETE) -> Supported | Declined | Complaint:
    return ground(Draft(text, Origin.POINT, finish), EVIDENCE, DE, on())


def test_a_good_draft_passes_with_the_sentence_that_carries_it() -> None:
    outcome = grounded("Die Grenze beträgt 551,10 EUR monatlich [PV-A].")
    assert isinstance(outcome, Supported)
    assert outcome.text == "Die Grenze beträgt 551,10 EUR monatlich [pv-a]."
    (citation,) = outcome.citations
    assert (citation.id, citation.validity) == ("pv-a", Validity.UNKNOWN)
    assert citation.quote == "Die Grenze beträgt 2026 monatlich 551,10 EUR."
    assert citation.span is not None
    assert EVIDENCE.hits[0].chunk.text[slice(*citation.span)] == citation.quote


@pytest.mark.parametrize(
    ("text", "finish", "reason"),
    [
        ("Die Grenze beträgt 551,10 EUR [pv-a][pv-fremd].", Finish.COMPLETE, Reason.CITATIONS_INVALID),
        ("Die Grenze beträgt 551,10 EUR.", Finish.COMPLETE, Reason.CITATIONS_INVALID),
        ("Die Grenze [1] ist hoch.", Finish.COMPLETE, Reason.CITATIONS_INVALID),
        ("", Finish.COMPLETE, Reason.EMPTY_DRAFT),
        ("  \n", Finish.LENGTH, Reason.EMPTY_DRAFT),
        ("Die Grenze beträgt 551,10 EUR [pv-a] und", Finish.LENGTH, Reason.DRAFT_CUT_OFF),
        ("Die Grenze beträgt 551,10 EUR [pv-a].", Finish.BROKEN, Reason.DRAFT_CUT_OFF),
    ],
)
def test_faults_are_named(text: str, finish: Finish, reason: Reason) -> None:
    outcome = grounded(text, finish)
    assert isinstance(outcome, Complaint)
    assert outcome.reason is reason
    assert outcome.message


def test_the_complaint_names_the_foreign_id() -> None:
    outcome = grounded("X [pv-a]. Y [pv-fremd].")
    assert isinstance(outcome, Complaint)
    assert outcome.unknown_ids == ("pv-fremd",)
    assert "pv-fremd" in outcome.message


@pytest.mark.parametrize(
    "text",
    [
        "Dazu enthält die Wissensbasis keine Aussage.",
        "Leider kann ich diese Frage nicht beantworten. Die Blöcke handeln von anderem.",
        "Dazu enthält die Wissensbasis keine Aussage [pv-a].",
    ],
)
def test_a_refusal_in_whatever_words_is_declined(text: str) -> None:
    assert isinstance(grounded(text), Declined)


def test_a_partial_answer_is_no_refusal() -> None:
    text = "Die Grenze beträgt 551,10 EUR monatlich [pv-a]. Zur Frist bei Saisonbetrieben enthält die Wissensbasis keine Aussage."
    assert isinstance(grounded(text), Supported)


@given(st.lists(st.sampled_from(["pv-a", "pv-b", "pv-c", "PV-A", "1"]), max_size=4))
def test_what_passes_cites_a_non_empty_subset_of_the_evidence(ids: list[str]) -> None:
    outcome = grounded("Die Frist beträgt sechs Wochen " + "".join(f"[{identifier}]" for identifier in ids) + ".")
    if isinstance(outcome, Supported):
        assert set(cited(outcome.text)) <= EVIDENCE.ids
        assert cited(outcome.text)
        assert {c.id for c in outcome.citations} == set(cited(outcome.text))
    else:
        assert not ids or {"pv-c", "1"} & set(ids)
