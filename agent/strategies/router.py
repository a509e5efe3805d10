"""The model decides hop by hop whether to search, where and with what words, until what it has gathered is enough for a cited answer.

Routing is a table look-up: the model names a source, the program searches it. What the model wrote badly twice ends the loop, and the
answer is drafted from what was gathered so far.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from string import Template
from typing import Any

from agent import context, hops, structured, texts
from agent.hops import Found
from agent.interfaces import Model, Parts, Source
from agent.language import Language
from agent.settings import Settings
from agent.values import KNOWLEDGE_BASE, Draft, Evidence, Flag, Gathered, Hop, Origin, Plan, Question, Tokens

PROMPT, LAST, SCHEMA = "router", "router.last", "router.internal"


@dataclass(frozen=True, slots=True)
class Limits:
    """How many searches there may be, and how many results each brings into the context."""

    searches: int
    results: int


@dataclass(frozen=True, slots=True)
class Router:
    """The loop over the `only` sources named (none: all there are) within the `limits` the settings give."""

    limits: Callable[[Settings], Limits]
    only: Collection[str] = ()

    def __call__(self, question: Question, plan: Plan, parts: Parts, /) -> Gathered:
        """What the searches brought, and the model's answer where it gave one. Raises ModelError."""
        if parts.model is None:
            raise RuntimeError("the router was wired without a model")
        sources = {name: source for name, source in parts.sources.items() if not self.only or name in self.only}
        return _Walk(question, plan, parts, parts.model, sources).gathered(self.limits(parts.settings))


def of_router(settings: Settings) -> Limits:
    """The limits of the strategy that bears the router's name."""
    return Limits(settings.router_hops, settings.router_results)


def of_adaptive(settings: Settings) -> Limits:
    """The limits where the router walks for a question that was found to need several searches."""
    return Limits(settings.adaptive_searches, settings.adaptive_documents)


gather = Router(of_router)


@dataclass
class _Walk:
    """The way of one question: what was found so far, and what the model's steps took."""

    question: Question
    plan: Plan
    parts: Parts
    model: Model
    sources: Mapping[str, Source]
    found: list[Found] = field(default_factory=list)
    tokens: Tokens = Tokens()

    def gathered(self, limits: Limits) -> Gathered:
        for left in range(limits.searches, -1, -1):
            step = self._step(self.sources if left else {})
            if step is None or step["action"] == "answer":
                return self._ended(step, limits, at_the_limit=not left)
            self._search(step["source"], step["query"], limits.results)
        raise AssertionError("the last step cannot search")

    def _step(self, sources: Mapping[str, Source]) -> Mapping[str, Any] | None:
        """The model's next step, an answer where there are no sources to search; None where it twice wrote none."""
        name, parts = PROMPT if sources else LAST, self.parts
        values = {
            "question": self.question.text,
            "stichtag": parts.language.day(self.plan.span.end),
            "sources": "\n".join(f"- {source.name}: {source.about}" for source in sources.values()),
        }
        beside = parts.prompt(name) + Template(parts.prompt(f"{name}.question")).substitute(values, context="")
        parts.log.step("deciding", hop=len(self.found) + 1)
        form = structured.Form(name, schema(sources), max_tokens=context.answer_tokens(parts.settings))
        said = structured.filled(form, {**values, "context": self._context(beside)}, parts, self.model)
        self.tokens = self.tokens + said.tokens
        if isinstance(said, structured.Malformed):
            parts.log.step("step_malformed", reason=said.reason, message=said.message)
            return None
        return said.value

    def _context(self, beside: str) -> str:
        """What was gathered, each block with its source, the last search first: it is what an overfull window must not lose."""
        language = self.parts.language
        told = [_note(each.hop, language) for each in self.found if not each.evidence.hits]
        hits = hops.distinct(hit for each in reversed(self.found) for hit in each.evidence.hits)
        blocks = context.fitting(
            [context.block(hit, language, source=hit.source) for hit in hits], beside=beside + "\n".join(told), parts=self.parts
        )
        return "\n\n".join(filter(None, [blocks, *told])) or language.message("nothing_gathered")

    def _search(self, name: str, query: str, results: int) -> None:
        subquery = hops.subquery(" ".join(query.split()), self.question, self.plan, self.parts.language)
        self.found.append(hops.search(self.sources[name], subquery, results, self.parts))

    def _ended(self, step: Mapping[str, Any] | None, limits: Limits, *, at_the_limit: bool) -> Gathered:
        """The evidence with the answer of the last step.

        A walk that broke off with nothing found searches the question itself; so does an answer before any search, which rests on nothing.
        """
        draft = self._draft(step) if step and self.found else None
        if draft is None and not any(each.evidence.hits for each in self.found):
            name = KNOWLEDGE_BASE if KNOWLEDGE_BASE in self.sources else next(iter(self.sources))
            self._search(name, self.question.text, limits.results)
        evidence = self._evidence()
        flags = evidence.flags | ({Flag.HOP_LIMIT} if at_the_limit else frozenset())
        return Gathered(evidence, draft, tuple(each.hop for each in self.found), flags, self.tokens)

    def _evidence(self) -> Evidence:
        """All hits in the order they came; it is judged by the search that lay nearest to what it found."""
        found = [each.evidence for each in self.found]
        leading = sorted((each for each in found if each.weights), key=lambda each: -each.signals.get("cosine", 0.0))[:1]
        return hops.joined(found, hops.distinct(hit for each in found for hit in each.hits), leading=leading)

    def _draft(self, step: Mapping[str, Any]) -> Draft:
        """The answer; where its text does not say what it rests on, the ids it names besides do."""
        named = [identifier.strip("[] ") for identifier in step.get("citations", ())]
        text = hops.resting_on(step["answer"], named, self.parts.language)
        return Draft(text, Origin.STRATEGY, model=self.model.name)


def _note(hop: Hop, language: Language) -> str:
    """A search without hits as the model is told of it."""
    name = "source_failed_note" if hop.note else "nothing_found_note"
    return language.message(name, source=hop.source, query=hop.query, why=hop.note)


def schema(sources: Collection[str]) -> dict[str, Any]:
    """The form of a step: a search in one of the sources or an answer; without sources an answer only."""
    steps: dict[str, Any] = texts.schema(SCHEMA)
    search, answer = steps["anyOf"]
    if not sources:
        return {**steps, "anyOf": [answer]}
    source = {**search["properties"]["source"], "enum": list(sources)}
    return {**steps, "anyOf": [{**search, "properties": {**search["properties"], "source": source}}, answer]}
