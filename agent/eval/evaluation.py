"""What the commands `eval`, `bakeoff` and `sweep` do: lays out an experiment, has it carried out, and makes its result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

from agent import texts
from agent.audit import options as audited
from agent.errors import AgentError, KnowledgeBaseError, UsageError
from agent.eval import beir, collection, examine, experiment, goldset, measures, scorecard, statistics, sweep, trec
from agent.eval.cassette import Cassette, prompts
from agent.eval.examine import Subject
from agent.eval.experiment import Experiment, Outcome, Setting
from agent.eval.figures import Figures
from agent.eval.goldset import Case, Goldset
from agent.eval.journal import Journal
from agent.eval.report import Result, Row, Words
from agent.eval.support import Dated
from agent.eval.sweep import Choice
from agent.i18n import tr
from agent.ingest import werte
from agent.ingest.embed import Progress
from agent.settings import Settings, changed
from agent.wiring import Bench, place

"""Settings that say where something is: they have no part in a result that others read."""


@dataclass(frozen=True, slots=True)
class Options:
    """How an experiment is run. `journal` is where its progress is kept."""

    journal: Path
    progress: Progress
    answers: bool = False
    repeat: int = 1
    resume: bool = False
    retry: bool = False
    cassette: Path | None = None
    record: bool = False


# --- the goldset ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Course:
    """A bench that remembers, the questions, and the dated values that their answers are checked against."""

    bench: Bench
    gold: Goldset
    values: Sequence[Dated]
    warnings: tuple[str, ...] = ()

    def cases(self, *, held: bool = True) -> dict[str, Case]:
        """The questions by id; without `held` those that tuning may see."""
        return {case.id: case for case in self.gold.cases if held or not case.held}


@contextmanager
def course(bench: Bench, options: Options) -> Iterator[Course]:
    """The goldset of a knowledge base, checked against it. Raises AgentError with everything that contradicts it."""
    gold = goldset.read(bench.place.goldset)
    scorecard.check_floors(gold.floors)
    tape = Cassette(options.cassette, bench.language.code, record=options.record) if options.cassette else None
    with collection.remembered(bench.place.index.with_name("vectors") / "goldset") as memory:
        ready = replace(bench, memory=memory, around=tape.around if tape else None)
        values = dated(ready)
        if problems := contradictions(ready, gold, values):
            raise AgentError(
                "\n".join(problems), tr("Mend the goldset, or the knowledge base; the index must be up to date: pv-agent ingest")
            )
        stale = tape.changed_prompts if tape else []
        told = tr("The cassette was recorded with other prompts; changed since: {prompts}.", prompts=", ".join(stale))
        yield Course(ready, gold, values, (told,) if stale else ())


def dated(bench: Bench) -> list[Dated]:
    """The dated values as an entry writes them."""
    known, _ = werte.read(bench.place.kb)
    notation = werte.Notation(texts.table(f"kb.{bench.language.code}"))
    return [Dated(wert.key, notation.value(wert), wert.valid_from, wert.valid_to) for wert in known]


def contradictions(bench: Bench, gold: Goldset, values: Sequence[Dated]) -> tuple[str, ...]:
    """What speaks against the goldset: sources that do not exist, figures that stand in none of them or are those of another time."""
    figures = Figures(bench.language)
    sources = {name for case in gold.cases for name in case.sources}
    rows = bench.store.rows_of(sources)
    found = bench.store.fetch(row for of_entry in rows.values() for row in of_entry)
    held = {name: "\n".join(found[row][0].text for row in of_entry) for name, of_entry in rows.items()}

    expected = {figure for case in gold.cases for figure in case.figures if figures.any(figure)}
    spans = {
        figure: [(value.start, value.end) for value in values if not figures.missing(figure, value.written)] for figure in sorted(expected)
    }
    by_text = goldset.by_text(lambda source, figure: not figures.missing(figure, held.get(source, "")))
    return goldset.check(gold.cases, rows.keys(), against=[goldset.by_date(spans), by_text])


def on_goldset(bench: Bench, options: Options) -> tuple[Result, dict[str, list[str]], Mapping[str, float]]:
    """The result of the settings at hand, the fused ranking of every question, and the goldset's floors."""
    settings = _speaking(bench, options)
    with course(bench, options) as found:
        outcome = _carried_out(found, options, (Setting("now"),), settings)[0]
        model = settings.answer_model if options.answers else ""
        title = _title(bench, "answers" if model else "goldset", n=len(outcome.runs[0]), model=model)
        result: Result = {**_finished(outcome, found.bench, settings, title), "warnings": list(found.warnings)}
        return result, _fused(outcome), found.gold.floors


