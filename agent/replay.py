"""An exported run again, without the model: what would be different today; and which earlier answers an edit of the knowledge base affects.

Search, gate, grounding and conflicts run anew under the options of then. The model says again what it said then, each reply to the
prompt it answered, so that its drafts meet today's entries.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from threading import Lock
from typing import Any

from agent import audit, publish, texts
from agent.errors import AgentError, ConfigError, ModelError, ModelMissing, ModelTimeout, ModelUnavailable
from agent.i18n import noted, tr
from agent.interfaces import ChatReply, ChatRequest
from agent.language.figures import parse
from agent.settings import Settings, changed
from agent.values import Finish, Tokens
from agent.wiring import Bench

Document = Mapping[str, Any]

ERRORS: Mapping[str, type[ModelError]] = {error.__name__: error for error in (ModelUnavailable, ModelMissing, ModelTimeout, ModelError)}


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it was; an empty side is "nothing"."""

    what: str
    then: str
    today: str


@dataclass(frozen=True, slots=True)
class Replay:
    """What a run gave when it was repeated: its differences, remarks on how it was repeated, and today's answer document."""

    run: str
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    answer: Document

    def document(self) -> dict[str, Any]:
        """As JSON."""
        found = [{"what": d.what, "then": d.then, "today": d.today} for d in self.differences]
        return {"run": self.run, "same": not found, "differences": found, "notes": list(self.notes), "answer": dict(self.answer)}


def read(path: Path) -> Document:
    """An exported run. Raises AgentError where the file is none."""
    from jsonschema import Draft202012Validator

    try:
        loaded: Document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AgentError(
            tr("{path} cannot be read as an exported run.", path=path), tr("Make one: pv-agent runs export ID --out FILE")
        ) from error
    fault = next(iter(Draft202012Validator(texts.schema("export")).iter_errors(loaded)), None)
    if fault:
        at = "/".join(map(str, fault.absolute_path)) or tr("the document")
        raise AgentError(
            tr("{path} is no exported run: {at}: {message}.", path=path, at=at, message=fault.message[:200]),
            tr("Make one: pv-agent runs export ID --out FILE"),
        )
    if loaded["checksum"] != audit.checksum(loaded):
        raise AgentError(
            tr("{path} is not as it was exported: its checksum differs.", path=path),
            tr("Export it anew: pv-agent runs export {id}", id=loaded["id"]),
        )
    return loaded


def replayed(then: Document, bench: Bench) -> Replay:
    """The run once more over the index as it is now."""
    settings, notes = _as_then(bench.settings, then)
    spoken = [call for call in then["calls"] if "error" not in call]
    silent = bool(spoken) and all(call["text"] is None for call in spoken)
    if silent:
        notes.append(tr("The run kept no drafts; its published text was checked in their place."))
        if any(call["json"] for call in spoken):
            notes.append(tr("What a model planned was not kept either; the search was planned by rules."))
            settings = changed(settings, query_planner=False, strategy="direct")
    unrepeatable = _review_was_not_kept(then, silent=silent)
    if unrepeatable:
        notes.append(tr("The contracts of the review were not kept, so only search and gate were compared."))
        settings = changed(settings, review_mode="off")
    steps: list[Document] = []

    def listener(kind: str, data: Document) -> None:
        steps.append({"kind": kind, **data})

    again = replace(
        bench,
        settings=settings,
        listeners=(listener,),
        around=lambda model: Repeating(model.name, then, silent=silent),
    )
    answer = publish.document(again.ask(then["question"], date.fromisoformat(then["stichtag"]), log=False))
    today = audit.rested(steps)
    differences = [*_of_evidence(then["evidence"], today["evidence"]), *_of_gate(then["gate"], today["gate"])]
    if silent and then["answer"]["refused"]:
        notes.append(tr("The drafts that were refused were not kept, so only search and gate were compared."))
    elif not unrepeatable:
        differences += _of_answers(then["answer"], answer, bench)
    return Replay(then["id"], tuple(differences), tuple(notes), answer)


