"""The figures of a set of items, as they are reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from msgspec import Struct, structs

from workbench.statistics.agreement import gwet, observed
from workbench.statistics.agreement.ceiling import accuracy_behind, ceiling
from workbench.statistics.agreement.coefficients import alpha
from workbench.statistics.agreement.kappa import fleiss, pabak
from workbench.statistics.agreement.ratings import Ratings, Units, units
from workbench.statistics.agreement.resampling import intervals
from workbench.statistics.arrays import BoolArray, FloatArray, IntArray, defined
from workbench.statistics.intervals import wilson
from workbench.statistics.records.agreement import Ceiling, Figures, Level, Share

AnyFigures = TypeVar("AnyFigures", bound=Figures)

MOST_LISTED = 100
"""Categories whose shares are listed; with more, prevalence is left out."""


class Rated(Struct, frozen=True, kw_only=True, eq=False):
    """Ratings with what is known of their categories and items.

    Attributes:
        names: The categories' names, in the categories' order.
        values: Their numbers, ascending; ranks unless the level is interval or ratio.
        cluster: Each item's question, or the item itself; at least 0.
    """

    ratings: Ratings
    names: Sequence[str]
    values: FloatArray
    level: Level
    cluster: IntArray

    def of(self, kept: BoolArray) -> Rated:
        """Some of the items; the categories stay."""
        return structs.replace(self, ratings=self.ratings.of(kept), cluster=self.cluster[kept])


def figures(rated: Rated) -> Figures:
    """All figures with a closed form; those of the bootstrap come with `with_intervals`."""
    found = units(rated.ratings)
    often = found.often
    percent = defined(observed.percent(found, often)[0])
    values, categories = rated.values, len(rated.values)
    ac2: dict[str, float | None] = {name: defined(gwet.ac2(found, often, name, values)[0]) for name in gwet.WEIGHTINGS}
    shares = observed.prevalence(found).tolist() if found.sizes.size else []
    return Figures(
        items=int(often.sum()),
        paired=int(often[0, found.sizes > 1].sum()),
        labels=len(rated.ratings.item),
        percent_agreement=percent,
        percent_ci=observed.percent_interval(found, rated.cluster),
        fleiss_kappa=defined(fleiss(found, often)[0]),
        krippendorff_alpha=defined(alpha(found, often, rated.level, values)[0]),
        gwet_ac1=defined(gwet.ac1(found, often)[0]),
        gwet_ac2=None if rated.level == "nominal" else ac2,
        pabak=None if percent is None else defined(pabak(percent, categories)),
        prevalence=dict(zip(rated.names, shares, strict=False)) if categories <= MOST_LISTED else None,
    )


def with_intervals(rated: Rated, closed: AnyFigures, samples: int, seed: int) -> AnyFigures:
    """The same figures with the bootstrap's intervals."""
    found: Units = units(rated.ratings)
    drawn = intervals(
        found,
        rated.cluster,
        {
            "alpha": lambda weights: alpha(found, weights, rated.level, rated.values),
            "ac1": lambda weights: gwet.ac1(found, weights),
            "fleiss": lambda weights: fleiss(found, weights),
        },
        samples=samples,
        seed=seed,
    )
    return structs.replace(
        closed,
        alpha_ci=drawn["alpha"].ends,
        ac1_ci=drawn["ac1"].ends,
        fleiss_ci=drawn["fleiss"].ends,
        undefined=drawn["alpha"].undefined,
    )


def ceilings(closed: Figures, checks: Share) -> list[Ceiling]:
    """The ceiling by each source of people's accuracy there is: their agreement, where it is at least one half, and
    items whose answer is known."""
    found = []
    if closed.percent_agreement is not None and closed.percent_ci is not None and closed.percent_agreement >= 0.5:
        low, high = (accuracy_behind(end) for end in closed.percent_ci)
        found.append(ceiling("agreement", accuracy_behind(closed.percent_agreement), (low, high)))
    if checks.share is not None and checks.ci is not None:
        found.append(ceiling("checks", checks.share, checks.ci))
    return found


def share_of(right: float, n: int) -> Share:
    """A count, which may be a sum of shares, out of n."""
    return Share(n=n, share=right / n, ci=wilson(right, n)) if n else Share(n=0, share=None, ci=None)


def blocks(completed: Sequence[str], size: int, most: int) -> list[IntArray]:
    """Items in the order of their completion, in blocks of almost equal size.

    Equal blocks have intervals of equal width, which weeks of unequal work would not have.

    Args:
        completed: When each item got its last label.
        size: Items a block has at least; fewer than two blocks are one.
        most: How many blocks there are at most.
    """
    order = np.argsort(np.asarray(completed, dtype=np.str_), kind="stable")
    number = max(1, min(most, len(order) // size))
    return [part for part in np.array_split(order, number) if len(part)]
