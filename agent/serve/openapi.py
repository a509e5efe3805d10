"""The OpenAPI document: what each route answers, with examples; the published schemas stand in it as they are."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from agent import texts
from agent.serve.problems import MEDIA_TYPE, TITLES
from agent.settings import Settings

Responses = dict[int | str, dict[str, Any]]

_EVENTS = """event: step
data: {"step": "searching", "sources": [{"id": "pv-sv-werte-2026", "title": "SV-Werte 2026"}]}

event: answer
data: {"schema_version": "1.0", ...}
"""


def _problems(*statuses: int) -> Responses:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {status: {"description": TITLES[status], "content": {MEDIA_TYPE: {"schema": schema}}} for status in statuses}


_ALWAYS = _problems(400, 401, 403, 408, 413, 421, 422, 500, 503)
_ASKING = _ALWAYS | _problems(502, 504)


def _given(schema: str, description: str, status: int = 200) -> Responses:
    return {status: {"description": description, "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}}}


ANSWERED = _given("Answer", "The answer, or the refusal (`refused: true`).") | _ASKING
STREAMED = _ASKING | {
    200: {"description": "The events.", "content": {"text/event-stream": {"schema": {"type": "string"}, "example": _EVENTS}}}
}
SEARCHED = _given("Search", "The entries found; none is an empty list.") | _ALWAYS
ENTRY = _given("Entry", "The entry.") | _ALWAYS | _problems(404)
RUN = _given("Run", "The run.") | _ALWAYS | _problems(404)
HEALTH = _given("Health", "Questions can be answered.") | _ALWAYS | _given("Health", "No question can be answered.", 503)
CONFIG = _given("Config", "The choices.") | _ALWAYS
REINDEX = _given("ReindexState", "How far it is.") | _ALWAYS
REINDEX_STARTED = _given("ReindexState", "It has begun.", 202) | _ALWAYS | _problems(409)


def document(app: FastAPI, settings: Settings) -> dict[str, Any]:
    """The document, made once."""
    if app.openapi_schema:
        return app.openapi_schema
    made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    for name in ("Problem", "Answer"):
        schemas[name] = {k: v for k, v in texts.schema(name.lower()).items() if k not in ("$schema", "$id")}
    schemas["Ask"]["properties"]["question"]["maxLength"] = settings.max_question
    if settings.token:
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"token": []}]
    app.openapi_schema = made
    return made
