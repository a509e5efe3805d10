"""The form in which a result is kept (JSON), and its short report in Markdown; the page is made in `page`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict

from agent import texts
from agent.eval.statistics import quantile

SCHEMA_VERSION = 1


class Estimate(TypedDict, total=False):
    """A figure with its interval over n questions. A null value is "not scored", which is never 0."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class Score(Estimate, total=False):
    """One measure of one leg (lexical, dense, fused, answers), over all questions ("") or those of a tag and a part (tuning, held)."""

    measure: str
    leg: str
    tag: str
    part: str


class Change(TypedDict):
    """One measure of this run and an earlier one, over the `n` questions of both.

    `p` is corrected for the number of measures; `verdict` is a statistics.Verdict."""

    measure: str
    old: float
    new: float
    low: float
    high: float
    p: float
    n: int
    verdict: str


class Point(TypedDict):
    """What refusing below `threshold` would give."""

    threshold: float
    precision: float | None
    recall: float | None
    false_refusals: float | None


class Found(TypedDict, total=False):
    """One entry of a ranking; `expected` and `cited` mark it."""

    id: str
    title: str
    section: str
    expected: bool
    cited: bool


class Figure(TypedDict):
    """An expected figure, as written, and whether the answer has it."""

    figure: str
    present: bool


class Row(TypedDict, total=False):
    """One question: what was expected, found, answered, and what is wrong (codes of the table `report.<language>`, "wrong")."""

    id: str
    question: str
    stichtag: str
    tags: list[str]
    held: bool
    outcome: str
    wrong: list[str]
    should_refuse: bool
    refused: bool | None
    reason: str | None
    expected: list[str]
    need: str
    found: list[Found]
    answer: str | None
    figures: list[Figure]
    beside: list[str]
    """Figures of the answer that are of another time or case, or that nothing cited holds."""
    note: str
    ms: float | None
    ranked: dict[str, list[str]]
    """The whole ranking of each leg; kept out of the result, since it is long."""
    values: dict[str, float]
    """What was measured, as "leg:measure"; what was not is absent."""
    label: str
    """How much looking up the question got (A, B, C); absent where nothing was classified."""
    said: str | None
    """What the classifier had said; null where it failed."""
    evidence_score: float | None
    """The score by which the gate decides."""
    fingerprint: str
    """Of the question and what is expected: two runs are compared over questions that are the same."""


class Result(TypedDict, total=False):
    """A whole run. Everything but title, scores and questions may be absent."""

    schema_version: int
    title: str
    created: str
    language: str
    settings: Mapping[str, Any]
    headline: str
    """The measure shown per tag; the first of `scores` unless named."""
    scores: list[Score]
    refusal: Mapping[str, Estimate]
    """precision, recall, false_refusals, auroc"""
    refusal_curve: list[Point]
    refusal_threshold: float | None
    latencies_ms: list[float]
    compared_with: str
    comparison: list[Change]
    detectable: float
    warnings: list[str]
    questions: list[Row]


@dataclass(frozen=True, slots=True)
class Words:
    """The wording of a report in one language, and how it writes numbers."""

    table: Mapping[str, Any]

    @classmethod
    def of(cls, result: Result) -> Words:
        return cls(texts.table(f"report.{result.get('language', 'de')}"))

    def __call__(self, section: str, name: str = "") -> str:
        """The word for a name; one that the table does not hold stands for itself."""
        entry = self.table.get(section, name)
        return str(entry.get(name, name)) if isinstance(entry, Mapping) else str(entry)

    def number(self, value: float | None, digits: int = 3, *, sign: bool = False) -> str:
        if value is None:
            return self("not_scored")
        return f"{value:{'+' if sign else ''}.{digits}f}".replace(".", self("decimal")).replace("-", self("minus"))

    def interval(self, estimate: Estimate) -> str:
        low, high = estimate.get("low"), estimate.get("high")
        return "" if low is None or high is None else f"{self.number(low)} {self('to')} {self.number(high)}"

    def cell(self, estimate: Estimate) -> str:
        """The value with its interval in parentheses."""
        interval = self.interval(estimate)
        return self.number(estimate.get("value")) + (f" ({interval})" if interval else "")

    def duration(self, ms: float) -> str:
        return f"{self.number(ms / 1000, 1)} s" if ms >= 1000 else f"{ms:.0f} ms"

    def date(self, iso: str) -> str:
        return datetime.fromisoformat(iso).strftime(self("date_format")) if iso else ""


def overall(result: Result, *, part: str | None = None) -> dict[str, dict[str, Score]]:
    """{measure: {leg: score}} over all tags, in the order of the result; `part` None takes the first part each leg comes with."""
    table: dict[str, dict[str, Score]] = {}
    for score in result.get("scores", []):
        if not score.get("tag") and part in (None, score.get("part", "")):
            table.setdefault(score["measure"], {}).setdefault(score.get("leg", ""), score)
    return table


def parts(result: Result) -> list[str]:
    """The parts that scores over all tags come in."""
    return list(dict.fromkeys(score.get("part", "") for score in result.get("scores", []) if not score.get("tag")))


def legs(table: Mapping[str, Mapping[str, Score]]) -> list[str]:
    """Every leg of a table of scores, in its order."""
    return list(dict.fromkeys(leg for row in table.values() for leg in row))


def headline(result: Result) -> tuple[str, str]:
    """The measure and the leg that stand for the run: the one named, and the last leg it has, which is what the product uses."""
    table = overall(result)
    measure = result.get("headline") or next(iter(table), "")
    return measure, next(reversed(list(table.get(measure, {"": {}}))))


