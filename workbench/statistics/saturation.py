"""How many tests are enough: how well scores on k of them rank solutions as all of them do.

Source: Scoring Verifiers (arXiv 2502.13820), appendix B, which does not say how tests are drawn and came without code.
This is our own definition: k tests of a problem are drawn without replacement, Spearman's coefficient between the
solutions' scores on them and on all tests is averaged over problems, an undefined one counted as 0, and the draw is
repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from workbench.statistics.arrays import BoolArray, FloatArray
from workbench.statistics.intervals import student_interval
from workbench.statistics.records.ranking import Ends


class Saturation(NamedTuple):
    """Coefficients on k tests; see `model.code_figures.SaturationRow`."""

    rho: float
    ci: Ends
    sigma: float
    problems_ci: Ends | None
    undefined: float


def correlations(passes: BoolArray, sizes: Sequence[int], *, resamples: int, seed: int, name: str) -> FloatArray:
    """Spearman's coefficients of one problem: resamples x sizes, NaN where undefined.

    A resample puts the tests in an order of its own, and the first k of it are the k tests.

    Args:
        passes: Solutions x tests.
        sizes: The k, each from 1 to the number of tests.
        seed: With the name it decides all that is drawn, whatever other problems there are.
        name: The problem's, unlike any other's.
    """
    solutions, tests = passes.shape
    generator = np.random.default_rng(list(blake2b(f"{seed}\0{name}".encode(), digest_size=16).digest()))
    order = generator.permuted(np.tile(np.arange(tests), (resamples, 1)), axis=1)[:, : max(sizes)]
    passed = np.cumsum(passes[:, order], axis=2, dtype=np.int64)[:, :, np.asarray(sizes) - 1]
    some = rankdata(passed, axis=0) - (solutions + 1) / 2
    every = rankdata(passes.sum(axis=1)) - (solutions + 1) / 2
    over = np.einsum("s,srk->rk", every, some)
    under = np.sqrt((every**2).sum() * (some**2).sum(axis=0))
    with np.errstate(invalid="ignore"):
        found: FloatArray = over / under
    return found


def saturation(coefficients: FloatArray) -> Saturation:
    """What becomes of the coefficients for one k.

    The first interval is Student's for the mean over resamples, as the widths in the paper imply; it says how exactly
    the mean is known for these problems. The second is Student's over problems.

    Args:
        coefficients: Problems x resamples, NaN where undefined; at least one problem and two resamples.
    """
    counted = np.nan_to_num(coefficients, nan=0.0)
    means = counted.mean(axis=0)
    rho = float(means.mean())
    return Saturation(
        rho=rho,
        ci=student_interval(means) or (rho, rho),
        sigma=float(means.std(ddof=1)),
        problems_ci=student_interval(counted.mean(axis=1)),
        undefined=float(np.isnan(coefficients).mean()),
    )
