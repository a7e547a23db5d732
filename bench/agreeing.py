"""Coverage of the intervals of agreement coefficients: the kind ``agreement`` of ``bench.coverage``.

Two annotators, or two verifiers, whose errors correlate by phi, label completions of questions of equal, geometric
or heavy-tailed sizes. The share of correct completions and both annotators' error probabilities vary by question (beta
distributions with an intra-class correlation).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np

from workbench.statistics.agreement.cohen import pairs
from workbench.statistics.agreement.figures import Rated, figures
from workbench.statistics.agreement.ratings import Ratings
from workbench.statistics.confusion import FloatArray, IntArray
from workbench.statistics.joint_errors import Verdicts, judge_pair
from workbench.statistics.records.agreement import Ends

_LEAST: Final = 0.93
_SHOWN: Final = 0.05
"""Below this share of data sets with an interval, coverage is reported but not judged: those few are not
representative."""
_LARGEST: Final = 60


class Setting(NamedTuple):
    """A kind of data: questions, their sizes, intra-class correlation, share of correct items, error probability."""

    questions: int
    sizes: str
    correlation: float
    prevalence: float
    error: float


SETTINGS: Final = tuple(
    Setting(*one)
    for one in product(
        (10, 20, 50, 200), ("equal", "geometric", "heavy"), (0.0, 0.3, 0.7), (0.5, 0.3, 0.1, 0.05), (0.2, 0.1, 0.03)
    )
)


def rows(simulations: int, seed: int) -> Iterator[dict[str, Any]]:
    """Return the coefficients of each setting."""
    for place, setting in enumerate(SETTINGS):
        yield from covered(setting, simulations, [seed, 7, place])


def covered(setting: Setting, simulations: int, seed: list[int]) -> list[dict[str, Any]]:
    """Return for each coefficient how often it has an interval, and how often that contains the truth."""
    generator = np.random.default_rng(seed)
    truth = _truth(setting)
    found: dict[str, list[Ends]] = {name: [] for name in truth}
    for _ in range(simulations):
        for name, ends in _intervals(_drawn(setting, generator)):
            if ends is not None:
                found[name].append(ends)
    return [
        {
            "figure": f"coverage of {name}",
            "value": value,
            "ok": len(shown) < _SHOWN * simulations or value >= _LEAST,
            "width": round(sum(high - low for low, high in shown) / max(len(shown), 1), 3),
            "too_few": 1 - len(shown) / simulations,
            **setting._asdict(),
        }
        for name, shown in found.items()
        for value in (_held(shown, truth[name]),)
    ]


def _held(shown: list[Ends], truth: float) -> float:
    return sum(low <= truth <= high for low, high in shown) / len(shown) if shown else 1.0


def _truth(setting: Setting) -> dict[str, float]:
    error, both = setting.error, setting.error**2 + setting.correlation * setting.error * (1 - setting.error)
    differ = 2 * (error - both)
    correct = setting.prevalence * (1 - error) + (1 - setting.prevalence) * error
    chance = 2 * correct * (1 - correct)
    return {
        "kappa": 1 - differ / chance,
        "alpha": 1 - differ / chance,
        "ac1": (1 - differ - chance) / (1 - chance),
        "phi": setting.correlation,
    }


def _drawn(setting: Setting, generator: np.random.Generator) -> tuple[IntArray, IntArray, IntArray]:
    """Return both annotators' labels (items x 2), the true values, and the items' questions."""
    sizes = _sizes(setting, generator)
    question = np.repeat(np.arange(setting.questions), sizes)
    correct = generator.random(len(question)) < _own(setting.prevalence, setting, generator)[question]
    wrong = generator.random((len(question), 2)) < _own(setting.error, setting, generator)[question][:, None]
    return (correct[:, None] ^ wrong).astype(np.int64), correct.astype(np.int64), question


def _sizes(setting: Setting, generator: np.random.Generator) -> IntArray:
    if setting.sizes == "equal":
        return np.full(setting.questions, 4)
    if setting.sizes == "geometric":
        return np.asarray(generator.geometric(0.25, size=setting.questions))
    tail = np.ceil(generator.pareto(1.2, size=setting.questions))
    return np.clip(tail, 1, _LARGEST).astype(np.int64)


def _own(mean: float, setting: Setting, generator: np.random.Generator) -> FloatArray:
    if not setting.correlation:
        return np.full(setting.questions, mean)
    sharpness = (1 - setting.correlation) / setting.correlation
    found: FloatArray = generator.beta(mean * sharpness, (1 - mean) * sharpness, size=setting.questions)
    return found


def _intervals(data: tuple[IntArray, IntArray, IntArray]) -> Iterator[tuple[str, Ends | None]]:
    labels_of_both, truth, question = data
    ratings = Ratings(
        item=np.repeat(np.arange(len(labels_of_both)), 2),
        annotator=np.tile([0, 1], len(labels_of_both)),
        value=labels_of_both.ravel(),
        items=len(labels_of_both),
        annotators=2,
        categories=2,
    )
    yield "kappa", pairs(ratings, question).interval(0)
    values = np.arange(2.0)
    found = figures(Rated(ratings=ratings, names=("0", "1"), values=values, level="nominal", cluster=question))
    yield "alpha", found.alpha_ci
    yield "ac1", found.ac1_ci
    yield (
        "phi",
        judge_pair("a", "b", Verdicts(labels_of_both[:, 0], labels_of_both[:, 1], truth, question)).errors.phi_ci,
    )
