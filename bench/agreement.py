"""Speed of agreement: alpha with its bootstrap interval, and the krippendorff package on the same samples.

Usage: python -m bench.agreement [--items 5000] [--samples 1000] [--ratings 1000000]

The package gets each sample as counts of values, the faster of its two inputs. A file of ratings is timed from its
first byte to the whole report: every pair of 200 annotators, all metrics and intervals.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

import krippendorff
import numpy as np

from bench.figures import median, report
from workbench.labelling.agreement.measuring import agreement_of_file
from workbench.statistics.agreement.coefficients import alpha
from workbench.statistics.agreement.ratings import Ratings, units
from workbench.statistics.bootstrap import intervals
from workbench.statistics.confusion import FloatArray
from workbench.statistics.records.agreement import Level

_VALUES = 5
_LABELS = 3
_TIMES_QUICKER = 10.0
_MILLION_S = 10.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=5_000)
    parser.add_argument("--samples", type=int, default=1_000)
    parser.add_argument("--ratings", type=int, default=1_000_000)
    options, _ = parser.parse_known_args()
    ratings = _ratings(options.items)
    for level in ("nominal", "ordinal", "interval"):
        _against_krippendorff(ratings, level, options.samples)
    with tempfile.TemporaryDirectory() as folder:
        _file(Path(folder) / "ratings.jsonl", options.ratings)


def _ratings(items: int) -> Ratings:
    """Return ratings: three of twelve annotators per item, right on four of five."""
    generator = np.random.default_rng(0)
    item = np.repeat(np.arange(items), _LABELS)
    person = generator.permuted(np.tile(np.arange(12), (items, 1)), axis=1)[:, :_LABELS].ravel()
    truth = np.repeat(generator.integers(_VALUES, size=items), _LABELS)
    drawn_value = np.where(generator.random(len(item)) < 0.8, truth, generator.integers(_VALUES, size=len(item)))
    return Ratings(item=item, annotator=person, value=drawn_value, items=items, annotators=12, categories=_VALUES)


def _against_krippendorff(ratings: Ratings, level: Level, samples: int) -> None:
    values = np.arange(float(_VALUES))
    ours: list[float] = []
    for _ in range(3):
        began = time.perf_counter()
        found = units(ratings)
        alpha(found, found.often, level, values)
        figures = {"alpha": lambda weights, found=found: alpha(found, weights, level, values)}
        drawn = intervals(found.kind, len(found.sizes), np.arange(ratings.items), figures, samples=samples, seed=0)[
            "alpha"
        ]
        ours.append(time.perf_counter() - began)
    began = time.perf_counter()
    ends = _theirs(ratings, level, samples)
    theirs = time.perf_counter() - began
    assert drawn.ends is not None
    assert np.allclose(drawn.ends, ends, atol=0.005), (drawn.ends, ends)
    report(f"alpha {level} with {samples:,} samples, {ratings.items:,} items", 1000 * median(ours), "ms")
    report(
        f"alpha {level}: krippendorff's time over ours", theirs / median(ours), "times", _TIMES_QUICKER, at_least=True
    )


def _theirs(ratings: Ratings, level: Level, samples: int) -> FloatArray:
    """Return the interval of the same bootstrap, item by item, by the package."""
    counts = np.zeros((ratings.items, _VALUES), dtype=int)
    np.add.at(counts, (ratings.item, ratings.value), 1)
    generator = np.random.default_rng(1)
    found = [
        krippendorff.alpha(
            value_counts=counts[generator.integers(ratings.items, size=ratings.items)], level_of_measurement=level
        )
        for _ in range(samples)
    ]
    return np.quantile(found, (0.025, 0.975))


def _file(path: Path, number: int) -> None:
    generator = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for item in range(number // _LABELS):
            truth = generator.randrange(_VALUES)
            for person in generator.sample(range(200), _LABELS):
                drawn_value = truth if generator.random() < 0.8 else generator.randrange(_VALUES)
                file.write(f'{{"item": "i{item}", "annotator": "a{person}", "value": {drawn_value}}}\n')
    began = time.perf_counter()
    agreement_of_file(path, "ordinal")
    report(f"a report on {number:,} ratings of 200 people", time.perf_counter() - began, "s", _MILLION_S)


if __name__ == "__main__":
    main()
