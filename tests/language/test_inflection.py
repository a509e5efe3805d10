"""Swedish word families, all of general words: what is inflected or derived alike gives one term, and other words give others."""

from __future__ import annotations

import pytest

from agent.testing import swedish

SV = swedish()

FAMILIES = [
    "undervisning undervisningen undervisa undervisar undervisade undervisat undervisas undervisande",
    "bil bilen bilar bilarna bilens bilarnas",
    "hus huset husen husets husens",
    "skola skolan skolor skolorna skolans skolornas",
    "barn barnet barnen barnens",
    "flicka flickan flickor flickorna",
    "gata gatan gator gatorna",
    "vecka veckan veckor veckorna",
    "äpple äpplet äpplen äpplena",
    "fråga frågan frågor frågorna frågar frågade frågat",
    "arbete arbetet arbeten arbetena arbeta arbetar arbetade arbetat",
    "svara svarar svarade svarat svar svaret svaren",
    "flytta flyttar flyttade flyttat flyttning flyttningen flytten",
    "betala betalar betalade betalat betalt betalning betalningen betalningar",
    "städa städar städade städat städning städningen",
    "samla samlar samlade samlat samling samlingen samlingar",
    "vandra vandrar vandrade vandrat vandring vandringen vandringar vandrare",
    "odla odlar odlade odlat odling odlingen odlingar odlare",
    "träna tränar tränade tränat träning träningen",
    "behandla behandlar behandlade behandlat behandling behandlingen behandlingar",
    "utbilda utbildar utbildade utbildat utbildning utbildningen utbildningar",
    "registrera registrerar registrerade registrerat registrering registreringen registreringar",
    "ansöka ansöker ansökte ansökt ansökan ansökningar ansökningen",
    "hjälpa hjälper hjälpt hjälp hjälpen",
    "spela spelar spelade spelat spel spelet spelen spelare",
    "snabb snabbt snabba snabbare snabbast",
    "viktig viktigt viktiga viktigare viktigast",
    "möjlig möjligt möjliga möjlighet möjligheten möjligheter",
    "regel regeln regler reglerna",
    "nyckel nyckeln nycklar nycklarna",
    "byggnad byggnaden byggnader byggnaderna",
    "månad månaden månader månaderna",
    "bok boken böcker böckerna",
    "natt natten nätter nätterna",
    "land landet länder länderna",
    "skriva skriver skrev skrivit skrivna",
    "beskriva beskriver beskrev beskrivit",
    "finna finner fann funnit",
    "hålla håller höll hållit",
    "flyga flyger flög flugit",
]
APART = [
    ("bil", "båt"),
    ("skola", "skor"),
    ("bok", "bock"),
    ("natt", "nät"),
    ("rätt", "räta"),
    ("hand", "händelse"),
    ("stad", "städa"),
    ("tidning", "tid"),
    ("planera", "plantera"),
]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.split()[0])
def test_a_family_is_one_term(family: str) -> None:
    assert len({SV.term(word) for word in family.split()}) == 1, {word: SV.term(word) for word in family.split()}


@pytest.mark.parametrize(("one", "other"), APART)
def test_other_words_are_other_terms(one: str, other: str) -> None:
    assert SV.term(one) != SV.term(other)


def test_a_compound_ends_as_its_last_word_does() -> None:
    for whole, last in [("handböcker", "bok"), ("grannländer", "land"), ("folkskolan", "skola"), ("fotboll", "boll")]:
        assert SV.term(whole).endswith(SV.term(last))


def test_a_word_that_says_little_counts_little_and_is_not_missed() -> None:
    weights = SV.word_weights("Hur gammal får en byggnad vara?")
    assert weights[SV.term("gammal")] < weights[SV.term("byggnad")] == 1.0
    assert SV.says_little(SV.term("gamla"))
    assert not SV.says_little(SV.term("byggnad"))
