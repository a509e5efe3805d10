"""What interleaved retrieval finds that one search does not, whatever a model knows: the data's own reasoning sentences are the model.

    python -m benchmarks.ircot_gain [FOLDER] [--every N] [--no-embed]

FOLDER holds a multi-hop set in BEIR's layout whose queries have `steps`, sentences of reasoning that people wrote. IRCoT searches with the
question and with each of them; the yardstick is one search with the question that brings as many paragraphs as IRCoT's pool then holds.
Printed: in how many questions all gold paragraphs were found, and how many of them on average. Exit code 1 below 10 points of gain.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent.errors import AgentError
from agent.eval import beir, collection, statistics
from agent.ingest.embed import quiet
from agent.interfaces import ChatReply, ChatRequest
from agent.plan import by_dates
from agent.runlog import Run
from agent.settings import Settings
from agent.strategies import ircot
from agent.values import Finish, Plan, Question, SubQuery
from agent.wiring import Bench

DEFAULT = Path(__file__).parents[2] / "shared" / "data" / "ircot_annotated"
WANTED = 0.10


@dataclass
class Reader:
    """A model that knows nothing and reads out given sentences, one a call."""

    sentences: Iterator[str]
    name: str = "gold"
    calls: int = field(default=0)

    def installed(self) -> bool:
        return True

    def digest(self) -> str | None:
        return None

    def chat(self, _request: ChatRequest, /) -> ChatReply:
        self.calls += 1
        return ChatReply(next(self.sentences, ""), Finish.COMPLETE, self.name)


@dataclass(frozen=True)
class Found:
    """One question: the share of its gold paragraphs found by IRCoT and by one search with as many paragraphs."""

    interleaved: float
    at_once: float
    paragraphs: int
    searches: int


def measured(bench: Bench, test_set: beir.TestSet, queries: Sequence[beir.Query]) -> list[Found]:
    """What both ways find of each query's gold paragraphs."""
    found = []
    for query in queries:
        question = Question(query.text, bench.today())
        plan = by_dates(question, bench.language)
        steps = [str(step) for step in query.fields.get("steps", ())]
        parts = replace(bench.parts(Run(), Reader(iter(steps))), prompt=lambda _: "$question")  # the reader heeds no prompt
        gathered = ircot.gather(question, plan, parts)
        paragraphs = len(gathered.evidence.hits)
        once = bench.wissensbasis.search(_whole(question, plan), k=paragraphs)
        gold = {name for name, grade in test_set.qrels[query.id].items() if grade > 0}
        found.append(
            Found(len(gold & gathered.evidence.ids) / len(gold), len(gold & once.ids) / len(gold), paragraphs, len(gathered.hops)),
        )
    return found


def _whole(question: Question, plan: Plan) -> SubQuery:
    return SubQuery(question.text, plan.span)


def gain(folder: Path, *, every: int = 1, embed: bool = True, vectors: Path | None = None) -> list[Found]:
    """The measurement over a set's judged queries (every n-th). Raises AgentError where the folder holds none."""
    test_set = beir.read(folder)
    settings = Settings(companion_entries=0, max_context_chars=10_000_000, embedder="embedded" if embed else "none")
    kept = vectors or Path("data") / "vectors"
    with collection.opened(test_set, settings, language="en", vectors=kept, progress=quiet) as bench:
        return measured(bench, test_set, test_set.queries[::every])


def main(arguments: list[str] | None = None) -> int:
    """Prints both shares with their intervals; 0 where the gain is what is wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--every", type=int, default=1, help="only every n-th question")
    parser.add_argument("--no-embed", action="store_true", help="words only")
    options = parser.parse_args(arguments)
    try:
        found = gain(options.folder, every=options.every, embed=not options.no_embed)
    except AgentError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    n = len(found)
    whole = {name: [float(getattr(each, name) == 1) for each in found] for name in ("at_once", "interleaved")}
    for name, column in whole.items():
        share = statistics.share(int(sum(column)), n)
        recall = sum(getattr(each, name) for each in found) / n
        shown = f"{share.value:.3f} ({share.low:.3f}–{share.high:.3f})" if share else "–"
        print(f"{name:<12} all gold found {shown}, n = {n}; recall {recall:.3f}")
    difference = statistics.difference(whole["at_once"], whole["interleaved"])
    if difference is None:
        print("The set has no judged question.", file=sys.stderr)
        return 1
    print(f"gain         {difference.value:+.3f} ({difference.low:+.3f} to {difference.high:+.3f}), p = {difference.p:.4f}")
    searches, paragraphs = (sum(getattr(each, name) for each in found) / n for name in ("searches", "paragraphs"))
    print(f"{searches:.1f} searches and {paragraphs:.1f} paragraphs a question")
    return 0 if difference.value >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
