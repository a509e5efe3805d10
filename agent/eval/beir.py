"""Reads a third-party test set in BEIR's layout: corpus.jsonl, queries.jsonl, qrels.tsv (Thakur et al. 2021).

A query with `"answerable": false` is kept apart: it has no relevant document and feeds the refusal measures. An answerable one without
a positive judgement is kept apart too, as unjudged, since scoring it would count as a failure what nobody has looked at.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from agent.errors import AgentError, UsageError
from agent.i18n import noted, tr

LAYOUT = noted("A set is a folder with corpus.jsonl, queries.jsonl and qrels.tsv.")


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a set."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """One question of a set; `fields` holds whatever else its line says."""

    id: str
    text: str
    answerable: bool = True
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TestSet:
    """A whole set. `qrels` is {query id: {document id: grade}} for `queries`, each of which has a relevant document."""

    __test__ = False  # not a test, whatever pytest makes of the name

    name: str
    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    unanswerable: tuple[Query, ...]
    unjudged: tuple[Query, ...]
    qrels: Mapping[str, Mapping[str, int]]


Row = TypeVar("Row", Document, Query)


def read(folder: Path, *, where: Sequence[str] = ()) -> TestSet:
    """The set in `folder`, with the queries that keep every `field=value` of `where`.

    Raises AgentError, which names file and line, on broken lines, ids given twice, and judgements on what is not there; UsageError on
    a filter that is none or that no query passes.
    """
    documents = {doc.id: doc for doc in _unique(folder / "corpus.jsonl", _document)}
    queries = {query.id: query for query in _unique(folder / "queries.jsonl", _query)}
    qrels = _qrels(_judgements(folder), queries, documents)
    kept = _filtered(tuple(queries.values()), where)
    judged = {qid for qid, grades in qrels.items() if any(grade > 0 for grade in grades.values())}
    return TestSet(
        name=folder.resolve().name,
        documents=tuple(documents.values()),
        queries=tuple(query for query in kept if query.id in judged),
        unanswerable=tuple(query for query in kept if not query.answerable),
        unjudged=tuple(query for query in kept if query.answerable and query.id not in judged),
        qrels={query.id: qrels[query.id] for query in kept if query.id in judged},
    )


# --- lines ----------------------------------------------------------------------------------------


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """("file:line", text) of each line that is not empty."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise AgentError(tr("{path} cannot be read ({reason}).", path=path, reason=error.strerror), tr(LAYOUT)) from error
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        at = f"{path}:{number}"
        try:
            text = line.decode().rstrip("\r")
        except UnicodeDecodeError as error:
            raise AgentError(tr("{at}: this is not UTF-8.", at=at), tr("Save the file as UTF-8.")) from error
        if text.strip():
            yield at, text


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for at, line in _lines(path):
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise AgentError(tr("{at}: this is no valid JSON.", at=at), tr("Each line is one object, {...}.")) from error
        if not isinstance(row, dict):
            raise AgentError(tr("{at}: this is not a JSON object.", at=at), tr("Each line is one object, {...}."))
        yield at, row


def _unique(path: Path, make: Callable[[str, Mapping[str, Any]], Row]) -> Iterator[Row]:
    seen: dict[str, str] = {}
    for at, row in _rows(path):
        made = make(at, row)
        if made.id in seen:
            raise AgentError(
                tr("{at}: the id {id!r} stands in line {seen} already.", at=at, id=made.id, seen=seen[made.id]),
                tr("Every id is given once."),
            )
        seen[made.id] = at.rpartition(":")[2]
        yield made


def _text(at: str, row: Mapping[str, Any], *names: str, default: str | None = None) -> str:
    value = next((row[name] for name in names if row.get(name) is not None), default)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise AgentError(
            tr("{at}: {name!r} is missing or no text.", at=at, name=names[0]), tr("Known names of it: {names}.", names=", ".join(names))
        )
    return value


