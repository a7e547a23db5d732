"""Coverage of the intervals of accuracy tables, and false positives of the tests.

Usage: python -m bench.coverage [--simulations 1000] [--seed 0] [--kind KIND]

Kinds. shares: accuracy, over questions x sizes x intra-class correlation x accuracy. classes: balanced accuracy and
MCC, over questions x sizes x share of correct completions x both rates. differences: accuracy of A less that of B, over
questions x sizes x correlation x share of items that only one judges correctly x how many of them only A does. class-
differences: the same of balanced accuracy and MCC, over shares of correct completions. ppi: shares estimated with
predictions, labels drawn by item, by question, or by type at different rates, with types as strata; there one question
may have half of the items, a type no error, or the largest type few labels; "unhelped" is how often predictions are
ignored, so that the interval is that of the labels alone. power: how often a difference of the size that `detectable`
reports for two equal verifiers is significant in new data with questions of the same sizes, over questions x sizes x
correlation x discordant items x their correlation within a question; ok is .78 to .82, with two standard errors. tests:
how often p is below .05, and how often any q is, in data in which no group differs. agreement: kappa, alpha, AC1 and
phi of two (`bench.agreeing`). Each question has its own probability of being right (beta distribution), and
completions are independent given it; sizes are 4 each, geometric with the mean 4, or Pareto's with the exponent 1.2 up
to 200. Data sets are the groups of one table, so the intervals are those that users see. Prints a line of JSON per row,
and one for the worst of each metric, those that are not ok first.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import sqrt
from typing import Final, NamedTuple

import numpy as np

from bench import agreeing
from workbench.statistics.compare import (
    PairedItems,
    difference_interval,
    metric_differences,
    permutation,
)
from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
from workbench.statistics.detecting import detectable
from workbench.statistics.intervals import FEWEST, design_effects, has_enough_clusters, intervals
from workbench.statistics.permutations import Pieces, cell_tests
from workbench.statistics.prediction_powered import estimate_share
from workbench.statistics.rates import balanced_intervals, class_rates, matthews_at, mcc_intervals
from workbench.statistics.subgroups import tree

QUESTIONS: Final = (10, 20, 50, 200)
CORRELATIONS: Final = (0.0, 0.3, 0.7)
ACCURACIES: Final = (0.5, 0.8, 0.95, 0.99)
PREVALENCES: Final = (0.03, 0.1, 0.3, 0.5)
DISCORDANCES: Final = (0.01, 0.03, 0.1, 0.3)
RATES: Final = ((0.9, 0.95), (0.6, 0.9), (0.99, 0.99))
PAIRS: Final = (
    ((0.8, 0.95), (0.7, 0.9), 0.7),
    ((0.99, 0.99), (0.98, 0.99), 0.7),
    ((0.9, 0.9), (0.9, 0.9), 0.99),
    ((0.95, 0.97), (0.5, 0.6), 0.3),
)
"""TPR and TNR of A, of B, and the share of items that both judge with the same random numbers."""
DRAWN: Final = ("items", "questions", "types", "a type that never errs", "few of the largest type")
_GOAL, _SIZE = 0.93, 0.06
_POWER: Final = (0.78, 0.82)
_SELDOM = 0.05
"""The share of data sets below which a setting's metric is not reported."""
_LARGEST = 200

Row = dict[str, object]
Ends = list[tuple[float, float] | None]


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS, default="shares")
    options, _ = parser.parse_known_args()
    least: dict[str, Row] = {}
    for row in KINDS[options.kind](options.simulations, options.seed):
        print(json.dumps(row), flush=True)
        worse = least.get(str(row["figure"]))
        if worse is None or _far(row) > _far(worse):
            least[str(row["figure"])] = row
    for row in least.values():
        print(json.dumps({"worst": row}), flush=True)


def _far(row: Row) -> tuple[bool, float]:
    value = float(str(row["value"]))
    return not row["ok"], value if "size" in str(row["figure"]) else -value


