"""Character grams: the layout of a text, and that counting in it is counting grams."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.language import grams


def test_a_layout_is_words_between_blanks() -> None:
    assert grams.laid_out("Das „Ist“\nein Ärger-Test, §\u00a05!").split() == "das ist ein ärger test § 5".encode("latin-1").split()
    assert grams.laid_out("").strip() == b""
    assert grams.letters(grams.laid_out("Das „Ist“\nein – Test")) == 13
    assert grams.laid_out("Mutter\u00adschutz", "x") == b" mutterschutz x "
    assert grams.laid_out("Straße STRASSE STRAẞE") == b" strasse strasse strasse "
    assert grams.laid_out("A\u0308rger") == grams.laid_out("ÄRGER")


def test_letters_of_other_scripts_stay_letters() -> None:
    word, other = grams.laid_out("Отпуск"), grams.laid_out("ОТПУСКА")
    assert len(word) == 8
    assert other.startswith(word[:-1])
    assert grams.laid_out("Łódź – Praha") == grams.laid_out("łódź - praha")


def test_grams_reach_beyond_a_word_by_one_blank() -> None:
    assert grams.grams(b" das amt ") == [b" das", b"das ", b" amt", b"amt "]
    assert grams.grams(b" a ") == [b" a "]
    assert grams.grams(" übel ".encode("latin-1")) == [each.encode("latin-1") for each in (" übe", "übel", "bel ")]


@given(st.text())
def test_every_gram_stands_in_its_layout(text: str) -> None:
    layout = grams.laid_out(text)
    assert all(gram in layout for gram in grams.grams(layout))
    assert grams.distinct([layout]) == [frozenset(grams.grams(layout))]


@given(st.lists(st.text("abcdeéß „.1 "), max_size=6), st.text("abcdeé 1", min_size=1))
def test_counting_at_once_is_counting(texts: list[str], asked: str) -> None:
    layouts = [grams.laid_out(text) for text in texts]
    # where a gram cannot overlap itself
    wanted = list(dict.fromkeys(gram for gram in grams.grams(grams.laid_out(asked)) if gram[0] != gram[-1] or len(gram) < grams.LENGTH))
    wanted = [gram for gram in wanted if gram[:2] != gram[-2:]]
    assert grams.counted_at_once(layouts, wanted) == grams.counted(layouts, wanted)
