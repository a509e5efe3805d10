"""An answer as server-sent events: what is being done, with the sources found, and at last the checked answer; never unchecked text."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from typing import Any

from agent.errors import AgentError
from agent.runlog import Listener
from agent.serve import problems
from agent.serve.gate import Gate
from agent.serve.problems import Problem

BEAT = 15.0
"""Seconds of silence after which a comment is sent, so that nobody between takes the connection for dead."""

_BEAT = ": still here\n\n"

Event = tuple[str, dict[str, Any]]


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


class Steps:
    """What a run logs, as the steps a page shows: planning, searching (begun, then with the sources), drafting, checking, reviewing."""

    def __init__(self, titles: Callable[[list[str]], Mapping[str, str]]) -> None:
        self._titles = titles
        self._told: set[str] = set()

    def of(self, kind: str, data: Mapping[str, Any]) -> dict[str, Any] | None:
        """The event of a logged step; None for what a page does not show."""
        if kind == "asked":
            return {"step": "planning"}
        if kind in ("planned", "searching"):
            return self._searching([data["query"]] if kind == "searching" else [one.query for one in data["plan"].subqueries])
        if kind == "gathered":
            return {"step": "searching", "sources": self._sources(hit["id"] for hit in data["evidence"])}
        if kind == "judged":
            return {"step": "drafting"} if data["reason"] is None else None
        if kind in ("drafted", "complained"):
            return {"step": "checking"} if kind == "drafted" else {"step": "drafting", "again": True}
        return {"step": "reviewing"} if kind.startswith("review") else None

    def _searching(self, queries: list[str]) -> dict[str, Any] | None:
        """The searches that begin; None for those that were told with the plan."""
        new = [query for query in queries if query not in self._told]
        self._told.update(new)
        return {"step": "searching", "queries": new} if new else None

    def _sources(self, ids: Iterable[str]) -> list[dict[str, str]]:
        distinct = list(dict.fromkeys(ids))
        known = self._titles(distinct)
        return [{"id": each, "title": known.get(each, each)} for each in distinct]


async def events(gate: Gate, ask: Callable[[Listener], dict[str, Any]], steps: Steps, request_id: str) -> AsyncIterator[str]:
    """The events of one question, as text; it ends with `answer` or `problem`. Who stops reading stops the run at its next step."""
    try:
        if gate.crowded:
            yield told("step", {"step": "waiting"})
        async with AsyncExitStack() as place:
            async for _ in _beats(asyncio.ensure_future(place.enter_async_context(gate.place()))):
                yield _BEAT
            async for name, data in _running(gate, ask, steps):
                yield told(name, data) if name else _BEAT
    except Problem as problem:
        yield told("problem", problem.document(request_id))
    except AgentError as error:
        yield told("problem", problems.of(error).document(request_id))


async def _beats(entering: asyncio.Future[None]) -> AsyncIterator[None]:
    """A beat for every while it takes to get a place. Raises what stands in the way of it; who stops waiting leaves the queue."""
    try:
        while not entering.done():
            await asyncio.wait({entering}, timeout=BEAT)
            if not entering.done():
                yield None
    finally:
        entering.cancel()
        await asyncio.wait({entering})  # a place that was got meanwhile is given back with the others
        failed = None if entering.cancelled() else entering.exception()
    if failed is not None:
        raise failed


async def _running(gate: Gate, ask: Callable[[Listener], dict[str, Any]], steps: Steps) -> AsyncIterator[Event]:
    loop = asyncio.get_running_loop()
    arriving: asyncio.Queue[Event] = asyncio.Queue()
    gone = False

    def listener(kind: str, data: Mapping[str, Any]) -> None:
        if gone:
            raise ClientGone
        event = steps.of(kind, data)
        if event is not None:
            loop.call_soon_threadsafe(arriving.put_nowait, ("step", event))

    work = gate.start(lambda: ask(listener))
    work.add_done_callback(lambda _: arriving.put_nowait(("", {})))  # wakes who waits for the last event
    try:
        while not work.done() or not arriving.empty():
            try:
                async with asyncio.timeout(BEAT):
                    event = await arriving.get()
            except TimeoutError:
                yield "", {}
                continue
            if event[0]:
                yield event
        yield "answer", work.result()
    finally:
        gone = True
        if not work.done():
            work.add_done_callback(lambda ended: ended.exception())  # it was told to stop; nobody asks how it ended


def told(name: str, data: Mapping[str, Any]) -> str:
    """One event as it goes over the wire."""
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
