"""A model answers from many entries: a call for each distils what it says to the question, one more writes the answer (map-reduce)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from string import Template
from time import monotonic

from agent import context
from agent.errors import ModelError, ModelTimeout
from agent.i18n import tr
from agent.interfaces import ChatReply, ChatRequest, Model, Parts
from agent.language import citations
from agent.values import Complaint, Draft, Evidence, Finish, Hit, Origin, Plan, Question, Tokens

PROMPT, NOTES = "survey", "survey.notes"
AT_ONCE = 4
"""How many notes are taken at the same time."""
NOTE_TOKENS = 512


def draft(question: Question, plan: Plan, evidence: Evidence, parts: Parts, complaint: Complaint | None, /) -> Draft:
    """One call for each of at most `survey_blocks` hits, and one for the answer; with a complaint the last one alone.

    After a complaint the answer is written from the entries themselves: what the notes got wrong they would get wrong again. A hit whose
    call fails is left out; where all fail, the first error (a ModelError) is raised.
    """
    model = parts.model
    if model is None:
        raise RuntimeError("the survey generator was wired without a model")
    hits = evidence.hits[: parts.settings.survey_blocks]
    values = {"question": question.text, "stichtag": parts.language.day(plan.subqueries[0].period.end)}
    if complaint:
        blocks = [context.block(hit, parts.language) for hit in hits]
        return _written(blocks, {**values, "complaint": f"\n\n{complaint.message}"}, parts, model)
    blocks, spent = _noted(hits, values, parts, model)
    if not blocks:
        return Draft(parts.language.message("refusal"), Origin.SURVEY, model=model.name, tokens=spent, refused=True)
    answer = _written(blocks, {**values, "complaint": ""}, parts, model)
    return replace(answer, tokens=spent + answer.tokens)


def _noted(hits: Sequence[Hit], values: Mapping[str, str], parts: Parts, model: Model) -> tuple[list[str], Tokens]:
    """A block of notes for each hit that says something to the question, in the order of the hits, and what the calls took."""
    system, template = parts.prompt(NOTES), Template(parts.prompt(f"{NOTES}.question"))
    beside = system + template.substitute(values, blocks="")
    ends = monotonic() + parts.settings.model_timeout

    def noted(hit: Hit) -> ChatReply | ModelError:
        left = ends - monotonic()
        if left <= 0:
            return ModelTimeout(
                tr("{name} had no time left for {id}.", name=model.name, id=hit.entry.id), tr("Allow more with PV_MODEL_TIMEOUT.")
            )
        try:
            block = context.fitting([context.block(hit, parts.language)], beside=beside, parts=parts)
            ask = template.substitute(values, blocks=block)
            temperature = parts.settings.temperature
            return model.chat(ChatRequest(system, ask, temperature=temperature, max_tokens=NOTE_TOKENS, timeout=left))
        except ModelError as error:
            return error

    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = list(pool.map(noted, hits))
    failed = [outcome for outcome in outcomes if isinstance(outcome, ModelError)]
    if failed and len(failed) == len(outcomes):
        raise failed[0]
    blocks, spent = [], Tokens()
    for hit, outcome in zip(hits, outcomes, strict=True):
        if isinstance(outcome, ChatReply):
            spent = spent + outcome.tokens
            if notes := _notes(outcome, hit, parts):
                blocks.append(context.block(hit, parts.language, notes))
    parts.log.step("noted", blocks=len(blocks), of=len(hits), failed=[str(error) for error in failed])
    return blocks, spent


def _notes(reply: ChatReply, hit: Hit, parts: Parts) -> str:
    """The lines of a reply, each with the id of the block it was taken from and no other; what broke off in its last line ends before."""
    lines = [line.strip() for line in reply.text.splitlines()]
    if reply.finish is not Finish.COMPLETE:
        lines = lines[:-1]
    nothing = parts.language.message("survey_nothing").casefold()
    said = [line for line in map(citations.without, lines) if line.strip(" -*•.`").casefold() not in ("", nothing)]
    return "\n".join(f"{line} [{hit.entry.id}]" for line in said)


def _written(blocks: Sequence[str], values: Mapping[str, str], parts: Parts, model: Model) -> Draft:
    settings, system, template = parts.settings, parts.prompt(PROMPT), Template(parts.prompt(f"{PROMPT}.question"))
    shown = context.fitting(blocks, beside=system + template.substitute(values, blocks=""), parts=parts)
    ask = template.substitute(values, blocks=shown)
    reply = model.chat(ChatRequest(system, ask, temperature=settings.temperature, max_tokens=context.answer_tokens(settings)))
    again = bool(values["complaint"])
    parts.log.step("drafted", text=reply.text, finish=reply.finish, model=reply.model, tokens=reply.tokens, again=again)
    return Draft(reply.text, Origin.SURVEY, reply.finish, reply.model, reply.tokens)
