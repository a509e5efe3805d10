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


def grounded(text: str, finish: Finish = Finish.COMPLETE, *, question: str = "") -> Supported | Declined | Complaint:
    return ground(Draft(text, Origin.POINT, finish), EVIDENCE, DE, question=question, period=on())


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
    outcome = grounded("Die Frist ist einzuhalten " + "".join(f"[{identifier}]" for identifier in ids) + ".")
    if isinstance(outcome, Supported):
        assert set(cited(outcome.text)) <= EVIDENCE.ids
        assert cited(outcome.text)
        assert {c.id for c in outcome.citations} == set(cited(outcome.text))
    else:
        assert not ids or {"pv-c", "1"} & set(ids)


# --- figures --------------------------------------------------------------------------------------

TABLE = """| Bezeichnung | Wert | Zeitraum | Norm | Schlüssel |
|---|---|---|---|---|
| Grenze monatlich | 551,10 EUR monatlich | 1.1.2026 bis 31.12.2026 | § 5 Abs 2 ASVG | x |
| Grenze monatlich | 518,44 EUR monatlich | 1.1.2024 bis 31.12.2024 | § 5 Abs 2 ASVG | x |
| Höchstbetrag täglich | 231 EUR täglich | 1.1.2026 bis 31.12.2026 | § 45 ASVG | y |
| Höchstbetrag für Sonderzahlungen | 13.860 EUR jährlich | 1.1.2026 bis 31.12.2026 | § 54 ASVG | z |"""
FIGURES = Evidence(
    (
        hit("pv-a", TABLE, section="Kernwerte"),
        hit("pv-b", "Die Kündigungsfrist beträgt nach dem vollendeten zweiten Dienstjahr zwei Monate. Der Urlaub beträgt 30 Werktage."),
    )
)


def of_figures(text: str, question: str = "Wie hoch ist die Grenze?") -> Supported | Declined | Complaint:
    return ground(Draft(text, Origin.POINT), FIGURES, DE, question=question, period=on())


@pytest.mark.parametrize(
    "text",
    [
        "Die Grenze beträgt 2026 monatlich 551,10 EUR [pv-a].",
        "Die Grenze beträgt € 551,10 im Monat (§ 5 Abs. 2 ASVG) [pv-a].",
        "Die Grenze betrug 2024 monatlich 518,44 EUR [pv-a].",
        "Der Höchstbetrag für Sonderzahlungen beträgt 13.860,00 Euro [pv-a].",
        "Nach dem vollendeten zweiten Dienstjahr beträgt die Kündigungsfrist 2 Monate [pv-b].",
        "Der Urlaub beträgt 30 Werktage [pv-b].",
        "Im Jahr sind das für die Grenze 14 × 551,10 EUR = 7.715,40 EUR [pv-a].",
    ],
)
def test_supported_figures_pass(text: str) -> None:
    assert isinstance(of_figures(text), Supported), of_figures(text)


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("Die Grenze beträgt 2026 monatlich 551,20 EUR [pv-a].", "551,20 EUR"),
        ("Die Grenze beträgt rund 551 EUR monatlich [pv-a].", "551 EUR"),
        ("Die Grenze beträgt 2026 monatlich 518,44 EUR [pv-a].", "518,44 EUR"),
        ("Die Grenze beträgt monatlich 518,44 EUR [pv-a].", "518,44 EUR"),
        ("Die Grenze beträgt 551,10 EUR täglich [pv-a].", "551,10 EUR"),
        ("Der Höchstbetrag für Sonderzahlungen beträgt 231 EUR [pv-a].", "231 EUR"),
        ("Die Grenze beträgt 551,10 EUR monatlich nach § 49 ASVG [pv-a].", "§ 49"),
        ("Die Grenze beträgt 551,10 EUR monatlich [pv-b].", "551,10 EUR"),
        ("Der Urlaub beträgt 25 Arbeitstage [pv-b].", "25 Arbeitstage"),
        ("14 × 551,10 EUR = 7.715,50 EUR ist die Grenze [pv-a].", "7.715,50 EUR"),
        ("Die Frist gilt [pv-b]. Die Grenze beträgt 551,10 EUR.", "551,10 EUR"),
    ],
)
def test_figures_of_another_row_year_unit_or_entry_are_faults(text: str, figure: str) -> None:
    outcome = of_figures(text)
    assert isinstance(outcome, Complaint), outcome
    assert outcome.reason is Reason.FIGURES_UNSUPPORTED
    assert any(figure in said for said in outcome.unsupported), outcome.unsupported
    assert figure in outcome.message


def test_a_figure_of_the_question_may_be_quoted() -> None:
    question = "Warum wurde die Grenze 2026 auf 591 Euro erhöht?"
    assert isinstance(of_figures("Die Grenze wurde nicht auf 591 Euro erhöht [pv-a].", question), Supported)
    assert isinstance(of_figures("Die Grenze wurde nicht auf 592 Euro erhöht [pv-a].", question), Complaint)


def test_what_is_left_without_the_faulty_sentence() -> None:
    good, bad = "Die Grenze beträgt 2026 monatlich 551,10 EUR [pv-a].", "Die Grenze beträgt 600 EUR [pv-a]."
    outcome = of_figures(f"{good} {bad}")
    assert isinstance(outcome, Complaint)
    assert outcome.remainder == good
    leaning = of_figures(f"{bad} Dadurch entfällt die Versicherung [pv-b].")
    assert isinstance(leaning, Complaint)
    assert leaning.remainder == ""
