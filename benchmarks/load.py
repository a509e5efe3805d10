"""Many clients at once: `pv-agent serve` over a copy of the knowledge base, a distinct question every time, a reindex in the middle.

    python -m benchmarks.load [--clients 32] [--seconds 60]

Prints errors, the quantiles of the time of an answer (in all, and while the index was built anew), and the server's memory over time.
Exits with 1 where a request failed, p95 is over --limit, or the memory grew by more than --growth.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from agent.eval import goldset
from agent.ingest import register

ROOT = Path(__file__).parents[1]
FORMS = (
    "Was gilt für {}?",
    "Wie hoch ist {} im Jahr 2026?",
    "Welche Frist gilt bei {}?",
    "Wie wird {} in der Abrechnung behandelt?",
    "Wer hat Anspruch auf {}?",
    "Ist {} beitragsfrei oder steuerfrei?",
    "Welche Besonderheiten gibt es bei {} für Lehrlinge?",
    "Was ändert sich 2026 bei {} gegenüber 2025?",
)


@dataclass
class Seen:
    """What came back: when each answer came (seconds from the start) and how long it took, and what failed."""

    start: float
    answers: list[tuple[float, float]] = field(default_factory=list)
    refused: int = 0
    failures: list[str] = field(default_factory=list)
    versions: set[str] = field(default_factory=set)
    memory: list[tuple[float, float]] = field(default_factory=list)
    window: tuple[float, float] = (0.0, 0.0)
    processor: float = 0.0

    def now(self) -> float:
        return time.monotonic() - self.start

    def quantile(self, share: float, window: tuple[float, float] | None = None) -> float:
        taken = sorted(taken for at, taken in self.answers if window is None or window[0] <= at <= window[1])
        return taken[min(len(taken) - 1, int(share * len(taken)))] if taken else float("nan")


def questions(kb: Path) -> list[str]:
    """Distinct questions: the goldset's, and every entry's title in each of the forms; in an order that is the same every time."""
    admission = register.admitted(kb)
    made = [form.format(entry.info.title) for entry in admission.entries for form in FORMS]
    asked = list(dict.fromkeys([*(case.question for case in goldset.read(ROOT / "goldset.yaml").cases), *made]))
    random.Random(7).shuffle(asked)
    return asked


@contextmanager
def server(kb: Path) -> Iterator[tuple[str, int]]:
    """A server over `kb` in a process of its own: its address and its process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OLLAMA_")}
    environment |= {"OLLAMA_URL": "http://127.0.0.1:9", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "agent", "serve", "--port", str(port), "--kb", str(kb)]
    with (kb.parent / "server.log").open("w") as log, subprocess.Popen(command, env=environment, stderr=log, cwd=kb.parent) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            for _ in range(300):
                try:
                    httpx.get(f"{url}/health")
                    break
                except httpx.ConnectError:
                    time.sleep(0.1)
            yield url, process.pid
        finally:
            process.terminate()


def megabytes(pid: int) -> float:
    """What a process holds of memory for itself, without the files it has mapped; 0 where the system does not tell it."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return int(status.split("RssAnon:")[1].split()[0]) / 1024


def processor_seconds(pid: int) -> float:
    """What a process has used of the processor; 0 where the system does not tell it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def client(url: str, asked: Iterator[str], seen: Seen, until: float) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        while seen.now() < until:
            begun = seen.now()
            try:
                said = await http.post("/ask", json={"question": next(asked)})
            except httpx.HTTPError as error:
                seen.failures.append(repr(error))
                continue
            seen.answers.append((seen.now(), seen.now() - begun))
            if said.status_code == 200:
                document = json.loads(said.content)
                seen.refused += document["refused"]
                seen.versions.add(document["kb_version"])
            else:
                seen.failures.append(f"{said.status_code} {said.text[:200]}")


async def watch(pid: int, seen: Seen, until: float) -> None:
    while seen.now() < until:
        seen.memory.append((seen.now(), megabytes(pid)))
        await asyncio.sleep(2)


async def rebuild(url: str, kb: Path, seen: Seen, at: float) -> None:
    """Edit an entry and have everything built anew, in the middle of it all."""
    await asyncio.sleep(at)
    path = next(iter(sorted((kb / "dokumente").glob("pv-*.md"))))
    path.write_text(path.read_text(encoding="utf-8") + "\nDieser Satz ist neu.\n", encoding="utf-8")
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        begun = seen.now()
        (await http.post("/reindex", json={"register": True, "skip_bad": True, "full": True})).raise_for_status()
        while (state := (await http.get("/reindex")).json())["state"] == "running":
            await asyncio.sleep(0.2)
        seen.window = (begun, seen.now())
        if state["state"] != "done":
            seen.failures.append(f"reindex: {state['error']}")


async def measured(url: str, pid: int, kb: Path, options: argparse.Namespace) -> Seen:
    asked = itertools.cycle(questions(kb))
    for _ in range(4):
        httpx.post(f"{url}/ask", json={"question": next(asked)}, timeout=60).raise_for_status()
    seen = Seen(time.monotonic(), processor=-processor_seconds(pid))
    clients = (client(url, asked, seen, options.seconds) for _ in range(options.clients))
    await asyncio.gather(*clients, watch(pid, seen, options.seconds), rebuild(url, kb, seen, options.seconds / 2))
    seen.processor += processor_seconds(pid)
    return seen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--limit", type=float, default=1.5, help="seconds p95 may be")
    parser.add_argument("--growth", type=float, default=0.1, help="the share by which the memory may grow from a third of the time on")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kb = Path(folder) / "wissensbasis"
        shutil.copytree(ROOT / "wissensbasis", kb)
        with server(kb) as (url, pid):
            before = os.getloadavg()
            seen = asyncio.run(measured(url, pid, kb, options))
    settled = [size for at, size in seen.memory if at >= options.seconds / 3]
    growth = settled[-1] / settled[0] - 1 if settled and settled[0] else 0.0
    p95 = seen.quantile(0.95)
    count = len(seen.answers)
    load = f"load before {before[0]:.1f}, after {os.getloadavg()[0]:.1f}"
    print(f"{options.clients} clients, {options.seconds:g} s, {os.cpu_count()} cores; {load}")
    print(f"{count} answers ({seen.refused} refusals), {count / options.seconds:.1f}/s, {len(seen.failures)} failures")
    each = 1000 * seen.processor / max(count, 1)
    print(f"processor time of the server: {seen.processor / options.seconds:.2f} cores, {each:.0f} ms an answer")
    print(f"p50 {seen.quantile(0.5):.2f} s, p95 {p95:.2f} s, p99 {seen.quantile(0.99):.2f} s, longest {seen.quantile(1):.2f} s")
    begun, ended = seen.window
    after = (begun, ended + 2)
    print(f"reindex {begun:.0f}-{ended:.0f} s: p95 {seen.quantile(0.95, after):.2f} s, longest {seen.quantile(1, after):.2f} s")
    print("memory MB " + ", ".join(f"{size:.0f}" for _, size in seen.memory[::3]) + f"; {growth:+.1%} from a third on")
    print(f"versions of the knowledge base seen: {len(seen.versions)}")
    for failure in seen.failures[:5]:
        print(failure)
    return int(bool(seen.failures) or p95 > options.limit or growth > options.growth or len(seen.versions) != 2)


if __name__ == "__main__":
    sys.exit(main())