def sizes_of(kind: str, shape: tuple[int, int], generator: np.random.Generator) -> IntArray:
    """Completions of each question, data sets x questions."""
    if kind == "equal":
        return np.full(shape, 4)
    if kind == "geometric":
        return generator.geometric(0.25, shape)
    return np.minimum(2 * (1 - generator.random(shape)) ** (-1 / 1.2), _LARGEST).astype(np.int64)


SIZES: Final = ("equal", "geometric", "heavy-tailed")
GIANT: Final = "one giant"
"""4 each, and one question with as many as all others."""
BY_GROUP: Final = "by group"
"""1, 2, 4 or 8 completions, one size per group, so that questions of different groups are not exchangeable."""


def chances(mean: float, correlation: float, shape: tuple[int, int], generator: np.random.Generator) -> FloatArray:
    """Return each question's own probability."""
    if correlation == 0:
        return np.full(shape, mean)
    sharp = (1 - correlation) / correlation
    return generator.beta(mean * sharp, (1 - mean) * sharp, shape)


def _shares(simulations: int, seed: int) -> Iterator[Row]:
    for place, setting in enumerate(product(QUESTIONS, SIZES, CORRELATIONS, ACCURACIES)):
        questions, kind, correlation, accuracy = setting
        generator, shape = np.random.default_rng([seed, place]), (simulations, questions)
        size = sizes_of(kind, shape, generator)
        right = generator.binomial(size, chances(accuracy, correlation, shape, generator))
        known = design_effects(size.ravel(), right.ravel(), np.repeat(np.arange(simulations), questions), simulations)
        found = intervals(right.sum(axis=1), size.sum(axis=1), known)
        yield {
            **_row("coverage of accuracy", found, np.full(simulations, accuracy)),
            "questions": questions,
            "sizes": kind,
            "correlation": correlation,
            "accuracy": accuracy,
        }


def _classes(simulations: int, seed: int) -> Iterator[Row]:
    for place, setting in enumerate(product((20, 50, 200), SIZES, PREVALENCES, RATES, (0.0, 0.3))):
        questions, kind, prevalence, (tpr, tnr), correlation = setting
        generator, shape = np.random.default_rng([seed, 1, place]), (simulations, questions)
        size = sizes_of(kind, shape, generator)
        correct = generator.binomial(size, chances(prevalence, correlation, shape, generator))
        hits = [
            generator.binomial(number, chances(rate, correlation, shape, generator))
            for number, rate in ((size - correct, tnr), (correct, tpr))
        ]
        cells = np.stack(
            [np.stack([number - hit, hit], -1) for number, hit in zip((size - correct, correct), hits, strict=True)], -2
        )
        known = class_rates(cells.reshape(-1, 2, 2), np.repeat(np.arange(simulations), questions), simulations)
        truths: tuple[tuple[str, Ends, float], ...] = (
            ("balanced accuracy", balanced_intervals(known), (tpr + tnr) / 2),
            ("MCC", mcc_intervals(known), _mcc(prevalence, tpr, tnr)),
        )
        for name, found, truth in truths:
            yield {
                **_row(f"coverage of {name}", found, np.full(simulations, truth)),
                "questions": questions,
                "sizes": kind,
                "prevalence": prevalence,
                "rates": [tpr, tnr],
                "correlation": correlation,
            }


def _differences(simulations: int, seed: int) -> Iterator[Row]:
    for place, setting in enumerate(product(QUESTIONS, SIZES, CORRELATIONS, DISCORDANCES, (0.5, 0.8, 1.0))):
        questions, kind, correlation, discordance, ahead = setting
        generator, shape = np.random.default_rng([seed, 3, place]), (simulations, questions)
        size = sizes_of(kind, shape, generator)
        differ = generator.binomial(size, chances(discordance, correlation, shape, generator))
        alone = generator.binomial(differ, ahead)
        carried = has_enough_clusters(
            design_effects(size.ravel(), size.ravel(), np.repeat(np.arange(simulations), questions), simulations)
        )
        found: Ends = [
            difference_interval(*one) if enough else None
            for *one, enough in zip(size, alone, differ - alone, carried.tolist(), strict=True)
        ]
        yield {
            **_row("coverage of differences", found, np.full(simulations, discordance * (2 * ahead - 1))),
            "questions": questions,
            "sizes": kind,
            "correlation": correlation,
            "discordance": discordance,
            "ahead": ahead,
        }


