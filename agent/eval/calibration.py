"""Fits the answerability gate: a logistic model over its signals on labelled questions, cross-validated, its coefficients a data file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent import answerability
from agent.errors import KnowledgeBaseError
from agent.eval import goldset
from agent.eval.goldset import Case
from agent.eval.measures import auroc
from agent.i18n import tr
from agent.plan import by_dates
from agent.values import Reason
from agent.wiring import Bench

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

RIDGE = 1.0
"""Penalty on the standardised coefficients: some two hundred questions bear eight features only on a short lead."""


@dataclass(frozen=True, slots=True)
class Signals:
    """One labelled question's features; `answerable` is its label."""

    case: str
    found: Mapping[str, float]
    answerable: bool


@dataclass(frozen=True, slots=True)
class Calibration:
    """A fitted model as it is stored, and what it does on questions it was not fitted on (out of fold)."""

    model: Mapping[str, Any]
    auroc: float | None
    false_refusals: int
    answerable: int
    wrong_answers: int
    unanswerable: int

    def line(self) -> str:
        shown = f"{self.auroc:.3f}" if self.auroc is not None else "–"
        return tr(
            "AUROC {auroc}; false refusals {false_refusals} of {answerable}; answered wrongly {wrong_answers} of {unanswerable} "
            "(out of fold; threshold {threshold:.2f})",
            auroc=shown,
            false_refusals=self.false_refusals,
            answerable=self.answerable,
            wrong_answers=self.wrong_answers,
            unanswerable=self.unanswerable,
            threshold=self.model["threshold"],
        )


def signals(bench: Bench, cases: Sequence[Case]) -> list[Signals]:
    """The features of each question that reaches the model; those a rule settles before it are left out."""
    found = []
    for case in cases:
        question = bench.question(case.question, case.stichtag)
        (first, *_) = by_dates(question, bench.language).subqueries
        evidence = bench.wissensbasis.search(first, k=bench.settings.context_blocks)
        verdict = answerability.judged(question.text, evidence, bench.language, bench.tables)
        if evidence.hits and evidence.weights and verdict.reason in (None, Reason.WEAK_EVIDENCE):
            found.append(Signals(case.id, answerability.features(evidence, bench.language), not case.refuse))
    return found


def calibrated(rows: Sequence[Signals], names: Sequence[str], *, folds: int = 5) -> Calibration:
    """The model fitted on all rows, and its figures from `folds` models each fitted without a fifth of them (every fifth row)."""
    import numpy as np

    x = np.array([[row.found[name] for name in names] for row in rows])
    y = np.array([row.answerable for row in rows], dtype=float)
    held_out = np.empty(len(rows))
    for fold in range(folds):
        out = np.arange(len(rows)) % folds == fold
        bias, weights = _fitted(x[~out], y[~out])
        held_out[out] = 1 / (1 + np.exp(-(bias + x[out] @ weights)))
    threshold = _threshold(held_out, y)
    bias, weights = _fitted(x, y)
    model = {
        "bias": round(float(bias), 4),
        "weights": {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)},
        "threshold": round(threshold, 3),
    }
    refused = held_out < threshold
    positive, negative = held_out[y == 1].tolist(), held_out[y == 0].tolist()
    return Calibration(
        model,
        auroc(positive, negative),
        int((refused & (y == 1)).sum()),
        int(y.sum()),
        int((~refused & (y == 0)).sum()),
        int((1 - y).sum()),
    )


def _fitted(x: Array, y: Array) -> tuple[float, Array]:
    """Ridge logistic regression by Newton's method (iteratively reweighted least squares), on standardised features."""
    import numpy as np

    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale == 0] = 1.0
    z = np.column_stack([np.ones(len(x)), (x - mean) / scale])
    penalty = RIDGE * np.eye(z.shape[1])
    penalty[0, 0] = 0.0
    beta = np.zeros(z.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-(z @ beta)))
        step = np.linalg.solve(z.T @ (z * (p * (1 - p))[:, None]) + penalty, z.T @ (y - p) - penalty @ beta)
        beta += step
        if float(np.abs(step).max()) < 1e-9:
            break
    weights = beta[1:] / scale
    return float(beta[0] - weights @ mean), weights


def _threshold(scores: Array, y: Array) -> float:
    """Where the shares of both errors together are least; in the middle of the gap between two scores."""
    import numpy as np

    known = np.unique(scores)
    bars = (known[:-1] + known[1:]) / 2
    wrong = [float((scores[y == 1] < bar).mean() + (scores[y == 0] >= bar).mean()) for bar in bars]
    return float(bars[int(np.argmin(wrong))]) if len(bars) else 0.5


def labelled(bench: Bench) -> list[Case]:
    """The questions to calibrate on: eichung.yaml beside the goldset, and the goldset's half that is not held back."""
    own = bench.place.goldset.with_name("eichung.yaml")
    files = [path for path in (own, bench.place.goldset) if path.is_file()]
    if not files:
        raise KnowledgeBaseError(
            tr("There are no labelled questions beside {goldset}.", goldset=bench.place.goldset),
            tr("Write eichung.yaml in the goldset's form."),
        )
    return [case for path in files for case in goldset.read(path).cases if not case.held]


def fitted(bench: Bench, cases: Sequence[Case]) -> dict[str, Calibration]:
    """The gate's two models: with vectors, and by words alone."""
    rows = signals(bench, cases)
    lexical = [name for name in answerability.FEATURES if name not in answerability.DENSE]
    return {"hybrid": calibrated(rows, answerability.FEATURES), "lexical": calibrated(rows, lexical)}
