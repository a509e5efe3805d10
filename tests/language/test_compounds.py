"""Compounds and ellipses: cut where both halves are words, completed to words there are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.language import compounds
from agent.testing import german

DE = german()


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("Kollektivvertragserhöhung", "Kollektivvertrag Erhöhung"),
        ("Sachbezugswerteverordnung", "Sachbezug Werteverordnung"),
        ("Verpflegungskosten", "Verpflegung Kosten"),
        ("Dienstgeberkonto", "Dienstgeber Konto"),
        ("Lohnsteuer", "Lohn Steuer"),
    ],
)
def test_a_compound_falls_into_words_that_are_known(word: str, parts: str) -> None:
    vocabulary = set(DE.terms(parts)) | {"dien", "gebe"}
    assert set(compounds.known(DE.term(word), vocabulary, DE)) == set(DE.terms(parts))


def test_nothing_falls_apart_into_words_that_are_not_known() -> None:
    assert compounds.known(DE.term("Kollektivvertragserhöhung"), {"kollektivvertrag"}, DE) == ()
    assert compounds.cuts("551_1", DE) == []
    assert compounds.cuts("kurz", DE) == []


@given(st.text(alphabet="abcdefgs", min_size=1, max_size=20))
def test_the_back_of_a_cut_is_the_end_of_the_term(term: str) -> None:
    for front, back in compounds.cuts(term, DE):
        assert term.endswith(back)
        assert front
        assert len(back) >= compounds.SHORTEST


@pytest.mark.parametrize(
    ("text", "written_out"),
    [
        ("Lohn- und Gehaltsabrechnung", "Lohnabrechnung"),
        ("die Wochenend- oder Feiertagsarbeit", "Wochenendarbeit"),
        ("Lohnsteuer und -abgaben", "Lohnabgaben"),
        ("Sonntags-, Feiertagszuschlag", "Sonntagszuschlag"),
    ],
)
def test_an_ellipsis_is_completed(text: str, written_out: str) -> None:
    assert any(DE.term(written_out) in words for words in compounds.completed(text, DE).values())


def test_what_is_no_ellipsis_is_left_alone() -> None:
    assert compounds.completed("Die Lohnabrechnung und das Gehalt, K-Nummer 5 oder mehr", DE) == {}
