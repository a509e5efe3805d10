"""Parts for tests, ours and those of people who add parts: a scripted model, a source from a list, a store in memory, a fixed day."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from agent import texts
from agent.errors import ModelError
from agent.interfaces import NO_LIMITS, ChatReply, ChatRequest, Model, Parts, Source
from agent.language import Language
from agent.settings import Settings
from agent.values import Chunk, EntryInfo, Evidence, Finish, Hit, Period, Searched, SubQuery, Tokens

STICHTAG = date(2026, 11, 30)


def german() -> Language:
    """The German analyser over the table that ships."""
    return Language(texts.table("language.de"), texts.table("figures.de"))


def swedish() -> Language:
    """The Swedish analyser over the table that ships."""
    return Language(texts.table("language.sv"), texts.table("figures.sv"))


@dataclass
class ScriptedModel:
    """A model that says what its script says, in order: text, a whole reply, or an error to raise. It remembers what it was asked."""

    script: Sequence[str | ChatReply | ModelError]
    name: str = "scripted"
    requests: list[ChatRequest] = field(default_factory=list)

    def installed(self) -> bool:
        return True

    def digest(self) -> str | None:
        return "scripted"

    def chat(self, request: ChatRequest, /) -> ChatReply:
        self.requests.append(request)
        said = self.script[len(self.requests) - 1]
        if isinstance(said, ModelError):
            raise said
        return said if isinstance(said, ChatReply) else ChatReply(said, Finish.COMPLETE, self.name, Tokens(100, 20))


@dataclass
class ListSource:
    """A source that finds the same hits for every query and remembers the queries."""

    hits: Sequence[Hit]
    name: str = "wissensbasis"
    about: str = "a list"
    weights: Mapping[str, float] = field(default_factory=dict)
    queries: list[SubQuery] = field(default_factory=list)

    def search(self, subquery: SubQuery, /, k: int) -> Evidence:
        self.queries.append(subquery)
        return Evidence(tuple(self.hits[:k]), Searched((subquery.query,), subquery.scope, subquery.period.end), weights=self.weights)


class Recorder:
    """A log that keeps its steps in a list."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, Mapping[str, Any]]] = []

    def step(self, kind: str, /, **data: Any) -> None:
        self.steps.append((kind, data))


def hit(entry_id: str, text: str, *, section: str = "Zusammenfassung", score: float = 1.0, **entry: Any) -> Hit:
    """A hit on a chunk with this text; further keywords are the entry's fields."""
    info = EntryInfo(entry_id, **{"title": entry_id, "stand": STICHTAG, **entry})
    return Hit(Chunk(entry_id, 0, section, text, (0, len(text))), info, score)


def parts(
    sources: Iterable[Source], *, model: Model | None = None, settings: Settings | None = None, today: Callable[[], date] = lambda: STICHTAG
) -> Parts:
    """A bench of the given sources and model, in German, with a recording log."""
    language = german()
    return Parts(
        settings or Settings(),
        language,
        {source.name: source for source in sources},
        model,
        Recorder(),
        lambda name: texts.prompt(language.code, name),
        today,
        {"limits": NO_LIMITS, **{name: texts.table(name) for name in ("answerability", "complexity")}},
    )


def on(day: date = STICHTAG) -> Period:
    """The period of one day."""
    return Period.day(day)
