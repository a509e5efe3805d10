"""The only file that knows concrete parts: four literal tables, and the functions that put a question's parts together."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import ranking, texts
from agent.embedders import embedded
from agent.embedders.remembered import Remembered
from agent.errors import AgentError, ConfigError, EmbedderError, IndexProblem, UsageError
from agent.i18n import tr
from agent.interfaces import Change, Classifier, Embedder, EmbedderIdentity, Generator, Model, Parts, Source, Strategy
from agent.language import Language, reading
from agent.late import Late
from agent.location import FIRST_LANGUAGE, Place, language, language_of, place
from agent.runlog import Listener, Run, RunLog
from agent.settings import Settings, changed
from agent.sources.wissensbasis import Wissensbasis
from agent.stores.sqlite import SqliteIndex, SqliteStore
from agent.values import Answer, Evidence, Flag, Label, Question, SubQuery, Trace

if TYPE_CHECKING:
    from agent import answer, audit, publish, transport
    from agent.classifiers import prompted, trained
    from agent.embedders import ollama as ollama_embedder
    from agent.generators import extractive, point, survey
    from agent.ingest import cache, chunks, dated, folder, register
    from agent.ingest import run as ingest_run
    from agent.ingest.embed import Progress
    from agent.interfaces import Vector
    from agent.llm import logged, ollama, openai_compatible
    from agent.review import Desk, Shadow
    from agent.sources import sql, web
    from agent.stores import werte
    from agent.strategies import adaptive, direct, ircot, router
else:
    # Imported with their first use: a search must not pay for what only an answer needs.
    answer, audit, publish, transport = map(Late, ("agent.answer", "agent.audit", "agent.publish", "agent.transport"))
    prompted, trained = map(Late, ("agent.classifiers.prompted", "agent.classifiers.trained"))
    extractive, point, survey = map(Late, ("agent.generators.extractive", "agent.generators.point", "agent.generators.survey"))
    cache, chunks, dated = map(Late, ("agent.ingest.cache", "agent.ingest.chunks", "agent.ingest.dated"))
    folder, register, ingest_run = map(Late, ("agent.ingest.folder", "agent.ingest.register", "agent.ingest.run"))
    ollama_embedder, logged = map(Late, ("agent.embedders.ollama", "agent.llm.logged"))
    ollama, openai_compatible = map(Late, ("agent.llm.ollama", "agent.llm.openai_compatible"))
    sql, web, werte = map(Late, ("agent.sources.sql", "agent.sources.web", "agent.stores.werte"))
    adaptive, direct = map(Late, ("agent.strategies.adaptive", "agent.strategies.direct"))
    ircot, router = map(Late, ("agent.strategies.ircot", "agent.strategies.router"))

CLASSIFIERS: Mapping[str, Classifier] = {
    "trained": lambda *given: trained.classify(*given),
    "prompted": lambda *given: prompted.classify(*given),
}

__all__ = ["FIRST_LANGUAGE", "Bench", "Place", "checked_embedding", "language", "place"]


@lru_cache(maxsize=1)
def _adaptive() -> Strategy:
    return adaptive.Adaptive(CLASSIFIERS, several=router.Router(router.of_adaptive, only=("wissensbasis",)), plain=direct.gather)


STRATEGIES: Mapping[str, Strategy] = {
    "direct": lambda *given: direct.gather(*given),
    "router": lambda *given: router.gather(*given),
    "ircot": lambda *given: ircot.gather(*given),
    "adaptive": lambda *given: _adaptive()(*given),
}
NEEDS_MODEL = frozenset({"router", "ircot"})
"""Strategies that cannot take a step without a model."""

GENERATORS: Mapping[str, Generator] = {
    "point": lambda *given: point.draft(*given),
    "survey": lambda *given: survey.draft(*given),
    "extractive": lambda *given: extractive.draft(*given),
}

MODELS: Mapping[str, Callable[[Settings, transport.Server, str], Model]] = {
    "ollama": lambda settings, server, name: ollama.Ollama(
        server, name, num_ctx=settings.num_ctx, think=settings.think, timeout=settings.model_timeout
    ),
    "openai_compatible": lambda settings, server, name: openai_compatible.OpenAiCompatible(
        server, name, think=settings.think, timeout=settings.model_timeout
    ),
}

SOURCES: Mapping[str, Callable[[Bench], Source]] = {
    "wissensbasis": lambda bench: bench.wissensbasis,
    "sql": lambda bench: bench.dated,
    "web": lambda bench: web.WebSearch(bench.web, bench.language, seconds=bench.settings.web_seconds, today=bench.today),
}

EMBEDDERS: Mapping[str, Callable[[Settings, transport.Server], Embedder]] = {
    "ollama": lambda settings, server: ollama_embedder.OllamaEmbedder(server, settings.embed_model, timeout=settings.embed_timeout),
    "embedded": lambda settings, server: embedded.Embedded(),  # noqa: ARG005 (the table's shape)
}


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer, and in mode `shadow` the review of it that is still to be run."""

    answer: Answer
    shadow: Shadow | None = None