def _class_differences(simulations: int, seed: int) -> Iterator[Row]:
    for place, setting in enumerate(product(QUESTIONS, SIZES, PREVALENCES, PAIRS, (0.0, 0.5))):
        questions, kind, prevalence, (*rates, alike), correlation = setting
        generator = np.random.default_rng([seed, 4, place])
        found: dict[str, Ends] = {"balanced_accuracy": [], "mcc": []}
        for _ in range(simulations):
            items = _paired(questions, kind, prevalence, rates, correlation, generator, alike)
            for one in metric_differences(items):
                if one.metric != "accuracy":
                    found[one.metric].append(one.ci)
        (tpr, tnr), (other_tpr, other_tnr) = rates
        truth = {
            "balanced_accuracy": (tpr + tnr - other_tpr - other_tnr) / 2,
            "mcc": _mcc(prevalence, tpr, tnr) - _mcc(prevalence, other_tpr, other_tnr),
        }
        for name, ends in found.items():
            yield {
                **_row(f"coverage of differences of {name}", ends, np.full(simulations, truth[name])),
                "questions": questions,
                "sizes": kind,
                "prevalence": prevalence,
                "rates": rates,
                "alike": alike,
                "correlation": correlation,
            }


def _paired(
    questions: int,
    kind: str,
    prevalence: float,
    rates: Sequence[tuple[float, float]],
    correlation: float,
    generator: np.random.Generator,
    alike: float,
) -> PairedItems:
    """Return two verifiers that judge a share of the items with the same random numbers, the others independently."""
    size = sizes_of(kind, (1, questions), generator)[0]
    question = np.repeat(np.arange(questions), size)
    gold = generator.binomial(1, chances(prevalence, correlation, (1, questions), generator)[0][question])
    first, second = generator.random((2, len(question)))
    second = np.where(generator.random(len(question)) < alike, first, second)
    right: list[BoolArray] = []
    by_rates: dict[tuple[float, float], list[FloatArray]] = {}
    for known, drawn in zip(rates, (first, second), strict=True):
        # Verifiers with the same rates find the same questions hard.
        if known not in by_rates:
            by_rates[known] = [
                chances(rate, correlation, (1, questions), generator)[0][question] for rate in known[::-1]
            ]
        by_gold = by_rates[known]
        right.append(drawn < np.where(gold == 1, by_gold[1], by_gold[0]))
    return PairedItems(gold, right[0], right[1], question)


def _ppi(simulations: int, seed: int) -> Iterator[Row]:
    settings = product((50, 100, 300), (*SIZES, GIANT), (0.0, 0.3), (0.8, 0.95), DRAWN)
    for place, (questions, kind, correlation, share, drawn) in enumerate(settings):
        generator = np.random.default_rng([seed, 5, place])
        found = [_estimated(questions, kind, correlation, share, drawn, generator) for _ in range(simulations)]
        yield {
            **_row(
                "coverage of prediction-powered shares",
                [one.ci for one in found],
                np.array([one.truth for one in found]),
            ),
            "unhelped": float(np.mean([one.unhelped for one in found])),
            "questions": questions,
            "sizes": kind,
            "correlation": correlation,
            "share": share,
            "drawn": drawn,
        }


class _Estimated(NamedTuple):
    """An interval with predictions, its truth, and whether predictions were ignored."""

    ci: tuple[float, float] | None
    truth: float
    unhelped: bool


