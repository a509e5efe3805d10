"""A bake-off and a sweep as Markdown tables for the terminal or an issue."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from agent.eval import scorecard, statistics
from agent.eval.experiment import Setting
from agent.eval.report import Estimate, Result, Words, markdown_table
from agent.eval.sweep import Choice

BAKEOFF = ("citation-precision", "refusal-correct", "source-cited", "figure-present", "sentence-support", "regenerated", "model-calls")


CLASSES = ("source-cited", "figure-present", "refusal-correct", "model-calls", "tokens-in", "tokens-out")
"""What is told of each class of question: what the answers are worth, and what they cost."""


def bakeoff(results: Sequence[tuple[Setting, Result | str]], words: Words, *, what: str = "model") -> str:
    """One line a setting, best first, and whether the first is beyond noise better than the second; `what` the settings differ in."""
    head = [words("columns", what), *(words("measure_names", name) for name in BAKEOFF), words("columns", "time"), words("not_scored")]
    lines, notes = [], []
    for setting, result in results:
        if isinstance(result, str):
            lines.append([setting.name, *[words("none")] * (len(head) - 2), words("columns", "all")])
            notes.append(f"{setting.name}: {result}")
        else:
            lines.append([setting.name, *_figures(result, words), *_times(result, words)])
    scored = [(setting, result) for setting, result in results if not isinstance(result, str)]
    if len(scored) > 1:
        notes.append(_lead(scored[0], scored[1], words))
    return "\n\n".join([markdown_table(head, lines), *notes])


def by_class(results: Sequence[tuple[Setting, Result | str]], words: Words, *, what: str) -> str:
    """What each setting is worth and costs for each class of question (tag), a line a class and setting."""
    scored = [(setting, result) for setting, result in results if not isinstance(result, str)]
    tags = dict.fromkeys(tag for _, result in scored for row in result.get("questions", []) for tag in row.get("tags", []))
    head = ["tag", what, "count"]
    lines = []
    for tag in tags:
        for setting, result in scored:
            rows = [row for row in result.get("questions", []) if tag in row.get("tags", []) and row.get("outcome") != "not_scored"]
            times = [ms for row in rows if (ms := row.get("ms")) is not None]
            shown = words.duration(fsum(times) / len(times)) if times else words("not_scored")
            lines.append([words("tags", tag), setting.name, str(len(rows)), *_figures(result, words, CLASSES, tag=tag), shown])
    names = [*(words("columns", name) for name in head), *(words("measure_names", name) for name in CLASSES), words("charts", "mean")]
    return markdown_table(names, lines)


def _figures(result: Result, words: Words, names: Sequence[str] = BAKEOFF, *, tag: str = "") -> list[str]:
    figures: dict[str, Estimate] = {
        score["measure"]: score
        for score in result.get("scores", [])
        if score.get("leg") == "answers" and score.get("tag", "") == tag and not score.get("part")
    }
    return [words.cell(figures[name]) if name in figures else words("not_scored") for name in names]


def _times(result: Result, words: Words) -> list[str]:
    times = result.get("latencies_ms", [])
    failed = sum(row.get("outcome") == "not_scored" for row in result.get("questions", []))
    if not times:
        return [words("not_scored"), str(failed)]
    shown = [fsum(times) / len(times), statistics.quantile(times, 0.5) or 0.0, statistics.quantile(times, 0.95) or 0.0]
    return [" / ".join(words.duration(ms) for ms in shown), str(failed)]


def _lead(first: tuple[Setting, Result], second: tuple[Setting, Result], words: Words) -> str:
    changes = {change["measure"]: change for change in scorecard.compared(second[1], first[1])}
    for name in BAKEOFF[:2]:
        if name in changes and changes[name]["verdict"] == statistics.Verdict.REAL_GAIN:
            sentence = words("bakeoff", "ahead")
            return sentence.format(first=first[0].name, second=second[0].name, measure=words("measure_names", name))
    return words("bakeoff", "level").format(first=first[0].name, second=second[0].name)


def sweep(choice: Choice, measure: str, words: Words) -> str:
    """What won, what the choice is worth on questions it has not seen, and whether that is beyond noise."""
    name = words("measure_names", measure)
    head = [words("columns", "setting"), f"{name}, {words('sweep', 'out_of_fold')}"]
    rows = [
        [words("sweep", "now"), words.cell(_estimate(choice.now))],
        [words("sweep", "chosen"), words.cell(_estimate(choice.chosen))],
    ]
    found = choice.difference
    verdict = words("sweep", choice.verdict.value).format(
        winner=words("sweep", "now") if choice.winner == "now" else choice.winner,
        difference=words.number(found.value, sign=True),
        interval=words.interval({"low": found.low, "high": found.high}),
        p=words.number(found.p),
        n=found.n,
    )
    folds = ", ".join(fold.chosen for fold in choice.folds)
    return "\n\n".join([markdown_table(head, rows), f"{words('sweep', 'folds')}: {folds}", verdict])


def _estimate(interval: statistics.Interval) -> Estimate:
    return {"value": interval.value, "low": interval.low, "high": interval.high, "n": interval.n}