@dataclass(frozen=True)
class Bench:
    """One knowledge base with its settings: what the commands work with. Parts are made when they are first needed."""

    settings: Settings
    place: Place
    listeners: tuple[Listener, ...] = ()
    today: Callable[[], date] = date.today
    code: str = ""
    """The language, where no knowledge base says it."""
    around: Callable[[Model], Model] | None = None
    """What every model is wrapped in, such as a cassette."""
    memory: MutableMapping[str, Vector] | None = None
    """Where vectors are remembered by those who ask the same again and again."""

    @cached_property
    def language(self) -> Language:
        return language(self.code) if self.code else language_of(self.place.kb)

    def under(self, settings: Settings, *, listeners: tuple[Listener, ...] = (), around: Callable[[Model], Model] | None = None) -> Bench:
        """The same knowledge base under other settings; what does not depend on them is shared."""
        other = replace(self, settings=settings, listeners=listeners, around=around or self.around)
        vars(other).update(language=self.language, store=self.store)
        return other

    def called(self, listeners: tuple[Listener, ...] = (), **options: Any) -> Bench:
        """The same bench for one call with options of its own, which the index and the search do not depend on. Raises ConfigError."""
        other = replace(self, settings=changed(self.settings, **options), listeners=listeners)
        vars(other).update(
            {name: getattr(self, name) for name in ("language", "store", "server", "runs", "wissensbasis", "sources", "tables")}
        )
        return other

    def superseded(self) -> bool:
        """Whether the index is another by now than the one this bench reads."""
        return self.store.superseded()

    def close(self) -> None:
        """Lets the index go, where it was opened."""
        if "store" in vars(self):
            self.store.close()
        for name in ("wissensbasis", "sources"):  # they know this bench as it knows them, and would hold all that was read
            vars(self).pop(name, None)

    @cached_property
    def server(self) -> transport.Server:
        return transport.Server(self.settings.ollama_url, self.settings.connect_timeout)

    @cached_property
    def model_server(self) -> transport.Server:
        """Where the language models are."""
        settings = self.settings
        if settings.llm == "ollama":
            return self.server
        return transport.Server(settings.openai_url, settings.connect_timeout, key=settings.openai_key, setting="PV_OPENAI_URL")

    def to_get(self, *models: str) -> str:
        """What brings models to their server."""
        if self.settings.llm == "ollama":
            return "; ".join(f"ollama pull {name}" for name in models)
        return tr("serve {models} there, or set PV_ANSWER_MODEL to a name of its /models", models=", ".join(models))

    @cached_property
    def web(self) -> transport.Web:
        """The web search the user runs. Raises ConfigError where no address is set: nothing is asked unless it is named twice."""
        if not self.settings.web_url:
            mend = tr("Set PV_WEB_URL to a SearXNG, or leave web out of PV_SOURCES.")
            raise ConfigError(tr("sources names web, and there is no web_url."), mend)
        return transport.Web(self.settings.web_url)

    @cached_property
    def runs(self) -> RunLog:
        return RunLog(self.place.runs)

    # --- embedders and models ---------------------------------------------------------------------

    def embedder_for_ingest(self) -> Embedder | None:
        """The embedder the settings ask for; auto takes Ollama's where it answers, then the embedded one, then none."""
        settings = self.settings
        if settings.embed_off or settings.embedder == "none":
            return None
        if settings.embedder != "auto":
            return self._remembering(EMBEDDERS[settings.embedder](settings, self.server))
        served = ollama_embedder.OllamaEmbedder(self.server, settings.embed_model, timeout=settings.embed_timeout)
        if served.installed():
            return self._remembering(served)
        return self._remembering(embedded.Embedded()) if embedded.available() else None

    def embedder_of(self, identity: EmbedderIdentity) -> Embedder | None:
        """The embedder an index was made with. Raises EmbedderError where it is not to be had or is another by now."""
        if self.settings.embed_off or self.settings.embedder == "none":
            return None
        kind = "embedded" if identity.name == embedded.NAME else "ollama"
        found = EMBEDDERS[kind](replace(self.settings, embed_model=identity.name), self.server)
        if found.identity != identity:
            told = tr("The index was made with {identity}, and here is {here}.", identity=identity, here=found.identity)
            raise EmbedderError(told, tr("Run `pv-agent ingest --full` to change over."))
        return self._remembering(found)

    def _remembering(self, embedder: Embedder) -> Embedder:
        return embedder if self.memory is None else Remembered(embedder, self.memory)

    @cached_property
    def embedder(self) -> Embedder | None:
        """The embedder of questions; None where the search goes by words alone."""
        identity = self.store.info.embedder
        return self.embedder_of(identity) if identity else None

    def there(self, model: Model) -> bool:
        """Whether a model can be asked."""
        return model.installed()

    def model(self, name: str = "") -> Model:
        model = MODELS[self.settings.llm](self.settings, self.model_server, name or self.settings.answer_model)
        return self.around(model) if self.around else model

    # --- index ------------------------------------------------------------------------------------

    def ingest(self, progress: Progress, *, skip_bad: bool = False, full: bool = False) -> tuple[Change, register.Admission]:
        """Bring the index to the state of the knowledge base; where an entry is refused nothing changes, unless `skip_bad`."""
        admission = register.admitted(self.place.kb)
        if not skip_bad:
            admission.insist()
        values = dated.dated(admission, self.language, skip_bad=skip_bad)
        with SqliteIndex(self.place.index, self.language.version, anew=full) as index:
            embedder = self.embedder_for_ingest()
            change = ingest_run.ingest(admission, index, language=self.language, embedder=embedder, progress=progress)
            beside = index.beside()
            synonyms = json.dumps(beside.synonyms if beside else {})
            werte.write(self.place.values, values, {**dated.meta(admission, self.language), "synonyms": synonyms})
            return change, admission

    def bring(self, content: ingest_run.Content, progress: Progress) -> Change:
        """Bring the index to content that comes from elsewhere, such as a test collection."""
        with SqliteIndex(self.place.index, self.language.version) as index:
            return ingest_run.bring(content, index, language=self.language, embedder=self.embedder_for_ingest(), progress=progress)

    def write_cache(self, progress: Progress) -> tuple[Path, int]:
        """Write the embedded embedder's vectors of all entries into the file that ships; its path, and how many were new."""
        admission = register.admitted(self.place.kb)
        admission.insist()
        documents = [chunks.document(entry, self.language, with_pieces=True) for entry in admission.entries]
        return cache.refresh(
            self.place.kb, documents, language=self.language, embedder=EMBEDDERS["embedded"](self.settings, self.server), progress=progress
        )

    def stale(self) -> bool:
        """Whether the knowledge base is no longer what the index was made from."""
        return register.changed_since(self.place.kb, self.store.info)

    @cached_property
    def store(self) -> SqliteStore:
        return SqliteStore(self.place.index, self.language.version)

    def has_index(self) -> bool:
        return self.place.index.is_file()

    @cached_property
    def wissensbasis(self) -> Wissensbasis:
        return Wissensbasis(self.store, self.language, self.settings, lambda: self.embedder, weights=texts.table("ranking"))

    @cached_property
    def sources(self) -> Mapping[str, Source]:
        """The sources the settings name; the knowledge base's index is always among them. Raises ConfigError for an unknown one."""
        named = [name for name in self.settings.sources.replace(",", " ").split() if name != "wissensbasis"]
        for name in (name for name in named if name not in SOURCES):
            known = tr("It holds any of {sources}, with commas between.", sources=", ".join(SOURCES))
            raise ConfigError(tr("sources cannot hold {name!r}.", name=name), known)
        return {name: SOURCES[name](self) for name in ("wissensbasis", *dict.fromkeys(named))}

    @cached_property
    def dated(self) -> sql.Sql:
        return sql.Sql(self.place.values, self.language, self.settings)

    @cached_property
    def tables(self) -> Mapping[str, Mapping[str, Any]]:
        """The data the pure parts are handed."""
        own = {name: texts.own_table(name, self.language.code) for name in ("answerability", "complexity")}
        return {"limits": self.store.limits(), **own}

    # --- questions --------------------------------------------------------------------------------

    def parts(self, run: Run, model: Model | None) -> Parts:
        """The shared bench of one question."""
        return Parts(
            self.settings,
            self.language,
            self.sources,
            logged.Logged(model, log=run) if model else None,
            run,
            self._prompts(run),
            self.today,
            self.tables,
        )

    def _prompts(self, run: Run) -> Callable[[str], str]:
        """The prompts by name; each that is used is logged once, so that an answer can be traced to its wording."""
        used: set[str] = set()

        def prompt(name: str) -> str:
            text = texts.prompt(self.language.code, name)
            if name not in used:
                used.add(name)
                run.step("prompt", name=name, hash=texts.prompt_hash(self.language.code, name), text=text)
            return text

        return prompt

    def way(self, mode: str = "off") -> tuple[answer.Way, Model | None]:
        """The strategy and the generator of the settings, with the model where one is needed; under review the roles do the writing."""
        chosen, model, name = self.settings.generator, self.model(), self.settings.strategy
        if chosen == "auto":
            chosen = "point" if self.there(model) else "extractive"
        if chosen != "point" and name in NEEDS_MODEL:
            name = "direct"
        way = answer.Way(STRATEGIES[name], GENERATORS[chosen], GENERATORS["extractive"], strategy_name=name)
        if chosen != "point":
            return way, None
        reviewed = mode == "reviewed_answer"
        if reviewed:
            way = replace(way, generator=GENERATORS["extractive"])
        if name != "direct":  # it searches by its own plan, and the searches of one that broke off are the plain ones
            return replace(way, plain=STRATEGIES["direct"]), model
        planner = self.model(self.settings.planner_model) if self.settings.query_planner else None
        return replace(way, survey=None if reviewed else GENERATORS["survey"], planner=planner), model

    def question(self, text: str, stichtag: date | None = None) -> Question:
        """A question as it is looked for: for the Stichtag, else for today; dialect and shorthand read as the knowledge base says."""
        read = reading.read(text, self.store.readings())
        return Question(read, stichtag or self.today(), text if read != text else "")

    def ask(self, text: str, stichtag: date | None = None, *, scope: str = "alle", log: bool = True) -> Answer:
        """The answer to one question; a shadow review the settings ask for is not run."""
        return self.asked(text, stichtag, scope=scope, log=log).answer

    def review_mode(self, given: str | None = None) -> str:
        """The mode of the reviewed chain: a call's own goes before the settings. Raises ConfigError where there is no such mode."""
        if given is not None:
            return changed(self.settings, review_mode=given).review_mode
        return self.settings.review_mode if self.settings.review_enabled else "off"

    def asked(self, text: str, stichtag: date | None = None, *, scope: str = "alle", log: bool = True, review: str | None = None) -> Asked:
        """Answer one question and log the run, reviewed as `review` or else the settings say.

        Raises for errors of the index, the knowledge base or the settings. Without a log there is no shadow: nobody could read it.
        """
        self._check(scope)
        mode = self.review_mode(review)
        run = Run(self.listeners, drafts=self.settings.log_drafts)
        way, model = self.way(mode)
        if way.planner:
            way = replace(way, planner=logged.Logged(way.planner, log=run))
        trace = self._begun(self.question(text, stichtag), way, run, mode)
        parts = self.parts(run, model)
        result = answer.answered(trace.question, parts, replace(way, scope=scope), trace if log else replace(trace, run_id=None))
        if model is None and way.strategy_name == "adaptive" and result.trace.complexity and result.trace.complexity.label is Label.C:
            told = (*result.trace.warnings, self.language.message("strategy_without_model", strategy="adaptive"))
            result = replace(result, trace=replace(result.trace, warnings=told))
        if mode == "reviewed_answer":
            from agent import review as reviewing  # what is off costs no import

            result = reviewing.run(result, self._desk(parts, mode), mode).answer
        if log and not self.runs.write(run, publish.record(result)):
            unlogged = replace(result, trace=replace(result.trace, run_id=None, warnings=(*result.trace.warnings, self._not_logged())))
            return Asked(unlogged)
        return Asked(result, self._shadow(result, run.id) if mode == "shadow" and log else None)

    def _begun(self, question: Question, way: answer.Way, run: Run, mode: str) -> Trace:
        """The trace of a question as it begins; the run notes what it is answered with."""
        info = self.store.info
        generator = next(name for name, drafting in GENERATORS.items() if drafting is way.generator)
        options = audit.options(changed(self.settings, review_mode=mode))
        run.step("asked", generator=generator, options=options, analyser=info.analyser, generation=info.generation)
        return Trace(
            question,
            strategy=way.strategy_name,
            warnings=self._not_as_asked(way),
            flags=frozenset({Flag.KB_NEWER_THAN_INDEX}) if self.stale() else frozenset(),
            language=self.language.code,
            run_id=run.id,
            kb_version=info.kb_version,
        )

    def _desk(self, parts: Parts, mode: str) -> Desk:
        """What the reviewed chain works with. Replies are kept whole only where contracts are, and then so that a run can be replayed."""
        from agent.review import ROLES, Desk

        whole = self.settings.review_log_contracts
        kind = "called" if whole and mode == "reviewed_answer" else "review_called"
        models = {role.name: logged.Logged(self.model(role.model(self.settings)), log=parts.log, kind=kind, texts=whole) for role in ROLES}
        return Desk(parts, models, GENERATORS["extractive"])

    def _shadow(self, result: Answer, run_id: str) -> Shadow:
        """The chain over an answer already given; what it does is added to that answer's run."""
        from agent import review as reviewing

        def chain(listeners: Sequence[Listener]) -> Mapping[str, Any]:
            run = Run(listeners, drafts=self.settings.log_drafts, of=run_id)
            record = reviewing.run(result, self._desk(self.parts(run, None), "shadow"), "shadow").record
            if not self.runs.add(run, record):
                raise AgentError(self._not_logged(), tr("Run {id} is gone, or its file is held by another program.", id=run_id))
            return record

        return reviewing.Shadow(run_id, chain)

    def _not_as_asked(self, way: answer.Way) -> tuple[str, ...]:
        """That another strategy than the settings' had to do, as a warning."""
        asked = self.settings.strategy
        return () if asked == way.strategy_name else (self.language.message("strategy_without_model", strategy=asked),)

    def _check(self, scope: str) -> None:
        if scope not in self.language.table["scopes"]:
            known = ", ".join(self.language.table["scopes"])
            raise UsageError(tr("There is no scope {scope!r}.", scope=scope), tr("It is one of {choices}.", choices=known))

    def _not_logged(self) -> str:
        return self.language.message("not_logged", path=self.place.runs)

    def search(self, text: str, stichtag: date | None = None, *, k: int, scope: str = "alle") -> Evidence:
        """Retrieval alone, for one day or the period the question names: the best section of each entry."""
        from agent.plan import by_dates

        self._check(scope)
        question = self.question(text, stichtag)
        plan = by_dates(question, self.language, scope=scope)
        evidence = self.wissensbasis.search(SubQuery(question.text, plan.span, scope), k=k)
        return replace(evidence, hits=tuple(ranking.first_of_each(evidence.hits)))


def checked_embedding(bench: Bench) -> Sequence[str]:
    """What stands in the way of the dense leg, as sentences; empty where nothing does."""
    identity = bench.store.info.embedder
    if identity is None:
        return [tr("The index holds no vectors.")]
    try:
        bench.embedder_of(identity)
    except (EmbedderError, ConfigError, IndexProblem) as error:
        return [str(error)]
    return []
