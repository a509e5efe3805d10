"""The shadow report as Markdown for the terminal, in the words of the knowledge base's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent import texts
from agent.eval.report import Words, markdown_table

Document = Mapping[str, Any]


def words(code: str) -> Words:
    """The wording: a language's own, else German."""
    own = code if f"shadow.{code}" in texts.names("tables", ".json") else "de"
    return Words({**texts.table("report.de"), **texts.table(f"shadow.{own}")})


def markdown(document: Document, said: Words) -> str:
    """The verdict first, then what it rests on."""
    verdict = document["verdict"]
    context = document["context"]
    lines = [
        f"# {said('title')}",
        f"{said('switch', 'on' if verdict['switch_on'] else 'off')} {said('reasons', verdict['reason'])}",
        said("counted").format(runs=document["runs"], questions=context["questions"]),
    ]
    if context["measures"]:
        lines += [f"## {said('headings_shadow', 'context')}", _context(context["measures"], said)]
    if document["runs"]:
        lines += [
            f"## {said('headings_shadow', 'answers')}",
            _answers(document["answers"], said),
            *_reasons(document, said),
            f"## {said('headings_shadow', 'roles')}",
            _roles(document, said),
        ]
    return "\n\n".join(lines)


def _context(measures: Document, said: Words) -> str:
    head = [said("shadow_columns", name) for name in ("measure", "without", "with", "difference", "p", "verdict")]
    rows = []
    for name, found in measures.items():
        change = found["difference"]
        difference = f"{said.number(change['value'], sign=True)} ({said.interval(change)})"
        sides = (said.cell(found[side]) if found[side] else said("none") for side in ("without", "with"))
        rows.append([said("shadow_measures", name), *sides, difference, said.number(found["p"]), said("verdicts", found["verdict"])])
    return markdown_table(head, rows)


def _answers(answers: Document, said: Words) -> str:
    rows = []
    for name in ("published", "different", "changed_by_review", "stopped_by_review"):
        found = answers[name]
        shown = f"{found['count']} / {found['n']}" if found else said("none")
        rows.append([said("shares", name), shown, said.cell(found) if found else said("none")])
    return markdown_table([said("shadow_columns", "what"), said("shadow_columns", "count"), said("shadow_columns", "share")], rows)


def _reasons(document: Document, said: Words) -> list[str]:
    counted = (("fallback_reasons", document["fallback_reasons"]), ("rewriting_failed", document["rewriting_failed"]))
    return [
        f"{said('shares', name)}: {', '.join(f'{reason} {count}' for reason, count in found.items())}" for name, found in counted if found
    ]


def _roles(document: Document, said: Words) -> str:
    head = [said("shadow_columns", name) for name in ("role", "calls", "status", "latency", "prompt", "completion")]
    rows = [[role, str(found["calls"]), *_role(found, said)] for role, found in document["roles"].items()]
    rows.append([said("shadow_columns", "chain"), str(document["runs"]), "", _times(document["latency_ms"], said), "", ""])
    return markdown_table(head, rows)


def _role(found: Document, said: Words) -> list[str]:
    status = ", ".join(f"{name} {count}" for name, count in found["status"].items())
    return [status, _times(found["latency_ms"], said), *(_tokens(found[f"{side}_tokens"], said) for side in ("prompt", "completion"))]


def _times(latency: Document, said: Words) -> str:
    return " / ".join(said("none") if ms is None else said.duration(ms) for ms in (latency["median"], latency["p95"]))


def _tokens(found: Document, said: Words) -> str:
    """The sum of what was told, and how many calls told nothing."""
    missing = said("missing").format(n=found["missing"]) if found["missing"] else ""
    return f"{said('none') if found['sum'] is None else found['sum']}{missing}"
