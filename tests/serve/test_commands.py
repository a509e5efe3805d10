"""`pv-agent serve` on the command line: what it refuses to begin with, in one sentence, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from agent.cli import serving
from agent.errors import ConfigError
from agent.serve import listening
from agent.settings import Settings

ROOT = Path(__file__).parents[2]


def pv(kb: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    known = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PV_EMBEDDER": "none", "OLLAMA_URL": "http://127.0.0.1:9"}
    command = [sys.executable, "-m", "agent", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=kb.parent, env={**known, **environment}, stdout=pipe, stderr=pipe, text=True)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_it_serves_until_it_is_told_to_stop(kb: Path) -> None:
    port = free_port()
    with pv(kb, "serve", PV_PORT=str(port)) as process:
        for _ in range(200):
            try:
                health = httpx.get(f"http://127.0.0.1:{port}/health").json()
                break
            except httpx.TransportError:
                time.sleep(0.1)
        assert health["index"]["entries"] == 2
        said = httpx.post(f"http://127.0.0.1:{port}/ask", json={"question": "Wie hoch ist die Geringfügigkeitsgrenze 2026?"})
        assert "551,10" in said.json()["answer"]
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
    assert f"http://127.0.0.1:{port}/" in err
    assert f"{said.headers['x-request-id']} POST /ask 200" in err
    assert out == ""
    assert "Traceback" not in err


def test_a_port_in_use_is_one_sentence(kb: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pv(kb, "serve", "--port", str(port)) as process:
            _, err = process.communicate(timeout=30)
    assert process.returncode == 1
    last = err.strip().splitlines()[-1]
    assert last.startswith(f"pv-agent: 127.0.0.1:{port} cannot be listened on")
    assert "PV_PORT" in last
    assert "Traceback" not in err


def test_a_new_token_is_printed_and_is_another_every_time(kb: Path) -> None:
    made = set()
    for _ in range(2):
        with pv(kb, "serve", "--new-token") as process:
            out, _ = process.communicate(timeout=30)
        assert process.returncode == 0
        made.add(out.strip())
    assert len(made) == 2
    assert all(re.fullmatch(r"[\w-]{43}", token) for token in made)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "payroll.example"])
def test_others_are_not_served_without_a_token(host: str) -> None:
    with pytest.raises(ConfigError, match="--new-token"):
        listening.checked(Settings(host=host))
    with pytest.raises(ConfigError, match="too short"):
        listening.checked(Settings(host=host, token="geheim"))
    listening.checked(Settings(host=host, token="x" * 32))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_is(host: str) -> None:
    listening.checked(Settings(host=host))


def test_a_missing_extra_is_one_sentence() -> None:
    with pytest.raises(ConfigError) as refused:
        serving.needed("serve", "json", "no_such_package")
    assert str(refused.value) == 'This needs the package no_such_package, which is not installed. Run: pip install "pv-agent[serve]"'


def test_drafts_are_not_kept_unless_that_is_asked_for(kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(kb.parent)
    monkeypatch.setenv("PV_EMBEDDER", "none")
    assert not serving._settings(None).log_drafts
    monkeypatch.setenv("PV_LOG_DRAFTS", "true")
    assert serving._settings(None).log_drafts


@pytest.mark.parametrize(("words", "completed"), [("pv-agent se", ["search", "serve"]), ("pv-agent serve --ho", ["--host"])])
def test_the_shell_completes_commands_and_options(kb: Path, words: str, completed: list[str]) -> None:
    place = str(len(words.split()) - 1)
    command = [sys.executable, "-c", "import sys; sys.argv = ['pv-agent']; from agent.cli import main; main()"]
    asked = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "_PV_AGENT_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": place,
    }
    said = subprocess.run(command, env=asked, cwd=kb.parent, capture_output=True, text=True, check=False)
    assert said.stdout.split() == completed
