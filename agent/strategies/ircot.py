"""Retrieval interleaved with reasoning (IRCoT, Trivedi et al. 2023): each sentence of reasoning is the next search.

The model sees a pool of paragraphs and writes one sentence; what that sentence finds joins the pool, until a sentence holds the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Template

from agent import context, hops
from agent.hops import Found
from agent.interfaces import ChatReply, ChatRequest, Model, Parts
from agent.language import Language, citations
from agent.language.similarity import coverage
from agent.values import KNOWLEDGE_BASE, Draft, Evidence, Flag, Gathered, Hit, Origin, Plan, Question, SubQuery, Tokens

PROMPT, LAST = "ircot", "ircot.last"
SENTENCE_TOKENS = 512
"""What one sentence may take; a reply that runs ahead is cut anyway."""
CARRIES = 0.5
"""The share of a sentence's terms a paragraph must hold to count as what an uncited sentence rests on."""
_MARK = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s+")


def gather(question: Question, plan: Plan, parts: Parts, /) -> Gathered:
    """The pool of paragraphs, and the answer the reasoning ended in. Raises ModelError."""
    if parts.model is None:
        raise RuntimeError("IRCoT was wired without a model")
    return _Thought(question, plan, parts, parts.model).gathered()


@dataclass
class _Thought:
    """The reasoning on one question: its sentences, the pool they are read against, and what the calls took."""

    question: Question
    plan: Plan
    parts: Parts
    model: Model
    found: list[Found] = field(default_factory=list)
    pool: list[tuple[int, Hit]] = field(default_factory=list)
    """Each paragraph with the number of the search that found it first; the oldest come first."""
    sentences: list[str] = field(default_factory=list)
    tokens: Tokens = Tokens()

    def gathered(self) -> Gathered:
        language = self.parts.language
        self._search(SubQuery(self.question.text, self.plan.span, self.plan.subqueries[0].scope))
        for _ in range(self.parts.settings.ircot_sentences):
            reply = self._asked(PROMPT, SENTENCE_TOKENS)
            sentence = first_sentence(citations.canonical(reply.text, self._ids()), language)
            if not sentence:
                return self._ended(self._direct())  # the same prompt would give the same nothing
            answer = answer_in(sentence, language)
            if answer:
                return self._ended(self._draft(answer, ChatReply(answer, reply.finish, reply.model)))
            self._search(hops.subquery(citations.without(sentence), self.question, self.plan, language))
            self.sentences.append(sentence)
            self.parts.log.step("reasoned", text=sentence, ids=self.found[-1].hop.ids)
        return self._ended(self._direct(), at_the_limit=True)

    def _search(self, subquery: SubQuery) -> None:
        """Puts what a search finds that is new into the pool; the oldest leave a full one."""
        settings = self.parts.settings
        found = hops.search(self.parts.sources[KNOWLEDGE_BASE], subquery, settings.ircot_paragraphs, self.parts)
        self.found.append(found)
        known = {_key(hit) for _, hit in self.pool}
        new = [hit for hit in hops.distinct(found.evidence.hits[: settings.ircot_paragraphs]) if _key(hit) not in known]
        self.pool = [*self.pool, *((len(self.found), hit) for hit in new)][-settings.ircot_pool :]

    def _asked(self, name: str, most: int) -> ChatReply:
        """The model's reply to the question, the pool (the newest first, lest a full window lose it) and the reasoning so far."""
        parts = self.parts
        values = {
            "question": self.question.text,
            "stichtag": parts.language.day(self.plan.span.end),
            "reasoning": " ".join(self.sentences) or parts.language.message("nothing_gathered"),
        }
        system, template = parts.prompt(name), Template(parts.prompt(f"{name}.question"))
        newest = [context.block(hit, parts.language) for _, hit in sorted(self.pool, key=lambda held: -held[0])]
        shown = context.fitting(newest, beside=system + template.substitute(values, paragraphs=""), parts=parts)
        ask = template.substitute(values, paragraphs=shown or parts.language.message("nothing_gathered"))
        parts.log.step("deciding", hop=len(self.found) + 1)
        reply = self.model.chat(ChatRequest(system, ask, temperature=0.0, max_tokens=most))
        self.tokens = self.tokens + reply.tokens
        return reply

    def _direct(self) -> Draft:
        """The answer asked for outright, from the pool."""
        reply = self._asked(LAST, context.answer_tokens(self.parts.settings))
        return self._draft(citations.canonical(reply.text, self._ids()), reply)

    def _draft(self, text: str, reply: ChatReply) -> Draft:
        resting = hops.resting_on(text, self._used(text), self.parts.language)
        return Draft(resting, Origin.STRATEGY, reply.finish, reply.model)

    def _ended(self, draft: Draft, *, at_the_limit: bool = False) -> Gathered:
        """The evidence is the pool; it is judged by the search with the question itself."""
        found = [each.evidence for each in self.found]
        evidence = hops.joined(found, (hit for _, hit in self.pool), leading=[each for each in found if each.weights][:1])
        flags = evidence.flags | ({Flag.STEP_LIMIT} if at_the_limit else frozenset())
        return Gathered(evidence, draft, tuple(each.hop for each in self.found), flags, self.tokens)

    # --- what an answer rests on ------------------------------------------------------------------

    def _ids(self) -> frozenset[str]:
        return Evidence(tuple(hit for _, hit in self.pool)).ids

    def _used(self, answer: str) -> list[str]:
        """The ids the reasoning cites; where it cites none, those of the paragraphs that carry its sentences."""
        ids = self._ids()
        cited = [identifier for sentence in self.sentences for identifier in citations.cited(sentence) if identifier in ids]
        return cited or [identifier for sentence in (*self.sentences, answer) if (identifier := self._carrier(sentence))]

    def _carrier(self, sentence: str) -> str:
        """The id of the paragraph that holds most of a sentence's terms; empty where none holds enough of them."""
        language = self.parts.language
        weights = dict.fromkeys(language.terms(sentence), 1.0)
        held: Mapping[str, float] = {
            hit.entry.id: coverage(weights, frozenset(language.terms(f"{hit.entry.title} {hit.chunk.text}"))) for _, hit in self.pool
        }
        best = max(held, key=lambda identifier: held[identifier], default="")
        return best if best and held[best] >= CARRIES else ""


def _key(hit: Hit) -> tuple[str, int]:
    return hit.entry.id, hit.chunk.ordinal


# --- sentences ------------------------------------------------------------------------------------


def first_sentence(reply: str, language: Language) -> str:
    """The first sentence of a reply, its list mark left out, so that a reply that runs ahead skips no search; empty for no text."""
    line = next((line for line in reply.splitlines() if any(c.isalnum() for c in line)), "")
    line = _MARK.sub("", line, count=1) if _MARK.match(line) else line.strip()
    spans = language.sentences(line)
    sentence = line[spans[0][0] : spans[0][1]] if spans else ""
    marker = _marker(language).search(sentence)
    before = sentence[: marker.start()].rstrip(" *_") if marker else ""
    return before if before.endswith((".", "!", "?")) else sentence  # "… directed by Y. So the answer is" are two, whatever Y abbreviates


def answer_in(sentence: str, language: Language) -> str:
    """The text after the marker of an answer; empty where the sentence is a step on the way to it."""
    marker = _marker(language).search(sentence)
    return sentence[marker.end() :].strip(" *_") if marker else ""


def _marker(language: Language) -> re.Pattern[str]:
    forms = "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in language.table["answer_markers"])
    return re.compile(rf"\**(?:{forms})\**", re.IGNORECASE)