def _speaking(bench: Bench, options: Options) -> Settings:
    """The settings an evaluation is run with: without `answers` no model is asked; with it there must be one."""
    settings = bench.settings
    if not options.answers:
        return changed(settings, generator="extractive", review_mode="off")
    if settings.generator == "extractive":
        return settings
    model = bench.model()
    if not (options.cassette and not options.record) and not model.installed():
        raise AgentError(
            tr("The model {name} does not answer at {url}.", name=model.name, url=bench.model_server.url),
            tr("Run: {command}, or leave out --answers.", command=bench.to_get(model.name)),
        )
    return changed(settings, generator="point")


def _carried_out(
    found: Course, options: Options, settings: tuple[Setting, ...], base: Settings, *, cases: Mapping[str, Case] | None = None
) -> list[Outcome]:
    asked = found.cases() if cases is None else cases

    def examiner(setting: Setting) -> experiment.Examiner:
        subject = Subject.of(found.bench, changed(base, **setting.changes), found.values)
        return lambda qid: {**examine.examined(asked[qid], subject), "fingerprint": fingerprint(asked[qid])}

    plan = Experiment(settings, tuple(asked), examiner, options.repeat)
    head = _stamp(found.bench, base) | {
        "questions": [fingerprint(case) for case in asked.values()],
        "settings_varied": [setting.name for setting in settings],
        "repeat": options.repeat,
    }
    return experiment.carried_out(
        plan, Journal(options.journal, head), resume=options.resume, retry=options.retry, progress=options.progress
    )


def fingerprint(case: Case) -> str:
    """Of what is asked and expected: a reworded question is another."""
    expected = (case.question, str(case.stichtag), case.sources, case.need, case.figures, case.refuse)
    return sha256(json.dumps(expected, ensure_ascii=False).encode()).hexdigest()[:12]


# --- third-party sets -----------------------------------------------------------------------------


def on_collection(
    at: Path, settings: Settings, options: Options, *, language: str, where: Sequence[str]
) -> tuple[Result, dict[str, list[str]]]:
    """The result of a set in BEIR's layout, and its fused run."""
    if f"language.{language}" not in (tables := texts.names("tables", ".json")):
        known = ", ".join(name.removeprefix("language.") for name in tables if name.startswith("language."))
        raise UsageError(tr("There is no language {language!r}.", language=language), tr("Known: {known}.", known=known))
    test_set = beir.read(at, where=where)
    queries = {query.id: query for query in (*test_set.queries, *test_set.unanswerable)}
    opened = collection.opened(test_set, settings, language=language, vectors=folder(settings) / "vectors", progress=options.progress)
    with opened as bench:
        head = _stamp(bench, settings) | {"set": test_set.name, "where": list(where), "language": language}

        def examiner(_: Setting) -> experiment.Examiner:
            subject = collection.of(bench, settings)
            return lambda qid: collection.examined(queries[qid], test_set, subject)

        plan = Experiment((Setting("now"),), tuple(queries), examiner)
        journal = Journal(options.journal, head)
        outcome = experiment.carried_out(plan, journal, resume=options.resume, retry=options.retry, progress=options.progress)[0]
        title = _title(bench, "collection", name=test_set.name, n=len(queries), where=" ".join(where))
        return _finished(outcome, bench, settings, title), _fused(outcome)


def folder(settings: Settings) -> Path:
    """Where vectors and journals are kept: beside the index, if there is a knowledge base, else under `data` here."""
    try:
        return place(settings).index.parent
    except KnowledgeBaseError:
        return Path("data")


def scores(settings: Settings) -> Path:
    """Where the committed scorecards of a knowledge base lie: under `data/scores` beside its goldset."""
    return place(settings).goldset.parent / "data" / "scores"


def words(bench: Bench) -> Words:
    """The wording of reports."""
    return Words(texts.table(f"report.{_wording(bench)}"))


# --- the result -----------------------------------------------------------------------------------


def _finished(outcome: Outcome, bench: Bench, settings: Settings, title: str) -> Result:
    result = scorecard.scored(outcome.runs)
    n = len(outcome.runs[0])
    return {
        **result,
        "title": title,
        "created": datetime.now().astimezone().isoformat(timespec="seconds"),
        "language": _wording(bench),
        "settings": _stamp(bench, settings),
        "refusal_threshold": texts.own_table("answerability", bench.language.code)[
            "hybrid" if bench.store.info.embedder and not settings.embed_off else "lexical"
        ]["threshold"],
        "detectable": statistics.minimum_detectable(n),
    }


def _stamp(bench: Bench, settings: Settings) -> dict[str, Any]:
    """What a figure depends on: the settings, the index, the wording of the prompts."""
    info = bench.store.info
    return audited(settings) | {
        "embedder": str(info.embedder) if info.embedder and not settings.embed_off else None,
        "analyser": info.analyser,
        "kb_version": info.kb_version,
        "prompts": prompts(bench.language.code),
    }


