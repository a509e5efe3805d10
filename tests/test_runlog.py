"""The run log: what is written is read back, nothing lingers after a purge, and an unwritable place costs no answer."""

from __future__ import annotations

import sqlite3
from datetime import date
from pathlib import Path

import pytest

from agent.errors import UsageError
from agent.runlog import Run, RunLog
from agent.values import Reason

RECORD = {
    "question": "Wie hoch?",
    "stichtag": "2026-11-30",
    "strategy": "direct",
    "refused": 1,
    "reason": "weak_evidence",
    "answer": '{"answer": "x"}',
}


def test_a_run_is_read_back_step_by_step(tmp_path: Path) -> None:
    heard: list[str] = []
    run = Run([lambda kind, _: heard.append(kind)])
    run.step("planned", day=date(2026, 1, 1), reason=Reason.NO_EVIDENCE, ids=frozenset({"b", "a"}))
    run.step("judged", score=0.5)
    log = RunLog(tmp_path / "deep" / "runs.db")
    assert log.write(run, RECORD)
    shown = log.shown(run.id[:-2])
    assert [step["kind"] for step in shown["steps"]] == heard == ["planned", "judged"]
    assert shown["steps"][0] | {"at": ""} == {"at": "", "kind": "planned", "day": "2026-01-01", "reason": "no_evidence", "ids": ["a", "b"]}
    assert shown["answer"] == {"answer": "x"}


def test_without_drafts_the_text_is_left_out_of_the_log_but_not_of_what_listeners_hear(tmp_path: Path) -> None:
    heard: list[object] = []
    run = Run([lambda _, data: heard.append(data.get("text"))], drafts=False)
    run.step("called", text="Frau Muster", model="m")
    run.step("judged", text="x")
    log = RunLog(tmp_path / "runs.db")
    assert log.write(run, RECORD)
    called, judged = log.shown(run.id)["steps"]
    assert (called["text"], called["model"], judged["text"]) == (None, "m", "x")
    assert heard == ["Frau Muster", "x"]
    assert b"Frau Muster" not in (tmp_path / "runs.db").read_bytes()


def test_since_gives_whole_runs_oldest_first(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "runs.db")
    first, second = Run(), Run()
    first.started, second.started = "2026-01-01T00:00:00.000", "2026-02-01T00:00:00.000"
    first.step("judged", score=1)
    for run in (second, first):
        assert log.write(run, RECORD)
    assert [run["id"] for run in log.since(None)] == [first.id, second.id]
    assert next(log.since(None))["steps"][0]["score"] == 1
    assert [run["id"] for run in log.since(date(2026, 2, 1))] == [second.id]


def test_where_and_limit(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "runs.db")
    for reason in ("weak_evidence", "no_evidence", "weak_evidence"):
        assert log.write(Run(), {**RECORD, "reason": reason})
    assert len(log.listed(where={"reason": "weak_evidence"})) == 2
    assert len(log.listed(where={"refused": "1"}, limit=1)) == 1
    with pytest.raises(UsageError, match="no field"):
        log.listed(where={"reason; DROP TABLE runs": "x"})


def test_unknown_and_missing(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "runs.db")
    with pytest.raises(UsageError, match="No run has been logged"):
        log.shown("x")
    log.write(Run(), RECORD)
    for unknown in ("x", "%", "_"):
        with pytest.raises(UsageError, match="no run"):
            log.shown(unknown)


def test_purge_leaves_no_trace_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    log = RunLog(path)
    log.write(Run(), {**RECORD, "question": "Geheimnis um Frau Muster"})
    assert log.purge(before=date(2000, 1, 1)) == 0
    assert log.purge(before=None) == 1
    assert log.listed(where={}) == []
    assert b"Geheimnis" not in path.read_bytes()


def test_an_unwritable_place_is_told_not_raised(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder", encoding="utf-8")
    assert not RunLog(blocked / "runs.db").write(Run(), RECORD)


def test_a_database_of_the_first_schema_opens(tmp_path: Path) -> None:
    from agent.runlog import MIGRATIONS

    path = tmp_path / "runs.db"
    with sqlite3.connect(path) as db:
        db.executescript(f"{MIGRATIONS[0]};PRAGMA user_version = 1;")
    db.close()
    assert RunLog(path).listed(where={}) == []
