"""What the API does, free of HTTP: one method an act, each done in a thread with a bench of its own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from functools import cached_property, partial
from time import monotonic
from typing import Any

from agent import publish
from agent.dates import parsed
from agent.errors import AgentError, UsageError
from agent.i18n import tr
from agent.ingest import register
from agent.location import language_of
from agent.plan import question_text
from agent.runlog import Listener, RunLog
from agent.serve import entries
from agent.serve.desk import Desk
from agent.serve.forms import Ask, Search, Show
from agent.serve.gate import Gate
from agent.serve.problems import Problem
from agent.serve.reindex import Reindexer
from agent.serve.shadows import Shadows
from agent.settings import Settings, choices
from agent.wiring import checked_embedding, place

log = logging.getLogger("pv_agent.serve")

UNSCOPED = "alle"
ASIDE = 2
"""Threads for what takes milliseconds: an entry is not read behind questions a model takes minutes for."""


class Service:
    """One knowledge base, served."""

    def __init__(self, settings: Settings, *, today: Callable[[], date] = date.today) -> None:
        self.settings = settings
        self.place = place(settings)
        self.today = today
        self.desk = Desk(settings, self.place, today)
        self.gate = Gate(settings.workers, settings.queue, settings.queue_timeout)
        self.aside = Gate(ASIDE, settings.queue, settings.queue_timeout)
        self.shadows = Shadows(self.desk.processor)
        self.reindexer = Reindexer(settings, self.place, done=self.desk.refresh)

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Inside, questions are taken; at the end what runs has the settings' time to finish, and everything is let go."""
        with RunLog(self.place.runs).held():
            yield
            end = monotonic() + self.settings.shutdown_timeout
            left = sum(each.close(max(0.0, end - monotonic())) for each in (self.gate, self.aside, self.shadows))
            if left:
                log.warning("%d answers or reviews were not finished after %g s, and are left", left, self.settings.shutdown_timeout)
            self.reindexer.wait()
            self.desk.refresh()

    # --- in a thread ------------------------------------------------------------------------------

    def checked(self, call: Ask) -> None:
        """Raises UsageError for a question that is none or a scope there is not, before anything has been sent."""
        question_text(call.question, self.settings.max_question)
        if call.scope is not None and call.scope not in self.scopes:
            raise UsageError(
                tr("There is no scope {scope!r}.", scope=call.scope), tr("It is one of {choices}.", choices=", ".join(self.scopes))
            )

    def ask(self, call: Ask, listener: Listener | None = None) -> dict[str, Any]:
        """The document of an answer or a refusal, as `pv-agent ask --json` prints it."""
        text = question_text(call.question, self.settings.max_question)
        scope = UNSCOPED if call.scope is None else call.scope
        with self.desk.processor:  # first: more benches than are worked at would all have read what one of them needs
            bench = self.desk.borrowed()
            try:
                called = bench.called((listener,) if listener else (), **call.options())
                asked = called.asked(text, call.day(), scope=scope, log=call.log, review=call.review)
            except BaseException:
                bench.close()  # whatever went wrong may have gone wrong in it
                raise
        if asked.shadow:
            self.shadows.add(asked.shadow, partial(self.desk.give_back, bench))
        else:
            self.desk.give_back(bench)
        return publish.document(asked.answer)

    def search(self, call: Search) -> dict[str, Any]:
        """The document of a search, as `pv-agent search --json` prints it."""
        text = question_text(call.question, self.settings.max_question)
        with self.desk.working() as bench:
            found = bench.search(
                text, parsed(call.stichtag) if call.stichtag else None, k=call.k, scope=UNSCOPED if call.scope is None else call.scope
            )
        return publish.search_document(text, found)

    def entry(self, call: Show) -> dict[str, Any]:
        """An entry as the index holds it, or a dated value. Raises a Problem (404) where there is none."""
        with self.desk.bench() as bench:
            found = entries.document(bench, call.id, parsed(call.stichtag) if call.stichtag else self.today())
        if found is None:
            web = call.id.startswith(("http:", "https:"))
            kept = tr("Pages of the web are not kept: the citation has the excerpt and the address.")
            mend = kept if web else tr("A search finds entries.")
            raise Problem(404, "no_such_entry", tr("There is no entry {id!r}.", id=call.id), mend)
        return found

    def run(self, run_id: str) -> dict[str, Any]:
        """An earlier answer with its steps. Raises a Problem (404) where there is none."""
        try:
            with self.desk.bench() as bench:
                return bench.runs.shown(run_id)
        except UsageError as error:
            raise Problem(404, "no_such_run", tr("There is no run {id!r}.", id=run_id)) from error

    def titles(self, entry_ids: list[str]) -> dict[str, str]:
        with self.desk.bench() as bench:
            return entries.titles(bench, entry_ids)

    def health(self) -> dict[str, Any]:
        """What is there: index, embedder, model, knowledge base. `status` is "ok", "degraded" (it works, with less) or "down"."""
        parts: dict[str, Any] = {"index": None, "embedder": None, "model": None, "kb": None}
        problems: list[str] = []
        try:
            with self.desk.bench() as bench:
                info = bench.store.info
                problems += checked_embedding(bench)
                stale, there = bench.stale(), bench.there(bench.model())
                language = bench.language.code
        except AgentError as error:
            return {"status": "down", "problems": [str(error)], **parts, "reindex": self.reindexer.state()["state"], "load": self._load()}
        parts["index"] = {
            "generation": info.generation,
            "built": info.built,
            "entries": info.entries,
            "chunks": info.chunks,
            "without_vector": info.without_vector,
            "stale": stale,
        }
        parts["embedder"] = str(info.embedder) if info.embedder else None
        parts["model"] = {"name": self.settings.answer_model, "available": there}
        parts["kb"] = {"version": info.kb_version, "language": language, "title": self.title}
        if stale:
            problems.append(tr("The knowledge base is newer than the index."))
        status = "degraded" if problems else "ok"
        return {"status": status, "problems": problems, **parts, "reindex": self.reindexer.state()["state"], "load": self._load()}

    def config(self) -> dict[str, Any]:
        """What a page needs to offer a choice."""
        with self.desk.bench() as bench:
            code, there = bench.language.code, bench.there(bench.model())
        return {
            "title": self.title,
            "examples": self.examples,
            "language": code,
            "today": self.today().isoformat(),
            "scopes": self.scopes,
            "strategies": list(choices("strategy")),
            "strategy": self.settings.strategy,
            "generators": list(choices("generator")),
            "generator": self.settings.generator,
            "review_modes": list(choices("review_mode")),
            "review_mode": self.settings.review_mode,
            "model": {"name": self.settings.answer_model, "available": there},
            "max_question": self.settings.max_question,
        }

    # --- what does not change ---------------------------------------------------------------------

    @property
    def title(self) -> str:
        """The knowledge base's name."""
        known = self._register
        return known.name if known and known.name else self.place.kb.resolve().name

    @cached_property
    def _register(self) -> register.Register | None:
        return register.load(self.place.kb)

    @cached_property
    def scopes(self) -> list[str]:
        """The parts of the knowledge base a question can be restricted to."""
        return list(language_of(self.place.kb).table["scopes"])

    @property
    def examples(self) -> list[str]:
        """Questions the knowledge base offers to begin with."""
        return list(self._register.examples) if self._register else []

    def _load(self) -> Mapping[str, int]:
        return {"running": self.gate.running, "waiting": self.gate.waiting}
