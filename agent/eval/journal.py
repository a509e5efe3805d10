"""Keeps what an experiment has measured so far, a JSON line a question, so that an interruption costs one question."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent.errors import AgentError
from agent.eval.report import Row
from agent.i18n import tr

FAILED = "not_scored"
Key = tuple[str, int, str]
"""(setting, repetition, question id)"""


class Journal:
    """The file beside a result. `head` says what is being measured: a journal of something else is not gone on with."""

    def __init__(self, path: Path, head: Mapping[str, Any]) -> None:
        self._path = path
        self._head = json.loads(json.dumps(head, default=str))

    def begun(self, *, resume: bool, retry: bool = False) -> dict[Key, Row]:
        """What is already known; without `resume` nothing, and the file begins anew. With `retry`, failures count as not yet known.

        Raises AgentError where the journal is one of another experiment, or cannot be written.
        """
        known = self._known() if resume and self._path.is_file() else {}
        kept = {key: row for key, row in known.items() if not (retry and row.get("outcome") == FAILED)}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            lines = [self._head, *({"key": list(key), "row": row} for key, row in kept.items())]
            self._path.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), encoding="utf-8")
        except OSError as error:
            raise AgentError(
                tr("The journal {path} cannot be written ({reason}).", path=self._path, reason=error.strerror),
                tr("Name another place with --json-out."),
            ) from error
        return kept

    def add(self, key: Key, row: Row) -> None:
        """Append one question; it is in the file when this returns."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": list(key), "row": row}, ensure_ascii=False) + "\n")

    def _known(self) -> dict[Key, Row]:
        head, *lines = self._path.read_text(encoding="utf-8").splitlines() or [""]
        if _line(head) != self._head:
            raise AgentError(
                tr("The journal {path} is of another run: settings, questions or knowledge base have changed.", path=self._path),
                tr("Begin anew without --resume."),
            )
        rows = [row for line in lines if (row := _line(line)) is not None]  # a last line cut off by the interruption is none
        return {(str(row["key"][0]), int(row["key"][1]), str(row["key"][2])): row["row"] for row in rows}


def put_away(path: Path) -> None:
    """Deletes a journal whose result is written, unless a question in it failed."""
    try:
        rows = [row for line in path.read_text(encoding="utf-8").splitlines()[1:] if (row := _line(line)) is not None]
        if not any(row["row"].get("outcome") == FAILED for row in rows):
            path.unlink()
    except OSError:
        return  # it is beside a result that is whole


def _line(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
