"""A server as its users have it: uvicorn on a loopback port over a small knowledge base, and a client of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from agent.testing import STICHTAG
from tests.ingest.samples import put

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")

import httpx

from agent.ingest import build
from agent.language import Language
from agent.serve import listening
from agent.serve.service import Service
from agent.settings import Settings, load
from agent.testing import german
from agent.wiring import Bench, place

GRENZE = """## Zusammenfassung

Die Geringfügigkeitsgrenze beträgt 2026 monatlich 551,10 EUR.

## Kernwerte

| Bezeichnung | Wert | Zeitraum |
|---|---|---|
| Geringfügigkeitsgrenze 2026 | 551,10 EUR monatlich | 1.1.2026 bis 31.12.2026 |
| Geringfügigkeitsgrenze 2024 | 518,44 EUR monatlich | 1.1.2024 bis 31.12.2024 |
"""
URLAUB = "## Zusammenfassung\n\nDer gesetzliche Urlaub beträgt 30 Werktage im Urlaubsjahr.\n\n## Verweise\n\n- Geringfügigkeitsgrenze"
QUESTION = "Wie hoch ist die Geringfügigkeitsgrenze 2026?"


@dataclass
class Served:
    """A running server: its service, and a client that asks it."""

    service: Service
    client: httpx.Client
    port: int
    stop: Callable[[], None]
    """Stops the server, and waits until it has; a second call does nothing."""

    def ask(self, question: str = QUESTION, **fields: object) -> httpx.Response:
        return self.client.post("/ask", json={"question": question, **fields})


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    kb = tmp_path / "wissensbasis"
    put(kb, "pv-geringfuegigkeitsgrenze", GRENZE, titel="Geringfügigkeitsgrenze", gueltig_ab="2024-01-01")
    put(kb, "pv-urlaub", URLAUB, titel="Urlaubsausmaß", cross_refs="[pv-geringfuegigkeitsgrenze]")
    language: Language = german()
    assert not build.build(kb, language, licence="eigene Texte").problems
    return kb


def settings_for(kb: Path, **flags: object) -> Settings:
    """Settings of a server over `kb` without a model or an embedder."""
    plain = {"kb_dir": str(kb), "embedder": "none", "ollama_url": "http://127.0.0.1:9", "log_drafts": False}
    return load({**plain, **flags}, environ={}, folder=kb.parent).settings


Serve = Callable[..., Served]


@pytest.fixture
def serve(kb: Path) -> Iterator[Serve]:
    """A function that starts a server with the given settings; all are stopped at the end."""
    stops: list[Callable[[], None]] = []

    def started(today: Callable[[], date] = lambda: STICHTAG, **flags: object) -> Served:
        settings = settings_for(kb, **flags)
        Bench(settings, place(settings)).ingest(lambda *_: None)
        service = Service(settings, today=today)
        socket = listening.bound("127.0.0.1", 0)
        server = listening.server(service)
        thread = threading.Thread(target=lambda: server.run(sockets=[socket]))
        thread.start()
        port = socket.getsockname()[1]
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30)

        def stop() -> None:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive(), "the server does not stop"

        stops.extend((client.close, stop))
        return Served(service, client, port, stop)

    yield started
    for stop in stops:
        stop()


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve()
