"""What a figure over a few questions is worth: intervals, paired comparisons, and whether a difference is one.

Everything is seeded and does not depend on the order of the questions: the same values give the same interval to the last digit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, comb, fsum, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

from agent.eval import measures

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CONFIDENCE = 0.95
ROUNDS = 10_000
SEED = 20_261_130
_CELLS = 2_000_000  # of a resampling matrix held at once: 16 MB, whatever the number of questions


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate over `n` questions, and the interval it is reported with."""

    value: float
    low: float
    high: float
    n: int


def share(hits: int, n: int, *, confidence: float = CONFIDENCE) -> Interval | None:
    """A share with its score interval (Wilson 1927), which keeps its promise at few questions and near 0 and 1; None for n = 0."""
    if n == 0:
        return None
    z, p = _z(confidence), hits / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # At 0 and n hits the formula gives exactly p; rounding may put it beside.
    return Interval(p, max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half)), n)


def mean(values: Sequence[float], *, confidence: float = CONFIDENCE, rounds: int = ROUNDS, seed: int = SEED) -> Interval | None:
    """A mean with its percentile bootstrap interval (Efron 1979); None for no values.

    Honest from about 20 values on; below that it is too narrow, as every bootstrap is.
    """
    if not values:
        return None
    low, high = _bootstrap(sorted(values), confidence=confidence, rounds=rounds, seed=seed)
    value = fsum(values) / len(values)
    return Interval(value, min(low, value), max(high, value), len(values))


def estimate(values: Sequence[float], *, share_of: bool) -> Interval | None:
    """The interval that suits the measure: Wilson's for values that are 0 or 1, the bootstrap's for all others."""
    return share(sum(value == 1 for value in values), len(values)) if share_of else mean(values)


def auroc(answerable: Sequence[float], unanswerable: Sequence[float], *, confidence: float = CONFIDENCE) -> Interval | None:
    """The area under the ROC curve with its interval by the standard error of Hanley and McNeil (1982); None if either side is missing."""
    area = measures.auroc(answerable, unanswerable)
    if area is None:
        return None
    good, bad = len(answerable), len(unanswerable)
    twice_good, twice_bad = area / (2 - area), 2 * area * area / (1 + area)
    variance = area * (1 - area) + (good - 1) * (twice_good - area * area) + (bad - 1) * (twice_bad - area * area)
    half = _z(confidence) * sqrt(max(0.0, variance) / (good * bad))
    return Interval(area, max(0.0, area - half), min(1.0, area + half), good + bad)


def quantile(values: Sequence[float], q: float) -> float | None:
    """The value that the part `q` of all does not exceed (nearest rank), a value that occurred; None for no values."""
    return sorted(values)[max(0, ceil(q * len(values)) - 1)] if values else None


