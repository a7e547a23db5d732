"""Rankings against truth as rows: figures of each verifier, and a problem's solutions with scores and ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from workbench.model.ranking import Ends, RankingReport, RankingRow, ScoredProblem, ScoredSolution
from workbench.render.bars import NONE, counted, percent
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.columns import CellStyle, TableCell, TableColumn, TableRow
from workbench.tui.widgets.pass_view import TRUTH

FIGURES: Final = {
    "top1": "Top-1",
    "bottom1": "Bottom-1",
    "spearman": "Spearman",
    "kendall": "Kendall",
    "mae": "MAE",
    "r2": "R²",
}
"""The figures of a verifier, in order."""

BY_TRUTH: Final = "truth"
"""The order of the solutions by their true scores."""


def figure_columns(*, wide: bool) -> tuple[TableColumn, ...]:
    """Columns of the verifiers; with intervals where there is room."""

    def width(title: str) -> int:
        return 18 if wide else max(len(title), 6)

    return (
        TableColumn("verifier", "verifier", 10, 24),
        TableColumn("dataset", "data set", 8, 13),
        TableColumn("problems", "n", 5, 6, "right"),
        TableColumn("coverage", "cov%", 4, 4, "right"),
        *(TableColumn(key, title, width(title), width(title), "right") for key, title in FIGURES.items()),
    )


def figure_rows(report: RankingReport, *, wide: bool) -> list[TableRow]:
    """A row a verifier and data set; its id is its place in the report."""
    return [
        TableRow(
            place,
            (
                TableCell(row.verifier + (" ~" if row.normalised else ""), "bold"),
                TableCell(row.dataset, "dim"),
                TableCell(f"{row.problems:,}"),
                TableCell(percent(row.coverage, 0)),
                *(TableCell(_figure(row, key, wide=wide)) for key in FIGURES),
            ),
        )
        for place, row in enumerate(report.rows)
    ]


def _figure(row: RankingRow, key: str, *, wide: bool) -> str:
    value: float | None = getattr(row, key)
    ends: Ends | None = getattr(row, f"{key}_ci")
    if value is None:
        return NONE
    return f"{value:.3f} [{ends[0]:.2f}, {ends[1]:.2f}]" if wide and ends is not None else f"{value:.3f}"


def notes(report: RankingReport) -> str:
    """What the figures are over."""
    lacking = _counts(report.lacking)
    missing = [
        *(f"{printable(one.verifier)} left out: {one.judged:,} of {one.solutions:,} judged" for one in report.partial),
        f"refused scores count as the lowest ({_counts(report.filled)})" if report.filled else "",
    ]
    parts = [
        "all solutions"
        if report.k is None
        else f"{report.k} selected solutions of each problem (metrics --k {report.k})",
        f"truth: {printable(report.truth)} on {' + '.join(map(printable, report.truth_runs))}",
        f"{counted(report.left_out, 'problem')} left out, scores missing ({lacking})" if report.left_out else "",
        "~ stretched to 0 … 1 in each problem" if any(row.normalised for row in report.rows) else "",
    ]
    return "\n".join(filter(None, (" · ".join(filter(None, some)) for some in (parts, missing))))


def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{printable(name)} {number:,}" for name, number in found.items())


def intervals(row: RankingRow) -> str:
    """A verifier's figures with their 95 % intervals."""
    return f"{printable(row.verifier)}, 95 %: " + " · ".join(
        f"{title} {_figure(row, key, wide=True)}" for key, title in FIGURES.items()
    )


def on_problem(report: RankingReport, problem: ScoredProblem) -> str:
    """How well verifiers rank the solutions of one problem."""
    found = (
        f"{printable(row.verifier)} {_number(row.spearman)}"
        for row in report.problems
        if (row.dataset, row.task_id) == (problem.dataset, problem.task_id)
    )
    return "Spearman with truth: " + (" · ".join(found) or NONE)


# -- one problem -----------------------------------------------------------------------------------


def solution_columns(verifiers: Sequence[str], by: str) -> tuple[TableColumn, ...]:
    """True score and rank, then each verifier's; the order they stand in is marked."""

    def pair(name: str, title: str) -> tuple[TableColumn, TableColumn]:
        mark = "▼" if name == by else ""
        return (
            TableColumn(name, f"{mark}{title}", 7, max(7, min(16, len(title) + 1)), "right"),
            TableColumn(f"{name} rank", "rank", 5, 5, "right"),
        )

    return (
        TableColumn("solution", "solution", 8, 16),
        *pair(BY_TRUTH, "truth"),
        *(column for name in verifiers for column in pair(name, name)),
    )


def solution_rows(problem: ScoredProblem, verifiers: Sequence[str], by: str) -> list[TableRow]:
    """The solutions, the best first; a row's id is the completion's row id."""

    def place(one: ScoredSolution) -> tuple[bool, float]:
        rank = one.rank if by == BY_TRUTH else one.ranks.get(by)
        return rank is None, rank or 0.0

    return [
        TableRow(
            one.item,
            (
                TableCell(one.solution_id + (TRUTH if one.ground_truth else "")),
                TableCell(_number(one.score), "bold"),
                TableCell(_rank(one.rank)),
                *(cell for name in verifiers for cell in _pair(one, name)),
            ),
        )
        for one in sorted(problem.solutions, key=place)
    ]


def _pair(one: ScoredSolution, name: str) -> tuple[TableCell, TableCell]:
    score, rank = one.scores.get(name), one.ranks.get(name)
    return TableCell(_number(score)), TableCell(_rank(rank) + _arrow(one.rank, rank), _style(one.rank, rank))


def _arrow(truth: float | None, rank: float | None) -> str:
    """Whether a verifier ranks a solution too high or too low."""
    if truth is None or rank is None:
        return " "
    return "↑" if rank < truth else "↓" if rank > truth else "="


def _style(truth: float | None, rank: float | None) -> CellStyle:
    return "dim" if truth is None or rank is None else "success" if truth == rank else "warning"


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def _rank(rank: float | None) -> str:
    return NONE if rank is None else f"{rank:g}"
