"""The documentation is true: every command, setting and reason it should name is named, and what it names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_command

from agent import texts
from agent.cli import program
from agent.testing import german
from agent.values import Flag, Origin, Reason, Validity

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands() -> list[str]:
    found = []
    for name, command in get_command(program()).commands.items():  # type: ignore[attr-defined]
        below = getattr(command, "commands", {})
        found += [f"{name} {sub}" for sub in below] or [name]
    return found


@pytest.mark.parametrize("command", commands())
def test_every_command_stands_in_the_readme(command: str) -> None:
    first, *rest = command.split()
    assert f"`pv-agent {first}" in README or f"`{first}`" in README
    assert all(word in README for word in rest)


def test_every_command_of_the_readme_exists() -> None:
    known = {command.split()[0] for command in commands()}
    named = set(re.findall(r"pv-agent ([a-z]+(?:-[a-z]+)*)", README))
    assert named <= known, named - known


def test_every_module_of_the_reading_order_exists() -> None:
    order = README[README.index("## The files, in reading order") :]
    for name in re.findall(r"`([a-z_]+)/?`", order):
        assert (ROOT / "agent" / name).is_dir() or (ROOT / "agent" / f"{name}.py").is_file(), name


def test_the_published_codes_are_the_program_s() -> None:
    answer = texts.schema("answer")["properties"]
    assert answer["reason"]["enum"] == [*(reason.value for reason in Reason), None]
    assert answer["flags"]["items"]["enum"] == [flag.value for flag in Flag]
    assert answer["origin"]["enum"] == [origin.value for origin in Origin]
    assert answer["citations"]["items"]["properties"]["validity"]["enum"] == [validity.value for validity in Validity]


@pytest.mark.parametrize(
    "reason", ["no_evidence", "weak_evidence", "out_of_scope", "out_of_date", "model_refused", "citations_invalid", "figures_unsupported"]
)
def test_every_refusal_has_its_line(reason: str) -> None:
    said = german().message(reason, missing="x", period="2026")
    assert said.endswith(".")


def test_the_changelog_has_the_version() -> None:
    version = re.search(r'^version = "([^"]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version
    assert f"## {version.group(1)}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_readme_shows_the_newest_scores() -> None:
    from benchmarks import readme_scores

    path = readme_scores.newest()
    assert path is not None
    assert readme_scores.written(README, path) == README, "run python -m benchmarks.readme_scores"
