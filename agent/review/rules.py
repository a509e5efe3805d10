"""What of the four roles' contracts a machine decides: what may be searched, what may be published, what a revision may say; pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from agent import texts
from agent.language import Language, citations
from agent.language.figures import parse, supports
from agent.language.similarity import covered
from agent.review.contracts import Proposal, Review, Rewrite, Used
from agent.values import Hit, Reason

LEAST_CONFIDENCE = 0.55
SAME = 0.5
"""The share of a claim's content words a sentence must hold to state it, and of a sentence's words to be the same sentence revised."""
_ROLE = re.compile(r"\bagent[\s_-]?[1-4]\b", re.IGNORECASE)


# --- the first role -------------------------------------------------------------------------------


def searches(rewrite: Rewrite, question: str, language: Language, *, most: int) -> tuple[str, ...]:
    """The queries that may be searched: those that state no figure and no norm the question does not, each once, at most `most`.

    The term families become one more query where there is a place left.
    """
    families = " ".join(dict.fromkeys(term.surface for term in rewrite.terms if admissible(term.surface, question, language)))
    wanted = (*(query for query, _ in rewrite.queries), families)
    admitted = (query for query in wanted if language.terms(query) and admissible(query, question, language))
    return tuple(dict.fromkeys(admitted))[:most]


def admissible(query: str, question: str, language: Language) -> bool:
    """Whether a query suggests no answer: every figure, date and norm of it is the question's own."""
    return not figures_beyond(query, question, language)


def keeps_focus(rewrite: Rewrite, question: str, language: Language) -> bool:
    """Whether the focus shares a content word with the question; a question without content words cannot be lost."""
    asked = _words(question, language)
    return not asked or any(covered(term, asked) for focus in rewrite.focus for term in _words(focus, language))


# --- the second role ------------------------------------------------------------------------------


def figures_beyond(text: str, allowed: str, language: Language) -> tuple[str, ...]:
    """The figures, dates and norms of `text` that `allowed` does not hold, as written."""
    held = parse(allowed, language.notation)
    return tuple(
        figure.text
        for figure in parse(citations.without(text), language.notation)
        if not figure.weak and not any(supports(figure, other) for other in held)
    )


def chunk_id(hit: Hit) -> str:
    """How a chunk is named towards the roles; it is cited by its entry's id."""
    return f"{hit.entry.id}#{hit.chunk.ordinal}"


def by_entry(text: str, hits: Sequence[Hit]) -> str:
    """`text` with every citation in the spelling of its entry's id, where a chunk's was written too."""
    for hit in hits:
        text = text.replace(f"[{chunk_id(hit)}]", f"[{hit.entry.id}]")
    return citations.canonical(text, {hit.entry.id for hit in hits})


def entries(used: Iterable[Used], hits: Sequence[Hit]) -> frozenset[str] | None:
    """The entry ids of what a role says it used; None where it names a chunk it was not shown."""
    known = {name.casefold(): hit.entry.id for hit in hits for name in (chunk_id(hit), hit.entry.id)}
    found = {known.get(one.chunk_id.strip("[] ").casefold()) for one in used}
    return None if None in found else frozenset(name for name in found if name)


def linked(text: str, used: Collection[Used], uncertain: Sequence[str], hits: Sequence[Hit], language: Language) -> bool:
    """Whether text and evidence agree: the same entries are cited and named as used, and every sentence that claims something cites one.

    Sentences that ask, that decline, or that say what was declared uncertain claim nothing.
    """
    named = entries(used, hits)
    if named is None or set(citations.cited(text)) != named:
        return False
    marks = [mark.casefold() for mark in language.table["refusal_marks"]]
    for start, end in language.sentences(text):
        sentence = text[start:end]
        claims = not sentence.rstrip().endswith("?") and not any(mark in sentence.casefold() for mark in marks)
        if claims and _words(sentence, language) and not citations.cited(sentence) and not _stated(sentence, uncertain, language):
            return False
    return True


def honest(proposal: Proposal, question: str, language: Language) -> bool:
    """Whether an answer that says the evidence does not suffice states nothing: no figure, date or norm beyond the question's own."""
    return not figures_beyond(proposal.text, question, language)


def denial(text: str, language: Language) -> str:
    """The first sentence of a text, where it denies something; empty where it does not."""
    plain = citations.without(text)
    first = next((plain[start:end] for start, end in language.sentences(plain)), "")
    marked = any(mark.casefold() in first.casefold() for mark in language.table["refusal_marks"])
    return first if marked or _negations(first, language) else ""


