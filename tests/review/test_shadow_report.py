"""The shadow report: paired figures one can check by hand, missing counts that stay missing, and a verdict that says no by default."""

from __future__ import annotations

import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from agent import cli, texts
from agent.eval import shadow, shadow_page
from agent.eval.goldset import Case
from agent.review.roles import ROLES
from tests.ollama_server import OllamaServer
from tests.review.script import QUESTION, Roles, bench, rejection, rewrite, verdict

DAY = date(2026, 11, 30)


def case(number: int, *sources: str, **more: Any) -> Case:
    return Case(f"g{number}", f"Frage {number}?", DAY, sources or ("pv-a",), **more)


def run(number: int, plain: list[str], used: list[str], **review: Any) -> dict[str, Any]:
    status = {role.name: "valid" for role in ROLES}
    call = {"role": "agent1", "status": "valid", "ms": 100.0, "suspected_cut": False, "tokens": {"prompt": 10, "completion": None}}
    record = {
        "context": {"plain": plain, "used": used},
        "verdict": "approve",
        "fallback_reason": None,
        "text_origin": "agent2_reviewed",
        "changed": True,
        "status": status,
        "calls": [call],
        "ms": 1000.0,
    }
    return {"question": f"Frage {number}?", "stichtag": "2026-11-30", "started": f"2026-11-30T00:00:{number:02}", "review": record | review}


def reported(runs: list[dict[str, Any]], cases: list[Case]) -> dict[str, Any]:
    document = shadow.report(runs, cases)
    jsonschema.validate(json.loads(json.dumps(document)), texts.schema("shadow"))
    for language in ("de", "sv"):
        assert shadow_page.markdown(document, shadow_page.words(language)).startswith("# S")
    return document


@pytest.mark.parametrize(
    ("entries", "given", "precision", "recall"),
    [
        (["pv-a", "pv-x"], case(1, "pv-a"), 0.5, 1.0),
        (["pv-x"], case(1, "pv-a"), 0.0, 0.0),
        (["pv-a", "pv-b", "pv-x", "pv-y"], case(1, "pv-a", "pv-b", need="all"), 0.5, 1.0),
        (["pv-a"], case(1, "pv-a", "pv-b", need="all"), 1.0, 0.5),
        (["pv-a"], case(1, "pv-a", "pv-b"), 1.0, 1.0),
    ],
)
def test_context_precision_and_recall(entries: list[str], given: Case, precision: float, recall: float) -> None:
    assert shadow.context_measures(entries, given) == {"context-precision": precision, "context-recall": recall}


def test_a_gain_beyond_noise_may_switch_on() -> None:
    cases = [case(number) for number in range(30)]
    runs = [run(number, ["pv-x", "pv-y"], ["pv-a", "pv-y"] if number < 12 else ["pv-x", "pv-y"]) for number in range(30)]
    document = reported(runs, cases)
    recall = document["context"]["measures"]["context-recall"]
    assert (recall["without"]["value"], recall["with"]["value"]) == (0, 0.4)
    assert recall["difference"]["value"] == pytest.approx(0.4)
    assert recall["difference"]["low"] > 0
    assert recall["verdict"] == "real_gain"
    assert document["verdict"] == {"switch_on": True, "reason": "better"}


def test_no_gain_does_not_switch_on_however_nice_the_prose() -> None:
    cases = [case(number) for number in range(30)]
    document = reported([run(number, ["pv-a"], ["pv-a"]) for number in range(30)], cases)
    assert document["answers"]["published"]["value"] == 1
    assert document["verdict"] == {"switch_on": False, "reason": "not_shown"}


def test_a_gain_on_one_side_and_a_drop_on_the_other_does_not_switch_on() -> None:
    cases = [case(number) for number in range(30)]
    wide = [f"pv-{number}" for number in range(7)]
    document = reported([run(n, ["pv-a"] if n else ["pv-x"], ["pv-a", *wide]) for n in range(30)], cases)
    assert document["context"]["measures"]["context-precision"]["verdict"] == "real_drop"
    assert document["verdict"] == {"switch_on": False, "reason": "worse"}


