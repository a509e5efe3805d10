"""Citations: every form a model gives them is read, none is guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.language.citations import canonical, cited, without

KNOWN = {"pv-a-1", "pv-b-2"}


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Satz [pv-a-1].", ["pv-a-1"]),
        ("Satz [PV-A-1].", ["PV-A-1"]),
        ("Satz [pv-a-1, pv-b-2].", ["pv-a-1", "pv-b-2"]),
        ("Satz [pv-a-1][pv-b-2].", ["pv-a-1", "pv-b-2"]),
        ("Satz 【pv-a-1】.", ["pv-a-1"]),
        ("Satz [pv-a-1.].", ["pv-a-1"]),
        ("Satz [`pv-a-1`].", ["pv-a-1"]),
        ("Satz [1].", ["1"]),
        ("Satz [Anmerkung der Redaktion].", []),
        ("Satz [Anmerkung].", []),
        ("Satz […] und [...].", []),
        ("Satz ohne.", []),
    ],
)
def test_cited(text: str, ids: list[str]) -> None:
    assert cited(text) == ids


def test_canonical_takes_the_known_spelling_and_leaves_unknown_ids() -> None:
    assert canonical("Eins [PV-A-1, pv-b-2]. Zwei [pv-a-11].", KNOWN) == "Eins [pv-a-1][pv-b-2]. Zwei [pv-a-11]."


def test_a_citation_behind_the_full_stop_belongs_to_the_sentence_before() -> None:
    assert canonical("Eins. [pv-a-1] Zwei. [pv-b-2]", KNOWN) == "Eins [pv-a-1]. Zwei [pv-b-2]."


def test_without() -> None:
    assert without("Der Wert ist 5 [pv-a-1][pv-b-2]. Und [sic] mehr [pv-a-1].") == "Der Wert ist 5. Und [sic] mehr."


@given(st.text(alphabet="ab-[]【】., 1(x)", max_size=60))
def test_canonical_changes_no_id(text: str) -> None:
    assert set(cited(canonical(text, KNOWN))) == set(cited(text))
