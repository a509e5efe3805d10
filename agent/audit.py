"""What a run keeps of its parts, so that an answer can be told, exported and replayed: fingerprints where the text can be found again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from agent.settings import Settings
from agent.values import Evidence

EXPORT_VERSION = "1.1"
PLACES = ("kb_dir", "db_path", "ollama_url", "openai_url", "openai_key", "web_url")
"""Settings that say where things are, and the keys to them: another machine's business, and no part of what an answer rests on."""
SERVING = frozenset(
    {
        *("host", "port", "token", "allowed_hosts", "cors_origins", "max_question", "max_body"),
        *("workers", "queue", "queue_timeout", "request_timeout", "shutdown_timeout", "lang"),
    }
)
"""Settings of the server, among them a secret, and the language of messages: no answer depends on them."""
RECORD = ("id", "started", "question", "stichtag", "strategy", "kb_version")


def fingerprint(text: str) -> str:
    """A short hash of a text's exact wording."""
    return sha256(text.encode()).hexdigest()[:16]


def evidence(found: Evidence) -> list[dict[str, Any]]:
    """The chunks an answer could rest on, best first, each with the hash of its text and the days its entry is valid."""
    return [
        {
            "id": hit.entry.id,
            "section": hit.chunk.section,
            "span": list(hit.chunk.span),
            "hash": fingerprint(hit.chunk.text),
            "stand": hit.entry.stand.isoformat(),
            "valid_from": hit.entry.valid_from.isoformat() if hit.entry.valid_from else None,
            "valid_to": hit.entry.valid_to.isoformat() if hit.entry.valid_to else None,
            "source": hit.source,
            "score": round(hit.score, 6),
            "why": hit.why,
        }
        for hit in found.hits
    ]


def options(settings: Settings) -> dict[str, Any]:
    """Every setting an answer depends on."""
    return {name: value for name, value in asdict(settings).items() if name not in SERVING.union(PLACES)}


def exported(record: Mapping[str, Any]) -> dict[str, Any]:
    """A run as one self-contained document (schema `export`), from what `RunLog.shown` gives."""
    steps: Mapping[str, list[dict[str, Any]]] = _by_kind(record["steps"])
    asked = (steps.get("asked") or [{}])[0]
    calls = steps.get("called", [])
    last = calls[-1] if calls else {}
    document = {
        "export_version": EXPORT_VERSION,
        **{name: record[name] for name in RECORD},
        "generator": asked.get("generator"),
        "options": asked.get("options", {}),
        "model": {"name": last.get("model"), "digest": last.get("digest")} if calls else None,
        "prompts": steps.get("prompt", []),
        "plan": _counted(steps, "planned").get("plan"),
        "evidence": _counted(steps, "gathered").get("evidence", []),
        "reviewed_evidence": _reviewed(record, steps),
        "gate": _counted(steps, "judged") or None,
        "calls": calls,
        "complaints": steps.get("complained", []),
        "answer": record["answer"],
    }
    return {**document, "checksum": checksum(document)}


def checksum(document: Mapping[str, Any]) -> str:
    """SHA-256 over all of an exported run but its checksum, as JSON with sorted keys and no blanks: any change by hand shows."""
    rest = {name: value for name, value in document.items() if name != "checksum"}
    return sha256(json.dumps(rest, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _reviewed(record: Mapping[str, Any], steps: Mapping[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The chunks a reviewed answer could rest on; none where a review came after the answer or was not."""
    found = steps.get("gathered_again", []) if (record["answer"] or {}).get("review") else []
    return found[-1]["evidence"] if found else []


def _counted(steps: Mapping[str, list[dict[str, Any]]], kind: str) -> dict[str, Any]:
    """The step of a kind that counts: the last, where a model planned anew; the first, where its plan was not kept."""
    found = steps.get(kind, [])
    return (found[0] if "plan_rejected" in steps else found[-1]) if found else {}


def rested(steps: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The plan, evidence and gate an answer came to rest on: those of the last search, or of the first where that plan was rejected."""
    found = _by_kind(steps)
    place = 0 if "plan_rejected" in found else -1
    last = {kind: found[kind][place] for kind in ("planned", "gathered", "judged") if kind in found}
    plan, evidence = last.get("planned", {}).get("plan"), last.get("gathered", {}).get("evidence", [])
    return {"plan": plan, "evidence": evidence, "gate": last.get("judged")}


def _by_kind(steps: Iterable[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for step in steps:
        rest = {name: value for name, value in step.items() if name not in ("at", "kind")}
        found.setdefault(step["kind"], []).append(rest)
    return found


def cited(evidence: list[dict[str, Any]], citation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The logged chunks a citation rests on: those of its entry that hold the sentence it quotes, else all of its entry."""
    own = [chunk for chunk in evidence if chunk["id"] == citation["id"]]
    span = citation["span"]
    holding = [chunk for chunk in own if span and chunk["span"][0] <= span[0] and span[1] <= chunk["span"][1]]
    return holding or own