def _z(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _bootstrap(ordered: Sequence[float], *, confidence: float, rounds: int, seed: int) -> tuple[float, float]:
    """The percentiles of the mean over `rounds` resamples with replacement."""
    import numpy as np

    data = np.asarray(ordered, dtype=np.float64)
    random = np.random.default_rng(seed)
    means = np.concatenate([data[random.integers(0, len(data), (block, len(data)))].mean(axis=1) for block in _blocks(rounds, len(data))])
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _blocks(rounds: int, width: int) -> Iterator[int]:
    step = max(1, _CELLS // width)
    for start in range(0, rounds, step):
        yield min(step, rounds - start)


# --- two runs over the same questions -------------------------------------------------------------


class Verdict(StrEnum):
    """What a comparison may say."""

    REAL_DROP = "real_drop"
    REAL_GAIN = "real_gain"
    NO_DIFFERENCE_SHOWN = "no_difference_shown"


@dataclass(frozen=True, slots=True)
class Difference:
    """New minus old over `n` paired questions; `p` is two-sided, `better`/`worse` count the questions that moved."""

    value: float
    low: float
    high: float
    n: int
    p: float
    better: int
    worse: int


def difference(old: Sequence[float], new: Sequence[float], *, confidence: float = CONFIDENCE) -> Difference | None:
    """The mean difference of paired values, its bootstrap interval, and the p of a test on the pairs; None without pairs.

    The test is McNemar's where all values are 0 or 1, else the sign-flip test (Fisher 1935; recommended for retrieval by Smucker,
    Allan and Carterette 2007), of which McNemar's is that case. A bootstrap's own p would call three equal gains certain.
    Raises ValueError when the two are not of one length.
    """
    changes = [after - before for before, after in zip(old, new, strict=True)]
    if not changes:
        return None
    better, worse = sum(change > 0 for change in changes), sum(change < 0 for change in changes)
    low, high = _paired_interval(changes, confidence=confidence)
    value = fsum(changes) / len(changes)
    shares = set(old) | set(new) <= {0, 1}
    p = mcnemar(better, worse) if shares else sign_flip(changes)
    return Difference(value, min(low, value), max(high, value), len(changes), p, better, worse)


def _paired_interval(changes: Sequence[float], *, confidence: float) -> tuple[float, float]:
    """The paired bootstrap interval, taken from both directions so that swapping old and new turns it round exactly."""
    low, high = _bootstrap(sorted(changes), confidence=confidence, rounds=ROUNDS, seed=SEED)
    turned_low, turned_high = _bootstrap(sorted(-change for change in changes), confidence=confidence, rounds=ROUNDS, seed=SEED)
    return (low - turned_high) / 2, (high - turned_low) / 2


def mcnemar(better: int, worse: int) -> float:
    """The exact two-sided p that questions move one way as often as the other (McNemar 1947, in its binomial form)."""
    moved = better + worse
    tail = sum(comb(moved, count) for count in range(min(better, worse) + 1))
    return min(1.0, 2 * tail / (1 << moved))


def sign_flip(changes: Sequence[float], *, rounds: int = ROUNDS, seed: int = SEED) -> float:
    """The two-sided p that the mean change is 0, were each question's sign a coin's; exact while 2^n is at most `rounds`."""
    import numpy as np

    data = np.asarray(sorted(abs(change) for change in changes if change != 0), dtype=np.float64)
    observed = abs(fsum(changes)) * (1 - 1e-12)  # sums of the same numbers in another order count as equal
    if 2 ** len(data) <= rounds:
        signs = 1 - 2 * ((np.arange(2 ** len(data))[:, None] >> np.arange(len(data))) & 1)
        return float(np.count_nonzero(np.abs(signs @ data) >= observed)) / len(signs)
    random = np.random.default_rng(seed)
    extreme = sum(
        int((np.abs((1 - 2 * random.integers(0, 2, (block, len(data)))) @ data) >= observed).sum()) for block in _blocks(rounds, len(data))
    )
    return (extreme + 1) / (rounds + 1)


def holm(ps: Mapping[str, float]) -> dict[str, float]:
    """The p values corrected for how many there are (Holm 1979): with several measures one of them is "significant" by chance."""
    adjusted: dict[str, float] = {}
    highest = 0.0
    for place, name in enumerate(sorted(ps, key=lambda name: (ps[name], name))):
        highest = max(highest, min(1.0, (len(ps) - place) * ps[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in ps}


def verdict(found: Difference, *, p: float | None = None, higher_is_better: bool = True, alpha: float = 1 - CONFIDENCE) -> Verdict:
    """A real drop, a real gain, or no difference shown. `p` is the corrected one where several measures were compared."""
    if (found.p if p is None else p) >= alpha or found.value == 0:
        return Verdict.NO_DIFFERENCE_SHOWN
    return Verdict.REAL_GAIN if (found.value > 0) == higher_is_better else Verdict.REAL_DROP


@dataclass(frozen=True, slots=True)
class Comparison:
    """One measure of two runs: the difference, its p corrected for the number of measures, and the verdict."""

    difference: Difference
    p: float
    verdict: Verdict


def compare(
    old: Mapping[str, Mapping[str, float]], new: Mapping[str, Mapping[str, float]], *, lower_is_better: frozenset[str] = frozenset()
) -> dict[str, Comparison]:
    """Two runs, {question id: {measure: value}}, measure by measure over the questions and measures both hold."""
    pairs: dict[str, tuple[list[float], list[float]]] = {}
    for qid in sorted(old.keys() & new.keys()):
        for name in old[qid].keys() & new[qid].keys():
            before, after = pairs.setdefault(name, ([], []))
            before.append(old[qid][name])
            after.append(new[qid][name])
    found = {name: change for name in sorted(pairs) if (change := difference(*pairs[name])) is not None}
    ps = holm({name: change.p for name, change in found.items()})
    return {
        name: Comparison(change, ps[name], verdict(change, p=ps[name], higher_is_better=name not in lower_is_better))
        for name, change in found.items()
    }


def minimum_detectable(n: int, *, changing: float = 0.2, power: float = 0.8, alpha: float = 1 - CONFIDENCE) -> float:
    """The smallest true difference of a share that `n` paired questions show with the chance `power`.

    Assumes that the share `changing` of the questions comes out differently in the two runs (one in five unless given), and the normal
    approximation of McNemar's test (Connor 1987). A result above `changing` says that more questions would have to change than that.
    """
    if n == 0:
        return 1.0
    z_alpha, z_power = NormalDist().inv_cdf(1 - alpha / 2), NormalDist().inv_cdf(power)
    # Solved for the difference d: d * sqrt(n) = z_alpha * sqrt(changing) + z_power * sqrt(changing - d * d)
    root, squares = sqrt(changing), n + z_power**2
    a = z_alpha * root * sqrt(n)
    delta = (a + sqrt(max(0.0, a * a - squares * changing * (z_alpha**2 - z_power**2)))) / squares
    return min(1.0, delta)