def per_tag(result: Result) -> list[Score]:
    """The headline's score for each tag, over all parts."""
    measure, leg = headline(result)
    whole = "" if "" in parts(result) else next(iter(parts(result)), "")
    wanted = (measure, leg, whole)
    return [
        score
        for score in result.get("scores", [])
        if score.get("tag") and (score["measure"], score.get("leg", ""), score.get("part", "")) == wanted
    ]


def failing_first(rows: Sequence[Row]) -> list[Row]:
    """Rows with something wrong, then those not scored, then the right ones; each group as it was."""
    return sorted(rows, key=lambda row: ("wrong", "not_scored", "right").index(row.get("outcome", "not_scored")))


# --- Markdown -------------------------------------------------------------------------------------


def markdown(result: Result) -> str:
    """The report for a terminal, a commit or an issue: scores, tags, refusals, times, comparison, and the questions that failed."""
    words = Words.of(result)
    sections = [f"# {result.get('title', '')}", words.date(result.get("created", "")), *_score_sections(result, words)]
    sections += [*_refusal_and_time(result, words), *_labels(result, words)]
    if result.get("comparison"):
        sections += [f"## {words('headings', 'comparison')}", comparison_note(result, words), _comparison(result, words)]
    failed = [row for row in result.get("questions", []) if row.get("outcome") != "right"]
    sections.append(f"## {words('headings', 'wrong')}")
    shown = [[row["id"], row["question"], ", ".join(complaints(row, words))] for row in failing_first(failed)]
    sections.append(
        markdown_table([words("columns", name) for name in ("id", "question", "wrong")], shown) if shown else words("empty", "wrong")
    )
    return "\n\n".join(section for section in sections if section) + "\n"


def complaints(row: Row, words: Words) -> list[str]:
    """What is wrong with a question, in words."""
    return [words("wrong", code) for code in row.get("wrong", [])] or (
        [words("not_scored")] if row.get("outcome", "not_scored") == "not_scored" else []
    )


def comparison_note(result: Result, words: Words) -> str:
    """What "no difference shown" means with so many questions."""
    detectable = words.number(result["detectable"], 2) if "detectable" in result else words("none")
    n = max((change["n"] for change in result.get("comparison", [])), default=0)
    return words("intro", "comparison").format(n=n, detectable=detectable)


def _score_sections(result: Result, words: Words) -> Iterator[str]:
    yield f"## {words('headings', 'scores')}"
    for part in parts(result):
        table = overall(result, part=part)
        columns = legs(table)
        yield f"**{words('parts', part)}**"
        yield markdown_table(
            [words("columns", "measure"), *(words("legs", leg) or words("columns", "value") for leg in columns)],
            [
                [words("measure_names", name), *(words.cell(row[leg]) if leg in row else words("none") for leg in columns)]
                for name, row in table.items()
            ],
        )
    if tags := per_tag(result):
        measure, leg = headline(result)
        yield f"## {words('headings', 'tags')}: {words('measure_names', measure)} {words('legs', leg)}".rstrip()
        yield markdown_table(
            [words("columns", "tag"), words("columns", "value"), words("columns", "count")],
            [[words("tags", score["tag"]), words.cell(score), str(score.get("n", ""))] for score in tags],
        )


def _refusal_and_time(result: Result, words: Words) -> Iterator[str]:
    if refusal := result.get("refusal"):
        yield f"## {words('headings', 'refusal')}"
        yield markdown_table(
            [words("columns", "measure"), words("columns", "value")],
            [[words("measure_names", name), words.cell(estimate)] for name, estimate in refusal.items()],
        )
    if times := result.get("latencies_ms"):
        half, most = quantile(times, 0.5), quantile(times, 0.95)
        mean = f"{words('charts', 'mean')} {words.duration(sum(times) / len(times))}"
        shown = [
            mean,
            f"{words('charts', 'half')} ≤ {words.duration(half or 0)}",
            f"{words('charts', 'most')} ≤ {words.duration(most or 0)}",
        ]
        yield f"## {words('headings', 'latency')}"
        yield ", ".join(shown)


def _labels(result: Result, words: Words) -> Iterator[str]:
    note, rows = labels(result, words)
    if rows:
        yield f"## {words('headings', 'labels')}"
        yield note
        yield markdown_table(rows[0], rows[1:])


def labels(result: Result, words: Words) -> tuple[str, list[list[str]]]:
    """How often each label was given, by tag: what to say of it, and a table with its head; no rows where nothing was classified."""
    classified = [row for row in result.get("questions", []) if "label" in row]
    given = sorted({row["label"] for row in classified})
    tags = dict.fromkeys(tag for row in classified for tag in row.get("tags", []))
    groups = {words("all"): classified} | {words("tags", tag): [row for row in classified if tag in row.get("tags", [])] for tag in tags}
    counted = [[name, *(str(sum(row["label"] == label for row in group)) for label in given)] for name, group in groups.items()]
    note = words("intro", "labels").format(turned=sum(row["said"] != row["label"] for row in classified))
    return note, [[words("columns", "tag"), *given], *counted] if classified else []


def _comparison(result: Result, words: Words) -> str:
    names = ("measure", "old", "new", "difference", "p", "verdict")
    rows = []
    for change in result.get("comparison", []):
        moved = (
            f"{words.number(change['new'] - change['old'], sign=True)} ({words.interval({'low': change['low'], 'high': change['high']})})"
        )
        figures = [words.number(change["old"]), words.number(change["new"]), moved, words.number(change["p"])]
        rows.append([words("measure_names", change["measure"]), *figures, words("verdicts", change["verdict"])])
    return markdown_table([words("columns", name) for name in names], rows)


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines)
