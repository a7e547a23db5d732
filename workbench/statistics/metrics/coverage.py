"""Coverage: the share of decided verdicts, the same under every protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.core.verdict import OutcomeCode
from workbench.statistics.metrics.metric import Metric, ratio

if TYPE_CHECKING:
    from workbench.statistics.confusion import IntArray


def coverage(cells: IntArray) -> float | None:
    """Return the share of decided rows among all rows with gold and a verdict.

    Args:
        cells: One group's (2, 4) counts of `workbench.statistics.confusion.tally`.
    """
    return ratio(int(cells[:, : OutcomeCode.ABSTAIN].sum()), int(cells.sum()))


COVERAGE = Metric(
    name="coverage",
    heading="coverage",
    short="cov",
    help="Share of the items with gold and a verdict that are decided, neither ? nor !",
    undefined="without rows",
    hint="decided of those with gold and a verdict",
).field()
