"""Writes the newest scorecard of data/scores into the README: `python -m benchmarks.readme_scores`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- scores: begin -->", "<!-- scores: end -->"
ROWS = (
    ("hit-rate@8", "fused", "an expected entry among the first eight"),
    ("recall@8", "fused", "share of expected entries among the first eight"),
    ("MRR", "fused", "mean reciprocal rank of the first expected entry"),
    ("hit-rate@8", "lexical", "an expected entry among the first eight, by words alone"),
    ("hit-rate@8", "dense", "an expected entry among the first eight, by meaning alone"),
    ("refusal-correct", "answers", "answered what can be answered, refused the rest"),
    ("source-cited", "answers", "extractive answer cites an expected entry"),
    ("figure-present", "answers", "extractive answer states every expected figure"),
    ("figure-alone", "answers", "… and none of another year, row or bound beside it"),
    ("sentence-support", "answers", "sentences whose figures their citation holds"),
)


def newest(folder: Path = ROOT / "data" / "scores") -> Path | None:
    """The scorecard of the highest version."""
    found = sorted(folder.glob("*.json"), key=lambda path: [int(part) if part.isdigit() else 0 for part in path.stem.split(".")])
    return found[-1] if found else None


def block(card: dict[str, Any], version: str) -> str:
    """The README's table: each measure over all questions and over the half that was held back, with 95 % intervals."""
    parts = (("", "all questions"), ("held", "held back"))
    known = {(s["measure"], s["leg"], s["part"]): s for s in card["scores"] if not s["tag"]}
    lines = [
        f"Version {version}, {len(card['questions'])} questions, embedder {card['settings']['embedder']}, no language model:",
        "",
        f"| measure | {' | '.join(name for _, name in parts)} |",
        "| --- | --- | --- |",
    ]
    for measure, leg, meaning in ROWS:
        cells = [_cell(known.get((measure, leg, part))) for part, _ in parts]
        lines.append(f"| {meaning} | {' | '.join(cells)} |")
    refusal = card["refusal"]
    lines += ["", f"AUROC of the refusal gate {refusal['auroc']['value']:.3f} ({_span(refusal['auroc'])}). Intervals: Wilson, bootstrap."]
    return "\n".join(lines)


def _cell(score: dict[str, Any] | None) -> str:
    return f"{score['value']:.3f} ({_span(score)}), n = {score['n']}" if score else "–"


def _span(score: dict[str, Any]) -> str:
    return f"{score['low']:.3f}–{score['high']:.3f}"


def written(readme: str, path: Path) -> str:
    """The README with the block of this scorecard."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{block(json.loads(path.read_text(encoding='utf-8')), path.stem)}\n{END}{after}"


def main() -> None:
    """Rewrite the README in place."""
    readme, path = ROOT / "README.md", newest()
    if path is None:
        raise SystemExit("There is no scorecard: pv-agent eval --scorecard data/scores/VERSION.json")
    readme.write_text(written(readme.read_text(encoding="utf-8"), path), encoding="utf-8")


if __name__ == "__main__":
    main()
