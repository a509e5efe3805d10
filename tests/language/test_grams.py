"""Character grams: the layout of a text, and that counting in it is counting grams."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.language import grams


def test_a_layout_is_words_between_single_blanks() -> None:
    assert grams.laid_out("Das „Ist“\nein Ärger-Test, §\u00a05!") == " das ist ein ärger test § 5 ".encode()
    assert grams.laid_out("") == b" "
    assert grams.laid_out("Mutter\u00adschutz", "x") == b" mutterschutz x "


def test_grams_reach_beyond_a_word_by_one_blank() -> None:
    assert grams.grams(b" das amt ") == [b" das", b"das ", b" amt", b"amt "]
    assert grams.grams(b" a ") == [b" a "]
    assert grams.grams(" übel ".encode()) == [" übe".encode(), "übel".encode(), b"bel "]


@given(st.text())
def test_every_gram_stands_in_its_layout(text: str) -> None:
    layout = grams.laid_out(text)
    assert all(gram in layout for gram in grams.grams(layout))
    assert grams.distinct([layout]) == [frozenset(grams.grams(layout))]
