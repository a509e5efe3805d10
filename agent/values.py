"""The values that travel from a file to an answer; all of them frozen. Their codes stand in `codes` and are had from here.

Entry ─cut─▶ Chunk ─▶ (store)
Question ─plan─▶ Plan ─strategy─▶ Gathered ─generator, unless drafted─▶ Draft ─ground─▶ Grounded | Refused (= Answer)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from agent.codes import Finish as Finish
from agent.codes import Flag as Flag
from agent.codes import Label as Label
from agent.codes import Origin as Origin
from agent.codes import Reason as Reason
from agent.codes import Validity as Validity
from agent.errors import ModelError

# --- time ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Period:
    """An inclusive span of days; a single day has start == end."""

    start: date
    end: date

    @classmethod
    def day(cls, day: date) -> Period:
        return cls(day, day)

    @classmethod
    def year(cls, year: int) -> Period:
        return cls(date(year, 1, 1), date(year, 12, 31))

    def overlaps(self, valid_from: date | None, valid_to: date | None) -> bool:
        """Whether something valid from/to (None = open) is valid on at least one of these days."""
        return (valid_from is None or valid_from <= self.end) and (valid_to is None or valid_to >= self.start)


def validity_on(period: Period, valid_from: date | None, valid_to: date | None) -> Validity:
    """The state of a validity span, seen from `period`."""
    if valid_from is None and valid_to is None:
        return Validity.UNKNOWN
    if valid_from is not None and valid_from > period.end:
        return Validity.FUTURE
    if valid_to is not None and valid_to < period.start:
        return Validity.PAST
    return Validity.CURRENT


# --- the knowledge base -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EntryInfo:
    """What is known of an entry besides its text. `valid_from`/`valid_to` None means open on that side."""

    id: str
    title: str
    stand: date
    topic: str = ""
    tags: tuple[str, ...] = ()
    valid_from: date | None = None
    valid_to: date | None = None
    norms: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    cross_refs: tuple[str, ...] = ()
    bereich: str = ""
    layer: int = 2
    path: str = ""
    sha256: str = ""
    pages: tuple[int | str, ...] = ()
    """The pages of the document it was taken from, where that has pages."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading's part of an entry; `start` is where `text` begins in the entry's file text, in characters."""

    name: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One admitted document of the knowledge base."""

    info: EntryInfo
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """The piece that is indexed and retrieved: (entry, ordinal) identifies it, `span` is in the entry's file text."""

    entry_id: str
    ordinal: int
    section: str
    text: str
    span: tuple[int, int]


KNOWLEDGE_BASE, WEB = "wissensbasis", "web"
"""The name of the source every question may be answered from, the index; and of the one whose hits nobody has checked."""


@dataclass(frozen=True, slots=True)
class DatedValue:
    """A value that holds for some days. `row` tells the cases of one key apart ("" where there is one); `shown` is a table of its row."""

    key: str
    row: str
    label: str
    value: float | str
    unit: str | None
    period: str | None
    valid_from: date
    valid_to: date | None
    norm: str | None
    stand: date
    """The newest Stand of the entries that hold it, else of the knowledge base."""
    shown: str
    entries: tuple[str, ...] = ()
    """The ids of the entries whose tables hold this row for these days."""
    labels: tuple[frozenset[str], ...] = ()
    """What it is called, in terms: its own label, and how the entries' tables put it."""
    around: frozenset[str] = frozenset()
    """The terms of the titles and tags of those entries, and of its unit and period."""
    start_known: bool = True
    """Whether `valid_from` is known to be its first day; else it must not be told as one."""

    @property
    def name(self) -> str:
        return f"{self.key}/{self.row}" if self.row else self.key

    @property
    def id(self) -> str:
        return f"werte:{self.name}@{self.valid_from.isoformat()}"


# --- search -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Question:
    """What the user asked. `stichtag` is the day the answer is for; a date in the question itself goes before it.

    `text` is what is looked for; `typed` is how it came where it is read otherwise (dialect, shorthand), and what is shown.
    """

    text: str
    stichtag: date
    typed: str = ""

    @property
    def shown(self) -> str:
        return self.typed or self.text


@dataclass(frozen=True, slots=True)
class SubQuery:
    """One search: its words, the days it is about, and the scope it is restricted to."""

    query: str
    period: Period
    scope: str = "alle"


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question is going to be searched. `type` is "specific" or "survey"."""

    type: str
    subqueries: tuple[SubQuery, ...]
    dated: bool = False
    """Whether the question itself names its date; the Stichtag is then set aside."""

    @property
    def span(self) -> Period:
        """The days all sub-queries lie in."""
        return Period(min(s.period.start for s in self.subqueries), max(s.period.end for s in self.subqueries))


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that was found, with where each leg ranked it (from 1; None = that leg did not find it) and why it is here."""

    chunk: Chunk
    entry: EntryInfo
    score: float
    source: str = KNOWLEDGE_BASE
    lexical_rank: int | None = None
    dense_rank: int | None = None
    lexical_score: float | None = None
    dense_score: float | None = None
    why: str = ""
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Dropped:
    """A hit that did not become evidence, and the reason in a word or two."""

    id: str
    section: str
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class Searched:
    """What was searched: shown with every refusal."""

    queries: tuple[str, ...]
    scope: str
    stichtag: date