def test_few_questions_give_no_verdict() -> None:
    document = reported([run(number, ["pv-x"], ["pv-a"]) for number in range(19)], [case(number) for number in range(19)])
    assert document["verdict"] == {"switch_on": False, "reason": "too_few"}
    assert reported([], [])["verdict"]["reason"] == "too_few"


def test_a_question_counts_once_with_its_newest_run_and_only_on_its_day() -> None:
    old, new, other = run(1, ["pv-x"], ["pv-x"]), run(1, ["pv-x"], ["pv-a"]), run(1, ["pv-a"], ["pv-x"])
    other["stichtag"] = "2024-01-01"
    document = reported([old, new, other], [case(1), case(2, refuse=True)])
    assert document["context"]["questions"] == 1
    assert document["context"]["measures"]["context-recall"]["with"]["value"] == 1
    assert document["runs"] == 3


def test_what_the_reviewer_changed_and_stopped_is_counted_over_what_it_saw() -> None:
    runs = [
        run(1, ["pv-a"], ["pv-a"]),
        run(2, ["pv-a"], ["pv-a"], text_origin="agent2_minor_revision"),
        run(3, ["pv-a"], ["pv-a"], text_origin="fallback", fallback_reason="agent3_reject", verdict="reject", changed=False),
        run(4, ["pv-a"], ["pv-a"], text_origin="fallback", fallback_reason="agent2_invalid_json", verdict=None, changed=False),
    ]
    answers = reported(runs, [])["answers"]
    assert answers["reviewed"] == 3
    assert [answers[name]["count"] for name in ("published", "different", "changed_by_review", "stopped_by_review")] == [2, 2, 1, 1]
    assert answers["stopped_by_review"]["n"] == 3
    assert reported(runs, [])["fallback_reasons"] == {"agent3_reject": 1, "agent2_invalid_json": 1}


def test_missing_counts_are_missing_and_never_nought() -> None:
    role = reported([run(1, ["pv-a"], ["pv-a"]), run(2, ["pv-a"], ["pv-a"])], [])["roles"]["agent1"]
    assert role["prompt_tokens"] == {"sum": 20, "told": 2, "missing": 0}
    assert role["completion_tokens"] == {"sum": None, "told": 0, "missing": 2}


def test_the_command_asks_the_goldset_reports_and_asks_nothing_twice(
    tmp_path: Path, ollama: OllamaServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def replies(body: Any) -> str:
        title = body["format"]["title"]
        asked.append(title)
        question = body["messages"][1]["content"].rpartition("Frage: ")[2]
        return rewrite(original_question=question) if title == "RetrievalRewriteResult" else "nein"

    world = bench(tmp_path, ollama)
    ollama.replies = replies
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLLAMA_URL", ollama.url)
    monkeypatch.setenv("PV_EMBEDDER", "none")
    monkeypatch.setenv("PV_GENERATOR", "extractive")

    def said(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["pv-agent", "shadow-report", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code in (0, None)
        return capsys.readouterr().out

    document = json.loads(said("--ask", "--json"))
    jsonschema.validate(document, texts.schema("shadow"))
    assert (document["runs"], document["context"]["questions"]) == (6, 4)
    assert "agent2_invalid_json" in document["fallback_reasons"]
    assert document["verdict"] == {"switch_on": False, "reason": "too_few"}
    before = len(asked)
    assert "reviewed_answer soll nicht eingeschaltet werden" in said("--ask")
    assert len(asked) == before
    assert json.loads(said("--json", "--since", "2999-01-01"))["runs"] == 0
    assert len(world.runs.listed(where={"mode": "shadow"})) == 6


def test_a_run_of_the_whole_program_is_what_the_report_reads(tmp_path: Path, ollama: OllamaServer) -> None:
    world = bench(tmp_path, ollama, Roles(agent3=[rejection(required_action="ask_for_more_evidence"), verdict()]))
    asked = world.asked(QUESTION, review="shadow")
    assert asked.shadow
    asked.shadow.run()
    document = reported([dict(row) for row in shadow.runs(world)], [Case("g", QUESTION, world.today(), ("pv-grenze",))])
    assert document["answers"]["stopped_by_review"]["count"] == 1
    assert document["context"]["measures"]["context-recall"]["with"]["value"] == 1
