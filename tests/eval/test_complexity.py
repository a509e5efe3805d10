"""The fit of the classifier: what is read, that it learns, that language alone gives nothing away, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.errors import AgentError
from agent.eval import complexity
from agent.eval.complexity import Example
from agent.language import complexity as form
from agent.testing import german
from agent.values import Label
from tests.eval.world import world

ROOT = Path(__file__).parents[2]
SHORT = ["Danke dir!", "Hallo du!", "Bitte sag mir einen Witz.", "Rechne 3 mal 4.", "Übersetze das Wort.", "Guten Tag!"]
PLAIN = [f"Wie hoch ist der Beitrag zur {name}versicherung?" for name in ("Kranken", "Unfall", "Pensions", "Sozial", "Haft", "Sach")]
LONG = [f"Worin unterscheiden sich {one} und {one}skarenz, und welche Frist gilt jeweils für beide, wenn 2026 endet?" for one in "KLMNOP"]


def examples() -> list[Example]:
    by_label = ((Label.A, SHORT), (Label.B, PLAIN), (Label.C, LONG))
    return [Example(text, label, "de", "test") for label, texts in by_label for text in texts]


def test_it_learns_what_can_be_told_apart() -> None:
    german_fit, other = complexity.fitted(examples())
    assert (german_fit.language, other.language) == ("de", "other")
    assert sum(row.get(label, 0) for label, row in german_fit.said.items()) == 18
    assert form.label(SHORT[0], german(), {"de": german_fit.model}) is Label.A
    assert "accuracy 1.000" in german_fit.line()


def test_a_language_without_all_labels_has_no_model_of_its_own() -> None:
    english = [Example("Who built it and when, and who paid for both?", Label.C, "en", "test")]
    assert [fit.language for fit in complexity.fitted([*examples(), *english])] == ["de", "other"]


def test_the_shipped_table_is_of_the_form_that_is_computed() -> None:
    from agent import texts

    table = texts.table("complexity")
    for name in ("de", "en", "other"):
        assert set(table[name]["weights"]) == set(form.FEATURES)
        assert set(table[name]["bias"]) == {"A", "B", "C"}
    assert form.features("Was?", german()).keys() == set(form.FEATURES)


@pytest.mark.skipif(not (ROOT / "komplexitaet.yaml").is_file(), reason="a package without the repository's labelled questions")
def test_the_labelled_file_has_sixty_of_class_a_and_of_german_c() -> None:
    found = list(complexity._own(ROOT / "komplexitaet.yaml"))
    texts = [example.text for example in found]
    assert len(texts) == len(set(texts))
    assert sum(example.label is Label.A and example.language == "de" for example in found) >= 60
    assert sum(example.label is Label.C and example.language == "de" for example in found) >= 60


def test_the_goldset_s_held_half_is_not_fitted_on(tmp_path: Path) -> None:
    bench = world(tmp_path)
    found = complexity.labelled(bench, [])
    assert {(example.text, example.label) for example in found} == {
        ("Wie hoch ist 2026 die Geringfügigkeitsgrenze im Monat?", Label.B),
        ("Wie lange dauert der Mutterschutz vor der Geburt?", Label.B),
        ("Wie viele Werktage Urlaub gebühren im Jahr?", Label.C),
    }


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("komplexitaet.yaml", "fragen:\n  - {klasse: D, sprache: de, frage: Was?}\n", "komplexitaet.yaml:2: a question needs"),
        ("komplexitaet.yaml", "fragen: Was?\n", "there is no list `fragen`"),
        ("komplexitaet.yaml", "fragen: [\n", "komplexitaet.yaml:"),
        ("queries.jsonl", '{"text": "Was?", "label": "B", "lang": "de"}\n{"text": "Was?"}\n', "queries.jsonl:2: a question needs"),
        ("queries.jsonl", "Was?\n", "queries.jsonl:1: this is no JSON"),
    ],
)
def test_a_broken_file_is_told_with_its_line(tmp_path: Path, name: str, text: str, said: str) -> None:
    bench = world(tmp_path)
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(AgentError, match=said):
        complexity.labelled(bench, [tmp_path] if name.endswith("jsonl") else [])


def test_a_set_is_read_by_the_first_letter_of_its_labels(tmp_path: Path) -> None:
    bench = world(tmp_path)
    rows = [{"text": "Who?", "label": "B_single", "lang": "en"}, {"text": "Who and who?", "label": "C_multi", "lang": "en"}]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = [example for example in complexity.labelled(bench, [tmp_path]) if example.language == "en"]
    assert [example.label for example in found] == [Label.B, Label.C]