@dataclass(frozen=True, slots=True)
class Evidence:
    """The hits an answer may rest on, best first; nothing else may be cited."""

    hits: tuple[Hit, ...] = ()
    searched: Searched | None = None
    dropped: tuple[Dropped, ...] = ()
    beside: tuple[Hit, ...] = ()
    """Good hits that are not valid in the period asked for: the nearest ones, never evidence."""
    flags: frozenset[Flag] = frozenset()
    embedder: str | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    """How telling each of the question's terms is in this corpus (idf); terms of a date are left out."""
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Terms that stand for one of the question's: the knowledge base's synonyms."""
    signals: Mapping[str, float] = field(default_factory=dict)
    """Figures about the search as a whole, for the answerability gate: the best cosine and its margin."""
    likeness: Mapping[str, float] = field(default_factory=dict)
    """How near the quotable pieces of the hits lie to the question: the key of a piece -> cosine; empty without vectors."""
    named: frozenset[str] = frozenset()
    """The keys of the pieces that state the dated value the question names, where it names one beyond doubt."""
    conflicts: tuple[Conflict, ...] = ()
    """Where its entries contradict each other."""

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(hit.entry.id for hit in self.hits)

    @property
    def overruled(self) -> frozenset[str]:
        """The keys of pieces that another entry's value prevails over: they are not quoted."""
        return frozenset(conflict.overruled for conflict in self.conflicts)


# --- answers ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token counts as the server gave them; None is "not told", never 0."""

    prompt: int | None = None
    completion: int | None = None

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(_sum(self.prompt, other.prompt), _sum(self.completion, other.completion))


def _sum(left: int | None, right: int | None) -> int | None:
    return right if left is None else left if right is None else left + right


@dataclass(frozen=True, slots=True)
class Draft:
    """Text a generator or a strategy wrote; unchecked, never shown. Citations stand in it as `[id]`."""

    text: str
    origin: Origin
    finish: Finish = Finish.COMPLETE
    model: str | None = None
    tokens: Tokens = Tokens()
    refused: bool = False
    untimely: bool = False
    """What is asked for is held for other days only, so there is nothing to say."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One search of a strategy: which source was asked what, which ids came back, in how many milliseconds, and what went wrong."""

    source: str
    query: str
    ids: tuple[str, ...]
    note: str = ""
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Complexity:
    """How much looking up a question got (`label`), and what the classifier had `said`: None where it failed or said nothing known."""

    label: Label
    said: Label | None


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a strategy brings: evidence, and a draft where its method already ends in an answer."""

    evidence: Evidence
    draft: Draft | None = None
    hops: tuple[Hop, ...] = ()
    flags: frozenset[Flag] = frozenset()
    tokens: Tokens = Tokens()
    """What the strategy's own model calls took, its draft's among them."""
    complexity: Complexity | None = None
    """What the question was classified as, where it was."""
    failure: ModelError | None = None
    """What the strategy's own model failed with: the evidence was then found without it, and the answer is made without it."""


@dataclass(frozen=True, slots=True)
class Citation:
    """An entry an answer relies on, and the sentence of it that carries the answer."""

    id: str
    title: str
    stand: date
    validity: Validity
    section: str
    source: str
    quote: str = ""
    span: tuple[int, int] | None = None
    url: str | None = None
    pages: tuple[int | str, ...] = ()


@dataclass(frozen=True, slots=True)
class Complaint:
    """What grounding found wrong with a draft: the code, and the words the model is told."""

    reason: Reason
    message: str
    unknown_ids: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    """Figures, dates or norms, as written, that no cited chunk holds."""
    remainder: str = ""
    """The draft without its faulty sentences, where these can be left out without changing what the others say."""


@dataclass(frozen=True, slots=True)
class Checks:
    """What the checks saw in the drafts of this answer (the raw ones, before any regeneration)."""

    unknown_ids: tuple[str, ...] = ()
    unsupported_figures: tuple[str, ...] = ()
    regenerated: bool = False


@dataclass(frozen=True, slots=True)
class Nearest:
    """An entry that lies near a refused question, and why it does not answer it."""

    id: str
    title: str
    why_not: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two entries that give different values for one thing; `answered` is the one valid on the Stichtag."""

    subject: str
    answered: str
    other: str
    holder: str = ""
    """The id of the entry that holds the answered value."""
    value: str = ""
    overruled: str = ""
    """The key of the piece that states the other value (agent.language.pieces)."""


@dataclass(frozen=True, slots=True)
class Trace:
    """How an answer came about: the same for an answer and for a refusal."""

    question: Question
    plan: Plan | None = None
    evidence: Evidence = Evidence()
    strategy: str = ""
    complexity: Complexity | None = None
    hops: tuple[Hop, ...] = ()
    checks: Checks = Checks()
    warnings: tuple[str, ...] = ()
    flags: frozenset[Flag] = frozenset()
    language: str = ""
    model: str | None = None
    embedder: str | None = None
    tokens: Tokens = Tokens()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    run_id: str | None = None
    kb_version: str | None = None
    review: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Grounded:
    """A checked answer. `reason` says why the configured generator did not write it, where it did not."""

    text: str
    citations: tuple[Citation, ...]
    origin: Origin
    trace: Trace
    reason: Reason | None = None
    question_back: str | None = None
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal: an answer with a reason, never an exception."""

    reason: Reason
    text: str
    trace: Trace
    missing: str = ""
    nearest: tuple[Nearest, ...] = ()
    question_back: str | None = None


@dataclass(frozen=True, slots=True)
class Ungrounded:
    """An answer that rests on nothing but the model, and says so; only where the settings allow it."""

    text: str
    trace: Trace
    reason: Reason | None = None
    question_back: str | None = None


Answer = Grounded | Refused | Ungrounded
