"""The Protocols every exchangeable part keeps, and `Parts`, what all of them share.

A part is a file on a shelf (strategies, classifiers, generators, sources, stores, llm, embedders); it satisfies one of these by shape,
without a base class. Vectors are L2-normalised float32.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, Protocol

from agent.language import Language
from agent.runlog import Log
from agent.settings import Settings
from agent.values import (
    Chunk,
    Complaint,
    Draft,
    EntryInfo,
    Evidence,
    Finish,
    Gathered,
    Period,
    Plan,
    Question,
    SubQuery,
    Tokens,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]  # (dimension,)
    Matrix = NDArray[np.float32]  # (texts, dimension)


# --- models ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request to a language model. `schema` asks for JSON that keeps it; `max_tokens` limits the output."""

    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    temperature: float = 0.1
    max_tokens: int = 2048
    timeout: float | None = None
    """Seconds for the whole reply; None is the model's own limit."""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back: thinking is already taken out of `text`; `finish` says whether the text is whole."""

    text: str
    finish: Finish
    model: str
    tokens: Tokens = Tokens()
    prompt_cut: bool = False
    """The server read far fewer prompt tokens than were sent: the rules at its head may be lost."""


class Model(Protocol):
    """A language model. Raises ModelUnavailable, ModelMissing or ModelTimeout; a draft cut off is a reply, not an error."""

    @property
    def name(self) -> str: ...

    def installed(self) -> bool:
        """Whether the server answers and has the model; never raises."""
        ...

    def digest(self) -> str | None:
        """The server's fingerprint of the model, where it gives one."""
        ...

    def chat(self, request: ChatRequest, /) -> ChatReply: ...


# --- embedders ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """What makes two vectors comparable: same name, dimension and digest (of the model's weights, not of the platform)."""

    name: str
    dimension: int
    digest: str

    def __str__(self) -> str:
        return f"{self.name} ({self.dimension}-d, {self.digest})"


class Embedder(Protocol):
    """Turns text into vectors. Raises EmbedderError when it cannot be reached."""

    @property
    def identity(self) -> EmbedderIdentity: ...

    def query(self, text: str, /) -> Vector: ...

    def passages(self, texts: Sequence[str], /) -> list[Vector | None]:
        """One vector per text, in order; None for a text the embedder cannot digest."""
        ...


# --- the store ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filter:
    """Which chunks may be found: those whose entry is valid in `period` and of an admitted bereich (None = any)."""

    period: Period | None = None
    only: frozenset[str] | None = None
    without: frozenset[str] = frozenset()

    def admits(self, entry: EntryInfo) -> bool:
        if self.period is not None and not self.period.overlaps(entry.valid_from, entry.valid_to):
            return False
        return entry.bereich not in self.without and (self.only is None or entry.bereich in self.only)


@dataclass(frozen=True, slots=True)
class Scored:
    """A chunk's row in the store and a leg's score for it (greater is better)."""

    row: int
    score: float


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What the index says of itself."""

    schema_version: int
    analyser: str
    language: str
    embedder: EmbedderIdentity | None
    kb_version: str
    generation: str
    built: str
    entries: int
    chunks: int
    without_vector: int


@dataclass(frozen=True, slots=True)
class Change:
    """What one ingest did."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    chunks: int = 0
    embedded: int = 0
    reused: int = 0
    pieces: int = 0
    """Sentences and table rows that were embedded."""
    failed: tuple[str, ...] = ()
    """Chunks (`entry#ordinal`) the embedder could not digest."""


