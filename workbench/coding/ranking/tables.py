"""Render rankings of verifiers, pass@k, saturation and histograms of a selection, in every format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from workbench.coding.ranking.scores import runs_in_words
from workbench.coding.records.figures import (
    Bins,
    HistogramReport,
    HistogramsReport,
    ModelPasses,
    OutcomeShares,
    PassReport,
    PassRow,
    SaturationReport,
    SaturationRow,
    SharesOfTests,
)
from workbench.core.errors import Command, opt
from workbench.core.options import TableForm
from workbench.core.text.figures import (
    NONE,
    aligned,
    bar,
    counted,
    interval,
    interval_bar,
    number,
    percent,
    percent_interval,
    points,
)
from workbench.core.text.inert import inert
from workbench.statistics.records.ranking import (
    DROPPED,
    SHORTFALLS,
    Ends,
    ProblemMetrics,
    RankingReport,
    RankingRow,
    SelectedLine,
    SelectedProblems,
)
from workbench.tables.document import Cell, Table
from workbench.tables.files import format_tables, records_csv
from workbench.tables.table import (
    Column,
    Columns,
    aligned_rows,
    column,
    count,
    ends,
    metric_column,
    table,
    text,
    with_interval,
    word,
)

_BAR = 40
_INTERVAL_BAR = 30


# -- Rankings.


def ranking_as(report: RankingReport, form: TableForm, *, by_problem: bool, across: bool = False) -> str:
    """Render the report in a format; CSV has full precision.

    Args:
        by_problem: Whether to render one line for each problem instead of each data set.
        across: Whether data sets are columns, as in the paper's tables 2 and 4.
    """
    if form.format == "csv":
        return records_csv(report.problems if by_problem else report.rows, {"truth": report.truth})
    tables = {(True, False): _problem_table, (False, True): _across_table}
    return format_tables([tables.get((by_problem, across), ranking_table)(report)], form)


def _across_table(report: RankingReport) -> Table:
    by = {(row.verifier, row.dataset): row for row in report.rows}
    datasets = dict.fromkeys(row.dataset for row in report.rows if row.problems)

    def of_dataset(dataset: str) -> Columns[str]:
        return (
            column(f"{dataset} Top-1", lambda name: by[name, dataset].top1, percent),
            metric_column("Spearman", lambda name: by[name, dataset].spearman),
            column("Bottom-1", lambda name: by[name, dataset].bottom1, percent),
            metric_column("MAE", lambda name: by[name, dataset].mae),
        )

    def name(verifier: str) -> str:
        return f"{verifier}*" if any(by[verifier, dataset].normalised for dataset in datasets) else verifier

    columns: Columns[str] = (word("verifier", name), *(one for dataset in datasets for one in of_dataset(dataset)))
    problems = ", ".join(
        f"{name} {max(row.problems for row in report.rows if row.dataset == name):,}" for name in datasets
    )
    about = f"truth: {_truth_text(report)}; problems: {problems}"
    caption = f"How well verifiers rank and score solutions (tables 2 and 4); {about}"
    return table(caption, columns, dict.fromkeys(row.verifier for row in report.rows), notes=_ranking_notes(report))


def ranking_table(report: RankingReport) -> Table:
    columns: Columns[RankingRow] = (
        word("verifier", lambda one: f"{one.verifier}*" if one.normalised else one.verifier),
        word("data set", lambda one: one.dataset),
        count("problems", lambda one: one.problems),
        column("coverage", lambda one: one.coverage, percent),
        text("Top-1", lambda one: Cell(percent(one.top1), small=_ends_text(one.top1_ci, percent_interval))),
        column("Bottom-1", lambda one: one.bottom1, percent),
        text("Spearman", lambda one: Cell(number(one.spearman), small=_ends_text(one.spearman_ci, interval))),
        metric_column("Kendall", lambda one: one.kendall),
        metric_column("MAE", lambda one: one.mae),
        metric_column("R²", lambda one: one.r2),
        count("undefined", lambda one: one.spearman_undefined),
    )
    caption = f"How well verifiers rank and score solutions; truth: {_truth_text(report)}"
    return table(caption, columns, report.rows, notes=_ranking_notes(report))


def _ends_text(ends: Ends | None, text: Callable[[Ends], str]) -> str:
    return "" if ends is None else text(ends)


def _problem_table(report: RankingReport) -> Table:
    columns: Columns[ProblemMetrics] = (
        word("verifier", lambda one: one.verifier),
        word("data set", lambda one: one.dataset),
        word("problem", lambda one: str(one.task_id)),
        count("solutions", lambda one: one.solutions),
        column("Top-1", lambda one: one.top1, percent),
        column("Bottom-1", lambda one: one.bottom1, percent),
        metric_column("Spearman", lambda one: one.spearman),
        metric_column("Kendall", lambda one: one.kendall),
        metric_column("MAE", lambda one: one.mae),
    )
    caption = f"How well verifiers rank and score the solutions of each problem; truth: {_truth_text(report)}"
    return table(caption, columns, report.problems, notes=exclusion_notes(report))


def _truth_text(report: RankingReport) -> str:
    of = f" on {runs_in_words(report.truth_runs)}" if report.truth_runs else ""
    selected = "" if report.k is None else f", {report.k} selected solutions of each problem"
    return f"{report.truth}{of}{selected}"


def _ranking_notes(report: RankingReport) -> Iterator[str]:
    yield (
        "Top-1 and Bottom-1 in %: the best (worst) solution has the highest (lowest) score, ties share. They and the "
        "coefficients are means over problems; MAE and R² are over all solutions."
    )
    yield ("undefined: problems without coefficients (one solution, or equal scores): they count as 0 there.")
    if report.missing is not None:
        yield "coverage: solutions that the verifier itself gives a score, in %, of those with true scores."
    yield (
        f"95 % intervals: percentiles of {report.samples:,} samples of problems, seed {report.seed}; none where all "
        f"samples are equal. JSON and CSV have those of every metric."
    )
    if any(row.normalised for row in report.rows):
        yield "* scores are not shares of tests: each problem's are stretched to 0 to 1 before MAE and R²."
    yield from exclusion_notes(report)


def exclusion_notes(report: RankingReport) -> Iterator[str]:
    yield from scores_missing(report)
    if report.left_out:
        missing = ", ".join(f"{name} {count:,}" for name, count in report.lacking.items())
        text = counted(report.left_out, "problem")
        yield f"Left out: {text} in which a score is missing for some solution (by verifier: {missing})."
    if report.refused:
        yield f"{counted(report.refused, 'line')} of the file were rejected; their problems are measured without them."


def scores_missing(report: RankingReport) -> Iterator[str]:
    if report.selected is not None:
        yield from selection_notes(report.selected, report.k)
    for one in report.partial:
        yield (
            f"Left out: {one.verifier} has judged {one.judged:,} of {one.solutions:,} solutions; "
            f"{opt.verifier:{one.verifier}} measures it on what it has."
        )
    if report.filled:
        many = ", ".join(f"{name} {count:,}" for name, count in report.filled.items())
        yield f"Missing scores of a verifier count as its lowest, 0 for shares ({many}; {opt.missing})"


def selection_notes(found: SelectedProblems, k: int | None) -> Iterator[str]:
    if found.stand_ins:
        yield (
            f"Ground truth not known: {counted(found.stand_ins, 'problem')} of {found.problems:,}; the fastest perfect "
            "solution replaces it."
        )
    if found.without_ground_truth:
        none = counted(found.without_ground_truth, "problem")
        yield f"Left out: {none} with neither a known ground truth nor a perfect solution."
    if found.stand_ins or found.without_ground_truth:
        yield f"{Command('code select DB', write='FILE')} runs their reference solutions; import and measure FILE then."
    if found.without_scores:
        yield f"Left out: {counted(found.without_scores, 'problem')} without a solution that has a true score."
    if found.fewer:
        yield f"Fewer than {k} solutions are selected in {counted(found.fewer, 'problem')} of {found.problems:,}."


# -- pass@k.


def passes_as(report: PassReport, form: TableForm) -> str:
    if form.format == "csv":
        return records_csv(report.models or report.rows, {"judge": report.judge})
    return format_tables(passes_tables(report), form)


def passes_tables(report: PassReport) -> list[Table]:
    tables = [_passes_table(report)]
    return [*tables, _models_table(report)] if report.models else tables


def _models_table(report: PassReport) -> Table:
    def on(dataset: str) -> Column[ModelPasses]:
        return column(dataset, lambda one: one.values[dataset], percent)

    above: Columns[ModelPasses] = (
        column("points", lambda one: one.delta, points),
        column("Δ %", lambda one: one.gain, points),
    )
    columns: Columns[ModelPasses] = (
        word("model", lambda one: one.model),
        text("k", lambda one: str(one.k)),
        *map(on, report.models[0].values),
        column("average", lambda one: one.average, percent),
        *(above if report.against is not None else ()),
    )
    notes = ["Average: all data sets have equal weight."]
    if report.against is not None:
        notes.append(f"points: of the average above {report.against}'s.")
        notes.append(f"Δ %: how far {report.against}'s average is above this one, in % of this one.")
    if report.unnamed:
        notes.append(f"Not shown: {counted(report.unnamed, 'solution')} without a known model.")
    caption = "pass@k in % of each model's solutions by data set"
    return table(caption, columns, report.models, notes=notes)


def _passes_table(report: PassReport) -> Table:
    columns: Columns[PassRow] = (
        word("data set", lambda one: one.dataset),
        text("k", lambda one: str(one.k)),
        column("pass@k", lambda one: one.value, percent),
        ends(lambda one: one.ci, percent_interval),
        count("problems", lambda one: one.problems),
        count("fewer than k", lambda one: one.fewer),
        count("solutions", lambda one: one.solutions),
    )
    caption = f"pass@k in %: at least one of k solutions passes; by {report.judge}"
    return table(caption, columns, report.rows, notes=_passes_notes(report))


def _passes_notes(report: PassReport) -> Iterator[str]:
    yield "Mean over problems of 1 - C(n - c, k) / C(n, k) with c of n solutions passing; the interval goes by problem."
    short = max((one.fewer for one in report.rows), default=0)
    if short:
        yield f"Problems with fewer than k solutions don't count: {short:,} at the largest k."
    if report.unknown:
        solutions = counted(report.unknown, "solution")
        yield f"Left out: {solutions} that neither pass nor fail: not run, or judged with an error."


# -- How many tests are enough.


def saturation_as(report: SaturationReport, form: TableForm) -> str:
    if form.format == "csv":
        every = {"definition": report.definition, "resamples": report.resamples, "seed": report.seed}
        return records_csv(report.rows, every)
    return format_tables([saturation_table(report)], form)


def saturation_table(report: SaturationReport) -> Table:
    columns: Columns[SaturationRow] = (
        word("", lambda one: interval_bar(one.rho, *(one.problems_ci or one.ci), _INTERVAL_BAR, report.target)),
        text("k", lambda one: str(one.k)),
        *with_interval("rho", "rho", "ci"),
        metric_column("sigma", lambda one: one.sigma),
        column("over problems", lambda one: one.problems_ci, interval),
        text("undefined", lambda one: f"{percent(one.undefined)} %"),
    )
    caption = (
        f"Spearman between scores on k tests and on all tests of {runs_in_words(report.truth_runs)}: "
        f"{counted(report.problems, 'problem')}, {report.resamples:,} resamples, seed {report.seed} "
        f"(definition {report.definition})"
    )
    return table(caption, columns, report.rows, notes=_saturation_notes(report))


def _saturation_notes(report: SaturationReport) -> Iterator[str]:
    if not report.problems:
        yield "No metrics: no problem is left."
    elif report.enough is None:
        yield f"No k shown is enough: no interval is at or above {report.target:g}."
    else:
        yield f"Enough: k = {report.enough}, the first whose interval is at or above {report.target:g}."
    yield (
        "Tests are drawn without replacement; an undefined coefficient counts as 0. The interval and sigma are over "
        "resamples: how exactly the mean is known for these problems. Over problems: how far other problems may differ."
    )
    if report.few_tests:
        text = counted(report.few_tests, "problem")
        yield f"Left out: {text} with fewer than {report.least_tests} tests, or not run."
    if report.one_score:
        yield f"Left out: {counted(report.one_score, 'problem')} whose solutions all have the same score."


# -- Histograms.


def histograms_text(report: HistogramsReport) -> str:
    parts = [part for one in report.histograms for part in _histogram_parts(one)]
    if report.shares:
        lines = [line for one in report.shares for line in _share_lines(one)]
        parts.append("Outcomes of tests, in %\n" + aligned_rows(_SHARES, lines))
    return "\n\n".join(parts or ["No problem has a selection."]) + "\n"


def _histogram_parts(one: HistogramReport) -> Iterator[str]:
    name = f"{inert(one.dataset)}: " if one.dataset else ""
    yield (
        f"{name}{counted(one.problems, 'problem')}, {counted(one.solutions, 'solution')} selected, "
        f"mean score {one.mean_score:.2f}"
        + ("" if one.mean_tests is None else f", {one.mean_tests:.1f} tests a problem")
    )
    for title, bins in (("Scores of the selected solutions", one.scores), ("Best less worst score", one.gaps)):
        yield f"{title}\n{_bins_text(bins)}"
    yield "Selected solutions of a problem\n" + _bars_text({str(size): count for size, count in one.sizes.items()})
    for given in one.given:
        mean = NONE if given.mean_score is None else f"{given.mean_score:.2f}"
        without = f", {given.without:,} without a score" if given.without else ""
        head = f"Scores of the same solutions by {inert(given.verifier)}, run {given.run} (mean {mean}{without})"
        yield f"{head}\n{_bins_text(given.scores)}"


def _bins_text(bins: Bins) -> str:
    return _bars_text(dict(zip((f"{edge:.2f}" for edge in bins.edges), bins.counts, strict=False)))


def _bars_text(counts: Mapping[str, int]) -> str:
    most = max([*counts.values(), 1])
    lines = [(name, f"{count:,}", bar(count / most, _BAR)) for name, count in counts.items()]
    return aligned(lines, left=(0, 2))


class _ShareLine(NamedTuple):
    one: OutcomeShares
    of: str
    found: SharesOfTests


_SHARES: Columns[_ShareLine] = (
    word("verifier", lambda line: line.one.verifier),
    text("run", lambda line: str(line.one.run)),
    word("suite", lambda line: line.one.suite),
    word("data set", lambda line: line.one.dataset),
    word("of", lambda line: line.of),
    count("solutions", lambda line: line.found.solutions),
    count("tests", lambda line: line.found.tests),
    column("passed", lambda line: line.found.passed, percent),
    column("assertion", lambda line: line.found.assertion, percent),
    column("other", lambda line: line.found.other, percent),
)


def _share_lines(one: OutcomeShares) -> Iterator[_ShareLine]:
    yield _ShareLine(one, "all", one.every)
    if one.ground_truth is not None:
        yield _ShareLine(one, "ground truths", one.ground_truth)


def selection_lines(lines: Sequence[SelectedLine]) -> Iterator[str]:
    solutions = sum(len(line.selected) for line in lines)
    yield f"{counted(len(lines), 'problem')}, {counted(solutions, 'solution')} selected."
    stand_ins = sum(line.ground_truth_from == "stand_in" for line in lines)
    if stand_ins:
        yield f"{counted(stand_ins, 'problem')}: the fastest perfect solution replaces the ground truth."
    if any(line.rules == "formula" for line in lines):
        known = [line for line in lines if line.ground_truth is not None]
        first = sum(line.selected[:1] == [line.ground_truth] for line in known)
        of = counted(len(known), "problem")
        yield f"{opt.rules:formula} keeps no ground truth: it has rank 1 in {first:,} of {of}."
    dropped = Counter(why for line in lines for why, ids in line.dropped.items() for _ in ids)
    for why, words in DROPPED.items():
        if dropped[why]:
            yield f"{counted(dropped[why], 'solution')} left out: {words}."
    for reason, n in sorted(Counter(line.reason for line in lines if line.reason is not None).items()):
        yield f"{counted(n, 'problem')} with fewer than {lines[0].k}: {SHORTFALLS[reason]}."
