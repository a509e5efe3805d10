"""The dated values as a source: the plain look-up finds the right row or none, SQL names rows, and every row can be cited and shown."""

from __future__ import annotations

from datetime import date
from functools import cache
from pathlib import Path

import pytest
import yaml

from agent import texts
from agent.errors import IndexProblem, KnowledgeBaseError, SourceError
from agent.grounding import Supported, ground
from agent.ingest import dated, register, synonyms
from agent.settings import Settings
from agent.sources.sql import Sql
from agent.stores import werte
from agent.testing import STICHTAG, german, on
from agent.values import Draft, Evidence, Origin, Period, SubQuery

KB = Path(__file__).parents[2] / "wissensbasis"
QUESTIONS = yaml.safe_load((Path(__file__).parents[1] / "data" / "wertefragen.yaml").read_text(encoding="utf-8"))
DE = german()


@cache
def admission() -> register.Admission:
    return register.admitted(KB)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Sql:
    """The shipped knowledge base's values, written and read again."""
    import json

    path = tmp_path_factory.mktemp("werte") / "index.werte.db"
    words = synonyms.read(KB)
    assert isinstance(words, dict)
    meta = {**dated.meta(admission(), DE), "synonyms": json.dumps(synonyms.analysed(words, DE))}
    werte.write(path, dated.dated(admission(), DE), meta)
    return Sql(path, DE, Settings())


def ids(found: Evidence) -> list[str]:
    return [hit.entry.id for hit in found.hits]


# --- the plain look-up ----------------------------------------------------------------------------


def test_of_forty_questions_by_label_and_year_at_most_two_find_nothing_and_none_a_wrong_row(source: Sql) -> None:
    assert len(QUESTIONS) == 40
    found = {q["frage"]: ids(source.search(SubQuery(q["frage"], on()), k=8)) for q in QUESTIONS}
    right = {q["frage"]: [f"werte:{row}" for row in q["zeilen"]] for q in QUESTIONS}
    assert {frage: rows for frage, rows in found.items() if rows and rows != right[frage]} == {}
    assert sum(bool(rows) for rows in found.values()) >= 38


def test_the_rows_asked_for_exist() -> None:
    known = {value.id for value in dated.dated(admission(), DE)}
    assert {f"werte:{row}" for q in QUESTIONS for row in q["zeilen"]} <= known
    assert len({row.partition("@")[0] for q in QUESTIONS for row in q["zeilen"]}) >= 35


@pytest.mark.parametrize(
    "question",
    [
        "Wie wird das Wetter 2026?",
        "Welche Regeln gelten für Sonderzahlungen?",
        "Höchstbeitragsgrundlage 2026",  # monthly or daily
        "Große Pendlerpauschale 2026 im Monat",  # for which distance
        "DZ Tirol 2021",  # not held for that year
        "Wie hoch ist die Höchstbeitragsgrundlage in Deutschland für Zahnärzte 2026?",
        "2026",
        "Betrag 2026 in Prozent?",
    ],
)
def test_what_is_not_named_beyond_doubt_is_not_found(source: Sql, question: str) -> None:
    assert ids(source.search(SubQuery(question, on()), k=8)) == []


def test_the_time_in_the_words_goes_before_that_of_the_search(source: Sql) -> None:
    query = "monatliche Höchstbeitragsgrundlage"
    assert ids(source.search(SubQuery(query, Period.year(2023)), k=3)) == ["werte:sv.hbg.monatlich@2023-01-01"]
    assert ids(source.search(SubQuery(f"{query} 2022", Period.year(2023)), k=3)) == ["werte:sv.hbg.monatlich@2022-01-01"]


def test_a_value_that_changes_within_the_time_has_a_row_for_each_part(source: Sql) -> None:
    rows = ids(source.search(SubQuery("Kilometergeld für Fahrrad 2025", on()), k=8))
    assert rows == ["werte:km.fahrrad@2025-01-01", "werte:km.fahrrad@2025-07-01"]
    assert ids(source.search(SubQuery("Kilometergeld für Fahrrad 2025", on()), k=1)) == rows[:1]


# --- SQL ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT key, row, valid_from FROM werte WHERE label LIKE '%höchstbeitragsgrundlage monatlich' AND valid_from = '2024-01-01'",
        "SELECT key, valid_from, value FROM werte WHERE key = 'sv.hbg.monatlich' AND valid_from < '2024-06-01' AND valid_to > '2024-06-01'",
        "```sql\nSELECT * FROM werte WHERE key = 'sv.hbg.monatlich' AND valid_from = '2024-01-01';\n```",
        "SELECT 'sv.hbg.monatlich' AS key, '' AS row, '2024-01-01' AS valid_from, 99999 AS value",
    ],
)
def test_a_select_names_rows_and_they_are_told_as_they_stand(source: Sql, statement: str) -> None:
    (hit,) = source.search(SubQuery(statement, on()), k=3).hits
    assert hit.entry.id == "werte:sv.hbg.monatlich@2024-01-01"
    assert "6.060 EUR monatlich" in hit.chunk.text
    assert "99999" not in hit.chunk.text
    assert (hit.source, hit.entry.title, hit.entry.stand) == ("sql", "Höchstbeitragsgrundlage monatlich", date(2026, 11, 30))


