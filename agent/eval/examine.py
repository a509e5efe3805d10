"""Puts one question to the program and notes what is measured: the ranking of each leg, the decision, the answer, what it cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent import ranking
from agent.eval import goldset, measures
from agent.eval.assess import assessed
from agent.eval.cassette import Counter
from agent.eval.figures import Figures
from agent.eval.goldset import Case
from agent.eval.report import Found, Row
from agent.eval.support import Dated, Neighbours, neighbours
from agent.interfaces import Scored
from agent.language import citations
from agent.settings import Settings, changed
from agent.values import Answer, Evidence, Grounded, Plan, Reason, Refused, SubQuery
from agent.wiring import Bench

DEPTH = 100
"""How deep a ranking is read; the product itself looks at `context_blocks` entries."""

FAILED = frozenset({Reason.MODEL_UNAVAILABLE, Reason.MODEL_TIMEOUT, Reason.SOURCE_FAILED})
"""Reasons that tell of a failure and not of an answer: such a question is not scored."""


class Notes:
    """A listener that keeps the steps of the question at hand."""

    def __init__(self) -> None:
        self._steps: list[tuple[str, Mapping[str, Any]]] = []

    def __call__(self, kind: str, data: Mapping[str, Any]) -> None:
        self._steps.append((kind, data))

    def clear(self) -> None:
        self._steps.clear()

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        """What was noted with each step of that kind."""
        return [data for name, data in self._steps if name == kind]


@dataclass(frozen=True)
class Subject:
    """The program under one setting: `bench` answers and tells `notes`; `deep` is the same search, read to DEPTH."""

    bench: Bench
    deep: Bench
    notes: Notes
    counter: Counter
    figures: Figures
    values: Sequence[Dated] = ()

    @classmethod
    def of(cls, bench: Bench, settings: Settings, values: Sequence[Dated] = ()) -> Subject:
        """A subject over the index of `bench`, under other settings."""
        notes, counter = Notes(), Counter()
        deep = changed(settings, max_context_chars=10_000_000, companion_entries=0)
        inner = bench.around or (lambda model: model)
        asked = bench.under(settings, listeners=(notes,), around=lambda model: counter.around(inner(model)))
        return cls(asked, bench.under(deep), notes, counter, Figures(bench.language), values)

    # --- rankings ---------------------------------------------------------------------------------

    def rankings(self, subqueries: Sequence[SubQuery], evidence: Evidence) -> dict[str, list[str]]:
        """{leg: entry ids, best first}. The fused one begins with the evidence, as the product would use it."""
        fused = [list(dict.fromkeys(hit.entry.id for hit in evidence.hits))]
        fused += _in_turn([[hit.entry.id for hit in self.deep.wissensbasis.search(subquery, DEPTH).hits] for subquery in subqueries])
        legs = {"lexical": [self._ids(self._lexical(subquery)) for subquery in subqueries]}
        if self.bench.embedder is not None and evidence.embedder:
            legs["dense"] = [self._ids(self._dense(subquery)) for subquery in subqueries]
        ranked = {leg: [name for tier in _in_turn(lists) for name in tier] for leg, lists in legs.items()}
        ranked["fused"] = [name for tier in fused for name in tier]
        return {leg: list(dict.fromkeys(names))[:DEPTH] for leg, names in ranked.items()}

    def _lexical(self, subquery: SubQuery) -> list[Scored]:
        terms = self.bench.language.terms(subquery.query)
        return self.bench.store.lexical(terms, self.bench.settings.candidate_pool, self.bench.wissensbasis.filter(subquery))

    def _dense(self, subquery: SubQuery) -> list[Scored]:
        embedder = self.bench.embedder
        if embedder is None:
            return []
        where = self.bench.wissensbasis.filter(subquery)
        return self.bench.store.dense(embedder.query(subquery.query), self.bench.settings.candidate_pool, where)

    def _ids(self, scored: Sequence[Scored]) -> list[str]:
        found = self.bench.store.fetch(one.row for one in scored)
        return list(dict.fromkeys(found[one.row][1].id for one in scored if one.row in found))


def _in_turn(lists: Sequence[Sequence[str]]) -> list[list[str]]:
    """The first of each list, then the second of each, and so on: what several searches of one question are read as."""
    longest = max((len(names) for names in lists), default=0)
    return [[names[place] for names in lists if place < len(names)] for place in range(longest)]


# --- one question of the goldset ------------------------------------------------------------------


def examined(case: Case, subject: Subject) -> Row:
    """What one question gave. A model that failed leaves the answer not scored; the ranking is scored all the same."""
    subject.notes.clear()
    subject.counter.clear()
    answer = subject.bench.ask(case.question, case.stichtag, log=False)
    evidence, plan = answer.trace.evidence, answer.trace.plan
    ranked = subject.rankings(plan.subqueries if isinstance(plan, Plan) else (), evidence)
    row: Row = {
        "id": case.id,
        "question": case.question,
        "stichtag": case.stichtag.isoformat(),
        "tags": list(case.tags),
        "held": case.held,
        "should_refuse": case.refuse,
        "expected": list(case.sources),
        "need": case.need,
        "note": case.note,
        "found": _found(case, answer),
        "ranked": ranked,
        "ms": round(answer.trace.timings_ms.get("total", 0.0), 2),
        "values": retrieval_values(case.id, ranked, goldset.qrels([case]), fold=lambda run: goldset.folded(run, [case])),
        **_complexity(answer),
        "evidence_score": next((float(step["score"]) for step in subject.notes.of("judged")), None),
    }
    if answer.reason in FAILED:
        said_by_model = next((str(step["message"]) for step in subject.notes.of("model_failed")), answer.reason.value)
        return {**row, "outcome": "not_scored", "wrong": ["error"], "answer": None, "refused": None, "note": said_by_model}
    return _answered(row, case, answer, subject)


def _complexity(answer: Answer) -> Row:
    """How much looking up the question got, and what the classifier said; nothing where none was asked."""
    found = answer.trace.complexity
    return {"label": found.label.value, "said": found.said.value if found.said else None} if found else {}


def retrieval_values(
    qid: str, ranked: Mapping[str, list[str]], qrels: measures.Qrels, *, fold: Callable[[dict[str, list[str]]], dict[str, list[str]]]
) -> dict[str, float]:
    """{"leg:measure": value}; empty for a question without a relevant document."""
    values: dict[str, float] = {}
    for leg, names in ranked.items():
        row = measures.per_query(fold({qid: names}), qrels).get(qid, {})
        values.update({f"{leg}:{name}": value for name, value in row.items()})
    return values


def _found(case: Case, answer: Answer) -> list[Found]:
    cited = {citation.id for citation in answer.citations} if isinstance(answer, Grounded) else set[str]()
    return [
        {
            "id": hit.entry.id,
            "title": hit.entry.title,
            "section": hit.chunk.section,
            "expected": hit.entry.id in case.sources,
            "cited": hit.entry.id in cited,
        }
        for hit in ranking.first_of_each(answer.trace.evidence.hits)[:10]
    ]


def _answered(row: Row, case: Case, answer: Answer, subject: Subject) -> Row:
    texts = "\n".join(chunk.text for name in case.sources for chunk in _chunks(subject.bench, name))
    forbidden = neighbours(case, subject.values, subject.figures, lambda key: key in texts) if case.figures else Neighbours()
    found = assessed(case, answer, subject.figures, forbidden)
    wrong = ["source_not_found"] * (row["values"].get("fused:all-gold@8", 1.0) < 1) + list(found.wrong)
    return {
        **row,
        "outcome": "wrong" if wrong else "right",
        "wrong": wrong,
        "refused": isinstance(answer, Refused),
        "reason": answer.reason.value if answer.reason else None,
        "answer": answer.text,
        "figures": [{"figure": figure, "present": present} for figure, present in found.figures.items()],
        "beside": list(found.beside),
        "values": {**row["values"], **{f"answers:{name}": value for name, value in {**found.values, **_costs(answer, subject)}.items()}},
    }


def _chunks(bench: Bench, entry_id: str) -> list[Any]:
    rows = bench.store.rows_of([entry_id]).get(entry_id, ())
    return [chunk for chunk, _ in bench.store.fetch(rows).values()]


def _costs(answer: Answer, subject: Subject) -> dict[str, float]:
    """What the model did for this answer: nothing where none was asked."""
    drafts, replies = [*subject.notes.of("drafted"), *subject.notes.of("review_drafted")], subject.counter.replies
    if not subject.counter.calls:
        return {}
    trace = answer.trace
    ids = trace.evidence.ids
    cited = [name for draft in drafts for name in citations.cited(citations.canonical(str(draft["text"]), ids))]
    costs = {"model-calls": float(subject.counter.calls), "regenerated": float(trace.checks.regenerated)}
    if cited:
        costs["citation-precision"] = 1 - len(trace.checks.unknown_ids) / len(cited)
    for name, counts in (("tokens-in", [r.tokens.prompt for r in replies]), ("tokens-out", [r.tokens.completion for r in replies])):
        told = [count for count in counts if count is not None]
        if told:
            costs[name] = float(sum(told))
    return costs
