"""Looks at everything an answer needs and says, a line each, what is there, what is missing, and the command that mends it."""

from __future__ import annotations

import platform
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

from agent.errors import AgentError
from agent.i18n import noted, tr, trn
from agent.review import ROLES
from agent.settings import Settings, changed
from agent.wiring import Bench, checked_embedding, place

MARGIN = 1.5
"""What the chain is given of the time it took once: replies differ in length."""
_MARKS = {"good": noted("ok  "), "poor": noted("note"), "bad": noted("BAD ")}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. `state` is "good", "poor" (it works, with less) or "bad" (nothing can be answered)."""

    name: str
    state: str
    found: str
    mend: str = ""

    def line(self) -> str:
        return f"{tr(_MARKS[self.state])} {tr(self.name)}: {self.found}{f'  -> {self.mend}' if self.mend else ''}"

    def document(self) -> dict[str, Any]:
        return asdict(self)


def examined(settings: Settings) -> list[Check]:
    """All checks, in the order in which an answer needs them; an examination that fails is a bad check, not an error."""
    checks = [_runtime()]
    try:
        bench = Bench(settings, place(settings))
    except AgentError as error:
        return [*checks, Check(noted("knowledge base"), "bad", error.message, error.mend)]
    for examination in (_knowledge_base, _index, _sources, _embedder, _model, _review, _records):
        checks.extend(_guarded(examination, bench))
    return checks


NAMES = (noted("sources"), noted("records"))
"""What an examination that fails is called besides the names its checks have."""


def _guarded(examination: Callable[[Bench], Iterator[Check]], bench: Bench) -> Iterator[Check]:
    try:
        yield from examination(bench)
    except AgentError as error:
        yield Check(examination.__name__.strip("_").replace("_", " "), "bad", error.message, error.mend)


def _runtime() -> Check:
    return Check(
        "python",
        "good",
        tr(
            "{version} on {machine}, SQLite {sqlite}",
            version=platform.python_version(),
            machine=platform.machine(),
            sqlite=sqlite3.sqlite_version,
        ),
    )


def _knowledge_base(bench: Bench) -> Iterator[Check]:
    from agent.ingest import register

    admission = register.admitted(bench.place.kb)
    count, refused = len(admission.entries), len(admission.problems)
    state = "good" if not refused else "poor" if admission.entries else "bad"
    found = ", ".join((f"{bench.place.kb}: " + trn("{count} entry", "{count} entries", count), bench.language.table["name"]))
    yield Check(
        noted("knowledge base"),
        state,
        found + (tr(", {count} refused", count=refused) if refused else ""),
        "pv-agent kb lint" if refused else "",
    )


def _index(bench: Bench) -> Iterator[Check]:
    if bench.place.index.is_dir():
        yield Check(noted("index"), "bad", tr("{index} is a folder", index=bench.place.index), tr("move it away, then pv-agent ingest"))
        return
    if not bench.has_index():
        yield Check(noted("index"), "poor", tr("none at {index} yet", index=bench.place.index), "pv-agent ingest")
        return
    info = bench.store.info
    if damage := bench.store.damage():
        yield Check(
            noted("index"), "bad", tr("{index} is damaged ({damage})", index=bench.place.index, damage=damage), "pv-agent ingest --full"
        )
        return
    found = tr("{entries} entries, {chunks} chunks, built {built}", entries=info.entries, chunks=info.chunks, built=info.built)
    if bench.stale():
        yield Check(noted("index"), "poor", tr("{found}; the knowledge base is newer", found=found), "pv-agent ingest --register")
    else:
        yield Check(noted("index"), "good", found)
    if info.embedder and info.without_vector:
        yield Check(
            noted("vectors"),
            "poor",
            tr("{without_vector} of {chunks} chunks have no vector yet", without_vector=info.without_vector, chunks=info.chunks),
            "pv-agent ingest",
        )


def _sources(bench: Bench) -> Iterator[Check]:
    """The sources besides the index that the settings name."""
    if not bench.has_index():
        return
    if "sql" in bench.sources and bench.place.values.is_file():
        yield Check(noted("dated values"), "good", str(bench.place.values))
    elif "sql" in bench.sources:
        yield Check(noted("dated values"), "poor", tr("none at {values} yet", values=bench.place.values), "pv-agent ingest")
    if "web" in bench.sources:
        yield Check(noted("web search"), "good", tr("{url}; what the router asks it leaves this machine", url=bench.web.url))


def _embedder(bench: Bench) -> Iterator[Check]:
    if not bench.has_index():
        return
    problems = checked_embedding(bench)
    identity = bench.store.info.embedder
    yield Check(noted("embedder"), "poor" if problems else "good", problems[0] if problems else str(identity))


def _model(bench: Bench) -> Iterator[Check]:
    model = bench.model()
    if model.installed():
        yield Check(noted("model"), "good", tr("{name} at {url}", name=model.name, url=bench.model_server.url))
    elif bench.model_server.listening():
        found = tr("{url} has no {name}; answers are extractive", url=bench.model_server.url, name=model.name)
        yield Check(noted("model"), "poor", found, bench.to_get(model.name))
    else:
        mend = "ollama serve" if bench.settings.llm == "ollama" else tr("start the server there, or set PV_OPENAI_URL")
        yield Check(noted("model"), "poor", tr("nothing answers at {url}; answers are extractive", url=bench.model_server.url), mend)


def _review(bench: Bench) -> Iterator[Check]:
    """The roles' models, and what the chain takes with them, measured over one question where an index is there to ask."""
    mode = bench.review_mode()
    if mode == "off":
        yield Check(noted("review"), "good", "off")
        return
    settings = bench.settings
    told = tr("{mode} with {models}", mode=mode, models=", ".join(dict.fromkeys(role.model(settings) for role in ROLES)))
    missing = sorted({name for role in ROLES if not bench.model(name := role.model(settings)).installed()})
    if missing:
        found = tr(
            "{told}, but {url} has no {missing}; answers stay extractive", told=told, url=bench.model_server.url, missing=", ".join(missing)
        )
        yield Check(noted("review"), "poor", found, bench.to_get(*missing))
    elif bench.has_index():
        yield _measured(bench, told)
    else:
        yield Check(noted("review"), "good", told)


