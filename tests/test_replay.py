"""Audit: what a run keeps suffices to tell, export and replay its answer, and to find the answers that an edit affects."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agent import audit, render, texts
from agent.errors import AgentError
from agent.eval import goldset
from agent.ingest import build
from agent.ingest.embed import quiet
from agent.replay import affected, read, replayed
from agent.wiring import Bench
from tests.eval.world import world
from tests.ollama_server import OllamaServer, Reply

QUESTION = "Wie hoch ist 2026 die Geringfügigkeitsgrenze im Monat?"
GOOD = "Die Geringfügigkeitsgrenze beträgt 2026 monatlich 551,10 EUR [pv-grenze]."
BAD = "Die Geringfügigkeitsgrenze beträgt 2026 monatlich 560,10 EUR [pv-grenze]."

Edit = Callable[[str, str], Bench]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return world(tmp_path)


@pytest.fixture
def modelled(tmp_path: Path, ollama: OllamaServer) -> Callable[..., Bench]:
    """A bench whose model is the scripted server."""

    def made(*replies: str | Reply, **settings: Any) -> Bench:
        ollama.models["qwen3.8:27b"] = "chat"
        ollama.replies = list(replies)
        return world(tmp_path, generator="point", ollama_url=ollama.url, query_planner=False, **settings)

    return made


def edited(bench: Bench, entry_id: str, old: str, new: str) -> Bench:
    """The same knowledge base after an edit of an entry (and of the dated values it shows), ingested."""
    path = bench.place.kb / "dokumente" / f"{entry_id}.md"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    values = bench.place.kb / "werte.yaml"
    values.write_text(values.read_text(encoding="utf-8").replace(old.replace(",", "."), new.replace(",", ".")), encoding="utf-8")
    os.utime(path, (path.stat().st_mtime + 5,) * 2)
    return brought_up(bench)


def brought_up(bench: Bench) -> Bench:
    build.build(bench.place.kb, bench.language, licence="eigener Text")
    fresh = Bench(bench.settings, bench.place)
    fresh.ingest(quiet)
    return Bench(bench.settings, bench.place)


def exported(bench: Bench, question: str = QUESTION) -> dict[str, Any]:
    run_id = bench.ask(question).trace.run_id
    assert run_id
    document: dict[str, Any] = json.loads(json.dumps(audit.exported(bench.runs.shown(run_id))))
    Draft202012Validator(texts.schema("export")).validate(document)
    return document


def changes(then: Mapping[str, Any], bench: Bench) -> dict[str, tuple[str, str]]:
    return {d.what: (d.then, d.today) for d in replayed(then, bench).differences}


# --- what a run keeps -----------------------------------------------------------------------------


def test_an_export_holds_all_that_an_answer_rests_on(modelled: Callable[..., Bench]) -> None:
    then = exported(modelled(BAD, GOOD))
    assert (then["question"], then["generator"], then["answer"]["answer"]) == (QUESTION, "point", GOOD)
    assert then["options"]["temperature"] == 0.1
    assert then["options"]["num_ctx"]
    assert not {"kb_dir", "db_path", "ollama_url"} & then["options"].keys()
    assert then["model"]["name"] == "qwen3.8:27b"
    assert then["model"]["digest"]
    assert [call["text"] for call in then["calls"]] == [BAD, GOOD]
    assert {prompt["name"]: prompt["hash"] for prompt in then["prompts"]}["point"] == texts.prompt_hash("de", "point")
    assert "560,10 EUR" in then["complaints"][0]["message"]
    assert then["gate"]["reason"] is None
    (chunk, *_) = [chunk for chunk in then["evidence"] if chunk["id"] == "pv-grenze"]
    assert len(chunk["hash"]) == 16


def test_without_drafts_nothing_the_model_said_is_kept(modelled: Callable[..., Bench]) -> None:
    bench = modelled(BAD, GOOD, log_drafts=False)
    then = exported(bench)
    assert [call["text"] for call in then["calls"]] == [None, None]
    assert then["complaints"][0]["message"] is None
    assert BAD not in json.dumps(bench.runs.shown(then["id"]), ensure_ascii=False)


def test_the_story_names_every_step(modelled: Callable[..., Bench]) -> None:
    bench = modelled(BAD, GOOD)
    run_id = bench.ask(QUESTION).trace.run_id or ""
    told = render.run(bench.runs.shown(run_id))
    for word in ("asked", "planned", "gathered", "judged", "prompt", "called", "complained", "grounded", BAD, GOOD, "Stand 31.1.2026"[:5]):
        assert word in told
    assert texts.prompt_hash("de", "point") in told


def test_a_failed_call_is_logged(modelled: Callable[..., Bench]) -> None:
    then = exported(modelled(*[Reply(status=503)] * 4))
    assert [call["error"] for call in then["calls"]] == ["ModelUnavailable"]
    assert then["answer"]["origin"] == "extractive"


# --- replay ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", [QUESTION, "Was kostet die Autobahnvignette?", "Wie hoch war die Geringfügigkeitsgrenze 2024?"])
def test_nothing_is_different_where_nothing_changed(bench: Bench, question: str) -> None:
    assert changes(exported(bench, question), bench) == {}


@pytest.mark.parametrize("replies", [(GOOD,), (BAD, GOOD), (BAD, BAD), ("", ""), (Reply(status=503),) * 4])
@pytest.mark.parametrize("drafts", [True, False])
def test_a_model_is_not_asked_again(modelled: Callable[..., Bench], ollama: OllamaServer, replies: tuple[Any, ...], drafts: bool) -> None:
    bench = modelled(*replies, log_drafts=drafts)
    then = exported(bench)
    asked = len(ollama.chats)
    again = replayed(then, bench)
    assert again.differences == ()
    assert bool(again.notes) == (not drafts and "text" in then["calls"][0])
    assert len(ollama.chats) == asked


COMPARED = "Wie hoch war die Geringfügigkeitsgrenze 2024 und wie hoch ist sie 2026?"
PLAN = '{"type": "specific", "subqueries": [{"query": "Geringfügigkeitsgrenze", "scope": "alle", "year": 2026}]}'


@pytest.mark.parametrize("drafts", [True, False])
def test_a_plan_a_model_made_is_made_again_from_what_it_said(tmp_path: Path, ollama: OllamaServer, drafts: bool) -> None:
    ollama.models["qwen3.8:27b"] = "chat"
    ollama.replies = [PLAN, GOOD]
    bench = world(tmp_path, generator="point", ollama_url=ollama.url, log_drafts=drafts)
    then = exported(bench, COMPARED)
    assert [call["json"] for call in then["calls"]] == [True, False]
    assert [s["query"] for s in then["plan"]["subqueries"]] == ["Geringfügigkeitsgrenze"]
    again = replayed(then, bench)
    assert again.differences == ()
    assert len(again.notes) == (0 if drafts else 2)
    assert len(ollama.chats) == 2


def test_an_edit_shows_in_evidence_figures_and_answer(bench: Bench) -> None:
    then = exported(bench)
    found = changes(then, edited(bench, "pv-grenze", "551,10", "560,20"))
    assert any(what.startswith("evidence pv-grenze") and what.endswith("text") for what in found)
    assert "551,10 EUR" in found["figures"][0]
    assert "560,20 EUR" in found["figures"][1]
    assert "answer" in found
    assert "verdict" not in found


def test_a_logged_draft_meets_todays_entries(modelled: Callable[..., Bench]) -> None:
    bench = modelled(GOOD)
    then = exported(bench)
    found = changes(then, edited(bench, "pv-grenze", "551,10", "560,20"))
    assert "551,10" in found["figures"][0]
    assert "551,10" not in found["figures"][1]
    assert found["origin"] == ("point", "extractive")


def test_an_edit_elsewhere_changes_nothing(bench: Bench) -> None:
    then = exported(bench)
    far = {chunk["id"] for chunk in then["evidence"]}
    other = next(name for name in ("pv-urlaub", "pv-mutterschutz", "pv-faelligkeit") if name not in far)
    path = bench.place.kb / "dokumente" / f"{other}.md"
    path.write_text(path.read_text(encoding="utf-8") + "\nEin weiterer Satz.\n", encoding="utf-8")
    assert changes(then, brought_up(bench)) == {}


def test_an_entry_that_ended_makes_it_a_refusal(bench: Bench) -> None:
    then = exported(bench, "Bis wann ist die Lohnsteuer ans Finanzamt zu zahlen?")
    (bench.place.kb / "dokumente" / "pv-faelligkeit.md").unlink()
    found = changes(then, brought_up(bench))
    assert found["evidence pv-faelligkeit, Zusammenfassung"] == ("found", "")
    assert found["verdict"][0] == "answered"
    assert found["verdict"][1].startswith("refused")


def test_a_setting_that_is_no_more_is_noted(bench: Bench) -> None:
    then = exported(bench)
    then["options"]["warp"] = 9
    again = replayed(then, bench)
    assert again.differences == ()
    assert "warp" in again.notes[0]


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"export_version": "1.1"}', "kein JSON"])
def test_a_file_that_is_no_export_is_one_sentence(tmp_path: Path, content: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(AgentError, match=r"run\.json"):
        read(path)


@pytest.mark.parametrize(
    ("field", "value"), [("stichtag", "2020-01-01"), ("kb_version", "0" * 16), ("gate", None), ("question", "Anders?")]
)
def test_a_file_that_was_altered_by_hand_is_named(bench: Bench, tmp_path: Path, field: str, value: object) -> None:
    then = exported(bench)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(then, indent=2), encoding="utf-8")
    assert read(path) == then
    path.write_text(json.dumps(then | {field: value}), encoding="utf-8")
    with pytest.raises(AgentError, match="not as it was exported"):
        read(path)


# --- affected -------------------------------------------------------------------------------------


def cases(bench: Bench) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(case.id, case.question, case.sources) for case in goldset.read(bench.place.goldset).cases]


def test_only_answers_whose_cited_text_changed_are_affected(bench: Bench) -> None:
    hit = bench.ask(QUESTION).trace.run_id
    bench.ask("Wie viele Werktage Urlaub gebühren im Jahr?")
    assert affected(bench, None, cases(bench)) == ([], [])
    after = edited(bench, "pv-grenze", "551,10", "560,20")
    answers, questions = affected(after, None, cases(bench))
    assert [(found.id, found.entries) for found in answers] == [(hit, (("pv-grenze", "changed"),))]
    assert [found.id for found in questions] == ["g1"]
    from datetime import date

    assert affected(after, date(2999, 1, 1), cases(bench)) == ([], [])


def test_a_removed_entry_and_other_dates_are_told(bench: Bench) -> None:
    bench.ask("Bis wann ist die Lohnsteuer ans Finanzamt zu zahlen?")
    bench.ask("Wie viele Werktage Urlaub gebühren im Jahr?")
    (bench.place.kb / "dokumente" / "pv-faelligkeit.md").unlink()
    after = edited(bench, "pv-urlaub", "layer: 2", "layer: 2\ngueltig_ab: 2026-01-01")
    answers, _ = affected(after, None, ())
    assert [found.entries for found in answers] == [(("pv-faelligkeit", "removed"),), (("pv-urlaub", "other dates"),)]


def test_the_bench_of_a_replay_leaves_no_run(bench: Bench) -> None:
    then = exported(bench)
    replayed(then, replace(bench))
    assert len(bench.runs.listed(where={})) == 1


# --- reviewed answers -------------------------------------------------------------------------------


def reviewed_run(tmp_path: Path, ollama: OllamaServer, **settings: Any) -> tuple[Bench, dict[str, Any]]:
    """A reviewed answer over the small world, and its export."""
    from tests.review import script

    made = script.bench(tmp_path, ollama, script.Roles(), **settings)
    run_id = made.asked(QUESTION, review="reviewed_answer").answer.trace.run_id
    assert run_id
    exported = json.loads(json.dumps(audit.exported(made.runs.shown(run_id))))
    Draft202012Validator(texts.schema("export")).validate(exported)
    assert exported["answer"]["origin"] == "agent2_reviewed"
    return made, exported


def test_a_reviewed_answer_with_its_contracts_is_repeated_role_by_role(tmp_path: Path, ollama: OllamaServer) -> None:
    made, exported = reviewed_run(tmp_path, ollama, review_log_contracts=True)
    assert len(exported["calls"]) == 3
    again = replayed(exported, made)
    assert (again.differences, again.notes) == ((), ())
    assert again.answer["origin"] == "agent2_reviewed"
    changed = edited(made, "pv-grenze", "551,10", "561,10")
    assert any(found.what == "origin" and found.today == "fallback" for found in replayed(exported, changed).differences)


@pytest.mark.parametrize("settings", [{}, {"review_log_contracts": True, "log_drafts": False}])
def test_a_reviewed_answer_without_its_contracts_says_that_only_search_and_gate_were_compared(
    tmp_path: Path, ollama: OllamaServer, settings: dict[str, Any]
) -> None:
    made, exported = reviewed_run(tmp_path, ollama, **settings)
    again = replayed(exported, made)
    assert again.differences == ()
    assert any("contracts of the review were not kept" in note for note in again.notes)


def test_an_edit_finds_the_reviewed_answers_that_rest_on_it(tmp_path: Path, ollama: OllamaServer) -> None:
    made, exported = reviewed_run(tmp_path, ollama)
    assert exported["reviewed_evidence"]
    answers, _ = affected(edited(made, "pv-grenze", "551,10", "561,10"), None, [])
    assert [(found.id, found.entries) for found in answers] == [(exported["id"], (("pv-grenze", "changed"),))]


def test_a_shadow_review_changes_nothing_of_what_is_replayed(tmp_path: Path, ollama: OllamaServer) -> None:
    from tests.review import script

    made = script.bench(tmp_path, ollama, script.Roles())
    asked = made.asked(QUESTION, review="shadow")
    assert asked.shadow
    before = audit.exported(made.runs.shown(asked.shadow.run_id))
    asked.shadow.run()
    after = audit.exported(made.runs.shown(asked.shadow.run_id))
    aside = {"prompts": [], "checksum": ""}
    assert {**after, **aside} == {**before, **aside}
    assert replayed(json.loads(json.dumps(after)), made).differences == ()