class _Stratum(NamedTuple):
    """One type: its fraction of all questions, its share, and the probability that an item is labelled."""

    part: float
    share: float
    often: float


def _strata(share: float, drawn: str) -> list[_Stratum]:
    if drawn == "types":
        return [_Stratum(0.5, share - (1 - share) / 2, 1 / 6), _Stratum(0.5, share + (1 - share) / 2, 1 / 2)]
    if drawn == "a type that never errs":
        return [_Stratum(0.5, 2 * share - 1, 1 / 3), _Stratum(0.5, 1.0, 1 / 3)]
    if drawn == "few of the largest type":
        return [_Stratum(0.1, 0.3, 1 / 2), _Stratum(0.9, share, 1 / 15)]
    return [_Stratum(1.0, share, 1 / 3)]


def _estimated(
    questions: int, kind: str, correlation: float, share: float, drawn: str, generator: np.random.Generator
) -> _Estimated:
    """Estimate from labels of about a third of the items, and a predictor that is right nine times in ten."""
    strata = _strata(share, drawn)
    size = np.full(questions, 4)
    if kind == GIANT:
        size[0] = size[1:].sum()
    else:
        size = sizes_of(kind, (1, questions), generator)[0]
    question = np.repeat(np.arange(questions), size)
    parts = np.cumsum([one.part for one in strata])
    of_question = np.searchsorted(parts, (generator.permutation(questions) + 0.5) / questions)
    stratum = of_question[question]
    shares, often = (np.array([getattr(one, name) for one in strata]) for name in ("share", "often"))
    chance = np.empty(questions)
    for place, one in enumerate(strata):
        alike = correlation if one.share < 1 else 0.0
        inside = of_question == place
        chance[inside] = chances(one.share, alike, (1, int(inside.sum())), generator)[0]
    right = generator.random(len(question)) < chance[question]
    predicted = (right ^ (generator.random(len(question)) < 0.1)).astype(float)
    dealt = generator.random(questions)[question] if drawn == "questions" else generator.random(len(question))
    truth = np.where(dealt < often[stratum], right, -1)
    mean = float(shares[stratum].mean())
    stratum = np.unique(stratum, return_inverse=True)[1]
    if (np.bincount(stratum[truth >= 0], minlength=int(stratum.max()) + 1) == 0).any():
        return _Estimated(None, mean, unhelped=True)
    found = estimate_share(truth, predicted, question, stratum)
    return _Estimated(found.ci, mean, unhelped=found.power == 0)


def _power(simulations: int, seed: int) -> Iterator[Row]:
    settings = product((30, 50, 100, 300), SIZES, (0.0, 0.3), (0.03, 0.1, 0.3), (0.0, 0.5))
    for place, (questions, kind, *clustered) in enumerate(settings):
        generator = np.random.default_rng([seed, 6, place])
        intervals_found, found = [], []
        for size in sizes_of(kind, (simulations, questions), generator):
            at = detectable(size, *_alone(size, 0.0, clustered, generator))
            if at is not None:
                only_a, only_b = _alone(size, at, clustered, generator)
                intervals_found.append(at)
                found.append(permutation(only_a - only_b) <= 0.05)
        value = float(np.mean(found)) if found else 0.8
        sure = 2 * sqrt(0.8 * 0.2 / max(len(found), 1))
        yield {
            "figure": "power at detectable",
            "value": value,
            "ok": _POWER[0] - sure <= value <= _POWER[1] + sure or len(found) < _SELDOM * simulations,
            "within": _POWER[0] <= value <= _POWER[1],
            "too_few": 1 - len(found) / simulations,
            "detectable": round(float(np.mean(intervals_found)), 4) if intervals_found else None,
            "questions": questions,
            "sizes": kind,
            **dict(zip(("correlation", "discordance", "alike"), clustered, strict=True)),
        }