def _measured(bench: Bench, told: str) -> Check:
    """What the chain, `told` in words, takes with the models at hand, compared with the times the settings allow."""
    took = _times(bench)
    if not {"agent1", "agent2"} <= took.keys():
        said = ", ".join(took) or tr("no role")
        return Check(
            noted("review"),
            "poor",
            tr("{told}; {said} gave a reply that could be measured", told=told, said=said),
            tr("see the server's log"),
        )
    times = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in took.items())
    # a role that was not asked writes about as much as the one it is likened to
    took = {"agent3": took["agent1"], "agent4": took["agent2"], **took}
    wanted = {f"{name}_timeout": ceil(seconds * MARGIN) for name, seconds in sorted(took.items())}
    wanted["review_timeout"] = ceil((sum(took.values()) + took["agent3"]) * MARGIN)
    short = {name: seconds for name, seconds in wanted.items() if seconds > getattr(bench.settings, name)}
    mend = " ".join(f"PV_{name.upper()}={seconds}" for name, seconds in short.items())
    return Check(noted("review"), "poor" if short else "good", tr("{told}; measured {times}", told=told, times=times), mend)


def _times(bench: Bench) -> dict[str, float]:
    """Seconds each role took for one question, its models loaded by one before; with as long as a model may take.

    The question is the title of an entry. A role that gave no reply is left out.
    """
    ample = {f"{role.name}_timeout": bench.settings.model_timeout for role in ROLES}
    patient = bench.under(changed(bench.settings, review_timeout=4 * bench.settings.model_timeout, **ample))
    _, entry = next(iter(bench.store.fetch(range(1, 100)).values()))
    calls: list[dict[str, Any]] = []
    for _ in ("to load", "to measure"):
        answer = patient.asked(entry.title, entry.valid_to, log=False, review="reviewed_answer").answer
        calls = (answer.trace.review or {}).get("calls", [])
    return {call["role"]: call["ms"] / 1000 for call in calls if call["status"] not in ("timeout", "unavailable")}


def _records(bench: Bench) -> Iterator[Check]:
    yield Check(noted("run log"), "good", str(bench.place.runs))
