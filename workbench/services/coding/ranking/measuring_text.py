"""Rankings of verifiers in every format: text for a terminal, CSV with figures in full, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from workbench.model.ranking import Ends, ProblemRow, RankingReport, RankingRow
from workbench.render.bars import counted, percent
from workbench.render.columns import interval, number, percent_interval
from workbench.reports.document import Cell, Row, Table, heads, row
from workbench.services.coding.ranking.truth import runs_in_words
from workbench.services.measuring.table_files import WRITERS, TableFormat, records_csv


def ranking_as(report: RankingReport, as_: TableFormat, *, by_problem: bool) -> str:
    """The report in a format.

    Args:
        by_problem: A line a problem instead of one a data set.
    """
    if as_ == "csv":
        return records_csv(report.problems if by_problem else report.rows, {"truth": report.truth})
    return WRITERS[as_](_problem_table(report) if by_problem else _table(report))


def _table(report: RankingReport) -> Table:
    names = ("Top-1", "Bottom-1", "Spearman", "Kendall", "MAE", "R²")
    return Table(
        caption=f"How well verifiers rank and score solutions; truth: {_truth(report)}",
        head=(heads("verifier", "data set", "problems", "coverage", *names, "undefined"),),
        left=2,
        rows=tuple(map(_row, report.rows)),
        notes=tuple(_notes(report)),
    )


def _row(one: RankingRow) -> Row:
    figures = (
        Cell(percent(one.top1), small=_small(one.top1_ci, percent_interval)),
        Cell(percent(one.bottom1)),
        Cell(number(one.spearman), small=_small(one.spearman_ci, interval)),
        *(Cell(number(figure)) for figure in (one.kendall, one.mae, one.r2)),
    )
    name = f"{one.verifier}*" if one.normalised else one.verifier
    head = (Cell(name), Cell(one.dataset), Cell(f"{one.problems:,}"), Cell(percent(one.coverage)))
    return Row((*head, *figures, Cell(f"{one.spearman_undefined:,}")))


def _small(ends: Ends | None, text: Callable[[Ends], str]) -> str:
    return "" if ends is None else text(ends)


def _problem_table(report: RankingReport) -> Table:
    names = ("Top-1", "Bottom-1", "Spearman", "Kendall", "MAE")
    return Table(
        caption=f"How well verifiers rank and score the solutions of each problem; truth: {_truth(report)}",
        head=(heads("verifier", "data set", "problem", "solutions", *names),),
        left=3,
        rows=tuple(map(_problem_row, report.problems)),
        notes=tuple(_left_out(report)),
    )


def _problem_row(one: ProblemRow) -> Row:
    figures = (percent(one.top1), percent(one.bottom1), number(one.spearman), number(one.kendall), number(one.mae))
    return row(one.verifier, one.dataset, str(one.task_id), f"{one.solutions:,}", *figures)


def _truth(report: RankingReport) -> str:
    of = f" on {runs_in_words(report.truth_runs)}" if report.truth_runs else ""
    selected = "" if report.k is None else f", {report.k} selected solutions of each problem"
    return f"{report.truth}{of}{selected}"


def _notes(report: RankingReport) -> Iterator[str]:
    yield (
        "Top-1 and Bottom-1 in %: the best (worst) solution has the highest (lowest) score, ties share. They and the "
        "coefficients are means over problems; MAE and R² are over all solutions."
    )
    yield ("undefined: problems without coefficients (one solution, or equal scores): they count as 0 there.")
    if report.missing is not None:
        yield "coverage: solutions that the verifier itself gives a score, in %, of those with true scores."
    yield (
        f"95 % intervals: percentiles of {report.samples:,} samples of problems, seed {report.seed}; none where all "
        "samples are alike. JSON and CSV have those of every figure."
    )
    if any(row.normalised for row in report.rows):
        yield "* scores are no shares of tests: each problem's are stretched to 0 to 1 before MAE and R²."
    yield from _left_out(report)


def _left_out(report: RankingReport) -> Iterator[str]:
    yield from scores_missing(report)
    if report.left_out:
        missing = ", ".join(f"{name} {count:,}" for name, count in report.lacking.items())
        said = counted(report.left_out, "problem")
        yield f"Left out: {said} in which a score is missing for some solution (by verifier: {missing})."
    if report.refused:
        yield f"{counted(report.refused, 'line')} of the file were refused; their problems are measured without them."


def scores_missing(report: RankingReport) -> Iterator[str]:
    """What became of scores that verifiers don't give, a sentence each."""
    for one in report.partial:
        yield (
            f"Left out: {one.verifier} has judged {one.judged:,} of {one.solutions:,} solutions; "
            f"--verifier {one.verifier} measures it on what it has."
        )
    if report.filled:
        many = ", ".join(f"{name} {count:,}" for name, count in report.filled.items())
        yield f"Scores that a verifier refused to give count as its lowest, 0 for shares ({many}); --missing drop."
