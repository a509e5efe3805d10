"""A model answers the question in prose from the evidence, an id behind every statement."""

from __future__ import annotations

from string import Template

from agent import context
from agent.interfaces import ChatRequest, Parts
from agent.values import Complaint, Draft, Evidence, Origin, Plan, Question

PROMPT = "point"


def draft(question: Question, plan: Plan, evidence: Evidence, parts: Parts, complaint: Complaint | None, /) -> Draft:
    """One model call; with a complaint the same blocks again, and what was wrong with the first draft."""
    model = parts.model
    if model is None:
        raise RuntimeError("the point generator was wired without a model")
    settings, system, template = parts.settings, parts.prompt(PROMPT), Template(parts.prompt(f"{PROMPT}.question"))
    values = {
        "question": question.text,
        "stichtag": parts.language.day(plan.subqueries[0].period.end),
        "complaint": f"\n\n{complaint.message}" if complaint else "",
    }
    blocks = [context.block(hit, parts.language) for hit in evidence.hits]
    shown = context.fitting(blocks, beside=system + template.substitute(values, blocks=""), parts=parts)
    ask = template.substitute(values, blocks=shown)
    reply = model.chat(ChatRequest(system, ask, temperature=settings.temperature, max_tokens=context.answer_tokens(settings)))
    parts.log.step("drafted", text=reply.text, finish=reply.finish, model=reply.model, tokens=reply.tokens, again=complaint is not None)
    return Draft(reply.text, Origin.POINT, reply.finish, reply.model, reply.tokens)
