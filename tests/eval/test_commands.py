"""The measuring commands: what they write, exit codes, and a gate that tells a broken search from a sound one."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from agent import cli, texts
from tests.eval.world import GOLDSET, world
from tests.ingest.samples import put
from tests.ollama_server import OllamaServer

Run = Callable[..., int]


@pytest.fixture
def pv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command in process, over the small world; returns the exit code."""
    bench = world(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PV_EMBEDDER", "none")
    monkeypatch.setenv("OLLAMA_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("PV_KB_DIR", str(bench.place.kb))

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["pv-agent", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert isinstance(ended.value.code, int)
        return ended.value.code

    return run


def test_eval_writes_what_it_is_told_to(pv: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    files = {name: tmp_path / f"out.{name}" for name in ("json", "html", "md", "scores", "run")}
    options = ("--json-out", "json", "--html", "html", "--markdown", "md", "--scorecard", "scores", "--run-file", "run")
    assert pv("eval", *(str(files.get(option, option)) for option in options)) == 0
    shown = capsys.readouterr().out
    assert "hit-rate@8" in shown
    assert files["md"].read_text(encoding="utf-8").strip() == shown.strip()
    for name in ("json", "scores"):
        jsonschema.validate(json.loads(files[name].read_text(encoding="utf-8")), texts.schema("eval"))
    assert "<svg" in files["html"].read_text(encoding="utf-8")
    assert files["run"].read_text(encoding="utf-8").startswith("g1 Q0 pv-grenze 1 ")


def test_the_gate_is_open_for_an_unchanged_search(pv: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert pv("eval", "--scorecard", str(tmp_path / "data" / "scores" / "0.1.0.json")) == 0
    assert pv("eval", "--gate") == 0  # against the newest scorecard
    assert "The gate is open." in capsys.readouterr().err


def test_the_gate_closes_on_a_shuffled_ranking(
    pv: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["Hund", "Katze", "Vogel", "Fisch", "Pferd", "Esel", "Ziege", "Schaf", "Biene", "Igel", "Fuchs", "Dachs", "Otter", "Luchs"]
    kb = tmp_path / "wissensbasis"
    for word in words:
        put(kb, f"pv-{word.lower()}", f"## Zusammenfassung\n\nDie Haltung vom Tier {word} im Betrieb ist erlaubt.", titel=f"Haltung {word}")
    cases = "".join(
        f'  - {{id: t{n}, frage: "Ist die Haltung vom Tier {word} im Betrieb erlaubt?", stichtag: 2026-11-30, '
        f"erwartete_quellen: [pv-{word.lower()}], tags: [single]}}\n"
        for n, word in enumerate(words)
    )
    (tmp_path / "goldset.yaml").write_text(GOLDSET + cases, encoding="utf-8")
    assert pv("ingest", "--register", "--licence", "eigener Text") == 0
    assert pv("eval", "--json-out", "sound.json") == 0
    assert pv("eval", "--gate", "--compare", "sound.json") == 0
    monkeypatch.setenv("PV_SHUFFLE_RANKING", "true")
    assert pv("eval", "--gate", "--compare", "sound.json") == 1
    assert "gate: MRR@10 went from" in capsys.readouterr().err


def test_the_gate_closes_below_a_floor(pv: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "goldset.yaml").write_text(GOLDSET.replace("0.5", "1.1"), encoding="utf-8")
    assert pv("eval", "--gate") == 1
    assert "below its floor 1.1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("eval", "--beir", "nowhere"), 1, "corpus.jsonl"),
        (("eval", "--beir", ".", "--language", "xx"), 2, "There is no language 'xx'"),
        (("eval", "--compare", "nowhere.json"), 1, "nowhere.json cannot be read"),
        (("eval", "--answers"), 1, "does not answer"),
        (("eval", "--record"), 2, "--cassette"),
        (("eval", "--answers", "--cassette", "nowhere"), 1, "There is no cassette"),
        (("bakeoff", "--models", ","), 2, "--models"),
        (("bakeoff", "--strategies", ","), 2, "--strategies"),
        (("bakeoff",), 2, "--strategies"),
        (("bakeoff", "--models", "a", "--strategies", "direct"), 2, "--models"),
        (("bakeoff", "--strategies", "direct"), 1, "None of these models"),
        (("sweep", "--set", "rrf_k=x"), 1, "rrf_k cannot be 'x'"),
        (("sweep", "--set", "rrfk=3"), 1, "Did you mean rrf_k"),
        (("sweep", "--set", "rrf_k=3", "--measure", "beauty"), 2, "There is no measure 'beauty'"),
        (("sweep", "--set", "rrf_k=3", "--folds", "50"), 2, "cannot make 50 folds"),
    ],
)
def test_one_sentence_for_what_cannot_be_done(
    pv: Run, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, said: str
) -> None:
    assert pv(*arguments) == code
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""


def test_a_sweep_names_the_winner(pv: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert pv("sweep", "--set", "rrf_k=10,60", "--folds", "3", "--measure", "MRR@10") == 0
    assert "kein Unterschied zur jetzigen Einstellung ist gezeigt" in capsys.readouterr().out


def test_a_bakeoff_is_one_table(
    pv: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ollama: OllamaServer
) -> None:
    monkeypatch.setenv("OLLAMA_URL", ollama.url)
    ollama.models["small:1b"] = "chat"

    def replies(body: Any) -> str:
        shown = re.findall(r'<block id="([^"]+)">', body["messages"][-1]["content"])
        return f"Das steht hier [{shown[0]}]." if body["model"] == "small:1b" else "Das steht hier [pv-erfunden]."

    ollama.replies = replies
    assert pv("bakeoff", "--models", "qwen3.8:27b,small:1b,missing:1b", "--json-out", "bake.json") == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert [line.split(" | ")[0] for line in lines] == ["| Modell", "| ---", "| small:1b", "| qwen3.8:27b", "| missing:1b"]
    assert lines[2].split(" | ")[1].startswith("1,000 (")
    assert "nicht bewertet" in lines[4].split(" | ")[1]
    for result in json.loads((tmp_path / "bake.json").read_text(encoding="utf-8")).values():
        jsonschema.validate(result, texts.schema("eval"))


def speaks(body: Any) -> str:
    """A model for every strategy: it searches once where it may, and answers from the first block it is shown."""
    system, user = body["messages"][0]["content"], body["messages"][-1]["content"]
    shown = re.findall(r'<block id="([^"]+)"', user)
    text = f"Das steht hier [{shown[0]}]." if shown else "Das steht hier."
    if "format" in body:
        step = {"action": "answer", "answer": text} if shown else {"action": "search", "source": "wissensbasis", "query": "Urlaub"}
        return json.dumps(step)
    return f"Die Antwort lautet: {text}" if "Schritt für Schritt" in system else text


def test_a_bakeoff_of_strategies_tells_each_class_of_question(
    pv: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ollama: OllamaServer
) -> None:
    monkeypatch.setenv("OLLAMA_URL", ollama.url)
    monkeypatch.setenv("PV_QUERY_PLANNER", "false")
    ollama.replies = speaks
    assert pv("bakeoff", "--strategies", "direct,router,ircot,adaptive", "--json-out", "bake.json") == 0
    printed = capsys.readouterr().out
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in printed.splitlines() if line.startswith("|")]
    assert lines[0][0] == "Strategie"
    assert {line[0] for line in lines[2:6]} == {"direct", "router", "ircot", "adaptive"}
    classes = {(line[0], line[1]): dict(zip(lines[6], line, strict=True)) for line in lines[8:]}
    assert len(classes) == 3 * 4  # classes of question by strategies
    calls = {
        strategy: classes["mehrere Schritte", strategy]["Modellaufrufe je Frage"].split(" ")[0]
        for strategy in ("direct", "router", "ircot")
    }
    assert calls == {"direct": "1,000", "router": "2,000", "ircot": "1,000"}
    assert all(float(row["Token gelesen"].split(" ")[0].replace(",", ".")) > 0 for (tag, _), row in classes.items() if tag != "außerhalb")
    results = json.loads((tmp_path / "bake.json").read_text(encoding="utf-8"))
    for result in results.values():
        jsonschema.validate(result, texts.schema("eval"))
    assert {row.get("label") for row in results["adaptive"]["questions"]} <= {"A", "B", "C"}
    assert all("label" not in row for row in results["direct"]["questions"])


def test_eval_shows_how_often_each_label_was_given(
    pv: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PV_STRATEGY", "adaptive")
    pytest.importorskip("matplotlib")
    assert pv("eval", "--html", "out.html") == 0
    shown = capsys.readouterr().out
    assert "## Einstufung" in shown
    assert "<h2>Einstufung</h2>" in (tmp_path / "out.html").read_text(encoding="utf-8")
    assert re.search(r"\| alle \| \d", shown)


@pytest.mark.skipif(sys.platform == "win32", reason="a process there is not sent an interrupt")
def test_control_c_keeps_what_is_there(pv: Run, tmp_path: Path) -> None:
    journal = tmp_path / "out.json.journal"
    # a shell's background jobs ignore the interrupt, and so would their children
    heard = "import runpy, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); sys.argv[0] = 'pv-agent'; "
    started = [sys.executable, "-c", f"{heard} runpy.run_module('agent', run_name='__main__')", "eval", "--repeat", "100"]
    started += ["--json-out", str(tmp_path / "out.json")]
    environment = {"PV_KB_DIR": str(tmp_path / "wissensbasis"), "PV_EMBEDDER": "none", "PYTHONPATH": str(Path(__file__).parents[2])}
    running = subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=tmp_path)
    while running.poll() is None and not (journal.is_file() and len(journal.read_text(encoding="utf-8").splitlines()) > 5):
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    assert "Go on with the same command and --resume" in err
    kept = journal.read_text(encoding="utf-8").splitlines()
    marked = json.loads(kept[2])
    marked["row"]["question"] = "schon gemessen"
    journal.write_text("\n".join([*kept[:2], json.dumps(marked), *kept[3:], ""]), encoding="utf-8")
    assert pv("eval", "--json-out", str(tmp_path / "out.json"), "--repeat", "100", "--resume") == 0
    rows = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["questions"]
    assert [row["question"] for row in rows].count("schon gemessen") == 1, "what was measured is not measured again"
    assert not journal.exists(), "a result that is whole needs none"