def leaks(text: str, beside: str, language: Language) -> tuple[str, ...]:
    """What `text` tells of the machinery behind it (roles, fields, searches), unless what lies `beside` speaks of it."""
    text = "".join(letter for letter in text if unicodedata.category(letter) != "Cf")  # soft hyphens and the like hide no word
    said, other = text.casefold(), beside.casefold()
    words = [*_fields(), *(word.casefold() for word in language.table["internal_words"])]
    found = [word for word in words if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", said) and word not in other]
    return tuple(dict.fromkeys([*(match.group() for match in _ROLE.finditer(text)), *found]))


@cache
def _fields() -> tuple[str, ...]:
    """The field names of all contracts that no prose would hold."""
    names = set[str]()
    for schema in ("rewrite", "answer", "verdict", "correction"):
        properties = texts.schema(f"review.{schema}")["properties"]
        names.update(name for name in properties if "_" in name)
        names.update(name for value in properties.values() for name in value.get("items", {}).get("properties", {}) if "_" in name)
        names.update(name for value in properties.values() for name in value.get("properties", {}) if "_" in name)
    return tuple(sorted(names))


# --- the third and the fourth role ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Decision:
    """What a review comes to: publish as it is, publish the revision, have it corrected, or fall back, with the reason of the last two."""

    step: str
    """"publish" | "revise" | "correct" | "fallback"."""
    reason: Reason | None = None


def decided(review: Review, proposal: Proposal) -> Decision:
    """What a valid review comes to. Replies that contradict themselves, or the second role's own words, count as not approved."""
    if review.verdict == "reject":
        problem = not review.sound or review.unsupported
        correctable = problem and review.action == "fallback_to_extractive"
        return Decision("correct" if correctable else "fallback", Reason.AGENT3_REJECT)
    if not review.sound:
        return Decision("fallback", Reason.AGENT3_REJECT)
    if not proposal.no_metadata:
        return Decision("fallback", Reason.AGENT2_METADATA_LEAKAGE)
    if not proposal.from_chunks:
        return Decision("fallback", Reason.AGENT2_GROUNDING_FAILED)
    return _approved(review)


def _approved(review: Review) -> Decision:
    if (review.verdict, review.action) == ("approve", "publish") and not review.unsupported:
        return Decision("publish")
    if (review.verdict, review.action) == ("revise_minor", "publish_after_minor_revision") and review.revision:
        return Decision("revise")
    return Decision("fallback", Reason.AGENT3_REJECT)


def additions(revision: str, draft: str, beside: str, language: Language) -> tuple[str, ...]:
    """What a revision says that it may not: figures, norms and ids the draft has not, words that neither draft nor `beside` holds, and
    sentences of the draft it turns round (a negation more or less). `beside` is the cited evidence and the question."""
    ids = (name for name in citations.cited(revision) if name not in citations.cited(draft))
    figures = figures_beyond(revision, draft, language)
    return tuple(dict.fromkeys([*figures, *ids, *beyond(revision, f"{draft}\n{beside}", language), *_turned(revision, draft, language)]))


def beyond(text: str, allowed: str, language: Language) -> tuple[str, ...]:
    """The figures, dates, norms and content words of `text` that `allowed` does not hold, as written."""
    known = _words(allowed, language)
    words = (word for term, word in language.tokens(citations.without(text)) if term.isalpha() and not covered(term, known))
    return tuple(dict.fromkeys([*figures_beyond(text, allowed, language), *words]))


def _turned(revision: str, draft: str, language: Language) -> list[str]:
    """The sentences of a revision that hold another number of negations than the sentence of the draft they come from."""
    before = [draft[a:b] for a, b in language.sentences(draft)]
    turned = []
    for start, end in language.sentences(revision):
        sentence = revision[start:end]
        words = _words(sentence, language)
        origin = max(before, key=lambda old: len(words & _words(old, language)), default="")
        if words and _negations(sentence, language) != _negations(origin, language):
            turned.append(sentence)
    return turned


def _negations(sentence: str, language: Language) -> int:
    negations = {word.casefold() for word in language.table["negations"]}
    return sum(word in negations for word in re.findall(r"\w+", sentence.casefold()))


def still_claimed(review: Review, text: str, language: Language) -> tuple[str, ...]:
    """The claims a reviewer found unsupported that a revised text still makes."""
    sentences = [text[a:b] for a, b in language.sentences(text)]
    return tuple(claim for claim in review.unsupported if any(_states(sentence, claim, language) for sentence in sentences))


def _stated(sentence: str, claims: Sequence[str], language: Language) -> bool:
    return any(_states(claim, sentence, language) for claim in claims)


def _states(sentence: str, claim: str, language: Language) -> bool:
    """Whether a sentence holds enough of a claim's words, and all of its figures, to say the same."""
    wanted = _words(claim, language)
    if not wanted or figures_beyond(claim, sentence, language):
        return False
    held = _words(sentence, language)
    return sum(term in held for term in wanted) / len(wanted) > SAME


def _words(text: str, language: Language) -> set[str]:
    """The content words of a text as terms."""
    return {term for term in language.terms(citations.without(text)) if term.isalpha()}
