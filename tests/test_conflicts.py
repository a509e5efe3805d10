"""Conflicts: two values for one thing and one time are told, the one that prevails is answered; nothing else is a conflict."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.answer import Way, answered
from agent.conflicts import settled, told
from agent.generators import extractive, point
from agent.ingest import register
from agent.ingest.chunks import document
from agent.publish import document as published
from agent.render import answer as rendered
from agent.strategies import direct
from agent.testing import ListSource, ScriptedModel, german, hit, on, parts
from agent.values import Conflict, Evidence, Grounded, Hit, Period, Question, Trace

DE = german()
HEAD = "| Bezeichnung | Wert | Zeitraum | Schlüssel |\n|---|---|---|---|\n"
KB = Path(__file__).parents[1] / "wissensbasis"
OLD, NEW = date(2025, 1, 31), date(2026, 6, 30)


def row(value: str, time: str = "1.1.2026 bis 31.12.2026", *, label: str = "Grenze im Monat", key: str = "grenze") -> str:
    return f"{HEAD}| {label} | {value} | {time} | {key} |"


def between(one: Hit, other: Hit, period: Period | None = None) -> tuple[Conflict, ...]:
    return settled(Evidence((one, other)), period or on(), DE).conflicts


def rows(one: str, other: str) -> tuple[Hit, Hit]:
    return hit("pv-a", one, stand=OLD), hit("pv-b", other, stand=NEW)


def test_the_newer_stand_is_answered_and_the_other_named() -> None:
    (conflict,) = between(*rows(row("551,10 EUR"), row("560,00 EUR")))
    assert conflict.subject == "Grenze im Monat"
    assert conflict.answered == "560,00 EUR (gültig 1.1.2026 bis 31.12.2026, pv-b, Stand 30.6.2026)"
    assert conflict.other == "551,10 EUR (gültig 1.1.2026 bis 31.12.2026, pv-a, Stand 31.1.2025)"


def test_what_holds_from_a_later_day_prevails_over_a_newer_stand() -> None:
    (conflict,) = between(*rows(row("560,00 EUR", "ab 1.7.2026"), row("551,10 EUR", "ab 1.1.2025")))
    assert conflict.holder == "pv-a"
    assert "ab 1.1.2025" in conflict.other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (row("551,10 EUR"), row("551,10 EUR")),
        (row("551,10 EUR monatlich"), row("€ 551,10")),
        (row("551,10 EUR", "1.1.2025 bis 31.12.2025"), row("560,00 EUR")),
        (row("551,10 EUR", key="grenze/a"), row("560,00 EUR", key="grenze/b")),
        (row("551,10 EUR monatlich"), row("18,37 EUR täglich")),
        (row("30 Werktage"), row("25 Arbeitstage")),
        (row("551,10 EUR", label="Grenze ab 3 Jahren", key=""), row("560,00 EUR", label="Grenze ab 5 Jahren", key="")),
        (row("siehe Gesetz"), row("560,00 EUR")),
        ("Die Grenze beträgt 2025 monatlich 551,10 EUR.", "Die Grenze beträgt 2026 monatlich 560,00 EUR."),
        ("Nach 3 Jahren beträgt die Abfindung 2 Monatsentgelte.", "Nach 5 Jahren beträgt die Abfindung 3 Monatsentgelte."),
    ],
)
def test_what_is_no_conflict(one: str, other: str) -> None:
    assert between(*rows(one, other), Period(date(2025, 1, 1), date(2026, 12, 31))) == ()


def test_two_sentences_that_differ_in_one_figure_are_a_conflict() -> None:
    (conflict,) = between(*rows("Der gesetzliche Urlaub beträgt 30 Werktage.", "Der gesetzliche Urlaub beträgt 36 Werktage."))
    assert (conflict.value, conflict.holder) == ("36 Werktage", "pv-b")


def test_rows_of_one_entry_and_values_of_other_days_are_none() -> None:
    text = f"{row('551,10 EUR', 'ab 1.1.2025')}\n| Grenze im Monat | 560,00 EUR | ab 1.1.2026 | grenze |"
    assert between(hit("pv-a", text), hit("pv-b", row("560,00 EUR", "ab 1.1.2026"))) == ()
    assert between(*rows(row("551,10 EUR"), row("560,00 EUR")), Period.year(2024)) == ()
    past = replace(rows("", "")[0].entry, valid_to=date(2026, 1, 31))
    assert between(replace(rows(row("1 EUR", ""), "")[0], entry=past), hit("pv-b", row("2 EUR", ""))) == ()


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["Grenze", "Höchster Satz", "Frist im Fall"]), st.integers(1, 9999), st.sampled_from(["EUR", "%", "Tage"])
        ),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(["", "laufend", "2026", "ab 1.1.2025", "1.1.2026 bis 31.12.2026"]),
)
def test_two_identical_entries_never_conflict(values: list[tuple[str, int, str]], time: str) -> None:
    table = HEAD + "\n".join(f"| {label} | {value} {unit} | {time} | k |" for label, value, unit in values)
    prose = " ".join(f"Der Wert {label} beträgt {value} {unit}." for label, value, unit in values)
    text = f"{prose}\n\n{table}"
    assert between(*rows(text, text), Period(date(2024, 1, 1), date(2027, 1, 1))) == ()


@pytest.mark.parametrize("period", [on(), Period.year(2025), Period(date(2022, 1, 1), date(2027, 12, 31))])
def test_the_shipped_entries_do_not_contradict_each_other(period: Period) -> None:
    entries = register.admitted(KB).entries
    hits = tuple(Hit(indexed.chunk, entry.info, 1.0) for entry in entries for indexed in document(entry, DE).chunks)
    assert settled(Evidence(hits), period, DE).conflicts == ()


def test_only_what_the_answer_states_is_told() -> None:
    evidence = settled(Evidence(rows(row("551,10 EUR"), row("560,00 EUR"))), on(), DE)
    assert told(evidence, "Die Grenze im Monat beträgt 560 EUR [pv-b].", DE) == evidence.conflicts
    assert told(evidence, "Die Frist beträgt 6 Wochen [pv-b].", DE) == ()
    assert told(evidence, "Die Grenze im Monat beträgt 560 EUR [pv-c].", DE) == ()


# --- through the whole way ------------------------------------------------------------------------

HITS = rows(row("551,10 EUR"), row("560,00 EUR"))


def ask(*drafts: str) -> Grounded:
    question = Question("Wie hoch ist die Grenze im Monat?", NEW)
    bench = parts([ListSource(HITS, weights={"grenz": 3.0})], model=ScriptedModel(drafts))
    way = Way(direct.gather, point.draft if drafts else extractive.draft, extractive.draft)
    answer = answered(question, bench, way, Trace(question, language="de"))
    assert isinstance(answer, Grounded)
    return answer


def test_an_extractive_answer_gives_what_prevails_and_names_the_other() -> None:
    answer = ask()
    assert "560,00 EUR" in answer.text
    assert "551,10" not in answer.text
    assert "551,10 EUR" in rendered(answer, DE)
    assert published(answer)["conflicts"] == [{"subject": c.subject, "answered": c.answered, "other": c.other} for c in answer.conflicts]
    assert len(answer.conflicts) == 1


def test_a_draft_that_states_the_overruled_value_is_written_anew() -> None:
    answer = ask("Die Grenze im Monat beträgt 551,10 EUR [pv-a].", "Die Grenze im Monat beträgt 560,00 EUR [pv-b].")
    assert answer.text.endswith("560,00 EUR [pv-b].")
    assert answer.trace.checks.unsupported_figures == ("551,10 EUR",)
    assert len(answer.conflicts) == 1
