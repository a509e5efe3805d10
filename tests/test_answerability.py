"""The gate: other jurisdictions, other days, and the calibrated model's laws."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from agent import texts
from agent.answerability import elsewhere, features, judged, probability
from agent.ingest import limits
from agent.testing import german, hit
from agent.values import Evidence, Flag, Reason

DE = german()
TABLES: Any = {"limits": limits.read(Path(__file__).parents[1] / "wissensbasis"), "answerability": texts.table("answerability")}
GRENZE = hit("pv-grenze", "Die Geringfügigkeitsgrenze beträgt 551,10 EUR.", title="Geringfügigkeitsgrenze", valid_from=date(2026, 1, 1))
WEIGHTS = {"geringfugigkeitsgrenz": 3.0}


@pytest.mark.parametrize(
    "question",
    [
        "Welche Kündigungsfrist gilt nach deutschem Recht?",
        "Wie hoch ist die Minijob-Grenze in Deutschland 2026?",
        "Urlaubsanspruch in der Schweiz",
        "Wie viel Urlaub gibt es nach italienischem Recht?",
        "Kündigungsfrist laut ungarischem Arbeitsgesetz",
        "Rechne mir die UVA für Oktober.",
        "Soll ich klagen, wenn mein Chef nicht zahlt?",
    ],
)
def test_what_lies_outside_is_refused_by_rule(question: str) -> None:
    verdict = judged(question, Evidence((GRENZE,), weights=WEIGHTS), DE, TABLES)
    assert verdict.reason is Reason.OUT_OF_SCOPE
    assert verdict.missing


@pytest.mark.parametrize(
    "question",
    [
        "Grenzgänger nach Deutschland: wo sozialversichert?",
        "Mein Mitarbeiter wohnt in Deutschland und arbeitet in Salzburg: welche Lohnsteuer?",
        "Entsendung in die Schweiz: A1 nötig?",
        "Welche Kündigungsfrist gilt in Österreich?",
        "Taggeld für eine Dienstreise in Italien",
        "Wie hoch ist der DZ in Wien?",
    ],
)
def test_a_foreign_word_alone_refuses_nothing(question: str) -> None:
    assert elsewhere(question, TABLES["limits"]) == ""


def test_nothing_found() -> None:
    assert judged("Geringfügigkeitsgrenze?", Evidence(), DE, TABLES).reason is Reason.NO_EVIDENCE
    assert judged("Geringfügigkeitsgrenze?", Evidence(flags=frozenset({Flag.SEARCH_FAILED})), DE, TABLES).reason is Reason.SOURCE_FAILED
    assert judged("Geringfügigkeitsgrenze?", Evidence(beside=(GRENZE,)), DE, TABLES).reason is Reason.OUT_OF_DATE


def test_what_is_held_for_other_days_only_is_out_of_date() -> None:
    other = hit("pv-mehrfach", "Mehrere Beschäftigungen über der Geringfügigkeitsgrenze.", title="Mehrere Beschäftigungen")
    found = Evidence((other,), beside=(GRENZE,), weights=WEIGHTS)
    assert judged("Wie hoch war die Geringfügigkeitsgrenze 2015?", found, DE, TABLES).reason is Reason.OUT_OF_DATE
    assert judged("Geringfügigkeitsgrenze", replace(found, hits=(GRENZE,)), DE, TABLES).reason is None


def test_a_foreign_word_is_named_as_missing() -> None:
    found = Evidence((GRENZE,), weights={"marillenknodel": 5.0, "rezept": 5.0})
    verdict = judged("Rezept für Marillenknödel", found, DE, TABLES)
    assert verdict.reason is Reason.WEAK_EVIDENCE
    assert verdict.missing == ("Rezept", "Marillenknödel")


def test_an_entry_whose_title_says_all_that_is_asked_answers_however_little_meaning_a_short_word_has() -> None:
    faint = Evidence((GRENZE,), weights=WEIGHTS, likeness={"x": 0.5}, signals={"cosine": 0.5, "margin": 0.0})
    named = judged("Geringfügigkeitsgrenze", faint, DE, TABLES)
    assert (named.reason, named.score) == (None, TABLES["answerability"]["hybrid"]["threshold"])
    assert judged("Geringfügigkeitsgrenze Salzburg", replace(faint, weights={**WEIGHTS, "salzburg": 2.0}), DE, TABLES).reason


def test_features_lie_between_0_and_1_and_more_coverage_never_hurts() -> None:
    nothing = features(Evidence((GRENZE,), weights={"marillenknodel": 5.0}), DE)
    everything = features(Evidence((GRENZE,), weights=WEIGHTS), DE)
    assert all(0 <= value <= 1 for value in (*nothing.values(), *everything.values()))
    for table in (TABLES["answerability"], texts.own_table("answerability", "sv")):
        for model in (table["hybrid"], table["lexical"]):
            assert probability(everything, model) > probability(nothing, model)


def test_a_language_without_a_gate_of_its_own_has_the_common_one() -> None:
    common, swedish = texts.table("answerability"), texts.own_table("answerability", "sv")
    assert texts.own_table("answerability", "en") is common is texts.own_table("answerability", "de")
    assert swedish is not common
    for kind in ("hybrid", "lexical"):
        assert swedish[kind]["weights"].keys() == common[kind]["weights"].keys()


def test_a_phrase_that_means_the_same_is_held_where_all_its_words_are() -> None:
    def missing(text: str) -> float:
        hit = replace(GRENZE, chunk=replace(GRENZE.chunk, text=text))
        return features(Evidence((hit,), weights={"offi": 5.0}, variants={"offi": ("offent verkehrsmittel",)}), DE)["missing"]

    assert missing("Das öffentliche Verkehrsmittel ist zumutbar.") < 0.1
    assert missing("Das Verkehrsmittel ist zumutbar.") == 1.0


def test_a_question_about_one_word_that_no_entry_holds_is_not_answered_from_the_others() -> None:
    near = hit("pv-frist", "Die Kündigungsfrist beträgt 6 Wochen.", title="Kündigungsfrist")
    weights = dict.fromkeys(DE.terms("Kündigungsfrist"), 2.0) | dict.fromkeys(DE.terms("Mietwohnung"), 6.0)
    certain = {
        **TABLES,
        "answerability": {kind: {**model, "threshold": 0.0} for kind, model in TABLES["answerability"].items() if kind != "note"},
    }
    verdict = judged("Kündigungsfrist für die Mietwohnung", Evidence((near,), weights=weights), DE, certain)
    assert (verdict.reason, verdict.missing) == (Reason.WEAK_EVIDENCE, ("Mietwohnung",))
    assert judged("Kündigungsfrist", Evidence((near,), weights=dict.fromkeys(DE.terms("Kündigungsfrist"), 2.0)), DE, certain).reason is None
