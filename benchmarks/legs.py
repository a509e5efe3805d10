"""Checks that a search is nowhere worse, beyond noise, than the better of its two lists alone, and shows rank fusion beside it.

    python -m benchmarks.legs SETS/xquad_de=de SETS/at_payroll_law=de,names_law=false [--vectors DIR]

A set is a folder in BEIR's layout, its language, and where wanted a field its questions must have. `default` is the search as it ships;
`better list each time` and `perfect order` are what no order of the same candidates can surpass: what lies above the latter is lost to
candidates no list brought (and to measures that more right documents cannot fill), the rest to their order. Intervals are bootstrapped over
questions. Exit code 1 where the whole interval of the difference to the better list lies below zero.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agent import settings, texts
from agent.eval import beir, collection, fitting, measures, statistics
from agent.progress import bar

SHOWN = ("nDCG@10", "recall@8", "hit@1", "hit-rate@8", "all-gold@8")
JUDGED_BY = "nDCG@10"
SINGLE = ("words", "meaning")

Values = dict[str, dict[str, float]]
"""Question -> measure -> value."""


def measured(where: str, vectors: Path) -> tuple[str, dict[str, Values]]:
    """The name of a set given as `DIR=LANGUAGE[,FIELD=VALUE]`, and for each way of ranking it the values of every question."""
    folder, _, rest = where.partition("=")
    language, *conditions = rest.split(",")
    test_set = beir.read(Path(folder), where=conditions)
    with bar(sys.stderr) as progress:
        opened = collection.opened(test_set, settings.load({}).settings, language=language or "de", vectors=vectors, progress=progress)
        with opened as bench:
            examples = fitting.examples(test_set, bench)
    weights = texts.table("ranking")["hybrid"]
    runs: dict[str, dict[str, list[str]]] = {}
    for example in examples:
        for way, ranked in fitting.legs(example).items():
            runs.setdefault(way, {})[example.id] = ranked
        runs.setdefault("default", {})[example.id] = fitting.rescored(example, weights)
    values = {way: measures.per_query(run, test_set.qrels) for way, run in runs.items()}
    single = [values[way] for way in SINGLE]
    values["better list each time"] = {qid: max((each[qid] for each in single), key=lambda row: row[JUDGED_BY]) for qid in single[0]}
    return test_set.name, values


def lines(values: Mapping[str, Values]) -> Iterator[str]:
    """A Markdown table: every way with its means and the interval of the first."""
    yield f"| way | {' | '.join(SHOWN)} |"
    yield f"| --- |{' --- |' * len(SHOWN)}"
    for way, rows in values.items():
        first = statistics.mean([row[JUDGED_BY] for row in rows.values()])
        span = f" [{first.low:.3f}, {first.high:.3f}]" if first else ""
        means = [f"{measures.mean(rows, name) or 0.0:.3f}" for name in SHOWN]
        yield f"| {way} | {means[0]}{span} | {' | '.join(means[1:])} |"


def loss(values: Mapping[str, Values]) -> dict[str, tuple[float, float]]:
    """For each measure how much of 1 the default loses: to what is not among the candidates, and to how it orders those."""
    means = {way: {name: measures.mean(values[way], name) or 0.0 for name in SHOWN} for way in ("perfect order", "default")}
    return {name: (1 - means["perfect order"][name], means["perfect order"][name] - means["default"][name]) for name in SHOWN}


def against_better_list(values: Mapping[str, Values]) -> statistics.Difference | None:
    """The paired difference of the default to the list that is better over the whole set."""
    better = max(SINGLE, key=lambda way: measures.mean(values[way], JUDGED_BY) or 0.0)
    before, after = values[better], values["default"]
    return statistics.difference([before[qid][JUDGED_BY] for qid in after], [row[JUDGED_BY] for row in after.values()])


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table a set; 0 where no set is worse than its better list."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sets", nargs="+", metavar="DIR=LANGUAGE[,FIELD=VALUE]")
    parser.add_argument("--vectors", type=Path, default=Path("data/vectors"), help="where vectors are kept from run to run")
    options = parser.parse_args(arguments)
    worse = False
    for where in options.sets:
        name, values = measured(where, options.vectors)
        print(f"\n{name}: {len(values['default'])} questions\n", *lines(values), sep="\n")
        parts = (f"{measure} {missing:.3f} + {order:.3f}" for measure, (missing, order) in loss(values).items())
        print(f"\nlost to candidates + to their order: {', '.join(parts)}")
        found = against_better_list(values)
        if found is not None:
            lost = found.high < 0
            worse = worse or lost
            print(f"\ndefault against the better list: {found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]{' WORSE' if lost else ''}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
