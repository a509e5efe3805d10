"""A model answers the question in prose from the evidence, an id behind every statement."""

from __future__ import annotations

from string import Template

from agent.interfaces import ChatRequest, Parts
from agent.values import Complaint, Draft, Evidence, Hit, Origin, Plan, Question

PROMPT = "point"


def draft(question: Question, plan: Plan, evidence: Evidence, parts: Parts, complaint: Complaint | None, /) -> Draft:
    """One model call; with a complaint the same blocks again, and what was wrong with the first draft."""
    model = parts.model
    if model is None:
        raise RuntimeError("the point generator was wired without a model")
    system = parts.prompt(PROMPT)
    ask = Template(parts.prompt(f"{PROMPT}.question")).substitute(
        blocks=blocks(evidence.hits, parts),
        question=question.text,
        stichtag=parts.language.day(plan.subqueries[0].period.end),
        complaint=f"\n\n{complaint.message}" if complaint else "",
    )
    settings = parts.settings
    reply = model.chat(ChatRequest(system, ask, temperature=settings.temperature, max_tokens=settings.max_answer_tokens))
    parts.log.step("drafted", text=reply.text, finish=reply.finish, model=reply.model, tokens=reply.tokens, again=complaint is not None)
    return Draft(reply.text, Origin.POINT, reply.finish, reply.model, reply.tokens)


def blocks(hits: tuple[Hit, ...], parts: Parts) -> str:
    """The evidence as the model reads it: best first, each block with its id, Stand and validity in its head."""
    language = parts.language
    shown = []
    for hit in hits:
        entry = hit.entry
        validity = language.validity(entry.valid_from, entry.valid_to)
        head = " · ".join(
            part for part in (entry.title, hit.chunk.section, language.message("stand", stand=language.day(entry.stand)), validity) if part
        )
        shown.append(f'<block id="{entry.id}">\n{head}\n{harmless(hit.chunk.text)}\n</block>')
    return "\n\n".join(shown)


def harmless(text: str) -> str:
    """Evidence text that cannot close its block or open another: it is data, never an instruction."""
    return text.replace("<block", "‹block").replace("</block", "‹/block")
