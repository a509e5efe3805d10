"""The four roles by a script: what each says, told apart by the contract it is asked for, over the server on loopback."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema

from agent import publish, texts
from agent.settings import changed
from agent.wiring import Bench
from tests.eval.world import world
from tests.ollama_server import OllamaServer, Reply

QUESTION = "Wie hoch ist 2026 die Geringfügigkeitsgrenze im Monat?"
ANSWER = "Die Geringfügigkeitsgrenze beträgt 2026 monatlich 551,10 EUR [pv-grenze]."
TITLES = {
    "RetrievalRewriteResult": "agent1",
    "EvidenceAnswerResult": "agent2",
    "GroundingReviewResult": "agent3",
    "CorrectionResult": "agent4",
}


def rewrite(**changes: Any) -> str:
    """A reply of the first role that keeps its contract, but for the changes."""
    value = {
        "original_question": QUESTION,
        "retrieval_queries": [
            {"query": "Höhe der Geringfügigkeitsgrenze 2026", "purpose": "literal"},
            {"query": "geringfügig beschäftigt Grenze monatlich", "purpose": "swedish_inflection"},
        ],
        "must_keep_focus": ["Höhe der Geringfügigkeitsgrenze"],
        "semantic_terms": [{"surface": "geringfügige", "normalized_family": "geringfügig", "kind": "inflection"}],
        "negative_constraints": ["nicht die Höchstbeitragsgrundlage"],
        "confidence": 0.9,
    }
    return json.dumps(value | changes, ensure_ascii=False)


def proposal(text: str = ANSWER, **changes: Any) -> str:
    """A reply of the second role."""
    coverage = {"uses_retrieved_chunks": True, "answers_original_question": True, "ignores_metadata_as_facts": True}
    value = {
        "original_question": QUESTION,
        "answer": text,
        "answer_scope": "direct",
        "evidence_used": [{"chunk_id": "pv-grenze#0", "source": "Geringfügigkeitsgrenze", "claim_supported": "551,10 EUR"}],
        "unsupported_or_uncertain": [],
        "source_coverage": coverage | changes.pop("coverage", {}),
        "grounding_notes": "Ein Eintrag trägt alles.",
    }
    return json.dumps(value | changes, ensure_ascii=False)


def verdict(**changes: Any) -> str:
    """A reply of the third role: an approval, but for the changes."""
    value = {
        "verdict": "approve",
        "answers_original_question": True,
        "grounded_in_sources": True,
        "drift_from_original_question": False,
        "metadata_leakage": False,
        "unsupported_claims": [],
        "required_action": "publish",
        "review_notes": "Belegt.",
    }
    return json.dumps(value | changes, ensure_ascii=False)


def rejection(**changes: Any) -> str:
    """A rejection for a claim nothing carries."""
    found = {
        "verdict": "reject",
        "grounded_in_sources": False,
        "unsupported_claims": ["Die Grenze wird jährlich verdoppelt"],
        "required_action": "fallback_to_extractive",
    }
    return verdict(**(found | changes))


def revision(text: str, **changes: Any) -> str:
    """A minor revision to `text`."""
    found = {"verdict": "revise_minor", "required_action": "publish_after_minor_revision", "minor_revision": text}
    return verdict(**(found | changes))


def correction(text: str = ANSWER, **changes: Any) -> str:
    """A reply of the fourth role."""
    value = {
        "original_question": QUESTION,
        "corrected_answer": text,
        "evidence_used": [{"chunk_id": "pv-grenze#0", "source": "Geringfügigkeitsgrenze", "claim_supported": "551,10 EUR"}],
        "removed_claims": ["Die Grenze wird jährlich verdoppelt"],
        "corrected_claims": [],
        "correction_notes": "Unbelegtes gestrichen.",
    }
    return json.dumps(value | changes, ensure_ascii=False)


@dataclass
class Roles:
    """What each role says, in its order; who is asked more than the script holds gets an error."""

    agent1: list[Reply | str] = field(default_factory=lambda: [rewrite()])
    agent2: list[Reply | str] = field(default_factory=lambda: [proposal()])
    agent3: list[Reply | str] = field(default_factory=lambda: [verdict()])
    agent4: list[Reply | str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    """The roles in the order they were asked; anything that is none of them is "other"."""

    def __call__(self, body: Mapping[str, Any]) -> Reply | str:
        name = TITLES.get((body.get("format") or {}).get("title", ""), "other")
        self.asked.append(name)
        said: list[Reply | str] = getattr(self, name, [])
        return said.pop(0) if said else Reply(status=400, error="the script has no reply left")


def bench(folder: Path, ollama: OllamaServer, roles: Roles | None = None, **settings: Any) -> Bench:
    """The small world of the evaluation's tests, with the roles' models on the server."""
    ollama.models.update({"gpt-oss:20b": "chat", "gpt-oss:120b": "chat"})
    ollama.replies = roles or Roles()
    return world(folder, ollama_url=ollama.url, **{"generator": "extractive", **settings})


@dataclass(frozen=True)
class Reviewed:
    """What the chain made of a question: the answer's document, and the roles that were asked, in order."""

    document: Mapping[str, Any]
    asked: list[str]

    @property
    def review(self) -> Mapping[str, Any]:
        return dict(self.document["review"])

    @property
    def outcome(self) -> tuple[str, str | None]:
        """The origin of the text, and the reason where it fell back or was refused."""
        return self.document["origin"], self.document["reason"]


@dataclass
class Chain:
    """Asks the small world in mode `reviewed_answer`, each time with other roles and settings."""

    bench: Bench
    ollama: OllamaServer

    def __call__(self, roles: Roles | None = None, question: str = QUESTION, **settings: Any) -> Reviewed:
        roles = roles or Roles()
        self.ollama.requests.clear()
        self.ollama.replies = roles
        known = {"review_mode": "reviewed_answer", "review_timeout": 30, **settings}
        for number in (1, 2, 3, 4):
            known.setdefault(f"agent{number}_timeout", 30)
        document = publish.document(self.bench.under(changed(self.bench.settings, **known)).ask(question))
        jsonschema.validate(json.loads(json.dumps(document)), texts.schema("answer"))
        return Reviewed(document, roles.asked)