class Store(Protocol):
    """The index as a question sees it: one generation, read-only."""

    @property
    def info(self) -> IndexInfo: ...

    def lexical(self, terms: Sequence[str], depth: int, where: Filter) -> list[Scored]:
        """BM25 over analysed terms, joined by OR; best first, at most `depth`."""
        ...

    def dense(self, vector: Vector, depth: int, where: Filter) -> list[Scored]:
        """Exact cosine over all vectors; best first, at most `depth`."""
        ...

    def similarities(self, vector: Vector, rows: Collection[int]) -> dict[int, float]:
        """Cosine of the given rows; rows without a vector are left out."""
        ...

    def piece_similarities(self, vector: Vector, rows: Collection[int]) -> dict[str, float]:
        """Cosine of every quotable piece of these rows that has a vector, by its key."""
        ...

    def fetch(self, rows: Iterable[int]) -> dict[int, tuple[Chunk, EntryInfo]]: ...

    def rows_of(self, entry_ids: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """The rows of each entry's chunks, in reading order; unknown ids are left out."""
        ...

    @property
    def dated(self) -> bool:
        """Whether any entry holds for some days only."""
        ...

    def document_frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """In how many chunks each term occurs (0 where it does not)."""
        ...

    def gram_frequencies(self, grams: Collection[bytes]) -> dict[bytes, int]:
        """In how many chunks each character gram (agent.language.grams) occurs (0 where it does not)."""
        ...

    def compounds(self, terms: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Longer words of the index that begin or end with each of the terms, the shortest first; a bounded number."""
        ...

    def near(self, term: str) -> tuple[str, ...]:
        """Words of about the term's length that share its beginning or its end."""
        ...

    def analysed(self, rows: Collection[int]) -> dict[int, tuple[str, str]]:
        """The terms of each row as they were indexed, joined by blanks: its head's (title, tags, section) and its text's."""
        ...

    def closeness(self, rows: Collection[int], to: Collection[int]) -> dict[int, float]:
        """The mean cosine of each row with the rows `to`, what all `rows` have in common taken off; rows without a vector are left out."""
        ...

    def synonyms(self) -> Mapping[str, tuple[str, ...]]:
        """The knowledge base's own synonyms, analysed: term -> terms."""
        ...

    def readings(self) -> Mapping[str, str]:
        """Words of dialect and shorthand, folded, each with how it is read in a question."""
        ...

    def limits(self) -> Mapping[str, Any]:
        """What the knowledge base does not hold ("outside"), the facts that decide what applies ("facts"), and words of which one excludes
        the other ("alternatives")."""
        ...


NO_LIMITS: Mapping[str, Any] = {"outside": [], "facts": [], "alternatives": []}
"""The limits of a knowledge base that states none."""


# --- the dated values -----------------------------------------------------------------------------

VALUES_TABLE = "werte"
VALUES_COLUMNS = ("key", "row", "label", "value", "unit", "period", "valid_from", "valid_to", "norm")
"""The table of their database that SQL may ask. `row` is "" where a key has one case, dates are ISO, `value` is a number or text."""


# --- the index as an ingest sees it ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Beside:
    """What a knowledge base says beside its entries: synonyms (analysed), how spellings are read (folded), and its limits."""

    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    readings: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, Any] = field(default_factory=lambda: NO_LIMITS)


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk ready for the index: its analysed terms, joined by blanks, and the hash of the text that is embedded for it."""

    chunk: Chunk
    head: str
    body: str
    hash: str
    pieces: tuple[str, ...] = ()
    """The keys of its quotable pieces (agent.language.pieces); none where no piece is to have a vector of its own."""


@dataclass(frozen=True, slots=True)
class Document:
    """An entry ready for the index."""

    entry: EntryInfo
    chunks: tuple[IndexedChunk, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """What the index holds of an entry: enough to see whether it changed."""

    sha256: str
    path: str
    hashes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Update:
    """One change of the index, written in one transaction; a document takes the place of the entry with its id."""

    documents: Iterable[Document]
    removed: frozenset[str]
    language: str
    kb_version: str
    beside: Beside = field(default_factory=Beside)
    embedder: EmbedderIdentity | None = None
    """Whose vectors the index holds from now on; None leaves that as it is."""


class Index(Protocol):
    """The index as an ingest sees it; one at a time. Raises IndexProblem."""

    @property
    def info(self) -> IndexInfo | None:
        """What it says of itself; None before the first update, and where everything is to be built anew."""
        ...

    def held(self) -> Mapping[str, Held]: ...

    def beside(self) -> Beside | None: ...

    def write(self, update: Update, /) -> None: ...

    def pending(self) -> Mapping[str, int]:
        """The hashes that have no vector of the index's embedder yet, each with a row that bears it."""
        ...

    def pending_pieces(self) -> Mapping[str, int]:
        """The same of the quotable pieces: keys without a vector, each with a row of a chunk it stands in."""
        ...

    def fetch(self, rows: Iterable[int]) -> dict[int, tuple[Chunk, EntryInfo]]: ...

    def add_vectors(self, vectors: Mapping[str, Vector], /) -> None:
        """Adds vectors of the index's embedder, by hash, in one transaction."""
        ...

    def finish(self) -> None:
        """Derives what a question needs besides the truth, and clears away what belongs to earlier generations."""
        ...


# --- the way of a question ------------------------------------------------------------------------


class Source(Protocol):
    """A place to look. `about` is the one line a router shows a model."""

    name: str

    @property
    def about(self) -> str: ...

    def search(self, subquery: SubQuery, /, k: int) -> Evidence:
        """At most `k` hits, best first. Raises SourceError; nothing found is empty evidence."""
        ...


class Strategy(Protocol):
    """Gathers evidence for a plan; where its method ends in an answer, it hands over the draft too."""

    def __call__(self, question: Question, plan: Plan, parts: Parts, /) -> Gathered: ...


@dataclass(frozen=True, slots=True)
class Classified:
    """A classifier's word for a question, "A", "B" or "C" (anything else is taken for none), and what it took."""

    label: str
    tokens: Tokens = Tokens()


class Classifier(Protocol):
    """Says how much looking up a question needs. May raise ModelError."""

    def __call__(self, question: Question, parts: Parts, /) -> Classified: ...


class Generator(Protocol):
    """Drafts an answer from evidence. `complaint` is what grounding found wrong with its first draft."""

    def __call__(self, question: Question, plan: Plan, evidence: Evidence, parts: Parts, complaint: Complaint | None, /) -> Draft: ...


@dataclass(frozen=True, slots=True)
class Parts:
    """What every strategy and generator shares. Grounding is deliberately not here: nobody who drafts can reach it."""

    settings: Settings
    language: Language
    sources: Mapping[str, Source]
    model: Model | None
    log: Log
    prompt: Callable[[str], str]
    """The text of a prompt file of this language, by name."""
    today: Callable[[], date] = date.today
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Data the pure parts are handed: "limits" (of the knowledge base, as agent.ingest.limits reads them), and the fitted models
    "answerability" and "complexity"."""
