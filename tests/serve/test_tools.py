"""The MCP server as an assistant's program has it: the SDK's own client, over stdio, with a server process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agent import texts

mcp = pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

ROOT = Path(__file__).parents[2]


def talk(kb: Path, what: Callable[[Any], Awaitable[None]]) -> None:
    """Starts `pv-agent mcp` over `kb` and hands a client of it to `what`."""
    from mcp.client.stdio import StdioServerParameters

    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PV_EMBEDDER": "none", "OLLAMA_URL": "http://127.0.0.1:9"}
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "agent", "mcp", "--kb", str(kb)], env=environment, cwd=str(kb.parent)
    )

    async def run() -> None:
        async with mcp.Client(server, read_timeout_seconds=60) as client:
            await what(client)

    asyncio.run(run())


def test_a_client_lists_and_calls_the_tools(kb: Path) -> None:
    async def what(client: Any) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["ask", "search", "show_entry"]
        assert all(tool.annotations.read_only_hint for tool in tools.values())
        assert tools["ask"].output_schema["properties"]["citations"] == texts.schema("answer")["properties"]["citations"]

        said = await client.call_tool("ask", {"question": "Wie hoch ist die Geringfügigkeitsgrenze?", "stichtag": "2024-12-31"})
        assert not said.is_error
        assert "518,44" in said.structured_content["answer"]
        Draft202012Validator(texts.schema("answer")).validate(said.structured_content)

        refused = await client.call_tool("ask", {"question": "Wie wird das Wetter morgen?"})
        assert not refused.is_error
        assert refused.structured_content["refused"]

        found = await client.call_tool("search", {"question": "Urlaub", "k": 1})
        Draft202012Validator(texts.schema("search")).validate(found.structured_content)
        shown = await client.call_tool("show_entry", {"id": found.structured_content["hits"][0]["id"]})
        Draft202012Validator(texts.schema("entry")).validate(shown.structured_content)
        assert "30 Werktage" in shown.structured_content["sections"][0]["text"]

        for name, arguments, sentence in (
            ("show_entry", {"id": "pv-nichts"}, "There is no entry"),
            ("ask", {"question": "?"}, "The question is empty"),
            ("ask", {"question": "Wie?", "scope": "mond"}, "There is no scope"),
            ("search", {"question": "Urlaub", "k": 0}, "k: "),
            ("delete_all", {}, "There is no tool"),
        ):
            wrong = await client.call_tool(name, arguments)
            assert wrong.is_error
            assert sentence in wrong.content[0].text
        assert not (await client.call_tool("search", {"question": "Urlaub"})).is_error

    talk(kb, what)
