"""Spends searches where they pay (Adaptive-RAG, Jeong et al. 2024): a question needs none, one, or several that build on each other.

A classifier gives the label, and what runs for it is handed in. An answer without a search is the one that grounding cannot check: it is
given only where the settings allow it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter

from agent import context, hops
from agent.errors import ModelError
from agent.interfaces import ChatRequest, Classified, Classifier, Model, Parts, Strategy
from agent.values import KNOWLEDGE_BASE, Complexity, Draft, Evidence, Gathered, Label, Origin, Plan, Question, SubQuery

PROMPT = "ungrounded"


@dataclass(frozen=True, slots=True)
class Adaptive:
    """`classifiers` by the names the settings know; `several` walks from search to search, `plain` does where there is no model."""

    classifiers: Mapping[str, Classifier]
    several: Strategy
    plain: Strategy

    def __call__(self, question: Question, plan: Plan, parts: Parts, /) -> Gathered:
        """What the strategy of the question's label brings."""
        start = perf_counter()
        told = self._classified(question, parts)
        said = {label.value: label for label in Label}.get(told.label)
        allowed = parts.settings.allow_ungrounded and parts.model is not None
        label = Label.B if said is None or (said is Label.A and not allowed) else said
        try:
            ran, gathered = self._run(label, question, plan, parts)
        except ModelError as error:
            ran, gathered = "plain", replace(self.plain(question, plan, parts), failure=error)
        parts.log.step("adapted", label=label, strategy=ran, searches=len(gathered.hops), ms=round((perf_counter() - start) * 1000, 2))
        return replace(gathered, complexity=Complexity(label, said), tokens=gathered.tokens + told.tokens)

    def _classified(self, question: Question, parts: Parts) -> Classified:
        """The classifier's word, whatever it is; nothing where it failed."""
        name = parts.settings.classifier
        try:
            told = self.classifiers[name](question, parts)
        except ModelError as error:
            parts.log.step("classified", by=name, label="", error=str(error))
            return Classified("")
        parts.log.step("classified", by=name, label=told.label, error="")
        return told

    def _run(self, label: Label, question: Question, plan: Plan, parts: Parts) -> tuple[str, Gathered]:
        if label is Label.A and parts.model is not None:
            return "none", _unsearched(question, parts, parts.model)
        if label is Label.C:
            return ("several", self.several(question, plan, parts)) if parts.model else ("plain", self.plain(question, plan, parts))
        return "single", _once(question, plan, parts)


def _unsearched(question: Question, parts: Parts, model: Model) -> Gathered:
    """The model's own answer to the question alone."""
    settings, system = parts.settings, parts.prompt(PROMPT)
    reply = model.chat(ChatRequest(system, question.text, temperature=settings.temperature, max_tokens=context.answer_tokens(settings)))
    return Gathered(Evidence(), Draft(reply.text, Origin.UNGROUNDED, reply.finish, reply.model), tokens=reply.tokens)


def _once(question: Question, plan: Plan, parts: Parts) -> Gathered:
    """One search with the question as it stands."""
    subquery = SubQuery(question.text, plan.span, plan.subqueries[0].scope)
    found = hops.search(parts.sources[KNOWLEDGE_BASE], subquery, parts.settings.adaptive_documents, parts)
    return Gathered(found.evidence, hops=(found.hop,), flags=found.evidence.flags)
