"""Writes and reads TREC run files, so that trec_eval, ranx or ir_measures can check what we measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from agent.errors import AgentError
from agent.i18n import noted, tr

COLUMNS = noted("The columns are query, Q0, document, rank, score and tag.")


def write(run: Mapping[str, Sequence[str]], path: Path, *, tag: str = "pv-agent") -> None:
    """One line a document: `query Q0 document rank score tag`.

    The score only counts down to 1: trec_eval sorts by it and breaks ties its own way, so our fused scores could change the order.
    Raises AgentError on an id with white space in it, which the format cannot hold.
    """
    lines = []
    for qid, ranking in run.items():
        for rank, doc in enumerate(ranking, 1):
            for name in (qid, doc, tag):
                if not name or name.split() != [name]:
                    raise AgentError(
                        tr("The id {name!r} cannot stand in a TREC run file.", name=name), tr("Ids there have no white space in them.")
                    )
            lines.append(f"{qid} Q0 {doc} {rank} {len(ranking) - rank + 1} {tag}\n")
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def read(path: Path) -> dict[str, list[str]]:
    """A run as {query: [documents, best first]}, in trec_eval's order: by score, ties by document id from the end of the alphabet."""
    scored: dict[str, dict[str, float]] = {}
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise AgentError(tr("{path} cannot be read as a run file.", path=path), tr(COLUMNS)) from error
    for number, line in enumerate(text.split("\n"), 1):
        columns = line.split()
        if not columns:
            continue
        at = f"{path}:{number}"
        if len(columns) != 6:
            raise AgentError(tr("{at}: this line has {count} columns, not 6.", at=at, count=len(columns)), tr(COLUMNS))
        qid, _, doc, _, score, _ = columns
        if doc in scored.setdefault(qid, {}):
            raise AgentError(
                tr("{at}: {doc!r} is ranked twice for the query {qid!r}.", at=at, doc=doc, qid=qid), tr("Keep one of the two lines.")
            )
        scored[qid][doc] = _number(at, score)
    return {qid: [doc for _, doc in sorted(((score, doc) for doc, score in docs.items()), reverse=True)] for qid, docs in scored.items()}


def _number(at: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise AgentError(tr("{at}: the score {text!r} is no number.", at=at, text=text), tr(COLUMNS)) from None