def _review_was_not_kept(then: Document, *, silent: bool) -> bool:
    """Whether roles were asked whose replies are not there to be said again."""
    review = then["answer"].get("review")
    return bool(review and review["calls"]) and (silent or not then["options"].get("review_log_contracts"))


def _as_then(settings: Settings, then: Document) -> tuple[Settings, list[str]]:
    """The settings of then, those of place as they are now; a setting that is no more is left out, and noted."""
    notes = []
    for name, value in {**then["options"], "generator": then["generator"]}.items():
        try:
            settings = changed(settings, **{name: value})
        except ConfigError as error:
            notes.append(tr("Left out: {problem}", problem=error.message))
    return settings, notes


class Repeating:
    """A model that says again what it said: to each system prompt its replies in their order. Raises the errors it raised then."""

    def __init__(self, name: str, then: Document, *, silent: bool) -> None:
        self.name = name
        self._answer = then["answer"]
        self._left = list(then["calls"])
        self._silent = silent
        self._lock = Lock()

    def installed(self) -> bool:
        return True

    def digest(self) -> str | None:
        return None

    def chat(self, request: ChatRequest, /) -> ChatReply:
        call = self._next(request)
        if "error" in call:
            raise ERRORS.get(call["error"], ModelError)(call["message"])
        if not self._silent:
            return ChatReply(call["text"], Finish(call["finish"]), call["model"], Tokens(**call["tokens"]))
        if self._answer["refused"]:
            raise ModelUnavailable(tr("What the model said was not kept."))
        return ChatReply(self._answer["answer"], Finish.COMPLETE, call["model"])

    def _next(self, request: ChatRequest) -> Document:
        """The call of then that is most like this one: the same request, else one with the same system prompt, else one of its form."""
        system, user, form = audit.fingerprint(request.system), audit.fingerprint(request.user), request.schema is not None
        with self._lock:
            alike = [call for call in self._left if call["json"] == form]
            if not alike:
                raise ModelUnavailable(tr("The model would be asked something that it was not asked then."), tr("Ask the question anew."))
            # max takes the first of equals: replies to one prompt come in their order
            call: Document = max(alike, key=lambda call: (call["system"] == system, call["user"] == user))
            self._left.remove(call)
        return call


# --- what is different ----------------------------------------------------------------------------


def _of_evidence(then: Sequence[Document], today: Sequence[Document]) -> Iterator[Difference]:
    """Chunks that are found no more, newly found, or have another wording, Stand or validity."""
    old, new = ({(chunk["id"], chunk["section"], _place(chunks, chunk)): chunk for chunk in chunks} for chunks in (then, today))
    for key in dict.fromkeys([*old, *new]):
        where = f"evidence {key[0]}" + (f", {key[1]}" if key[1] else "")
        before, after = old.get(key), new.get(key)
        if before is None or after is None:
            yield Difference(where, "found" if before else "", "found" if after else "")
            continue
        if before["hash"] != after["hash"]:
            yield Difference(f"{where}: text", before["hash"], after["hash"])
        dates = [(before[name] or "open", after[name] or "open", name) for name in ("stand", "valid_from", "valid_to")]
        yield from (Difference(f"{where}: {name}", one, other) for one, other, name in dates if one != other)


def _place(chunks: Sequence[Document], chunk: Document) -> int:
    """Which of its section's chunks this is, in reading order: spans move with every edit before them."""
    same = sorted(other["span"][0] for other in chunks if (other["id"], other["section"]) == (chunk["id"], chunk["section"]))
    return same.index(chunk["span"][0])


def _of_gate(then: Document | None, today: Document) -> Iterator[Difference]:
    before, after = (str(gate.get("reason") or "may be answered") if gate else "" for gate in (then, today))
    if before != after:
        yield Difference("gate", before, after)


