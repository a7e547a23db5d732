"""Bootstrap intervals of agreement: questions are drawn again, with all that people said of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from workbench.statistics import bootstrap
from workbench.statistics.agreement.ratings import Units
from workbench.statistics.arrays import FloatArray, IntArray
from workbench.statistics.bootstrap import Interval


def intervals(
    units: Units,
    cluster: IntArray,
    figures: Mapping[str, Callable[[FloatArray], FloatArray]],
    *,
    samples: int,
    seed: int,
) -> dict[str, Interval]:
    """95 % percentile intervals of figures of people's agreement; see `workbench.statistics.bootstrap.intervals`.

    Both observed and expected (dis)agreement follow the sample, and the order of people changes nothing either.

    Args:
        cluster: Each item's cluster, at least 0: its question, or the item itself.
        figures: Name -> what gives a value a sample from weights (how many items are of each kind, samples x kinds).
    """
    return bootstrap.intervals(units.kind, len(units.sizes), cluster, figures, samples=samples, seed=seed)
