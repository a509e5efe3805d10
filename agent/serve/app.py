"""The HTTP API: its routes, each of which hands over to the service, and the page's files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse

from agent import publish
from agent.errors import AgentError
from agent.i18n import LANGUAGES, tr
from agent.serve import openapi, problems, stream, wording
from agent.serve.forms import Ask, Day, Reindex, Scope, Search, Show
from agent.serve.guard import Guard, Rules
from agent.serve.problems import Problem
from agent.serve.service import Service
from agent.settings import listed

STATIC = Path(__file__).parent / "static"
RUN_ID = r"^\d{8}-\d{6}-[0-9a-f]{6}$"

api = APIRouter()


def created(service: Service, hosts: frozenset[str]) -> FastAPI:
    """The application over a service; `hosts` are the names it answers to."""
    settings = service.settings

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        with service.opened():
            yield

    app = FastAPI(
        title="pv-agent",
        version=publish.SCHEMA_VERSION,
        description="Answers from a curated knowledge base, with the ID and the Stand of every entry, or a refusal.",
        docs_url=None,  # its page would come from another origin
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.service = service
    app.include_router(api)
    app.mount("/static", StaticFiles(directory=STATIC, check_dir=False), name="static")
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(AgentError, _expected)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    origins = listed(settings.cors_origins)
    if origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=origins, allow_methods=["GET", "POST"], allow_headers=["Authorization", "Content-Type"]
        )
    rules = Rules(settings.token, hosts, frozenset(origins), settings.max_body, settings.request_timeout)
    app.add_middleware(Guard, rules=rules)
    app.openapi = partial(openapi.document, app, service)  # type: ignore[method-assign]
    return app


# --- what goes wrong -----------------------------------------------------------------------------


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    document = error.document(request.state.request_id)
    return JSONResponse(document, error.status, error.headers(), media_type=problems.MEDIA_TYPE)


async def _expected(request: Request, error: Exception) -> Response:
    assert isinstance(error, AgentError)
    return await _problem(request, problems.of(error))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "bad_request")
    response = await _problem(request, Problem(error.status_code, code, str(error.detail)))
    response.headers.update(error.headers or {})
    if error.status_code == 405:  # the framework names the methods of one route, where several share the path
        routes = [route for route in api.routes if isinstance(route, APIRoute) and route.path_regex.match(request.url.path)]
        response.headers["Allow"] = ", ".join(sorted({method for route in routes for method in route.methods or ()}))
    return response


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = tuple({"where": ".".join(map(str, each["loc"])), "message": str(each["msg"])} for each in error.errors())
    detail = tr("The request has not the form it should have ({where}: {message}).", where=found[0]["where"], message=found[0]["message"])
    return await _problem(request, Problem(422, "invalid_request", detail, tr("GET /openapi.json describes the form."), errors=found))


# --- routes --------------------------------------------------------------------------------------


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


@api.get("/", include_in_schema=False)
async def page() -> Response:
    """The page."""
    return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})


@api.get("/static/strings.{language}.js", include_in_schema=False)
async def words(language: str) -> Response:
    """The page's words in a language, as a module for it to import."""
    if language not in LANGUAGES:
        raise HTTPException(404)
    return Response(wording.module(language), media_type="text/javascript")


@api.post("/ask", responses=openapi.ANSWERED)
async def ask(request: Request, call: Ask) -> Response:
    """Answer a question, or refuse it: a refusal is an answer too, with status 200 and `refused: true`."""
    return JSONResponse(await _service(request).gate.run(partial(_service(request).ask, call)))


@api.post("/ask/stream", responses=openapi.STREAMED)
async def ask_stream(request: Request, call: Ask) -> Response:
    """The same as server-sent events: each `step` (waiting, planning, searching, drafting, checking, reviewing), then `answer`
    or `problem`.

    Text that has not been checked is never sent.
    """
    service = _service(request)
    service.checked(call)
    service.gate.admit()
    steps = stream.Steps(service.titles)
    told = stream.events(service.gate, partial(service.ask, call), steps, request.state.request_id)
    return StreamingResponse(told, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


@api.get("/search", responses=openapi.SEARCHED)
async def search(
    request: Request,
    q: Annotated[str, Query(min_length=1, description="What to look for.")],
    stichtag: Annotated[Day | None, Query()] = None,
    scope: Annotated[Scope | None, Query()] = None,
    k: Annotated[int, Query(ge=1, le=100, description="How many entries at most.")] = 8,
) -> Response:
    """Retrieval alone: the entries found, best first, with the rank and score of each leg."""
    call = Search(question=q, stichtag=stichtag, scope=scope, k=k)
    return JSONResponse(await _service(request).aside.run(partial(_service(request).search, call)))


@api.get("/entries/{entry_id:path}", responses=openapi.ENTRY)
async def entry(
    request: Request,
    entry_id: Annotated[str, InPath(min_length=1, max_length=400)],
    stichtag: Annotated[Day | None, Query()] = None,
) -> Response:
    """An entry as the index holds it, or a dated value by the id it is cited with.

    A citation's `span` lies within that of one of its sections.
    """
    return JSONResponse(await _service(request).aside.run(partial(_service(request).entry, Show(id=entry_id, stichtag=stichtag))))


@api.get("/runs/{run_id}", responses=openapi.RUN)
async def run(request: Request, run_id: Annotated[str, InPath(pattern=RUN_ID)]) -> Response:
    """An earlier answer with every step it took."""
    return JSONResponse(await _service(request).aside.run(partial(_service(request).run, run_id)))


@api.get("/health", responses=openapi.HEALTH)
async def health(request: Request) -> Response:
    """Index, embedder, model and knowledge base; 503 where no question can be answered."""
    found = await _service(request).aside.run(_service(request).health)
    return JSONResponse(found, 503 if found["status"] == "down" else 200)


@api.get("/config", responses=openapi.CONFIG)
async def config(request: Request) -> Response:
    """What can be chosen in a question."""
    return JSONResponse(await _service(request).aside.run(_service(request).config))


@api.get("/reindex", responses=openapi.REINDEX)
async def reindex_state(request: Request) -> Response:
    """How far the run is, or how the last one ended."""
    return JSONResponse(_service(request).reindexer.state())


@api.post("/reindex", status_code=202, responses=openapi.REINDEX_STARTED)
async def reindex(request: Request, wanted: Reindex | None = None) -> Response:
    """Bring the index up to date in the background; one run at a time. Questions go on being answered from the old index."""
    return JSONResponse(_service(request).reindexer.start(wanted or Reindex()), 202, {"Location": "/reindex"})
