"""What a stack gains that was chosen on noise: nothing, judged on questions that it was not chosen by.

Usage: python -m bench.stacks [--simulations 1000] [--seed 0]

Four verifiers say correct, incorrect or nothing of 600 completions of 200 questions, two of them with scores, all at
random; gold is a coin. The stack that looks best of some thousand, its thresholds and types included, is chosen on four
fifths of the questions and judged on the rest, and so is the best single verifier. The gain is the difference.
"""

from __future__ import annotations

import argparse
import json
from math import sqrt
from typing import Final

import numpy as np

from workbench.statistics.confusion import IntArray, grade
from workbench.statistics.folds import fold_of
from workbench.statistics.stack_search import Pool, StackSearch, best_alone, cross_fitted, most_accurate

_MOST: Final = 0.2
"""Points that the mean gain may be away from 0."""
_VERIFIERS, _COMPLETIONS, _TYPES, _FOLDS = 4, 3, 3, 5


def noise(seed: int, items: int = 600) -> tuple[float, float]:
    """The gain over the best single verifier, and what it looks like on the questions of the choice itself."""
    rng = np.random.default_rng(seed)
    question = np.repeat(np.arange(items // _COMPLETIONS + 1), _COMPLETIONS)[:items]
    pool = Pool(
        outcomes=rng.choice([0, 1, 2], size=(_VERIFIERS, items), p=[0.45, 0.45, 0.1]).astype(np.int8),
        scores=tuple(rng.random(items) if place % 2 else None for place in range(_VERIFIERS)),
        gold=rng.integers(0, 2, items).astype(np.int8),
        question=question,
        fold=fold_of(question, _FOLDS),
        type=rng.integers(0, _TYPES, len(question))[question],
        untyped=-1,
        cost=np.ones((_VERIFIERS, items)) * np.arange(1, _VERIFIERS + 1)[:, None],
        protocol="forced",
    )
    search = StackSearch(pool, 3)
    stack, alone = cross_fitted(search, most_accurate()), cross_fitted(search, best_alone)
    everywhere = np.ones(search.folds, dtype=np.bool_)
    apparent = [search.worth(search.pattern_verdicts(one.chosen), everywhere)[0] for one in (stack, alone)]
    return _accuracy(stack.outcome, pool) - _accuracy(alone.outcome, pool), apparent[0] - apparent[1]


def _accuracy(outcome: IntArray, pool: Pool) -> float:
    graded = grade(outcome, pool.gold, pool.protocol)
    return float(graded.right.sum() / graded.counted.sum())


def main() -> None:
    """Simulate, and print one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    found = [noise(asked.seed + number) for number in range(asked.simulations)]
    gain, apparent = 100 * np.array(found).T
    figures = {
        "bench": "stacks",
        "simulations": asked.simulations,
        "mean_gain_points": round(float(gain.mean()), 3),
        "standard_error": round(float(gain.std(ddof=1)) / sqrt(len(gain)), 3),
        "mean_apparent_gain_points": round(float(apparent.mean()), 3),
        "ok": abs(float(gain.mean())) <= _MOST,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
