"""The languages' tables say the same things, each in its own words; what a language must do, it does."""

from __future__ import annotations

import re
from string import Formatter
from typing import Any

import pytest

from agent import texts
from agent.language import Language

CODES = [name.removeprefix("language.") for name in texts.names("tables", ".json") if name.startswith("language.")]
OTHERS = [code for code in CODES if code != "de"]


def language(code: str) -> Language:
    return Language(texts.table(f"language.{code}"))


@pytest.mark.parametrize("code", OTHERS)
def test_every_table_has_the_same_keys(code: str) -> None:
    here, german = texts.table(f"language.{code}"), texts.table("language.de")
    assert here.keys() == german.keys()
    assert here["messages"].keys() == german["messages"].keys()
    assert len(here["sections"]) == len(german["sections"])


@pytest.mark.parametrize("code", CODES)
def test_endings_make_nothing_they_would_change_again_without_end(code: str) -> None:
    analyser = language(code)
    for _, instead, _ in analyser.table["endings"]:
        assert not instead or analyser.term(instead) == analyser.term(analyser.term(instead))


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("kind", ["kb", "import"])
def test_the_tables_of_entries_and_documents_have_the_same_keys(kind: str, code: str) -> None:
    here, german = texts.table(f"{kind}.{code}"), texts.table(f"{kind}.de")
    assert here.keys() == german.keys()
    for name in ("skeleton", "fields"):
        assert here.get(name, {}).keys() == german.get(name, {}).keys()
    for name in ("mark_opens", "mark_alone", "structure"):
        assert not re.compile(here.get(name, "x")).match("")


@pytest.mark.parametrize("code", OTHERS)
def test_every_message_takes_the_same_values(code: str) -> None:
    def fields(message: str) -> set[str]:
        return {name for _, name, _, _ in Formatter().parse(message) if name}

    here, german = texts.table(f"language.{code}")["messages"], texts.table("language.de")["messages"]
    assert {name: fields(text) for name, text in here.items()} == {name: fields(text) for name, text in german.items()}


def test_the_wording_of_reports_says_the_same_in_every_language() -> None:
    def said(table: dict[str, Any], at: str = "") -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for name, value in table.items():
            if isinstance(value, dict):
                found |= said(value, f"{at}/{name}")
            else:
                found[f"{at}/{name}"] = {field for _, field, _, _ in Formatter().parse(value) if field}
        return found

    german, *others = (texts.table(name) for name in texts.names("tables", ".json") if name.startswith("report."))
    assert others
    assert all(said(other) == said(german) for other in others)


@pytest.mark.parametrize("code", CODES)
def test_every_pattern_compiles_and_every_month_has_a_number(code: str) -> None:
    table = texts.table(f"language.{code}")
    assert {month.casefold() for month in table["months"]} == set(table["month_numbers"])
    for pattern, forms in table["norm_references"]:
        groups = re.compile(pattern).groups
        assert all(int(part) <= groups for form in forms for part in re.findall(r"\\(\d)", form))
    assert language(code).terms(" ".join(table["stop_words"][:5])) == []


def test_swedish_inflections_and_derivations_meet() -> None:
    swedish = language("sv")
    assert len({*swedish.terms("undervisning undervisningen undervisade undervisat")}) == 1
    assert swedish.term("bilar") == swedish.term("bilarna")
    assert swedish.term("bil") != swedish.term("båt")


def test_swedish_norms_are_found_in_their_spellings() -> None:
    swedish = language("sv")
    assert set(swedish.terms("3 §")) == set(swedish.terms("§ 3"))
    assert set(swedish.terms("3 §")) <= set(swedish.terms("5 kap. 3 §"))
    assert swedish.terms("SFS 2020:123") == swedish.terms("sfs 2020:123")
    assert set(swedish.terms("SFS 2020:123")) <= set(swedish.terms("lagen (2020:123)"))


def test_english_words_meet() -> None:
    english = language("en")
    assert english.terms("The taxes of employees") == english.terms("tax employee")
    assert english.terms("Article 5") == english.terms("art. 5")
