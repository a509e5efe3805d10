"""What a search does not need it does not import; and what runs in the background hands over its result or its error."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agent.background import Background
from agent.late import Late

UNWANTED = (
    "agent.answer",
    "agent.generators",
    "agent.transport",
    "agent.ingest.run",
    "numpy",
    "httpx",
    "yaml",
    "jsonschema",
    "rich",
    "asyncio",
)


def test_the_wiring_alone_imports_neither_the_way_of_an_answer_nor_heavy_libraries() -> None:
    code = f"import sys, agent.wiring; print(*sorted(set({UNWANTED!r}) & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


def test_a_late_module_is_the_module() -> None:
    import agent.ranking

    assert Late("agent.ranking").rrf is agent.ranking.rrf
    with pytest.raises(AttributeError):
        _ = Late("agent.ranking").no_such_thing


def test_the_background_hands_over_results_and_errors() -> None:
    assert Background(lambda: 7).result() == 7

    def broken() -> int:
        raise ValueError("told where it is asked for")

    with pytest.raises(ValueError, match="asked for"):
        Background(broken).result()
