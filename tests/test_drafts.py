"""Drafts as a small model writes them, over the shipped entries: nearly all right ones are published, few wrong ones are."""

from __future__ import annotations

from datetime import date
from functools import cache
from pathlib import Path

import yaml

from agent.grounding import Supported, ground
from agent.ingest import register
from agent.ingest.chunks import cut
from agent.testing import german
from agent.values import Draft, Evidence, Hit, Origin, Period

KB = Path(__file__).parents[1] / "wissensbasis"
DRAFTS = yaml.safe_load((Path(__file__).parent / "data" / "entwuerfe.yaml").read_text(encoding="utf-8"))
DE = german()
DAY = Period.day(date(2026, 11, 30))


@cache
def evidence() -> dict[str, Evidence]:
    wanted = {group["eintrag"] for group in DRAFTS}
    entries = [entry for entry in register.admitted(KB).entries if entry.info.id in wanted]
    return {entry.info.id: Evidence(tuple(Hit(chunk, entry.info, 1.0) for chunk in cut(entry, DE))) for entry in entries}


def published(identifier: str, question: str, text: str) -> bool:
    cited = text.replace("[*]", f"[{identifier}]") if "[*]" in text else f"{text.rstrip('.!? ')} [{identifier}]."
    return isinstance(ground(Draft(cited, Origin.POINT), evidence()[identifier], DE, question=question, period=DAY), Supported)


def drafts(kind: str) -> list[tuple[str, str, str]]:
    return [(group["eintrag"], group["frage"], text) for group in DRAFTS for text in group[kind]]


def test_of_the_right_drafts_nearly_all_are_published() -> None:
    refused = [draft for draft in drafts("richtig") if not published(*draft)]
    assert len(refused) <= 0.05 * len(drafts("richtig")), refused


def test_of_the_wrong_drafts_few_are() -> None:
    passed = [draft for draft in drafts("falsch") if published(*draft)]
    assert len(passed) <= 0.13 * len(drafts("falsch")), passed
