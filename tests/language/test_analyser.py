"""The analyser: what must meet meets, what must stay apart stays apart, and norms and figures are searchable in every usual spelling."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.testing import german

DE = german()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Kündigung", "Kuendigung"),
        ("Kündigung", "kundigung"),
        ("KÜNDIGUNG", "Ku\u0308ndigung"),
        ("Straße", "Strasse"),
        ("Sätze", "Saetze"),
        ("Höchst\u00adbeitrags\u00adgrundlage", "Höchstbeitragsgrundlage"),
        ("Sonderzahlungen", "Sonderzahlung"),
        ("6.450,00", "6450"),
        ("6 450", "6.450"),
        ("551,10", "551,1"),
        ("1.1.2026", "01.01.2026"),
        ("1.1.2026", "2026-01-01"),
    ],
)
def test_spellings_meet(left: str, right: str) -> None:
    assert DE.terms(left) == DE.terms(right) != []


@pytest.mark.parametrize(("left", "right"), [("Steuer", "Steuersatz"), ("551,10", "551,01"), ("§ 67", "§ 68"), ("1.1.2026", "1.1.2027")])
def test_different_things_stay_apart(left: str, right: str) -> None:
    assert DE.terms(left) != DE.terms(right)


def test_a_norm_is_found_by_each_of_its_levels() -> None:
    fine = DE.terms("§ 67 Abs. 1 Z 2 lit a EStG")
    for coarse in ("§ 67", "§67 Abs 1", "§ 67 Absatz 1", "§ 67 Abs 1 Z 2", "§ 67 EStG"):
        assert set(DE.terms(coarse)) <= set(fine), coarse
    assert not set(DE.terms("§ 67 Abs 2")) <= set(fine)


@pytest.mark.parametrize(
    "spellings",
    [
        ("Rz 1101", "Rz. 1101", "RZ 1101", "Randzahl 1101"),
        ("BGBl. I Nr. 62/2026", "BGBl I 62/2026", "BGBl. I 62/2026"),
        ("Art 17", "Art. 17", "Artikel 17"),
        ("§ 67 EStG", "§67 EStG", "§ 67 des EStG"),
    ],
)
def test_references_meet_in_every_usual_spelling(spellings: tuple[str, ...]) -> None:
    assert len({tuple(DE.terms(spelling)) for spelling in spellings}) == 1
    assert len(DE.terms(spellings[0])[0]) > 2


def test_a_reference_is_whole() -> None:
    assert DE.terms("Rz 1101") == ["rz1101"]
    assert not set(DE.terms("Rz 1101")) & set(DE.terms("Rz 1102"))
    assert set(DE.terms("BGBl 62/2026")) <= set(DE.terms("BGBl I 62/2026"))


def test_an_act_may_stand_before_or_behind() -> None:
    assert set(DE.terms("EStG § 67")) == set(DE.terms("§ 67 EStG"))


def test_every_section_of_an_enumeration_counts() -> None:
    assert {"§23", "§23a", "§24"} <= set(DE.terms("§§ 23, 23a und 24 AngG"))
    assert DE.terms("§§ 15 ff")[0] == "§15"
    assert "§100" not in DE.terms("§§ 3, 100 %")


def test_stop_words_are_no_terms() -> None:
    assert DE.terms("Wie hoch ist der und die?") == []


def test_query_terms_are_distinct_and_in_order() -> None:
    assert DE.query_terms("Urlaub, Krankheit, Urlaub") == DE.terms("Urlaub Krankheit")


@given(st.text())
def test_terms_never_raise_and_pass_fts5_untouched(text: str) -> None:
    for term in DE.terms(text):
        assert term
        assert not set(term) & set(' "\t\n\0')


@given(st.text(alphabet="abcdefgäöü ABC.,0123§", max_size=80))
def test_terms_do_not_depend_on_unicode_form(text: str) -> None:
    import unicodedata

    assert DE.terms(unicodedata.normalize("NFD", text)) == DE.terms(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    "sentences",
    [
        ["Das gilt z. B. ab 1. Jänner 2026 nach § 67 Abs. 1 EStG.", "Der Wert beträgt 551,10 EUR."],
        ["Nach dem 5. Dienstjahr steigt die Frist.", "Sie beträgt lt. Gesetz 3 Monate."],
        ["Bis zum 15. des Folgemonats ist zu zahlen.", "Ende am 31.12.2026.", "Neu."],
        ["Gilt das?", "Ja!", "Siehe Z 2."],
    ],
)
def test_sentences(sentences: list[str]) -> None:
    text = " ".join(sentences)
    assert [text[a:b] for a, b in DE.sentences(text)] == sentences


@given(st.text(max_size=200))
def test_sentences_are_ordered_pieces_that_lose_nothing_but_blanks(text: str) -> None:
    spans = DE.sentences(text)
    assert all(a < b for a, b in spans)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
