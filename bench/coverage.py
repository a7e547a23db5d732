"""How often the interval of the accuracy table holds the true accuracy, where completions of a question are alike.

Usage: python -m bench.coverage [--simulations 20000] [--seed 0]

Each setting is simulated as so many data sets: questions are right with a chance of their own (beta distribution with
the accuracy as its mean and the intra-class correlation), completions independently given it. Data sets are the groups
of accuracy tables, so that the interval is the one that is shown. Beside it stand three that are not: Wilson's on the
items as if they were independent, the normal interval, and the normal interval with the clustered standard error.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from workbench.core.verdict import Outcome
from workbench.statistics.accuracy import AccuracyColumns, accuracy_rows
from workbench.statistics.confusion import FloatArray, IntArray
from workbench.statistics.intervals import Z95, wilson

_LOW, _HIGH = 0.94, 0.96
_ITEMS: Final = 1 << 20
"""Items simulated at a time."""


class Setting(NamedTuple):
    """A kind of data: questions, completions a question, accuracy, intra-class correlation."""

    questions: int
    completions: int
    accuracy: float
    correlation: float


SETTINGS: Final = (
    Setting(1000, 2, 0.90, 0.3),
    Setting(31, 2, 0.90, 0.3),
    Setting(31, 2, 0.97, 0.3),
    Setting(250, 4, 0.90, 0.5),
    Setting(25, 2, 0.78, 0.3),
)

Ends = tuple[float, float]


def main() -> None:
    """Simulate and print one line a setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options, _ = parser.parse_known_args()
    for place, setting in enumerate(SETTINGS):
        print(json.dumps(covered(setting, options.simulations, [options.seed, place])), flush=True)


def covered(setting: Setting, simulations: int, seed: list[int]) -> dict[str, object]:
    """The share of data sets whose interval holds the accuracy they were made with, by kind of interval."""
    generator = np.random.default_rng(seed)
    held = np.zeros(4)
    for right in _drawn(setting, simulations, generator):
        held += [sum(low <= setting.accuracy <= high for low, high in ends) for ends in _intervals(right, setting)]
    shown, naive, normal, clustered = (held / simulations).tolist()
    return {
        "figure": "coverage of the accuracy table's 95 % interval",
        **setting._asdict(),
        "simulations": simulations,
        "value": shown,
        "goal": f"{_LOW} to {_HIGH}",
        "ok": _LOW <= shown <= _HIGH,
        "wilson_on_items": naive,
        "normal": normal,
        "clustered_normal": clustered,
    }


def _drawn(setting: Setting, simulations: int, generator: np.random.Generator) -> Iterator[IntArray]:
    """Right completions of each question, data sets x questions, in blocks."""
    size = max(1, _ITEMS // (setting.questions * setting.completions))
    sharpness = (1 - setting.correlation) / setting.correlation
    for start in range(0, simulations, size):
        shape = (min(size, simulations - start), setting.questions)
        chance = generator.beta(setting.accuracy * sharpness, (1 - setting.accuracy) * sharpness, size=shape)
        yield generator.binomial(setting.completions, chance)


def _intervals(right: IntArray, setting: Setting) -> tuple[list[Ends], list[Ends], list[Ends], list[Ends]]:
    """Of each data set the table's interval, then those it is set against."""
    m = setting.completions
    n = setting.questions * m
    total = right.sum(axis=1)
    share = total / n
    independent = np.sqrt(share * (1 - share) / n)
    between = ((right - m * share[:, None]) ** 2).sum(axis=1)
    clustered = np.sqrt(setting.questions / (setting.questions - 1) * between) / n
    return (
        _shown(right, m),
        [wilson(k, n) for k in total.tolist()],
        _normal(share, independent),
        _normal(share, clustered),
    )


def _shown(right: IntArray, completions: int) -> list[Ends]:
    """The intervals of an accuracy table whose groups are the data sets."""
    sets, questions = right.shape
    names = tuple(map(str, range(sets)))
    judged = np.arange(completions) < right[:, :, None]
    columns = AccuracyColumns(
        outcome=np.where(judged, Outcome.CORRECT, Outcome.INCORRECT).astype(np.int8).ravel(),
        gold=np.ones(judged.size, dtype=np.int8),
        question=np.repeat(np.arange(sets * questions), completions),
        group=np.repeat(np.arange(sets, dtype=np.int32), questions * completions),
        names=names,
    )
    rows = {row.group: row.ci for row in accuracy_rows("simulated", columns, "forced")}
    return [rows[name] or (0.0, 1.0) for name in names]


def _normal(share: FloatArray, error: FloatArray) -> list[Ends]:
    return list(zip((share - Z95 * error).tolist(), (share + Z95 * error).tolist(), strict=True))


if __name__ == "__main__":
    main()
