"""The MCP server: an assistant's tools `ask`, `search` and `show_entry`, which only read, over stdin and stdout.

Model Context Protocol, with the official SDK's low-level server: the tools' schemas are the ones that are published anyway.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from pydantic import ValidationError

from agent import texts
from agent.errors import AgentError
from agent.i18n import tr
from agent.serve.forms import Ask, Form, Search, Show
from agent.serve.problems import Problem
from agent.serve.service import Service
from agent.settings import Settings

_READ_ONLY = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_INSTRUCTIONS = (
    "Answers come from a curated knowledge base alone. Each names the id and the date (Stand) of the entries it relies on: pass these on. "
    "A refusal (`refused: true`) means that the knowledge base does not say it: do not answer from elsewhere in its name."
)


@dataclass(frozen=True, slots=True)
class _Tool:
    """A tool: what it does, the form of its arguments, the published schema of its result, and who does it."""

    about: str
    form: type[Form]
    schema: str
    act: Callable[[Service, Any], dict[str, Any]]

    def described(self, name: str) -> types.Tool:
        output = {key: value for key, value in texts.schema(self.schema).items() if key != "$id"}
        return types.Tool(
            name=name, description=self.about, input_schema=self.form.model_json_schema(), output_schema=output, annotations=_READ_ONLY
        )


TOOLS: Mapping[str, _Tool] = {
    "ask": _Tool(
        "Answer a question from the knowledge base, with the ids and dates of the entries relied on and the sentences that carry the "
        "answer; or refuse, with the reason and the nearest entries. Ask in the knowledge base's language, one thing at a time.",
        Ask,
        "answer",
        Service.ask,
    ),
    "search": _Tool(
        "Find entries of the knowledge base, best first, each with the text of its best section.", Search, "search", Service.search
    ),
    "show_entry": _Tool("One entry as a whole, by its id: its text, validity, norms and references.", Show, "entry", Service.entry),
}


def serve(settings: Settings) -> None:
    """Serve until stdin ends."""
    service = Service(settings)
    with service.opened():
        anyio.run(_serve, service)


async def _serve(service: Service) -> None:
    server = made(service)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def made(service: Service) -> Server[Any]:
    """The server over a service."""

    async def list_tools(_context: Any, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool.described(name) for name, tool in TOOLS.items()])

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            document = await _called(service, params.name, params.arguments or {})
        except (AgentError, Problem, ValidationError) as error:
            return types.CallToolResult(content=[types.TextContent(text=_said(error))], is_error=True)
        text = json.dumps(document, ensure_ascii=False)
        return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=document)

    return Server("pv-agent", version=texts.release() or "0", instructions=_INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


async def _called(service: Service, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    tool = TOOLS.get(name)
    if tool is None:
        raise Problem(404, "no_such_tool", tr("There is no tool {name!r}.", name=name), tr("There are {tools}.", tools=", ".join(TOOLS)))
    gate = service.gate if name == "ask" else service.aside
    return await gate.run(partial(tool.act, service, tool.form.model_validate(arguments)))


def _said(error: AgentError | Problem | ValidationError) -> str:
    if isinstance(error, ValidationError):
        return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
    return f"{error.detail} {error.mend}".strip() if isinstance(error, Problem) else str(error)
