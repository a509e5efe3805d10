"""Two processes never change one knowledge base at once: the second is told so, loses nothing, and has its turn afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.errors import KnowledgeBaseError
from agent.ingest import build, register
from agent.ingest.lock import NAME, locked
from agent.stores.sqlite import connect
from agent.testing import german
from tests.ingest.samples import put

ROOT = Path(__file__).parents[2]
IMPORT = ("kb", "import", "--licence", "frei", "--language", "de", "--stand", "2026-01-31")
TOLD = "Another process is changing the knowledge base"


def documents(folder: Path, name: str, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"{name}{number}.md").write_text(f"# {name} {number}\n\nEs gilt der Satz von {number + 1} %.\n" * 30, encoding="utf-8")
    return folder


def agent(kb: Path, *command: object) -> subprocess.Popen[str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    line = [sys.executable, "-m", "agent", *map(str, command), "--kb", str(kb)]
    return subprocess.Popen(line, cwd=kb.parent, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@contextmanager
def importing(kb: Path, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """An import of `folder` in a process of its own, from the moment on from which it holds the knowledge base."""
    process = agent(kb, *IMPORT, folder)
    try:
        while process.poll() is None:
            held = connect.exclusive(kb / NAME) if (kb / NAME).exists() else None
            if held is None and (kb / NAME).exists():
                break
            if held is not None:
                held.close()
            time.sleep(0.02)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_a_second_import_is_told_to_wait_and_neither_loses_an_entry(tmp_path: Path) -> None:
    kb, many, few = tmp_path / "kb", documents(tmp_path / "a", "viel", 300), documents(tmp_path / "b", "wenig", 2)
    with importing(kb, many) as first:
        for command in ((*IMPORT, few), ("kb", "build"), ("ingest", "--register", "--no-embed")):
            second = agent(kb, *command)
            _, said = second.communicate(timeout=60)
            if first.poll() is not None:
                pytest.skip("the first import was done before the second could ask")
            assert (second.returncode, TOLD in said, said.count("\n")) == (1, True, 1), said
        _, said = first.communicate(timeout=60)
        assert first.returncode == 0, said
    again = agent(kb, *IMPORT, few)
    _, said = again.communicate(timeout=60)
    assert again.returncode == 0, said
    known = register.load(kb)
    assert known is not None
    assert len(known.entries) == 302
    assert len(list((kb / "dokumente").glob("*.md"))) == 302


def test_who_is_killed_holds_nothing(tmp_path: Path) -> None:
    kb, many = tmp_path / "kb", documents(tmp_path / "a", "viel", 300)
    with importing(kb, many) as first:
        first.send_signal(signal.SIGKILL)
        first.wait(10)
    with locked(kb):
        pass


def test_a_build_waits_for_its_turn_and_changes_nothing(tmp_path: Path) -> None:
    put(tmp_path, "pv-urlaub", "## Zusammenfassung\n\nDer Urlaub beträgt 30 Werktage.", titel="Urlaub")
    with locked(tmp_path), pytest.raises(KnowledgeBaseError, match=TOLD):
        build.build(tmp_path, german(), licence="eigene Texte")
    assert not (tmp_path / "kb.json").exists()
    assert build.build(tmp_path, german(), licence="eigene Texte").added == ("pv-urlaub",)


def test_a_look_at_what_an_import_would_do_needs_no_turn(tmp_path: Path) -> None:
    folder = documents(tmp_path / "a", "satz", 1)
    kb = tmp_path / "kb"
    put(kb, "pv-urlaub", "## Zusammenfassung\n\nDer Urlaub beträgt 30 Werktage.", titel="Urlaub")
    build.build(kb, german(), licence="eigene Texte")
    with locked(kb):
        process = agent(kb, "kb", "import", folder, "--licence", "frei", "--stand", "2026-01-31", "--dry-run")
        said, wrong = process.communicate(timeout=60)
    assert process.returncode == 0, wrong
    assert "1 added" in said