def test_a_key_alone_is_all_of_its_rows(source: Sql) -> None:
    statement = "SELECT DISTINCT key, valid_from FROM werte WHERE key = 'alv.dn.staffel' AND valid_from = '2026-01-01'"
    assert len(ids(source.search(SubQuery(statement, on()), k=20))) == 7
    assert len(ids(source.search(SubQuery(statement, on()), k=3))) == 3


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELECT max(value) FROM werte", "key, row and valid_from"),
        ("DELETE FROM werte", "Only a SELECT"),
        ("SELECT nosuch FROM werte", "no such column"),
        ("PRAGMA journal_mode = WAL", "Only a SELECT"),
    ],
)
def test_what_cannot_be_cited_or_asked_says_so(source: Sql, statement: str, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        source.search(SubQuery(statement, on()), k=3)


def test_a_row_that_is_not_there_is_no_evidence(source: Sql) -> None:
    assert ids(source.search(SubQuery("SELECT 'erfunden' AS key, '' AS row, '2026-01-01' AS valid_from", on()), k=3)) == []


def test_the_source_says_how_to_ask_it(source: Sql) -> None:
    assert "\n" not in source.about
    example = source.about[source.about.index("SELECT key, row") : source.about.index("; oder")]
    assert source.search(SubQuery(example, on()), k=3).hits
    assert source.search(SubQuery(source.about[source.about.rindex("z. B. ") + 6 :], on()), k=3).hits


# --- as evidence ----------------------------------------------------------------------------------


def test_a_row_is_cited_and_grounded(source: Sql) -> None:
    evidence = source.search(SubQuery("Wie hoch war die HBG für SZ 2023?", on()), k=3)
    said = (
        "Die Höchstbeitragsgrundlage für Sonderzahlungen betrug 2023 im Kalenderjahr {} EUR [werte:sv.hbg.sonderzahlungen_jahr@2023-01-01]."
    )

    def checked(value: str) -> object:
        draft = Draft(said.format(value), Origin.STRATEGY)
        return ground(draft, evidence, DE, question="Wie hoch war die HBG für SZ 2023?", period=Period.year(2023))

    outcome = checked("11.700")
    assert isinstance(outcome, Supported)
    (citation,) = outcome.citations
    assert (citation.id, citation.source, citation.stand) == ("werte:sv.hbg.sonderzahlungen_jahr@2023-01-01", "sql", STICHTAG)
    assert "11.700 EUR" in citation.quote
    assert not isinstance(checked("11.800"), Supported)


def test_a_first_day_that_is_not_known_is_not_told(source: Sql) -> None:
    statement = "SELECT key, row, valid_from FROM werte WHERE key = 'kommst.satz'"
    unknown = [value for value in dated.dated(admission(), DE) if not value.start_known]
    assert unknown
    (hit,) = source.search(SubQuery(statement.replace("kommst.satz", unknown[0].key) + f" AND row = '{unknown[0].row}'", on()), k=1).hits
    assert hit.entry.valid_from is None


# --- its making -----------------------------------------------------------------------------------


def test_values_know_the_entries_that_hold_them() -> None:
    values = {value.id: value for value in dated.dated(admission(), DE)}
    held = values["werte:sv.hbg.monatlich@2026-01-01"]
    assert "pv-sv-werte-2026" in held.entries
    assert "pv-sv-werte-2025" not in held.entries
    assert sum(bool(value.entries) for value in values.values()) > 0.9 * len(values)


def test_an_unsound_file_stops_the_making_and_is_named(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    (kb / "dokumente").mkdir(parents=True)
    row = "- {key: a.b, row: null, label: Ein Wert, value: %s, unit: EUR, period: null, valid_from: 2026-01-01, norm: null, source: [x]}\n"
    (kb / "werte.yaml").write_text(row % "zwölf,5" + (row % "12").replace("a.b", "a.c"), encoding="utf-8")
    here = register.admitted(kb)
    with pytest.raises(KnowledgeBaseError, match=r"werte\.yaml:1"):
        dated.dated(here, DE)
    assert [value.id for value in dated.dated(here, DE, skip_bad=True)] == ["werte:a.c@2026-01-01"]
    (kb / "werte.yaml").unlink()
    assert dated.dated(register.admitted(kb), DE) == ()


def test_another_analyser_s_database_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "index.werte.db"
    werte.write(path, (), {"language": "de-0"})
    with pytest.raises(SourceError, match="pv-agent ingest"):
        Sql(path, DE, Settings()).search(SubQuery("Höchstbeitragsgrundlage 2026", on()), k=3)


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "index.werte.db"
    werte.write(path, (), {"language": DE.version})
    before = path.read_bytes()
    twice = dated.dated(admission(), DE)[:1] * 2
    with pytest.raises(IndexProblem, match="cannot be written"):
        werte.write(path, twice, {})
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("code", ["de", "en", "sv"])
def test_the_line_about_it_takes_what_it_is_given(code: str) -> None:
    lines = texts.table(f"language.{code}")["sources"]
    assert set(lines) == {"wissensbasis", "sql", "web"}
    assert lines["sql"].format(table="t", columns="c", example="e", label="l", year="y")
