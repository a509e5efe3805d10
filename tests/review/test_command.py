"""`ask --review` as a user meets it: a process of its own, its streams, its exit code, and an interruption in the middle of a shadow."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agent.runlog import RunLog
from tests.ollama_server import OllamaServer, Reply
from tests.review.script import QUESTION, Roles, bench, rewrite


def started(folder: Path, ollama: OllamaServer, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """The program, asking the small world in `folder`."""
    known = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
        "OLLAMA_URL": ollama.url,
        "PV_EMBEDDER": "none",
        "PV_GENERATOR": "extractive",
        **environment,
    }
    command = [sys.executable, "-m", "agent", "ask", QUESTION, *arguments]
    return subprocess.Popen(command, cwd=folder, env=known, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")


def said(folder: Path, ollama: OllamaServer, *arguments: str, **environment: str) -> tuple[int, str, str]:
    process = started(folder, ollama, *arguments, **environment)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def masked(text: str) -> str:
    return re.sub(r"\d{8}-\d{6}-[0-9a-f]{6}", "RUN", text)


def test_the_output_of_shadow_is_that_of_off_to_the_byte_and_the_rest_goes_to_stderr(tmp_path: Path, ollama: OllamaServer) -> None:
    roles = Roles()
    bench(tmp_path, ollama, roles)
    off = said(tmp_path, ollama, "--review", "off")
    shadow = said(tmp_path, ollama, SYSTEMINFORANDE_AGENTIC_RAG_MODE="shadow")
    assert (off[0], shadow[0]) == (0, 0)
    assert masked(off[1]) == masked(shadow[1])
    assert off[2] == ""
    assert "Schattenlauf: agent2_reviewed (approve)" in shadow[2]
    assert roles.asked == ["agent1", "agent2", "agent3"]


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_an_interrupted_shadow_does_no_harm(tmp_path: Path, ollama: OllamaServer, arguments: tuple[str, ...]) -> None:
    roles = Roles(agent1=[Reply(rewrite(), wait=30)])
    bench(tmp_path, ollama, roles)
    process = started(tmp_path, ollama, "--review", "shadow", *arguments)
    assert process.stderr
    assert process.stdout
    assert "Strg-C" in process.stderr.readline()  # the answer was printed before
    # Not while modules still load: an interrupt inside a dataclass being made ends Python by the signal, whoever catches it.
    until = time.monotonic() + 15
    while not roles.asked and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "551,10 EUR" in out
    assert "beendet" in err
    assert "Traceback" not in err
    (row,) = RunLog(tmp_path / "data" / "runs.db").listed(where={})
    assert (row["origin"], row["review"]) == ("extractive", None)


def test_reviewed_answer_prints_what_the_roles_wrote(tmp_path: Path, ollama: OllamaServer) -> None:
    bench(tmp_path, ollama)
    code, out, err = said(tmp_path, ollama, "--review", "reviewed_answer", "--json")
    document: dict[str, Any] = json.loads(out)
    assert (code, document["origin"], document["review"]["verdict"]) == (0, "agent2_reviewed", "approve")
    assert err == ""


def test_a_mode_that_does_not_exist_is_one_sentence(tmp_path: Path, ollama: OllamaServer) -> None:
    bench(tmp_path, ollama)
    code, out, err = said(tmp_path, ollama, "--review", "on")
    assert (code, out) == (2, "")
    assert err.strip() == "pv-agent: --review cannot be 'on'. It is one of off, shadow, reviewed_answer."