def _document(at: str, row: Mapping[str, Any]) -> Document:
    return Document(_text(at, row, "id", "_id"), _text(at, row, "title", default=""), _text(at, row, "text"))


def _query(at: str, row: Mapping[str, Any]) -> Query:
    answerable = row.get("answerable", True)
    if not isinstance(answerable, bool):
        raise AgentError(tr("{at}: 'answerable' is neither true nor false.", at=at), tr("Write true or false, without quotes."))
    rest = {name: value for name, value in row.items() if name not in ("id", "_id", "text")}
    return Query(_text(at, row, "id", "_id"), _text(at, row, "text"), answerable, rest)


# --- judgements -----------------------------------------------------------------------------------


def _judgements(folder: Path) -> Path:
    """qrels.tsv, or where BEIR's own archives keep it."""
    flat, split = folder / "qrels.tsv", folder / "qrels" / "test.tsv"
    return split if split.is_file() and not flat.is_file() else flat


def _qrels(path: Path, queries: Mapping[str, Query], documents: Mapping[str, Document]) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for place, (at, line) in enumerate(_lines(path)):
        columns = line.split("\t")
        if len(columns) != 3:
            raise AgentError(
                tr("{at}: this line has not three columns.", at=at), tr("They are query-id, corpus-id and score, separated by tabs.")
            )
        if place == 0 and columns[2].strip() == "score":
            continue
        qid, doc, grade = columns[0], columns[1], _grade(at, columns[2])
        if qid not in queries:
            raise AgentError(
                tr("{at}: there is no query {qid!r} in queries.jsonl.", at=at, qid=qid), tr("Take the line out, or add the query.")
            )
        if doc not in documents:
            raise AgentError(
                tr("{at}: there is no document {doc!r} in corpus.jsonl.", at=at, doc=doc), tr("Take the line out, or add the document.")
            )
        if grade > 0 and not queries[qid].answerable:
            raise AgentError(
                tr("{at}: the query {qid!r} has a relevant document but is not answerable.", at=at, qid=qid), tr("One of the two is wrong.")
            )
        if doc in qrels.setdefault(qid, {}):
            raise AgentError(
                tr("{at}: {doc!r} is judged twice for the query {qid!r}.", at=at, doc=doc, qid=qid), tr("Keep one of the two lines.")
            )
        qrels[qid][doc] = grade
    return qrels


def _grade(at: str, text: str) -> int:
    try:
        number = float(text)
        if number == int(number):
            return int(number)
    except (ValueError, OverflowError):
        pass
    raise AgentError(
        tr("{at}: the score {text!r} is no whole number.", at=at, text=text.strip()), tr("0 is irrelevant, 1 and above are grades.")
    )


# --- filters --------------------------------------------------------------------------------------


def _filtered(queries: tuple[Query, ...], where: Sequence[str]) -> tuple[Query, ...]:
    for condition in where:
        name, equals, value = (part.strip() for part in condition.partition("="))
        if not (name and equals):
            raise UsageError(
                tr("--where {condition!r} is no filter.", condition=condition),
                tr("Write field=value, such as group=in or names_law=false."),
            )
        known = sorted({known for query in queries for known in query.fields})
        if queries and name not in known:
            raise UsageError(tr("No query has a field {name!r}.", name=name), tr("Known: {known}.", known=", ".join(known) or tr("none")))
        queries = tuple(query for query in queries if value in _spellings(query.fields.get(name)))
    if where and not queries:
        raise UsageError(tr("No query passes {where}.", where=tr(" and ").join(where)), tr("Leave one of the filters out."))
    return queries


def _spellings(value: Any) -> tuple[str, ...]:
    """How a filter may write this value: true and false as JSON does, a list by any of its members."""
    if isinstance(value, list):
        return tuple(spelling for member in value for spelling in _spellings(member))
    return (value,) if isinstance(value, str) else (json.dumps(value),)
