"""Fits the classifier of the strategy `adaptive`: multinomial logistic regression over a question's form, cross-validated by language.

Labelled questions come from the knowledge base's own `komplexitaet.yaml`, from the goldset's half that is not held back, and from sets
whose queries bear a label. Each label counts alike, however many questions bear it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import AgentError
from agent.eval import goldset, statistics
from agent.i18n import tr
from agent.language import Language, complexity
from agent.values import Label
from agent.wiring import Bench, language

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

OWN = "komplexitaet.yaml"
SEVERAL = frozenset({"multi_hop", "comparison", "survey"})
"""Tags of goldset questions that take several searches; the others take one."""
FOLDS = 5
RIDGE = 0.01
LABELS = tuple(Label)


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its label, in its language; `source` says where it comes from."""

    text: str
    label: Label
    language: str
    source: str


@dataclass(frozen=True, slots=True)
class Fit:
    """The model of a language, and what it says of questions it was not fitted on: {label: {said: count}}."""

    language: str
    model: Mapping[str, Any]
    said: Mapping[Label, Mapping[Label, int]]

    def line(self) -> str:
        """Accuracy and the share right of each label, out of fold."""
        n = sum(sum(row.values()) for row in self.said.values())
        right = sum(row.get(label, 0) for label, row in self.said.items())
        found = statistics.share(right, n)
        shown = f"{found.value:.3f} ({found.low:.3f}–{found.high:.3f}), n = {n}" if found else "–"
        each = ", ".join(
            tr("{label} {right} of {all}", label=label, right=row.get(label, 0), all=sum(row.values())) for label, row in self.said.items()
        )
        return tr("{language}: accuracy {accuracy}; right: {each} (out of fold)", language=self.language, accuracy=shown, each=each)


# --- labelled questions ---------------------------------------------------------------------------


def labelled(bench: Bench, sets: Sequence[Path]) -> list[Example]:
    """Every labelled question: the knowledge base's own, the goldset's, and those of the sets. Raises AgentError with file and line."""
    gold = [
        Example(case.question, Label.C if SEVERAL.intersection(case.tags) else Label.B, bench.language.code, "goldset")
        for case in (goldset.read(bench.place.goldset).cases if bench.place.goldset.is_file() else ())
        if not case.held and not case.refuse
    ]
    own = bench.place.goldset.with_name(OWN)
    found = [*(_own(own) if own.is_file() else ()), *gold, *(example for at in sets for example in _of_set(at))]
    if not found:
        raise AgentError(
            tr("There are no labelled questions: {own} does not exist.", own=own), tr("Write it, or name a folder with a queries.jsonl.")
        )
    return found


def _own(path: Path) -> Iterator[Example]:
    from agent.ingest.problems import EntryProblem
    from agent.ingest.yamlfile import Fields, Items, Scalar, parsed

    root = parsed(path.read_text(encoding="utf-8"), path)
    if isinstance(root, EntryProblem):
        raise AgentError(f"{path}:{root.line}: {root.message}", root.mend)
    rows = root.fields.get("fragen") if isinstance(root, Fields) else None
    if not isinstance(rows, Items):
        raise AgentError(
            tr("{path}: there is no list `fragen`.", path=path), tr("Write - {klasse: A, sprache: de, frage: …} under `fragen:`.")
        )
    for row in rows.items:
        given = {name: node.text for name, node in row.fields.items() if isinstance(node, Scalar)} if isinstance(row, Fields) else {}
        yield _example(f"{path}:{row.line}", given.get("frage"), given.get("klasse"), given.get("sprache"), path.name)


def _of_set(folder: Path) -> Iterator[Example]:
    path = folder / "queries.jsonl"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise AgentError(
            tr("{path} cannot be read.", path=path), tr("Name a folder with a queries.jsonl of text, label and lang.")
        ) from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise AgentError(tr("{path}:{number}: this is no JSON.", path=path, number=number), tr("One object a line.")) from error
        given = row if isinstance(row, dict) else {}
        yield _example(f"{path}:{number}", given.get("text"), str(given.get("label", ""))[:1], given.get("lang"), folder.name)


def _example(at: str, text: Any, label: Any, code: Any, source: str) -> Example:
    known = {each.value: each for each in Label}
    if not isinstance(text, str) or not text.strip() or label not in known or not isinstance(code, str) or not code:
        raise AgentError(tr("{at}: a question needs its text, its label ({known}) and its language.", at=at, known=", ".join(known)))
    return Example(text, known[label], code, source)


# --- the model ------------------------------------------------------------------------------------


def fitted(examples: Sequence[Example]) -> list[Fit]:
    """A model for each language that has all three labels, and one of all of them for the languages that have not."""
    languages = {code: language(code) for code in sorted({example.language for example in examples})}
    found = []
    for code in languages:
        own = [example for example in examples if example.language == code]
        if {example.label for example in own} == set(Label):
            found.append(_fit(code, own, languages))
    return [*found, _fit(complexity.OTHER, examples, languages)]


def _fit(code: str, examples: Sequence[Example], languages: Mapping[str, Language]) -> Fit:
    import numpy as np

    ordered = sorted(examples, key=lambda example: (example.label, example.source, example.text))
    features = [complexity.features(example.text, languages[example.language]) for example in ordered]
    x = np.array([[found[name] for name in complexity.FEATURES] for found in features])
    y = np.array([LABELS.index(example.label) for example in ordered])
    said: dict[Label, dict[Label, int]] = {label: {} for label in LABELS}
    for fold in range(FOLDS):
        out = np.arange(len(y)) % FOLDS == fold
        model = _model(x[~out], y[~out])
        for place in np.flatnonzero(out):
            scores = complexity.scores(features[place], model)
            row, guess = said[LABELS[y[place]]], max(scores, key=lambda each: scores[each])
            row[guess] = row.get(guess, 0) + 1
    return Fit(code, _model(x, y), said)


def _model(x: Array, y: Array) -> dict[str, Any]:
    """Ridge multinomial logistic regression by Newton's method on standardised features; the coefficients are those of the raw ones."""
    import numpy as np

    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale == 0] = 1.0
    z, k = np.column_stack([np.ones(len(x)), (x - mean) / scale]), len(LABELS)
    share = 1 / (np.bincount(y, minlength=k)[y] * k)
    target, beta = np.eye(k)[y], np.zeros((z.shape[1], k))
    ridge = np.full(z.shape[1], RIDGE)
    ridge[0] = 1e-6  # the biases are free; with none at all the curvature has no inverse, since only differences of scores count
    for _ in range(50):
        p = _softmax(z @ beta)
        gradient = z.T @ (share[:, None] * (p - target)) + ridge[:, None] * beta
        blocks = [
            [z.T @ (z * (share * p[:, a] * ((a == b) - p[:, b]))[:, None]) + (a == b) * np.diag(ridge) for b in range(k)] for a in range(k)
        ]
        step = np.linalg.solve(np.block(blocks), gradient.T.ravel()).reshape(k, -1).T
        beta = beta - step
        if float(np.abs(step).max()) < 1e-8:
            break
    weights = beta[1:] / scale[:, None]
    bias = beta[0] - mean @ weights
    named = zip(complexity.FEATURES, weights, strict=True)
    return {"bias": _by_label(bias), "weights": {name: _by_label(row) for name, row in named}}


def _by_label(values: Iterable[float]) -> dict[str, float]:
    return {label.value: round(float(value), 4) for label, value in zip(LABELS, values, strict=True)}


def _softmax(scores: Array) -> Array:
    import numpy as np

    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
