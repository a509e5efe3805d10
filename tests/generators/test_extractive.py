"""The answers without a model: the best piece of every search, a line an entry for a survey."""

from __future__ import annotations

from dataclasses import replace

from agent.generators import extractive
from agent.interfaces import NO_LIMITS
from agent.plan import by_rules
from agent.settings import Settings
from agent.testing import STICHTAG, german, hit, parts
from agent.values import Draft, Evidence, Hit, Question

SURVEYED = [
    hit("pv-a", "Die Prämie beträgt 100 EUR. Die Prämie ist neu. Eine Zulage gibt es auch.", title="Neuerungen: Prämie"),
    hit("pv-b", "Die Zulage beträgt 200 EUR.", title="Neuerungen: Zulage", score=0.9),
    hit("pv-d", "Siehe Prämie und Zulage.", title="Prämie und Zulage", section="Verweise", score=0.85),
    hit("pv-c", "Ein Hund bellt im Hof der Nachbarin, wenn es regnet und stürmt.", title="Haustiere", score=0.8),
]
BOTH = [
    hit("pv-a", "Die Prämie ist bis 1.000 EUR frei. Die Prämie steht im Vertrag. Die Prämie kann jeder bekommen.", title="Prämie"),
    hit("pv-b", "Die Zulage ist bis 50 EUR frei.", title="Zulage", score=0.2),
]


def lines(text: str, hits: list[Hit], weights: dict[str, float], **changes: int) -> list[str]:
    bench, question = parts([], settings=Settings(**changes)), Question(text, STICHTAG)  # type: ignore[arg-type]
    plan = by_rules(question, bench.language)
    return extractive.draft(question, plan, Evidence(tuple(hits), weights=weights), bench, None).text.splitlines()


def test_a_survey_has_a_line_for_each_entry_that_fits() -> None:
    weights = dict.fromkeys(german().terms("Neuerungen Prämie Zulage"), 1.5)
    found = lines("Welche Neuerungen gibt es bei Prämie und Zulage?", SURVEYED, weights)
    assert [line.split("[")[1] for line in found] == ["pv-a].", "pv-b]."]
    assert lines("Welche Neuerungen gibt es bei Prämie und Zulage?", SURVEYED, weights, survey_blocks=1) == found[:1]


def test_a_comparison_speaks_of_both() -> None:
    weights = dict.fromkeys(german().terms("Prämie Zulage frei"), 2.0)
    found = lines("Unterschied zwischen Prämie und Zulage: was ist frei?", BOTH, weights, extractive_sentences=2)
    assert found == ["Die Prämie ist bis 1.000 EUR frei [pv-a].", "Die Zulage ist bis 50 EUR frei [pv-b]."]


def test_a_figure_that_holds_on_other_days_only_is_not_replaced_by_another_thing() -> None:
    held = [
        hit(
            "pv-a",
            "Die Prämie beträgt im Jahr 2025 höchstens 100 EUR. Ein Antrag auf Auszahlung ist schriftlich zu stellen.",
            title="Prämie",
        )
    ]
    weights = dict.fromkeys(german().terms("Prämie"), 2.0)

    def drafted(text: str, hits: list[Hit]) -> Draft:
        bench, question = parts([]), Question(text, STICHTAG)
        return extractive.draft(question, by_rules(question, bench.language), Evidence(tuple(hits), weights=weights), bench, None)

    assert drafted("Wie hoch ist die Prämie 2027?", held).untimely
    assert not drafted("Wie hoch war die Prämie 2025?", held).untimely
    assert not drafted("Muss die Prämie 2027 beantragt werden?", held).untimely  # no figure is wanted
    later = [*held, hit("pv-b", "Die Prämie beträgt ab dem Jahr 2027 höchstens 120 EUR.", title="Prämie", score=0.5)]
    assert "120 EUR" in drafted("Wie hoch ist die Prämie 2027?", later).text


CASES = [
    hit(
        "pv-a",
        "Der Bonus beträgt für Kinder 100 EUR monatlich. Der Bonus beträgt für Studierende 50 EUR monatlich. "
        "Der Bonus beträgt für Lehrlinge 25 EUR monatlich.",
        title="Bonus",
    )
]


def test_a_case_the_question_leaves_open_is_answered_with_all_of_them() -> None:
    weights = dict.fromkeys(german().terms("Bonus"), 2.0)
    figures = [line.split(" EUR")[0].split()[-1] for line in lines("Wie hoch ist der Bonus?", CASES, weights)]
    assert figures == ["100", "50", "25"]


def test_a_case_the_question_names_is_answered_alone() -> None:
    weights = dict.fromkeys(german().terms("Bonus Studierende"), 2.0)
    assert lines("Wie hoch ist der Bonus für Studierende?", CASES, weights) == [
        "Der Bonus beträgt für Studierende 50 EUR monatlich [pv-a]."
    ]


def test_a_long_table_is_no_answer() -> None:
    text = " ".join(
        f"Der Bonus beträgt für {name} {n} EUR monatlich."
        for n, name in enumerate(("Ärzte", "Köche", "Boten", "Maler", "Bäcker", "Wirte", "Hirten"))
    )
    weights = dict.fromkeys(german().terms("Bonus"), 2.0)
    assert len(lines("Wie hoch ist der Bonus?", [hit("pv-a", text, title="Bonus")], weights)) == 1


def test_what_holds_elsewhere_is_not_said() -> None:
    bench, question = parts([]), Question("Wie hoch ist der Satz in Tirol?", STICHTAG)
    text = "In Wien beträgt der Satz 3 %. Außerhalb von Wien beträgt der Satz in den Ländern insgesamt 2 %."
    evidence = Evidence((hit("pv-a", text, title="Satz in Wien"),), weights=dict.fromkeys(german().terms("Satz Tirol"), 2.0))

    def drafted(alternatives: list[list[str]]) -> str:
        knowing = replace(bench, tables={**bench.tables, "limits": {**NO_LIMITS, "alternatives": alternatives}})
        return extractive.draft(question, by_rules(question, bench.language), evidence, knowing, None).text

    assert "3 %" in drafted([]).splitlines()[0]
    assert "2 %" in drafted([["Wien", "Tirol"]]).splitlines()[0]


def test_the_row_of_the_year_asked_answers_though_a_summary_of_another_year_says_it_better() -> None:
    head = "| Bezeichnung | Wert | Zeitraum |\n| --- | --- | --- |\n"
    row = "| Grundbetrag mit Prämien 2025 | 90 EUR monatlich | 1.1.2025 bis 31.12.2025 |"
    text = f"Das Existenzminimum beträgt im Jahr 2026 monatlich 100 EUR, wenn die Person Prämien vom Arbeitgeber bekommt.\n\n{head}{row}"
    weights = dict.fromkeys(german().terms("Existenzminimum Prämien"), 3.0)
    found = lines("Existenzminimum 2025 mit Prämien", [hit("pv-a", text, title="Existenzminimum")], weights)
    assert ["90 EUR" in line for line in found] == [True]
