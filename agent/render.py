"""Values as text for the terminal; what a knowledge base or a model wrote cannot steer the terminal from here."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agent.i18n import noted, tr, trn
from agent.language import Language
from agent.values import WEB, Answer, Citation, Evidence, Flag, Grounded, Hit, Refused, Validity

Style = Callable[..., str]

_BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """Without control characters (but line feeds) and without marks that turn the reading direction."""
    return "".join(c for c in text if c == "\n" or (c not in _BIDI and unicodedata.category(c) != "Cc"))


def plain(text: str, **_: Any) -> str:
    """The style of a pipe: none."""
    return text


def answer(result: Answer, language: Language, style: Style = plain) -> str:
    """An answer or a refusal with its sources, warnings and the id of its run."""
    lines = [_paragraphs(result.text, style if isinstance(result, Refused) else plain), ""]
    if isinstance(result, Grounded):
        lines += [style(language.message("sources_head"), bold=True), *(_source(c, language, style) for c in result.citations)]
        lines += _conflicts(result, language, style)
    elif isinstance(result, Refused) and result.nearest:
        lines += [style(language.message("nearest_head"), bold=True), *(f"  {n.id} · {n.title}: {n.why_not}" for n in result.nearest)]
    if result.question_back:
        lines += ["", result.question_back]
    notes = [*result.trace.warnings, *(language.message(f"flag_{flag.value}") for flag in sorted(result.trace.flags) if flag in _TOLD)]
    lines += ["", *(style(f"! {note}", fg="yellow") for note in notes)] if notes else []
    if result.trace.run_id:
        lines += ["", style(f"{language.message('run')} {result.trace.run_id}", dim=True)]
    return printable("\n".join(lines)).strip() if style is plain else "\n".join(lines).strip()


_TOLD = {Flag.LEXICAL_ONLY, Flag.KB_NEWER_THAN_INDEX, Flag.CHANGES_WITHIN_PERIOD, Flag.HOP_LIMIT, Flag.STEP_LIMIT, Flag.SEARCH_FAILED}


def _paragraphs(text: str, style: Style) -> str:
    first, _, rest = printable(text).partition("\n")
    return style(first, bold=True) + (f"\n{rest}" if rest else "") if style is not plain else printable(text)


def _conflicts(result: Grounded, language: Language, style: Style) -> list[str]:
    told = [language.message("conflict", subject=c.subject, answered=c.answered, other=c.other) for c in result.conflicts]
    return ["", style(language.message("conflicts_head"), bold=True), *(f"  {printable(line)}" for line in told)] if told else []


def _source(citation: Citation, language: Language, style: Style) -> str:
    stand = language.message("stand", stand=language.day(citation.stand))
    state = language.message(f"validity_{citation.validity.value}") if citation.validity is not Validity.CURRENT else ""
    if citation.source == WEB:
        stand, state = language.message("from_web", day=language.day(citation.stand)), ""
    pages = language.message("pages", pages=", ".join(map(str, citation.pages))) if citation.pages else ""
    parts = (citation.title, stand, citation.section, pages, state, citation.url or "")
    tail = " · ".join(printable(part) for part in parts if part)
    return f"  {style(f'[{citation.id}]', fg='cyan')} {tail}"


def explained(result: Answer, language: Language) -> str:
    """How the evidence came about: each hit with the ranks and scores of both legs, the carrying sentences, and what was dropped."""
    evidence = result.trace.evidence
    parts = [language.message("explain_plan"), *_plan(result), "", language.message("explain_hits"), hits(evidence)]
    if isinstance(result, Grounded):
        parts += [
            "",
            language.message("explain_quotes"),
            *(f"  [{c.id}] {c.section} {c.span}: {printable(c.quote)}" for c in result.citations),
        ]
    if evidence.dropped:
        parts += [
            "",
            language.message("explain_dropped"),
            *(f"  {d.id} · {d.section} ({d.score:.4f}): {tr(d.why)}" for d in evidence.dropped[:20]),
        ]
    timings = "  ".join(f"{name} {value:.0f} ms" for name, value in result.trace.timings_ms.items())
    return "\n".join([*parts, "", timings])


def _plan(result: Answer) -> list[str]:
    plan = result.trace.plan
    return [f"  {s.query} · {s.period.start} … {s.period.end} · {s.scope}" for s in plan.subqueries] if plan else []


def hits(evidence: Evidence) -> str:
    """The hits as aligned lines: rank, entry, section, score, the rank and score of each leg, why it is here."""
    rows = [_hit(number, hit) for number, hit in enumerate(evidence.hits, start=1)]
    return columns([("", "id", tr("section"), tr("score"), "BM25", tr("cosine"), tr("why")), *rows])


def _hit(number: int, hit: Hit) -> tuple[str, ...]:
    lexical = f"{hit.lexical_rank} ({hit.lexical_score:.2f})" if hit.lexical_rank and hit.lexical_score is not None else "–"
    dense = f"{hit.dense_rank} ({hit.dense_score:.3f})" if hit.dense_rank and hit.dense_score is not None else "–"
    return (str(number), hit.entry.id, hit.chunk.section or "–", f"{hit.score:.4f}", lexical, dense, _why(hit.why))


WHY = (
    noted("words"),
    noted("meaning"),
    noted("words and meaning"),
    noted("related words"),
    noted("web search"),
    noted("another section of the entry"),
    noted("another section of the entry fits better"),
    noted("below the number of context blocks"),
    noted("over the context budget"),
)
"""Why a hit is here, or is not: codes of the documents, told in words here."""


def _why(why: str) -> str:
    referrer = why.removeprefix("cross-ref from ")
    return tr(why) if why in WHY or referrer == why else tr("cross-ref from {id}", id=referrer)


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as columns, each as wide as its widest cell."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(printable(cell).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def runs(rows: Iterable[Mapping[str, Any]], labels: Sequence[tuple[str, str | None, int]] = ()) -> str:
    """The run list as columns; below it how often each label was given, over all runs (`A→B`: said A, looked up as B)."""
    shown = [
        (
            r["id"],
            r["started"][:16].replace("T", " "),
            " ".join(filter(None, (r["strategy"], _label(r["label"], r["said"])))),
            r["reason"] or r["origin"] or "",
            f"{r['milliseconds'] or 0:.0f} ms",
            str(r["question"])[:70],
        )
        for r in rows
    ]
    told = " · ".join(f"{_label(label, said)} {count}" for label, said, count in labels)
    head = (tr("run"), tr("started (UTC)"), tr("strategy"), tr("outcome"), tr("time"), tr("question"))
    return columns([head, *shown]) + ("\n\n" + tr("labels: {labels}", labels=told) if told else "")


def _label(label: str | None, said: str | None) -> str:
    return "" if not label else label if said == label else f"{said or '?'}→{label}"


def run(record: Mapping[str, Any]) -> str:
    """The whole story of a run: its path hop by hop, every step, then its answer with the sentences that carry it."""
    lines = [f"{record['id']}  {record['started']}", f"{record['question']}  (Stichtag {record['stichtag']})", ""]
    lines += [*path(record), ""]
    for number, step in enumerate(record["steps"], start=1):
        lines.append(f"{number:>3}  {step['at'][11:23]}  {step['kind']}")
        lines += [f"       {line}" for name, value in step.items() if name not in ("at", "kind") for line in _told(name, value)]
    outcome = record["answer"] or {}
    lines += ["", str(outcome.get("answer", ""))]
    for citation in outcome.get("citations", ()):
        lines += [
            "",
            f"[{citation['id']}] Stand {citation['stand']}, {citation['validity']}, {citation['section']}",
            f"  {citation['quote']}",
        ]
    lines += [f"! {c['subject']}: {c['answered']} / {c['other']}" for c in outcome.get("conflicts", ())]
    lines += [f"? {outcome['question_back']}"] if outcome.get("question_back") else []
    return printable("\n".join(lines))


def path(record: Mapping[str, Any]) -> list[str]:
    """The searches of a run in a line each: source, query, what it found, how long it took, and what went wrong."""
    found = [step for step in record["steps"] if step["kind"] == "hop"]
    rows = [
        (str(n), hop["source"], _short(hop["query"]), ", ".join(hop["ids"]) or "–", f"{hop['ms']:.0f} ms", hop["note"])
        for n, hop in enumerate(found, 1)
    ]
    strategy = record["strategy"] or "–"
    return [
        trn("{strategy}: {count} search", "{strategy}: {count} searches", len(found), strategy=strategy),
        *(columns([("", tr("source"), tr("query"), tr("found"), tr("time"), ""), *rows]).splitlines() if rows else []),
    ]


def _told(name: str, value: Any) -> list[str]:
    """One thing a step holds: rows of evidence as columns, texts with their lines, the rest in a line."""
    if value in (None, [], "", {}):
        return []
    if name == "evidence":
        rows = [(c["id"], c["section"], c["hash"], f"Stand {c['stand']}", str(c["score"]), c["why"]) for c in value]
        return columns(rows).splitlines()
    if name == "text":
        return [f"| {line}" for line in str(value).splitlines()]
    if isinstance(value, Mapping):
        return [f"{name}: {', '.join(f'{key}={inner}' for key, inner in value.items())}"]
    return [f"{name}: {_short(value)}"]


def replay(document: Mapping[str, Any]) -> str:
    """What would be different today, one thing a paragraph."""
    run_id = document["run"]
    lines = [tr("{id}: nothing is different today.", id=run_id) if document["same"] else tr("{id}: different today.", id=run_id)]
    for found in document["differences"]:
        then, today = (_short(tr(found[side]) if found[side] in STATES else found[side] or "–") for side in ("then", "today"))
        lines += ["", _difference(found["what"]), tr("  then:  {text}", text=then), tr("  today: {text}", text=today)]
    return printable("\n".join([*lines, *(f"! {note}" for note in document["notes"])]))


STATES = (noted("found"), noted("open"), noted("may be answered"))
DIFFERENCES = (
    noted("gate"),
    noted("verdict"),
    noted("origin"),
    noted("figures"),
    noted("citations"),
    noted("conflicts"),
    noted("question back"),
    noted("answer"),
)
"""What a document of a replay says in words of its own; the rest is the knowledge base's."""


