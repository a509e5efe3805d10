"""A goldset is read strictly, each fault named with its line, and held against what the knowledge base says."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from agent.errors import AgentError
from agent.eval import goldset, measures
from agent.eval.goldset import Case
from agent.values import Period

SAMPLE = """\
version: 1
boden: {hit-rate@8: 0.9}
fragen:
  - id: g001
    frage: Wie hoch war der Grenzwert 2024?
    stichtag: 2026-11-30
    erwartete_quellen: [pv-grenze, pv-grenze-alt]
    erwartete_werte: ["518,44"]
    tags: [single, temporal]
  - id: g002
    frage: Was kostet das alles?
    stichtag: 2026-11-30
    erwartete_quellen: {all: [pv-a, pv-b]}
    tags: [multi_hop]
    halten: true
    note: zwei Einträge
  - id: g003
    frage: Was gilt in Deutschland?
    stichtag: 2026-11-30
    verweigern: true
    tags: [out_of_scope]
"""


def written(folder: Path, text: str = SAMPLE) -> Path:
    path = folder / "goldset.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_sample_is_read(tmp_path: Path) -> None:
    path = written(tmp_path)
    found = goldset.read(path)
    assert found.version == 1
    assert found.floors == {"hit-rate@8": 0.9}
    assert found.cases[0] == Case(
        id="g001",
        question="Wie hoch war der Grenzwert 2024?",
        stichtag=date(2026, 11, 30),
        sources=("pv-grenze", "pv-grenze-alt"),
        figures=("518,44",),
        tags=("single", "temporal"),
        at=f"{path}:4",
    )
    assert (found.cases[1].need, found.cases[1].held, found.cases[1].at) == ("all", True, f"{path}:10")
    assert found.cases[2].refuse


def test_any_may_be_written_out(tmp_path: Path) -> None:
    found = goldset.read(written(tmp_path, SAMPLE.replace("[pv-grenze, pv-grenze-alt]", "{any: [pv-x, pv-y]}")))
    assert (found.cases[0].need, found.cases[0].sources) == ("any", ("pv-x", "pv-y"))


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("    stichtag: 2026-11-30\n    erwartete_quellen: [", "    erwartete_quellen: [", 4, "question g001: 'stichtag' is missing"),
        ("2026-11-30\n    verweigern", "im Herbst\n    verweigern", 19, "question g003: 'stichtag' must be a date"),
        ("2026-11-30\n    verweigern", "2026-11-31\n    verweigern", 19, "2026-11-31 is no date"),
        ('["518,44"]', "[518.44]", 8, "question g001: 'erwartete_werte' must be text; a figure stands in quotes"),
        ("halten: true", "halten: vielleicht", 15, "question g002: 'halten' must be true or false"),
        ("halten: true", "behalten: true", 15, "question g002: there is no field 'behalten'"),
        ("[multi_hop]", "[multihop]", 14, "question g002: 'tags': .*'multi_hop'"),
        ("verweigern: true", "verweigern: false", 17, "question g003: an answerable question names the sources"),
        ("verweigern: true", 'verweigern: true\n    erwartete_werte: ["1"]', 17, "question g003: a question to be refused expects neither"),
        ("{all: [pv-a, pv-b]}", "{all: [pv-a], any: [pv-b]}", 13, "question g002: .*not as both"),
        ("id: g003", "id: g001", 17, "question g001: the id stands in line 4 already"),
        ("    note: zwei", "    halten: false\n    note: zwei", 16, "'halten' is given twice"),
        ("version: 1", "version: 2", 1, "'version'"),
        ("boden: {hit-rate@8: 0.9}", "boden: {hit-rate@8: hoch}", 2, "'hit-rate@8'"),
        ("version: 1", "version: [1", 2, "no readable YAML"),
    ],
)
def test_a_fault_is_named_with_its_line(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    assert old in SAMPLE
    with pytest.raises(AgentError, match=f"goldset.yaml:{line}: .*{said}"):
        goldset.read(written(tmp_path, SAMPLE.replace(old, new)))


def test_every_fault_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(AgentError) as caught:
        goldset.read(written(tmp_path, SAMPLE.replace("halten: true", "halten: 1").replace('["518,44"]', "[518.44]")))
    assert len(caught.value.message.splitlines()) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("- a\n- b\n", "goldset.yaml:1"),
        ("version: 1\n", "'fragen' is missing"),
        ("version: 1\nfragen: [x]\n", "question 1: this: "),
    ],
)
def test_a_file_that_is_no_goldset_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(AgentError, match=said):
        goldset.read(written(tmp_path, text))


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="cannot be read"):
        goldset.read(tmp_path / "goldset.yaml")


def test_text_that_is_no_utf8_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "goldset.yaml").write_bytes(b"frage: gr\xfcn\n")
    with pytest.raises(AgentError, match="no readable YAML"):
        goldset.read(tmp_path / "goldset.yaml")


# --- against the knowledge base -------------------------------------------------------------------

ROWS: dict[str, list[goldset.Span]] = {"518.44": [(date(2024, 1, 1), date(2024, 12, 31))], "551.10": [(date(2025, 1, 1), None)]}


def spelled(figure: str) -> str:
    return figure.replace(".", "").replace(",", ".")


def case(question: str, *, figure: str = "518,44", sources: tuple[str, ...] = ("pv-grenze",)) -> Case:
    return Case("g1", question, date(2026, 11, 30), sources=sources, figures=(figure,), at="goldset.yaml:3")


def test_an_unknown_entry_is_a_problem(tmp_path: Path) -> None:
    found = goldset.check(goldset.read(written(tmp_path)).cases, {"pv-grenze", "pv-a", "pv-b"})
    assert found == (f"{tmp_path}/goldset.yaml:4: question g001: there is no entry 'pv-grenze-alt'.",)


def test_a_figure_of_another_year_is_a_problem() -> None:
    against = goldset.by_date(ROWS, spelled=spelled)
    wrong, right = case("Wie hoch ist der Wert?"), case("Wie hoch war der Wert 2024?")
    assert goldset.check([right, case("Und heute?", figure="551,10")], {"pv-grenze"}, against=[against]) == ()
    assert goldset.check([wrong], {"pv-grenze"}, against=[against]) == (
        "goldset.yaml:3: question g1: expects 518,44, which the dated values give only for 2024-01-01 to 2024-12-31.",
    )


def test_a_figure_the_dated_values_do_not_hold_is_let_pass() -> None:
    assert goldset.check([case("Wie viel?", figure="7,5")], {"pv-grenze"}, against=[goldset.by_date(ROWS, spelled=spelled)]) == ()


def test_what_a_question_is_about_may_be_told_otherwise() -> None:
    def always(_: Case) -> tuple[Period, ...]:
        return (Period.year(2024),)

    assert goldset.check([case("Wie war es?")], {"pv-grenze"}, against=[goldset.by_date(ROWS, spelled=spelled, periods=always)]) == ()


def test_a_figure_that_none_of_the_sources_holds_is_a_problem() -> None:
    texts = {"pv-grenze": "Die Grenze war 518,44 Euro.", "pv-b": ""}
    against = goldset.by_text(lambda entry, figure: figure in texts[entry])
    assert goldset.check([case("?", sources=("pv-b", "pv-grenze"))], texts, against=[against]) == ()
    (problem,) = goldset.check([case("?", sources=("pv-b",))], texts, against=[against])
    assert "stands in none of its sources" in problem


# --- towards the measures -------------------------------------------------------------------------


def test_any_source_is_enough_and_all_are_all(tmp_path: Path) -> None:
    cases = goldset.read(written(tmp_path)).cases
    run = {"g001": ["x", "pv-grenze-alt", "pv-grenze"], "g002": ["pv-a", "x"], "g003": ["x"]}
    values = measures.per_query(goldset.folded(run, cases), goldset.qrels(cases))
    assert values.keys() == {"g001", "g002"}
    assert (values["g001"]["recall@8"], values["g001"]["all-gold@8"], values["g001"]["MRR"]) == (1, 1, 0.5)
    assert (values["g002"]["recall@8"], values["g002"]["all-gold@8"], values["g002"]["MRR"]) == (0.5, 0, 1)
