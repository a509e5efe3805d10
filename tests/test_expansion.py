"""What a question's words are also called, asked of a real index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent import expansion
from agent.ingest.chunks import document, plain
from agent.interfaces import Beside, Update
from agent.stores.sqlite import SqliteIndex, SqliteStore
from agent.testing import german

DE = german()
SYNONYMS = {
    "sz": ("sonderzahl",),
    "13 gehalt": ("weihnachtsremuneration",),
    "azubi": ("lehrling", "lehrling im betrieb"),
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    texts = (
        "Die Sonderzahlung und die Weihnachtsremuneration.",
        "Kollektivvertrag, Erhöhung, Lohnabrechnung.",
        "Der Urlaubszuschuss steht zu, der Resturlaub auch, Urlaub ebenso.",
    )
    with SqliteIndex(tmp_path / "index.db", DE.version) as index:
        index.write(
            Update([document(plain(f"e{n}", "", text), DE) for n, text in enumerate(texts)], frozenset(), "de", "1", Beside(SYNONYMS))
        )
    with SqliteStore(tmp_path / "index.db", DE.version) as opened:
        yield opened


def related(text: str, store: SqliteStore) -> expansion.Related:
    return expansion.related(text, DE.terms(text), DE, store)


def test_a_synonym_stands_for_its_word_and_less_than_it(store: SqliteStore) -> None:
    assert related("Wann ist die SZ fällig?", store)["sz"] == {"sonderzahl": expansion.SYNONYM}
    assert expansion.called(related("SZ", store)) == ["sonderzahl"]


def test_a_phrase_stands_for_each_of_its_terms(store: SqliteStore) -> None:
    found = related("Wann kommt das 13. Gehalt?", store)
    assert found["13"] == found["gehalt"] == {"weihnachtsremuneration": expansion.SYNONYM}
    assert "weihnachtsremuneration" not in str(related("Gehalt im 13. Bezirk", store))


def test_longer_words_that_begin_or_end_with_the_term(store: SqliteStore) -> None:
    assert related("Urlaub", store)["urlaub"] == dict.fromkeys(("resturlaub", "urlaubszuschuss"), expansion.LONGER)


def test_the_halves_of_a_compound(store: SqliteStore) -> None:
    found = related("Kollektivvertragserhöhung", store)
    assert set(found["kollektivvertragserhoh"]) == {"kollektivvertrag", "erhoh"}


def test_an_ellipsis_is_completed_to_a_word_there_is(store: SqliteStore) -> None:
    found = related("Lohn- und Gehaltsabrechnung", store)
    assert found["gehaltsabrechn"] == {"lohnabrechn": expansion.ELLIPSIS}


@pytest.mark.parametrize(("mistyped", "meant"), [("Kolektivvertrag", "kollektivvertrag"), ("Sonderzalung", "sonderzahl")])
def test_a_word_nobody_wrote_finds_the_one_that_was_meant(mistyped: str, meant: str, store: SqliteStore) -> None:
    (others,) = related(mistyped, store).values()
    assert max(others, key=lambda other: others[other]) == meant
    assert max(others.values()) < 1


def test_a_word_that_is_there_is_not_taken_for_a_slip(store: SqliteStore) -> None:
    assert related("Erhöhung", store) == {}


def test_no_term_of_the_question_is_a_relative(store: SqliteStore) -> None:
    found = related("SZ Sonderzahlung Urlaub Resturlaub", store)
    asked = set(DE.terms("SZ Sonderzahlung Urlaub Resturlaub"))
    assert not asked & {other for others in found.values() for other in others}
