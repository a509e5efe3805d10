"""The house's own rules: what every module says first, how long things may get, and that nothing shipped names a machine."""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "agent").rglob("*.py"))
LONGEST_FUNCTION = 40
LONGEST_MODULE = 450
MOST_PARAMETERS = 6


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", [path for path in MODULES if path.read_text(encoding="utf-8").strip()], ids=name)
def test_every_module_says_what_it_is_for(path: Path) -> None:
    said = ast.get_docstring(tree(path))
    assert said, "a module begins with a sentence that says what it is for"
    assert re.match(r"[^\n]+[.:]", said.replace("\n", " "))


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_nothing_gets_too_long(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE
    commands = path.parent.name == "cli"
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not commands:
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            arguments = [a for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs) if a.arg not in ("self", "cls")]
            assert length <= LONGEST_FUNCTION, f"{node.name} has {length} lines"
            assert len(arguments) <= MOST_PARAMETERS, f"{node.name} takes {len(arguments)} parameters"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
def test_no_tracked_file_names_a_place_of_one_machine() -> None:
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    texts = [path for path in tracked if path.endswith((".py", ".md", ".toml", ".yaml", ".json", ".txt", "run", "Makefile"))]
    places = re.compile(r"(?<![\w.:/-])/(?:home|root|Users|work|farm)/\w")
    named = [path for path in texts if (ROOT / path).is_file() and places.search((ROOT / path).read_text(encoding="utf-8"))]
    assert named == []
