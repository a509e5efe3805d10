"""Checks our measures against a published figure: plain BM25 on XQuAD-de gives nDCG@10 0.925, as MTEB has it (0.9252).

    pip install bm25s PyStemmer
    python -m benchmarks.xquad_oracle [FOLDER] [--run-file FILE]

FOLDER holds the set in BEIR's layout. The text alone is indexed, cut by bm25s' own tokenizer with English stop words and the English
stemmer, as MTEB's baseline "bm25s" does whatever the language: not a good German search, but one that anyone can repeat. (bm25s'
default, which has no stemmer, gives 0.9142.) Exit code 1 when the figure is another.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from agent.errors import AgentError
from agent.eval import beir, measures, trec

EXPECTED, TOLERANCE = 0.925, 0.001
DEFAULT = Path(__file__).parents[2] / "shared" / "data" / "xquad_de"


def ranked(test_set: beir.TestSet, *, depth: int = 100) -> dict[str, list[str]]:
    """The run of bm25s with MTEB's settings, which are its own defaults but for the stemmer."""
    import bm25s
    import Stemmer

    def tokens(texts: list[str]) -> Any:
        return bm25s.tokenize(texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)

    index = bm25s.BM25()
    index.index(tokens([doc.text for doc in test_set.documents]), show_progress=False)
    queries = tokens([query.text for query in test_set.queries])
    ids = [doc.id for doc in test_set.documents]
    found, scores = index.retrieve(queries, k=min(depth, len(ids)), show_progress=False)
    return {
        query.id: [ids[place] for place, score in zip(places, row, strict=True) if score > 0]
        for query, places, row in zip(test_set.queries, found, scores, strict=True)
    }


def main(arguments: list[str] | None = None) -> int:
    """Prints every measure; 0 when nDCG@10 is the published one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--run-file", type=Path, help="write the run for trec_eval as well")
    options = parser.parse_args(arguments)
    try:
        test_set = beir.read(options.folder)
        run = ranked(test_set)
        if options.run_file:
            trec.write(run, options.run_file, tag="bm25s")
    except AgentError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    values = measures.per_query(run, test_set.qrels)
    means = {name: measures.mean(values, name) or 0.0 for name in measures.MEASURES}
    for name, value in means.items():
        print(f"{name:<12}{value:.4f}")
    right = abs(means["nDCG@10"] - EXPECTED) <= TOLERANCE
    print(f"nDCG@10 should be {EXPECTED} ± {TOLERANCE}: {'it is' if right else 'it is not'}.")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
