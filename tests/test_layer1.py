"""Licensed full texts never enter the repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYER_1 = (".lexis360", ".wiku", ".firecrawl", ".ris")


@pytest.mark.parametrize("folder", LAYER_1)
def test_layer_1_is_ignored(folder: str) -> None:
    assert f"{folder}/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
def test_no_layer_1_file_is_tracked() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert tracked
    assert [path for path in tracked if set(LAYER_1) & set(Path(path).parts)] == []