def _alone(
    size: IntArray, difference: float, clustered: Sequence[float], generator: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return how many items of each question only A, and only B, judges correctly.

    Args:
        clustered: The correlation of being discordant, the discordant share (or as many as the difference needs), and
            the correlation of which verifier is right.
    """
    correlation, discordance, alike = clustered
    shape, share = (1, len(size)), max(discordance, difference)
    differ = generator.binomial(size, chances(share, correlation, shape, generator)[0])
    ahead = (1 + difference / share) / 2
    only_a = generator.binomial(differ, chances(ahead, alike if ahead < 1 else 0.0, shape, generator)[0])
    return only_a, differ - only_a


def _mcc(prevalence: float, tpr: float, tnr: float) -> float:
    return float(matthews_at(np.array([tpr]), np.array([tnr]), np.array([prevalence]))[0])


def _row(figure: str, found: Ends, truth: FloatArray) -> Row:
    shown = [(ends, true) for ends, true in zip(found, truth.tolist(), strict=True) if ends is not None]
    held = sum(ends[0] - 1e-12 <= true <= ends[1] + 1e-12 for ends, true in shown)
    width = sum(ends[1] - ends[0] for ends, _ in shown)
    value = held / len(shown) if shown else 1.0
    return {
        "figure": figure,
        "value": value,
        "ok": value >= _GOAL,
        "width": round(width / max(len(shown), 1), 3),
        "too_few": 1 - len(shown) / len(found),
        "fewest": FEWEST,
    }


def _tests(simulations: int, seed: int) -> Iterator[Row]:
    """Data with 8 groups in 3 scopes, 5 that share questions, or 4 whose questions differ in size."""
    settings = [*product((60, 300), SIZES, (False, True)), *product((60, 300), (BY_GROUP,), (False,))]
    for place, (questions, kind, shared) in enumerate(settings):
        chance: list[float] = []
        any_below = 0
        for number in range(simulations):
            pieces = _null(questions, kind, np.random.default_rng([seed, 2, place, number]), shared=shared)
            found = {test.of: test for test in cell_tests(pieces, number).values()}
            p = [test.p for test in found.values()]
            chance += p
            any_below += bool(p) and min(tree(p, [test.scope for test in found.values()])) < 0.05
        about = {"questions": questions, "sizes": kind, "shared": shared, "projects": simulations}
        size, errors = float(np.mean(np.array(chance) <= 0.05)), any_below / simulations
        yield {"figure": "size of p", "value": size, "ok": size <= _SIZE, **about}
        yield {"figure": "size of any q", "value": errors, "ok": errors <= _SIZE, **about}


def _null(questions: int, kind: str, generator: np.random.Generator, *, shared: bool) -> Pieces:
    if kind == BY_GROUP:
        question, group = np.arange(questions), generator.integers(0, 4, questions)
        size = 2**group
        right = generator.binomial(size, chances(0.9, 0.3, (1, questions), generator)[0])
        return Pieces(size, right, group, np.zeros(questions, dtype=np.int64), question)
    if shared:
        question, group = (values.ravel() for values in np.indices((questions, 5)))
        is_drawn: BoolArray = generator.random(len(question)) < 0.8
        question, group, scope = question[is_drawn], group[is_drawn], np.zeros(int(is_drawn.sum()), dtype=np.int64)
    else:
        question = np.arange(questions)
        group = generator.choice(8, questions, p=generator.dirichlet(np.ones(8)))
        scope = group % 3
    size = sizes_of(kind, (1, len(question)), generator)[0]
    chance = chances(0.9, 0.3, (1, questions), generator)[0][question]
    return Pieces(size, generator.binomial(size, chance), group, scope, question)


KINDS: Final[dict[str, Callable[[int, int], Iterator[Row]]]] = {
    "shares": _shares,
    "classes": _classes,
    "differences": _differences,
    "class-differences": _class_differences,
    "ppi": _ppi,
    "power": _power,
    "tests": _tests,
    "agreement": agreeing.rows,
}


if __name__ == "__main__":
    main()
