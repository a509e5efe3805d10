"""A run killed at any moment leaves an index that opens and is the old one or the new one."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.kill_ingest import make, state, states

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("seed", range(4))
def test_a_kill_leaves_the_old_index_or_the_new_one(tmp_path: Path, seed: int) -> None:
    old, new = states(tmp_path, entries=30)
    make(tmp_path, entries=30, edition=1)
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.kill_ingest", "--child", str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    process.stdout.readline()  # the child is about to begin
    try:
        process.wait(timeout=random.Random(seed).uniform(0.2, 0.9))
    except subprocess.TimeoutExpired:
        process.kill()
    process.wait()
    process.stdout.close()
    assert state(tmp_path) in (old, new)
