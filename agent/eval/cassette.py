"""Records a model's replies and plays them again, so that an evaluation can be repeated without the model; counts calls as well.

A cassette is JSON lines: a head that holds the fingerprint of every prompt, then one line a reply, keyed by the hash of its request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from agent import texts
from agent.errors import AgentError, ModelError
from agent.i18n import tr
from agent.interfaces import ChatReply, ChatRequest, Model
from agent.values import Finish, Tokens

VERSION = 1


@dataclass
class Counter:
    """Wraps models and keeps what they replied since it was last cleared."""

    replies: list[ChatReply] = field(default_factory=list)
    calls: int = 0

    def clear(self) -> None:
        self.replies.clear()
        self.calls = 0

    def around(self, model: Model) -> Model:
        return _Counted(model, self)


@dataclass(frozen=True)
class _Around:
    """What is wrapped around a model says of itself what the model says."""

    model: Model

    @property
    def name(self) -> str:
        return self.model.name

    def installed(self) -> bool:
        return self.model.installed()

    def digest(self) -> str | None:
        return self.model.digest()


@dataclass(frozen=True)
class _Counted(_Around):
    counter: Counter

    def chat(self, request: ChatRequest, /) -> ChatReply:
        self.counter.calls += 1
        reply = self.model.chat(request)
        self.counter.replies.append(reply)
        return reply


def prompts(language: str) -> dict[str, str]:
    """The fingerprint of every prompt of a language."""
    return {name: texts.prompt_hash(language, name) for name in texts.names(f"prompts/{language}", ".md")}


def _key(model: str, request: ChatRequest) -> str:
    return sha256(json.dumps([model, asdict(request)], ensure_ascii=False, sort_keys=True, default=str).encode()).hexdigest()


class Cassette:
    """Replies by request, in the order they were given; asked more often, the last one stands. Raises AgentError on a bad file."""

    def __init__(self, path: Path, language: str, *, record: bool = False) -> None:
        self._path = path
        self._record = record
        self._replies: dict[str, list[ChatReply]] = {}
        self._played: dict[str, int] = {}
        self._head: dict[str, Any] = {"cassette": VERSION, "language": language, "prompts": prompts(language)}
        if record:
            self._write_head()
        else:
            self._load()

    @property
    def changed_prompts(self) -> list[str]:
        """The prompts whose wording is another than when this was recorded, or that came or went since."""
        then: Mapping[str, str] = self._head["prompts"]
        now = prompts(str(self._head["language"]))
        return sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))

    def around(self, model: Model) -> Model:
        """The model that records into this cassette, or that plays from it and needs no other."""
        return _Recording(model, self.keep) if self._record else _Playing(model.name, self.play, self.changed_prompts)

    def keep(self, model: Model, request: ChatRequest, reply: ChatReply) -> None:
        """Append a reply; it is on the disk when this returns, so that an interruption loses nothing."""
        self._append({"key": _key(model.name, request), "digest": model.digest(), "reply": asdict(reply)})

    def play(self, name: str, request: ChatRequest) -> ChatReply | None:
        """The next reply to a request; None where none was recorded."""
        key = _key(name, request)
        known = self._replies.get(key)
        if not known:
            return None
        place = self._played[key] = self._played.get(key, -1) + 1
        return known[min(place, len(known) - 1)]

    # --- the file ---------------------------------------------------------------------------------

    def _write_head(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(self._head, ensure_ascii=False) + "\n", encoding="utf-8")
        except OSError as error:
            raise AgentError(
                tr("The cassette {path} cannot be written ({reason}).", path=self._path, reason=error.strerror),
                tr("Name another place."),
            ) from error

    def _append(self, line: Mapping[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def _load(self) -> None:
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise AgentError(
                tr("There is no cassette at {path} ({reason}).", path=self._path, reason=error.strerror), tr("Make one with --record.")
            ) from error
        except UnicodeDecodeError as error:
            raise AgentError(tr("{path} is no cassette.", path=self._path), tr("Make one with --record.")) from error
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                if number == 1:
                    self._head = _head(row)
                else:
                    self._replies.setdefault(str(row["key"]), []).append(_reply(row["reply"]))
            except (ValueError, LookupError, TypeError) as error:
                if number == len(lines) > 1:
                    break  # the line that was being written when the recording was interrupted
                raise AgentError(
                    tr("{path}:{number}: this is no line of a cassette.", path=self._path, number=number),
                    tr("Record it anew with --record."),
                ) from error


def _head(row: Mapping[str, Any]) -> dict[str, Any]:
    if row["cassette"] != VERSION or not isinstance(row["prompts"], dict):
        raise ValueError("another form")
    return {**row, "language": str(row["language"])}


def _reply(row: Mapping[str, Any]) -> ChatReply:
    tokens = Tokens(**row["tokens"])
    return ChatReply(str(row["text"]), Finish(row["finish"]), str(row["model"]), tokens, prompt_cut=bool(row["prompt_cut"]))


@dataclass(frozen=True)
class _Recording(_Around):
    keep: Callable[[Model, ChatRequest, ChatReply], None]

    def chat(self, request: ChatRequest, /) -> ChatReply:
        reply = self.model.chat(request)
        self.keep(self.model, request, reply)
        return reply


@dataclass(frozen=True)
class _Playing:
    name: str
    play: Callable[[str, ChatRequest], ChatReply | None]
    changed: list[str]

    def installed(self) -> bool:
        return True

    def digest(self) -> str | None:
        return None

    def chat(self, request: ChatRequest, /) -> ChatReply:
        reply = self.play(self.name, request)
        if reply is None:
            why = (
                tr("prompts changed since: {prompts}", prompts=", ".join(self.changed))
                if self.changed
                else tr("its question or evidence is another by now")
            )
            raise ModelError(tr("The cassette holds no reply to this request of {name}; {why}.", name=self.name, why=why))
        return reply
