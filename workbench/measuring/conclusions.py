"""Summarizes an accuracy report in sentences: the most accurate verifier, those below the majority-class baseline, the
weakest cell.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import Final, NamedTuple

from workbench.core.selection import group_name
from workbench.core.text.figures import counted, listed, percent, percent_interval
from workbench.measuring.entries import BASELINES, CONSTANTS
from workbench.statistics.records.report import AccuracyReport, AccuracyRow

_CHANCE: Final = " (not significant)"
_TOO_FEW: Final = "(too few questions for an interval)"
_ONE_SIDED: Final = 0.025
"""Probability that a 95 % interval ends below the truth."""
_MAX_NAMED: Final = 3
"""Most verifiers named in a sentence; others are counted."""


class Weakness(NamedTuple):
    """The cell (verifier and group) with the lowest accuracy.

    Attributes:
        row: The cell's metrics.
        ties: Number of other cells with the same accuracy.
        may_be_chance: Whether the difference is not significant: the cell's interval, widened for the number of cells,
            contains the verifier's accuracy on all items, and no test finds the cell significantly different.
    """

    row: AccuracyRow
    ties: int
    may_be_chance: bool

    def place(self, report: AccuracyReport) -> str:
        """Name the group, with the number of other cells that have the same accuracy."""
        like = f" ({counted(self.ties, 'other cell')} as low)" if self.ties else ""
        return f"{group_name(self.row.group, report.by)}{like}"

    @property
    def figures(self) -> str:
        return f"{in_words(self.row)}{_CHANCE if self.may_be_chance else ''}"


def weakest(report: AccuracyReport, verifier: str | None = None) -> Weakness | None:
    """Return the least accurate cell; None if no verifier with several groups errs.

    The least accurate of many cells looks weak by chance, so the distance from a cell's accuracy to the end of its
    interval is
    scaled by the ratio of the normal quantile for that many cells to the usual one (Bonferroni; Dunn, "Multiple
    comparisons among means", Journal of the American Statistical Association 56, 1961).

    Args:
        verifier: Consider only this verifier's cells, and prefer the least accurate of the significantly weak ones;
            None for the cells of all verifiers.
    """
    measured = measured_whole(report) if verifier is None else verifiers_of(report)
    over_all = {row.verifier: row.accuracy or 0.0 for row in measured if verifier in (None, row.verifier)}
    cells = [row for row in report.rows if row.group is not None and row.verifier in over_all and row.ci is not None]
    stretched = NormalDist().inv_cdf(1 - _ONE_SIDED / max(len(cells), 1)) / NormalDist().inv_cdf(1 - _ONE_SIDED)

    def may_be_chance(row: AccuracyRow) -> bool:
        if row.is_significant and (row.delta or 0.0) < 0:
            return False
        accuracy = row.accuracy or 0.0
        return accuracy + stretched * (_upper_end(row) - accuracy) >= over_all[row.verifier]

    def weakness(row: AccuracyRow) -> tuple[bool, float, float]:
        return verifier is not None and may_be_chance(row), row.accuracy or 0.0, _upper_end(row)

    least = min((row for row in cells if row.accuracy != 1), key=weakness, default=None)
    if least is None or len({row.group for row in cells}) < 2:
        return None
    ties = sum(row.accuracy == least.accuracy for row in cells) - 1
    return Weakness(least, ties, may_be_chance(least) and not least.is_significant)


def too_few_to_say(report: AccuracyReport, verifier: str) -> bool:
    cells = [row for row in report.rows if row.group is not None and row.verifier == verifier and row.n]
    erring = any(row.accuracy is not None and row.accuracy != 1 for row in cells)
    return erring and len(cells) > 1 and sum(row.ci is not None for row in cells) < 2


def _upper_end(row: AccuracyRow) -> float:
    return 1.0 if row.ci is None else row.ci[1]


def verifiers_of(report: AccuracyReport) -> list[AccuracyRow]:
    known = (row for row in report.rows if row.group is None and row.accuracy is not None and not is_baseline(row))
    return sorted(known, key=lambda row: row.accuracy or 0.0, reverse=True)


def measured_whole(report: AccuracyReport) -> list[AccuracyRow]:
    """Return the verifiers' rows over all items from complete runs only, since the items judged so far may differ from
    the rest. If no run is complete, return all rows.
    """
    known = verifiers_of(report)
    return [row for row in known if row.verifier not in report.unfinished] or known


def is_baseline(row: AccuracyRow) -> bool:
    return row.kind == "baseline" or row.verifier in BASELINES


def conclusion(report: AccuracyReport) -> tuple[str, ...]:
    known = measured_whole(report)
    if not known:
        return ()
    return tuple(filter(None, (_best_sentence(known), behind_constant(known), _weakest_sentence(report, known))))


def _best_sentence(known: Sequence[AccuracyRow]) -> str:
    alike = [row for row in known if row.accuracy == known[0].accuracy]
    best = max(alike, key=lambda row: row.n)
    ties = len(alike) - 1
    figures = in_words(best)
    if best.accuracy == 1:
        figures = f"right on all {counted(best.n, 'item')} {percent_interval(best.ci) if best.ci else _TOO_FEW}"
    if len(known) == 1:
        return f"{best.verifier} is {figures if best.accuracy == 1 else f'right on {figures}'}."
    if any(row.n != best.n for row in alike):
        figures = f"{best.verifier} {'is' if best.accuracy == 1 else 'on'} {figures}"
    return f"{best.verifier}{_ties_text(ties)} {'are' if ties else 'is'} the most accurate: {figures}."


def behind_constant(rows: Iterable[AccuracyRow]) -> str:
    """Name the verifiers below the majority-class baseline on the same items; empty if there are none."""
    behind = [row for row in rows if row.accuracy is not None and row.accuracy < _better_constant(row).share]
    by_constant = itertools.groupby(sorted(behind, key=_better_constant), _better_constant)
    return " ".join(_behind_sentence(better, list(ones)) for better, ones in by_constant)


def _behind_sentence(better: _Constant, rows: Sequence[AccuracyRow]) -> str:
    chance = all(row.ci is not None and row.ci[1] >= better.share for row in rows)
    names = [row.verifier for row in rows]
    than = (
        listed(names)
        if len(names) <= _MAX_NAMED
        else f"{', '.join(names[: _MAX_NAMED - 1])}{_ties_text(len(names) - _MAX_NAMED + 1)}"
    )
    return f"{better.name} is right more often than {than}: on {percent(better.share)} %{_CHANCE if chance else ''}."


class _Constant(NamedTuple):
    name: str
    share: float


def _better_constant(row: AccuracyRow) -> _Constant:
    rights = zip(CONSTANTS, (row.fp + row.tn, row.tp + row.fn), strict=True)
    right, name = max((right, name) for name, right in rights)
    return _Constant(name, right / row.n if row.n else 0.0)


def _weakest_sentence(report: AccuracyReport, known: Sequence[AccuracyRow]) -> str:
    found = weakest(report, known[0].verifier if len(known) == 1 else None)
    if found is None:
        few = next((row.verifier for row in known if too_few_to_say(report, row.verifier)), None)
        return "" if few is None else f"Where {few} is weakest: too few questions to say."
    if len(known) == 1:
        return f"{found.row.verifier} is weakest on {found.place(report)}: {found.figures}."
    return f"The weakest cell of the table is {found.row.verifier}'s on {found.place(report)}: {found.figures}."


def in_words(row: AccuracyRow) -> str:
    if row.ci is None:
        return f"{percent(row.accuracy)} % of {counted(row.n, 'item')} {_TOO_FEW}"
    return f"{percent(row.accuracy)} % {percent_interval(row.ci)} of {counted(row.n, 'item')}"


def _ties_text(ties: int) -> str:
    return f" and {counted(ties, 'other')}" if ties else ""