def _difference(what: str) -> str:
    place = what.removeprefix("evidence ")
    return tr(what) if place == what else tr("evidence {place}", place=place)


def stats(document: Mapping[str, Any], *, full: bool = False) -> str:
    """The coverage of a knowledge base: a row a topic, a column a year (entries that hold / dated values cited), then the gaps."""
    years = document["years"]
    head = (tr("topic"), tr("entries"), *map(str, years))
    rows = [
        (topic["name"] or "–", str(topic["entries"]), *(f"{topic['holding'][year]} / {topic['values'][year]}" for year in years))
        for topic in document["topics"]
    ]
    held = trn("{count} entry", "{count} entries", document["entries"])
    topics = trn("{entries} in {count} topic", "{entries} in {count} topics", len(rows), entries=held)
    lines = [columns([head, *rows]), "", tr("{held}; by year: entries that hold / values cited.", held=topics)]
    if document["unread"]:
        lines.append(
            trn(
                "{count} file that cannot be read as an entry (pv-agent kb lint).",
                "{count} files that cannot be read as an entry (pv-agent kb lint).",
                document["unread"],
            )
        )
    for name, what in _GAPS.items():
        found = document[name]
        told = tr("there is no goldset") if found is None else str(len(found))
        lines.append(f"{tr(what)}: {told}")
        lines += [f"  {one}" for one in (found or [])[: None if full else 5]]
        lines += [tr("  and {count} more (--full)", count=len(found) - 5)] if found and not full and len(found) > 5 else []
    return printable("\n".join(lines))


_GAPS = {
    "orphans": noted("Entries no other refers to"),
    "uncited": noted("Values without an entry"),
    "unasked": noted("Entries without a goldset question"),
}


def affected(answers: Sequence[Any], questions: Sequence[Any]) -> str:
    """The earlier answers and goldset questions an edit affects, each with its entries."""
    earlier = trn("{count} earlier answer", "{count} earlier answers", len(answers))
    head = trn(
        "Affected: {answers}, {count} question of the goldset.",
        "Affected: {answers}, {count} questions of the goldset.",
        len(questions),
        answers=earlier,
    )
    named = [(found, ", ".join(f"{name} ({tr(what)})" for name, what in found.entries)) for found in (*answers, *questions)]
    return printable("\n".join([head, *(f"  {found.id}  {entries}  {found.question[:80]}" for found, entries in named)]))


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 600 else f"{text[:600]} …"
