"""The API keeps its own OpenAPI document: whatever is sent, no 5xx and no answer that is not described (schemathesis)."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed
from hypothesis import settings as hypothesis_settings

from tests.serve.conftest import Served

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

EXAMPLES = 5
OPERATIONS = [
    ("POST", "/ask"),
    ("POST", "/ask/stream"),
    ("GET", "/search"),
    ("GET", "/entries/{entry_id}"),
    ("GET", "/runs/{run_id}"),
    ("GET", "/health"),
    ("GET", "/config"),
    ("GET", "/reindex"),
]
"""All but POST /reindex, which begins a process every time; its answers are looked at one by one elsewhere."""


def test_the_document_names_every_route(served: Served) -> None:
    paths: dict[str, dict[str, Any]] = served.client.get("/openapi.json").json()["paths"]
    named = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert named == {*OPERATIONS, ("POST", "/reindex")}


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_whatever_is_sent_is_answered_as_described(served: Served, method: str, path: str) -> None:
    document = served.client.get("/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=str(served.client.base_url))
    operation = schema[path][method]
    modes = schemathesis.GenerationMode
    wrong = method == "POST" or "{" in path or path == "/search"  # where nothing is taken in, nothing can be wrong
    strategies = [operation.as_strategy(generation_mode=mode) for mode in (modes.POSITIVE, *([modes.NEGATIVE] if wrong else []))]

    for strategy in strategies:

        @seed(7)
        @hypothesis_settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=strategy)
        def check(case: Any) -> None:
            case.call_and_validate()

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what generating odd values warns of is no matter of ours
            check()
