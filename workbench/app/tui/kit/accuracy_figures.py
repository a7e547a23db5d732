"""What a cell of the accuracy table can show: the figure in words, its scale, its text and its interval."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from workbench.core.text.figures import NONE, compact_count, percent
from workbench.core.text.heat import shade, tint
from workbench.statistics.records.report import AccuracyRow

Interval = tuple[float, float]

FEW: Final = 10
"""Cells of fewer items have no colour."""


class Figure(NamedTuple):
    """One figure of a row.

    Attributes:
        words: What it is and in which unit, for the caption.
        of: The figure of a row; None where it is undefined.
        text: The same for people.
        low: The lower end of its scale.
        high: The upper end.
        ends: Both ends as the legend names them.
        rising: Whether more is better; None for a figure without a scale.
        interval: Its 95 % interval in a row, where there is one.
        tested: Whether the row's q-value is about it.
        drawn: Whether its interval takes a bootstrap.
    """

    words: str
    of: Callable[[AccuracyRow], float | None]
    text: Callable[[float | None], str] = percent
    low: float = 0.0
    high: float = 1.0
    ends: tuple[str, str] = ("0", "100")
    rising: bool | None = True
    interval: Callable[[AccuracyRow], Interval | None] = lambda _: None
    tested: bool = False
    drawn: bool = False

    def step(self, row: AccuracyRow) -> int | None:
        """The row's step on the scale; None without a scale, a figure, or rows behind it."""
        value = self.of(row)
        return None if self.rising is None or value is None or not row.n else shade(value, self.low, self.high)

    def tint(self, row: AccuracyRow) -> float | None:
        """How good that is, from -1 to 1; None also for a handful of items, which must not shine."""
        step = self.step(row)
        return None if step is None or self.rising is None or row.n < FEW else tint(step, rising=self.rising)

    def share(self, value: float) -> float:
        """How far along the scale a value lies, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)


def points(value: float | None) -> str:
    """A difference of shares in points, with its sign."""
    return NONE if value is None else f"{100 * value:+.1f}"


def _three(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def _count(value: float | None) -> str:
    return compact_count(int(value or 0))


FIGURES: Final[dict[str, Figure]] = {
    "accuracy": Figure("accuracy in %", lambda row: row.accuracy, interval=lambda row: row.ci, tested=True),
    "delta": Figure(
        "delta in points: from all items (a subtype: from its type)",
        lambda row: row.delta,
        points,
        low=-0.3,
        high=0.3,
        ends=("-30", "+30"),
        tested=True,
    ),
    "balanced": Figure(
        "balanced accuracy in %",
        lambda row: row.balanced_accuracy,
        interval=lambda row: row.balanced_accuracy_ci,
        drawn=True,
    ),
    "mcc": Figure(
        "MCC, from -1 to 1",
        lambda row: row.mcc,
        _three,
        low=-1.0,
        ends=("-1", "1"),
        interval=lambda row: row.mcc_ci,
        drawn=True,
    ),
    "fpr": Figure("FPR in %: wrong completions accepted", lambda row: row.fpr, rising=False),
    "fnr": Figure("FNR in %: right completions refused", lambda row: row.fnr, rising=False),
    "coverage": Figure("coverage in %: decided of all with gold", lambda row: row.coverage),
    "n": Figure("n: items counted", lambda row: row.n, _count, rising=None),
}
"""Key -> figure, in the order of the key that goes through them."""
