"""Every strategy on the command line, against a real server on loopback: what is printed, logged, shown and replayed."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agent import cli, texts
from tests.eval.world import world
from tests.ollama_server import OllamaServer

QUESTION = "Wie viele Werktage Urlaub gebühren im Jahr?"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def pv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ollama: OllamaServer) -> Run:
    """The command in process, over a small knowledge base and a scripted server; (exit code, stdout, stderr)."""
    bench = world(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PV_EMBEDDER", "none")
    monkeypatch.setenv("OLLAMA_URL", ollama.url)
    monkeypatch.setenv("PV_KB_DIR", str(bench.place.kb))

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["pv-agent", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        told = capsys.readouterr()
        return int(ended.value.code or 0), told.out, told.err

    return run


def routed(body: Any) -> str:
    """A model that searches once, then answers with what it was shown."""
    shown = re.findall(r'<block id="([^"]+)"', body["messages"][-1]["content"])
    if not shown:
        return json.dumps({"action": "search", "source": "wissensbasis", "query": "Urlaubsausmaß in Werktagen"})
    return json.dumps({"action": "answer", "answer": "Im Jahr gebühren 30 Werktage Urlaub.", "citations": shown[:1]})


def test_the_router_s_answer_and_its_path(pv: Run, ollama: OllamaServer) -> None:
    ollama.replies = routed
    code, out, _ = pv("ask", QUESTION, "--strategy", "router", "--json")
    document = json.loads(out)
    Draft202012Validator(texts.schema("answer")).validate(document)
    assert code == 0
    assert document["answer"] == "Im Jahr gebühren 30 Werktage Urlaub [pv-urlaub]."
    assert (document["origin"], document["strategy"]) == ("strategy", "router")
    assert [(hop["source"], hop["query"], hop["ids"][0]) for hop in document["hops"]] == [
        ("wissensbasis", "Urlaubsausmaß in Werktagen", "pv-urlaub")
    ]
    assert len(ollama.chats) == 2
    _, shown, _ = pv("runs", "show", document["run_id"])
    assert "router: 1 search\n" in shown
    assert re.search(r"1 +wissensbasis +Urlaubsausmaß in Werktagen +pv-urlaub.* ms", shown)


def test_ircot_s_answer_and_its_path(pv: Run, ollama: OllamaServer) -> None:
    ollama.replies = ["Zu klären ist das Ausmaß im Urlaubsjahr.", "Die Antwort lautet: Im Jahr gebühren 30 Werktage Urlaub [pv-urlaub]."]
    code, out, _ = pv("ask", QUESTION, "--strategy", "ircot", "--json")
    document = json.loads(out)
    Draft202012Validator(texts.schema("answer")).validate(document)
    assert (code, document["answer"]) == (0, "Im Jahr gebühren 30 Werktage Urlaub [pv-urlaub].")
    assert [hop["query"] for hop in document["hops"]] == [QUESTION, "Zu klären ist das Ausmaß im Urlaubsjahr."]
    _, shown, _ = pv("runs", "show", document["run_id"])
    assert "ircot: 2 searches" in shown
    assert "| Zu klären ist das Ausmaß im Urlaubsjahr." in shown


def test_reasoning_is_not_kept_where_drafts_are_not(pv: Run, ollama: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PV_LOG_DRAFTS", "false")
    ollama.replies = ["Zu klären ist das Ausmaß.", "Die Antwort lautet: Im Jahr gebühren 30 Werktage Urlaub [pv-urlaub]."]
    _, out, _ = pv("ask", QUESTION, "--strategy", "ircot", "--json")
    _, shown, _ = pv("runs", "show", json.loads(out)["run_id"], "--json")
    steps = json.loads(shown)["steps"]
    assert [step["text"] for step in steps if step["kind"] in ("reasoned", "called", "drafted")] == [None] * 4


def test_adaptive_counts_its_labels(pv: Run, ollama: OllamaServer) -> None:
    ollama.replies = lambda body: "Im Jahr gebühren 30 Werktage Urlaub [pv-urlaub]."
    _, out, _ = pv("ask", QUESTION, "--strategy", "adaptive", "--json")
    document = json.loads(out)
    Draft202012Validator(texts.schema("answer")).validate(document)
    assert document["complexity"] == {"label": "B", "said": "B"}
    assert len(ollama.chats) == 1
    pv("ask", "Danke dir, sag mir noch einen Satz über Urlaub im Jahr!", "--strategy", "adaptive", "--json")
    _, listed, _ = pv("runs", "list")
    assert "labels: A→B 1 · B 1" in listed
    assert "adaptive A→B" in listed
    _, rows, _ = pv("runs", "list", "--where", "said=A", "--json")
    assert [(row["label"], row["said"], row["searches"]) for row in json.loads(rows)] == [("B", "A", 1)]


def test_an_answer_without_a_search_says_so(pv: Run, ollama: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PV_ALLOW_UNGROUNDED", "true")
    ollama.replies = ["Gern geschehen!"]
    code, out, _ = pv("ask", "Danke dir, das war alles!", "--strategy", "adaptive")
    assert code == 0
    assert out.startswith("Diese Antwort stammt nicht aus der Wissensbasis; sie ist durch keinen Eintrag belegt.\n\nGern geschehen!")
    assert "Belege" not in out


def test_an_exported_run_of_a_router_can_be_replayed(pv: Run, ollama: OllamaServer, tmp_path: Path) -> None:
    ollama.replies = routed
    _, out, _ = pv("ask", QUESTION, "--strategy", "router", "--json")
    ollama.replies = []
    pv("runs", "export", json.loads(out)["run_id"], "--out", str(tmp_path / "run.json"))
    code, out, _ = pv("runs", "replay", str(tmp_path / "run.json"))
    assert (code, out.strip().endswith("nothing is different today.")) == (0, True), out


@pytest.mark.parametrize("how", [[], ["--generator", "extractive"]])
def test_without_a_model_the_search_is_direct_and_says_so(pv: Run, ollama: OllamaServer, how: list[str]) -> None:
    if not how:
        ollama.close()
    code, out, _ = pv("ask", QUESTION, "--strategy", "router", *how)
    assert code == 0
    assert "30 Werktage Urlaub" in out
    assert "! Die Strategie router braucht ein Sprachmodell; ohne eines wurde direkt gesucht." in out


def test_what_lies_outside_is_refused_before_any_model_is_asked(pv: Run, ollama: OllamaServer, tmp_path: Path) -> None:
    limits = 'ausserhalb:\n  - {name: "das Recht anderer Staaten", wendungen: [deutschland], ausser: []}\n'
    (tmp_path / "wissensbasis" / "grenzen.yaml").write_text(limits, encoding="utf-8")
    assert pv("ingest", "--register")[0] == 0
    code, out, _ = pv("ask", "Wie viele Werktage Urlaub gebühren in Deutschland?", "--strategy", "router")
    assert (code, ollama.chats) == (3, [])
    assert "das Recht anderer Staaten" in out