def _of_answers(then: Document, today: Document, bench: Bench) -> Iterator[Difference]:
    """Verdict, figures, citations, conflicts, the question back, and the text itself."""
    notation = bench.language.notation
    sides = [
        {
            "verdict": f"{'refused' if answer['refused'] else 'answered'}{' (' + answer['reason'] + ')' if answer['reason'] else ''}",
            "origin": answer["origin"],
            "figures": ", ".join(sorted({figure.text for figure in parse(answer["answer"], notation)})),
            "citations": ", ".join(f"{c['id']} ({c['stand']}, {c['validity']})" for c in answer["citations"]),
            "conflicts": "; ".join(f"{c['subject']}: {c['answered']} / {c['other']}" for c in answer["conflicts"]),
            "question back": answer["question_back"] or "",
            "answer": answer["answer"],
        }
        for answer in (then, today)
    ]
    yield from (Difference(what, before, sides[1][what]) for what, before in sides[0].items() if before != sides[1][what])


# --- which answers an edit affects ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Affected:
    """An earlier answer (`id` is its run's) or a question of the goldset whose entries are not what they were, and what became of each."""

    id: str
    question: str
    entries: tuple[tuple[str, str], ...]
    """(entry id, "changed" | "removed" | "other dates"), in the order they were cited."""


def affected(bench: Bench, since: date | None, cases: Iterable[tuple[str, str, Sequence[str]]]) -> tuple[list[Affected], list[Affected]]:
    """Earlier answers and goldset questions that rest on chunks the index no longer holds as they were.

    `cases` are a goldset's (id, question, expected entries). A logged run shows what its chunks were; an entry that no run since `since`
    has met cannot be known to have changed.
    """
    runs = [_all_evidence(audit.exported(run)) for run in bench.runs.since(since) if run["answer"]]
    now = _Now(bench, {chunk["id"] for run in runs for chunk in run["evidence"]})
    answers, edited = [], dict[str, str]()
    for run in runs:
        edited.update({chunk["id"]: what for chunk in run["evidence"] if (what := now.became(chunk))})
        cited = [chunk for citation in run["answer"]["citations"] for chunk in audit.cited(run["evidence"], citation)]
        found = {chunk["id"]: what for chunk in cited if (what := now.became(chunk))}
        if found:
            answers.append(Affected(run["id"], run["question"], tuple(found.items())))
    questions = [
        Affected(identifier, question, tuple((name, edited[name]) for name in expected if name in edited))
        for identifier, question, expected in cases
        if any(name in edited for name in expected)
    ]
    return answers, questions


def _all_evidence(run: dict[str, Any]) -> dict[str, Any]:
    """The run with everything its answer could rest on as its evidence."""
    more = [chunk for chunk in run["reviewed_evidence"] if chunk not in run["evidence"]]
    return {**run, "evidence": [*run["evidence"], *more]}


class _Now:
    """What the index holds today of some entries."""

    def __init__(self, bench: Bench, ids: Iterable[str]) -> None:
        rows = bench.store.rows_of(ids)
        held = bench.store.fetch(row for of_entry in rows.values() for row in of_entry)
        self._hashes = {name: {audit.fingerprint(held[row][0].text) for row in of_entry} for name, of_entry in rows.items()}
        entries = {name: held[of_entry[0]][1] for name, of_entry in rows.items() if of_entry}
        self._days = {name: [day.isoformat() if day else None for day in (e.valid_from, e.valid_to)] for name, e in entries.items()}

    def became(self, chunk: Document) -> str:
        """What became of a logged chunk since; empty where it is as it was. Other sources than the index keep no state to compare."""
        if chunk["source"] != "wissensbasis":
            return ""
        if chunk["id"] not in self._days:
            return noted("removed")
        if chunk["hash"] not in self._hashes[chunk["id"]]:
            return noted("changed")
        return noted("other dates") if self._days[chunk["id"]] != [chunk["valid_from"], chunk["valid_to"]] else ""