def _wording(bench: Bench) -> str:
    """The language a report is written in: the set's own where there is a table of words for it, else German."""
    code = bench.language.code
    return code if f"report.{code}" in texts.names("tables", ".json") else "de"


def _title(bench: Bench, kind: str, **values: Any) -> str:
    return words(bench)("titles", kind).format(**values).strip()


def _fused(outcome: Outcome) -> dict[str, list[str]]:
    return {row["id"]: row.get("ranked", {}).get("fused", []) for row in outcome.runs[0]}


def write_run(ranked: Mapping[str, Sequence[str]], path: Path) -> None:
    """The rankings as a TREC run file."""
    trec.write({qid: names for qid, names in ranked.items() if names}, path)


# --- earlier results ------------------------------------------------------------------------------


def read(path: Path) -> Result:
    """A result as it was written with --json-out or --scorecard. Raises AgentError where it is none."""
    import jsonschema

    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
        jsonschema.validate(loaded, texts.schema("eval"))
    except OSError as error:
        raise AgentError(
            tr("{path} cannot be read ({reason}).", path=path, reason=error.strerror), tr("Write one with --json-out.")
        ) from error
    except (ValueError, jsonschema.ValidationError) as error:
        raise AgentError(tr("{path} is no result of an evaluation.", path=path), tr("Write one with --json-out.")) from error
    result: Result = loaded
    return result


def newest(scores: Path) -> Path | None:
    """The scorecard in a folder that was made last; None where there is none."""
    made = [(read(path).get("created", ""), path.name, path) for path in scores.glob("*.json")]
    return max(made)[2] if made else None


def with_comparison(result: Result, earlier: Result, name: str) -> Result:
    """The result beside an earlier one of that name."""
    return {**result, "compared_with": name, "comparison": scorecard.compared(earlier, result)}


# --- many settings --------------------------------------------------------------------------------


def varied(name: str, values: Sequence[str]) -> tuple[Setting, ...]:
    """A setting for each value of the setting `name`, called by it."""
    return tuple(Setting(value, {name: value}) for value in dict.fromkeys(values))


def bakeoff(bench: Bench, settings: tuple[Setting, ...], options: Options) -> list[tuple[Setting, Result | str]]:
    """Every setting over the goldset, best first by the protocol: citation precision, then refusal correctness, then time.

    Raises ConfigError for a value that a setting cannot have.
    """
    base = changed(bench.settings, generator="point")
    for setting in settings:
        changed(base, **setting.changes)
    with course(bench, options) as found:
        outcomes = _carried_out(found, options, settings, base)
        made: list[tuple[Setting, Result | str]] = []
        for outcome in outcomes:
            if outcome.error:
                made.append((outcome.setting, outcome.error))
                continue
            title = _title(bench, "answers", n=len(outcome.runs[0]), model=outcome.setting.name)
            made.append((outcome.setting, _finished(outcome, found.bench, changed(base, **outcome.setting.changes), title)))
    return sorted(made, key=lambda pair: _protocol(pair[1]))


def _protocol(result: Result | str) -> tuple[bool, float, float, float]:
    """Lower is better; what was not scored comes last."""
    figures = {} if isinstance(result, str) else scorecard.figures_of(result)
    times = [] if isinstance(result, str) else result.get("latencies_ms", [])
    precision, refusals = figures.get("citation-precision"), figures.get("refusal-correct")
    return (precision is None, -(precision or 0.0), -(refusals or 0.0), sum(times) / len(times) if times else inf)


def swept(bench: Bench, settings: tuple[Setting, ...], measure: str, options: Options, *, folds: int) -> Choice:
    """The choice among settings over the questions that tuning may see, by `measure`. Raises UsageError on a measure nobody knows."""
    known = [*measures.MEASURES, *scorecard.ANSWERS]
    if measure not in known:
        raise UsageError(tr("There is no measure {measure!r}.", measure=measure), tr("Known: {known}.", known=", ".join(known)))
    base = _speaking(bench, options)
    for setting in settings:
        changed(base, **setting.changes)  # a value a setting cannot have is told before anything is measured
    with course(bench, options) as found:
        outcomes = _carried_out(found, options, settings, base, cases=found.cases(held=False))
    columns = {outcome.setting.name: _column(outcome.runs[0], measure) for outcome in outcomes if not outcome.error}
    return sweep.chosen(columns, folds=folds, share_of=measure in scorecard.SHARES, lower_is_better=measure in scorecard.COSTS)


def document(choice: Choice) -> dict[str, Any]:
    """A sweep's choice as JSON: out-of-fold figures only."""
    return {**asdict(choice), "verdict": choice.verdict.value}


def _column(rows: Sequence[Row], measure: str) -> dict[str, float]:
    for leg in ("fused", "answers"):
        column = {row["id"]: row["values"][f"{leg}:{measure}"] for row in rows if f"{leg}:{measure}" in row.get("values", {})}
        if column:
            return column
    return {}
