"""The OpenAPI document: what each route answers, with examples; the published schemas stand in it as they are."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from agent import texts
from agent.serve.problems import MEDIA_TYPE, TITLES
from agent.serve.service import Service

Responses = dict[int | str, dict[str, Any]]

_PUBLISHED = ("problem", "answer", "search", "entry", "run")
_EVENTS = """event: step
data: {"step": "planning"}

event: step
data: {"step": "searching", "sources": [{"id": "...", "title": "..."}]}

event: step
data: {"step": "drafting"}

event: answer
data: {"schema_version": "1.0", "question": "...", "answer": "...", "refused": false}
"""
_CODES = {
    401: "token_missing",
    403: "foreign_origin",
    404: "not_found",
    408: "too_slow",
    409: "reindex_running",
    413: "too_large",
    421: "foreign_host",
    422: "invalid_request",
    500: "bug",
    502: "model_unavailable",
    503: "busy",
    504: "model_timeout",
}


def _problems(*statuses: int) -> Responses:
    return {status: {"description": TITLES[status], "content": {MEDIA_TYPE: _problem(status)}} for status in statuses}


def _problem(status: int) -> dict[str, Any]:
    code = _CODES.get(status, "bad_request")
    said = {"type": f"urn:pv-agent:problem:{code}", "title": TITLES[status], "status": status, "code": code, "detail": "What went wrong."}
    return {"schema": {"$ref": "#/components/schemas/Problem"}, "example": said}


def _given(schema: str, description: str, status: int = 200) -> Responses:
    return {status: {"description": description, "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}}}


_ALWAYS = _problems(400, 401, 403, 408, 413, 421, 422, 500, 503)
_ASKING = _ALWAYS | _problems(502, 504)

ANSWERED = _given("Answer", "The answer, or the refusal (`refused: true`).") | _ASKING
_EVENT = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {
        "event": {"enum": ["step", "answer", "problem"]},
        "data": {"type": "string", "contentMediaType": "application/json", "description": "A step, an Answer or a Problem."},
    },
}
_STREAM = {"text/event-stream": {"schema": _EVENT, "examples": {"events": {"value": _EVENTS}}}}
STREAMED: Responses = _ASKING | {200: {"description": "The events.", "content": _STREAM}}
SEARCHED = _given("Search", "The entries found; none is an empty list.") | _ALWAYS
ENTRY = _given("Entry", "The entry.") | _ALWAYS | _problems(404, 502)
RUN = _given("Run", "The run.") | _ALWAYS | _problems(404)
HEALTH = _given("Health", "Questions can be answered.") | _ALWAYS
HEALTH[503] = {"description": "No question can be answered.", "content": HEALTH[503]["content"] | HEALTH[200]["content"]}
CONFIG = _given("Config", "The choices.") | _ALWAYS
REINDEX = _given("ReindexState", "How far it is.") | _ALWAYS
REINDEX_STARTED = _given("ReindexState", "It has begun.", 202) | _ALWAYS | _problems(409)


def document(app: FastAPI, service: Service) -> dict[str, Any]:
    """The document, made once; the examples are the knowledge base's own."""
    if app.openapi_schema:
        return app.openapi_schema
    made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    for name in _PUBLISHED:
        schemas[name.capitalize()] = {key: value for key, value in texts.schema(name).items() if not key.startswith("$")}
    schemas |= texts.schema("api.internal")
    question = schemas["Ask"]["properties"]["question"]
    _bound(question, schemas["Ask"]["properties"], service)
    for parameter in made["paths"]["/search"]["get"]["parameters"]:
        if parameter["name"] == "q":
            _bound(parameter["schema"], {}, service)
        elif parameter["name"] == "scope":
            parameter["schema"] = {"enum": service.scopes}
    examples = service.examples
    if examples:
        question["examples"] = examples
        schemas["Ask"]["examples"] = [{"question": examples[0], "stichtag": service.today().isoformat()}]
    if service.settings.token:
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"token": []}]
    app.openapi_schema = made
    return made


def _bound(question: dict[str, Any], beside: dict[str, Any], service: Service) -> None:
    """What this knowledge base and its settings admit, which no type can say: a question that asks something, and the known scopes."""
    question |= {"maxLength": service.settings.max_question, "pattern": r"[\p{L}\p{N}]"}
    if "scope" in beside:
        beside["scope"] = {"enum": [*service.scopes, None], "description": beside["scope"].get("description", "")}
