"""The schemas are schemas, and what `runs show --json` prints keeps its own."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from agent import texts
from agent.wiring import Bench, place
from tests.eval.world import world


@pytest.mark.parametrize("name", ["answer", "refusal", "eval", "run", "export", "shadow"])
def test_every_published_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(texts.schema(name))


@pytest.mark.parametrize("question", ["Wie hoch ist 2026 die Geringfügigkeitsgrenze im Monat?", "Was kostet die Autobahnvignette?"])
def test_a_run_keeps_its_schema(tmp_path: Path, question: str) -> None:
    bench = world(tmp_path)
    run_id = bench.ask(question).trace.run_id
    assert run_id
    record = json.loads(json.dumps(Bench(bench.settings, place(bench.settings)).runs.shown(run_id)))
    jsonschema.validate(record, texts.schema("run"))
    jsonschema.validate(record["answer"], texts.schema("answer"))
