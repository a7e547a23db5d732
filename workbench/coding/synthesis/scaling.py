"""Measure how much better solutions are ranked by more tests of the same models (Scoring Verifiers, section 5.3).

Each number of tests is a separate suite with separate requests, as if it were written and run by hand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Final

import msgspec
from msgspec import Struct, structs

from workbench.coding.options import SuiteOptions, TestOptions
from workbench.coding.ranking.measuring import SAMPLES, compare_verifiers
from workbench.coding.ranking.scores import Truth
from workbench.coding.records.figures import ScaledPoint, ScaleReport, TestsWritten
from workbench.coding.synthesis.tests import own_prompt
from workbench.core.errors import UsageError
from workbench.core.options import TableForm, record_from
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.text.figures import percent, percent_interval
from workbench.statistics.records.ranking import Missing, RankingRow
from workbench.tables.document import Cell, Lines, Series, Table
from workbench.tables.files import flatten_columns, format_tables, lines_csv
from workbench.tables.table import Columns, column, count, metric_column, table, text, word
from workbench.tables.table_text import text_plot

_NO_NAME: Final = re.compile(r"[^\w.+@-]+")


class ScalingPoint(Struct, frozen=True):
    """One point of a scaling curve: a model that writes tests, and their number per problem.

    Attributes:
        suite: The name of the suite, and of the verifier that runs it.
    """

    model: str
    size: int
    suite: str


def scaling_points(name: str, models: Sequence[str], sizes: Sequence[int]) -> list[ScalingPoint]:
    return [
        ScalingPoint(model, size, "-".join([name, *([_NO_NAME.sub("-", model)] if len(models) > 1 else []), str(size)]))
        for model, size in product(dict.fromkeys(models), sizes)
    ]


def suite_options(wish: TestOptions, count: int) -> SuiteOptions:
    return SuiteOptions(count=count, **structs.asdict(wish))


def require_scalable(wish: TestOptions) -> None:
    """Reject a prompt that requests the same number of tests for every suite.

    Raises:
        UsageError: The prompt has a fixed number, or can't be read.
    """
    own = own_prompt(suite_options(wish, 1))
    if own is not None and "count" not in own.texts:
        raise UsageError(
            "The prompt asks for the same number of tests each time.", "Write {count} instead of the number."
        )


def measure_scaling(
    project: Project,
    name: str,
    truth: Truth,
    made: Mapping[ScalingPoint, TestsWritten],
    *,
    selection: Selection | None = None,
    missing: Missing = "zero",
    samples: int = SAMPLES,
    seed: int = 0,
) -> ScaleReport:
    """Measure how well each suite ranks solutions, all on the same problems.

    Args:
        made: The suites, each with the result of writing it; all must have been run.

    Raises:
        UsageError: A suite has no complete run.
    """
    by_suite = {point.suite: point for point in made}
    report = compare_verifiers(
        project, truth, tuple(by_suite), selection=selection, missing=missing, samples=samples, seed=seed
    ).report
    found = [
        ScaledPoint(
            model=(point := by_suite[row.verifier]).model,
            n=point.size,
            mean_tests=made[point].kept / asked if (asked := made[point].targets) else None,
            figures=row,
        )
        for row in report.rows
    ]
    order = {point.suite: place for place, point in enumerate(made)}
    return record_from(
        ScaleReport,
        report,
        name=name,
        points=tuple(sorted(found, key=lambda one: (one.figures.dataset, order[one.figures.verifier]))),
    )


# -- The paper's table 5 and figure 6.


def scale_as(report: ScaleReport, form: TableForm) -> str:
    """Render the report in a format, with the curve after a text table; CSV has full precision."""
    if form.format == "csv":
        lines = [dict(flatten_columns(msgspec.to_builtins(one))) for one in report.points]
        return lines_csv(lines, {"truth": report.truth})
    curves = [f"\n{plot.caption}\n\n{text_plot(plot)}\n" for plot in _curves(report)] if form.format == "text" else []
    return format_tables([_scale_table(report)], form) + "".join(curves)


def _scale_table(report: ScaleReport) -> Table:
    columns: Columns[ScaledPoint] = (
        word("model", lambda one: one.model),
        count("tests asked for", lambda one: one.n),
        metric_column("a problem", lambda one: one.mean_tests),
        word("data set", lambda one: one.figures.dataset),
        count("problems", lambda one: one.figures.problems),
        text("Top-1", lambda one: Cell(percent(one.figures.top1), small=_interval_text(one.figures))),
        metric_column("Spearman", lambda one: one.figures.spearman),
        column("Bottom-1", lambda one: one.figures.bottom1, percent),
        metric_column("MAE", lambda one: one.figures.mae),
    )
    caption = (
        f"How well written tests rank solutions, by the number of requested tests (table 5); truth: {report.truth}"
    )
    notes = ["Top-1 and Bottom-1 in %; each number of tests is a separate suite. A problem: tests it has."]
    if report.left_out:
        notes.append(f"Left out for all: {report.left_out:,} problems in which a score is missing.")
    if report.filled:
        many = ", ".join(f"{name} {filled:,}" for name, filled in report.filled.items())
        notes.append(f"Solutions of problems without a test score 0 ({many}).")
    return table(caption, columns, report.points, notes=notes)


def _interval_text(row: RankingRow) -> str:
    return "" if row.top1_ci is None else percent_interval(row.top1_ci)


def _curves(report: ScaleReport) -> list[Lines]:
    datasets = dict.fromkeys(one.figures.dataset for one in report.points)
    return [_curve([one for one in report.points if one.figures.dataset == dataset], dataset) for dataset in datasets]


def _curve(there: Sequence[ScaledPoint], dataset: str) -> Lines:
    sizes = sorted({one.n for one in there})
    by = {(one.model, one.n): one.figures.top1 for one in there}
    return Lines(
        caption=f"Top-1 in percent by the number of tests, {dataset} (figure 6).",
        x_label="tests asked for",
        ticks=tuple(map(str, sizes)),
        series=tuple(
            Series(model, tuple(by.get((model, size)) for size in sizes))
            for model in dict.fromkeys(one.model for one in there)
        ),
    )
