"""Sections of the report with metrics: accuracy by group, comparisons, bias checks, verdicts, scores, costs, causes of
errors, code."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from workbench.core.selection import group_name
from workbench.core.text.excerpt import shorten_line
from workbench.core.text.figures import NONE, counted, shade
from workbench.measuring.accuracy_tables import accuracy_tables, is_baseline
from workbench.measuring.costs import cost_plot, cost_table
from workbench.measuring.family import members_table, pairs_table, ranking
from workbench.measuring.report.common import (
    ColourScale,
    accuracy_plot,
    by_cell,
    decimal,
    own,
    plots,
    ranked,
    selected_by_note,
    share,
    sizes,
    verifier_name,
)
from workbench.measuring.report.contents import ConfusionCounts, Contents, Scores
from workbench.measuring.reviewing.triage import cause_columns
from workbench.measuring.testing import FATES, Fate, ProblemFigures, SuiteFigures, TestFigures
from workbench.measuring.validity import COMPARING, ValidityFinding
from workbench.statistics.records.comparison import LEVEL
from workbench.statistics.records.report import AccuracyReport, AccuracyRow
from workbench.tables.document import (
    Block,
    Cell,
    Dot,
    Facts,
    Group,
    Head,
    Histogram,
    Intervals,
    Paragraph,
    Row,
    Scatter,
    Section,
    Table,
    difference,
    percentage,
)
from workbench.tables.table import Column, Columns, count, table, text, word

_OPEN = ("type", "subtype", "domain")
"""Breakdowns that are not collapsed."""
_MARK = "*"
"""Marks a q-value below `LEVEL`."""
_MAX_GROUPS = 60
_WORDS = {
    "type": "answer type",
    "subtype": "answer subtype",
    "model": "the model that wrote the completion",
    "length": "length of the completion (characters)",
    "dataset": "data set",
}
_IN_FULL = ("type", "subtype", "domain")


def breakdown_section(contents: Contents) -> Section | None:
    blocks: list[Block] = []
    for by, report in contents.by.items():
        tables = (_group_table(contents, by, report),)
        blocks.append(Group(title=f"By {_WORDS.get(by, by)}", blocks=tables, folded=by not in _OPEN))
        if by == "type":
            blocks.append(_type_plots(contents, report))
    return Section("breakdown", "Accuracy by group", tuple(blocks)) if blocks else None


def _type_plots(contents: Contents, report: AccuracyReport) -> Group:
    drawn = list(type_plots(contents, report).values())
    return plots("Answer types with intervals", drawn, folded=len(own(contents)) > 12)


def type_plots(contents: Contents, report: AccuracyReport) -> dict[str, Intervals]:
    cells = by_cell(report)
    return {
        group: accuracy_plot(
            f"{group_name(group, 'type')}: accuracy (%) with its 95 % interval.",
            [cells[row.verifier, group] for row in own(contents) if (row.verifier, group) in cells],
            report,
            group,
        )
        for group in sizes(report)
        if group is not None
    }


def _group_table(contents: Contents, by: str, report: AccuracyReport) -> Table:
    cells, size, scale = by_cell(report), sizes(report), ColourScale(report.rows)
    groups = [group for group in size if group is not None]
    shown = set(sorted(groups, key=lambda group: -size[group])[:_MAX_GROUPS])

    def of(verifier: AccuracyRow) -> Column[str | None]:
        def cell(group: str | None) -> Cell:
            row = cells.get((verifier.verifier, group))
            return scale.cell(row, delta(row))

        return text(verifier_name(verifier), cell)

    columns: Columns[str | None] = (
        word("Group", lambda group: group_name(group, by)),
        count("n", lambda group: size.get(group, 0)),
        *map(of, ranked(contents)),
    )
    left_out = len(groups) - len(shown)
    return table(
        f"Accuracy (%) by {_WORDS.get(by, by)}, and in small print the difference from "
        f"{'the type' if by == 'subtype' else 'all items'} in points. "
        f"Protocol {report.protocol}, gold {report.gold_choice}.",
        columns,
        [*(group for group in groups if group in shown), None],
        notes=(
            scale.note,
            *_test_notes(contents, report),
            *selected_by_note(report.rows),
            *((f"{left_out:,} smaller groups are left out here.",) if left_out else ()),
        ),
        kind=lambda group: "total" if group is None else "",
    )


def delta(row: AccuracyRow | None) -> str:
    if row is None or row.delta is None or is_baseline(row):
        return ""
    return f"{difference(row.delta)}{_MARK if row.is_significant else ''}"


def _test_notes(contents: Contents, report: AccuracyReport) -> tuple[str, ...]:
    notes = tuple(note for note in report.notes if note not in contents.overall.notes)
    if report.tests is None:
        return notes
    return (
        f"{_MARK} q < {LEVEL}: {report.tests.method}, this table's {report.tests.hypotheses:,} tests among all of the "
        "report (Benjamini and Bogomolov).",
        *notes,
    )


def tables_section(contents: Contents) -> Section | None:
    groups: list[Block] = [
        Group(title=f"Accuracy by {by}", blocks=accuracy_tables(contents.by[by]), folded=True)
        for by in _IN_FULL
        if by in contents.by
    ]
    return Section("appendix", "Appendix: all metrics", tuple(groups)) if groups else None


# -- Verifiers against each other.


_MAX_PAIRS = 40
"""Most rows of pairs that are not collapsed."""


def comparison_section(contents: Contents) -> Section | None:
    found = contents.family
    if found is None or not found.family:
        return None
    pairs = Group(title="Every pair", blocks=(pairs_table(found),), folded=len(found.family) > _MAX_PAIRS)
    return Section("comparison", "Comparison", (Paragraph(ranking(found)), members_table(found), pairs))


# -- Bias checks of verdicts.


def validity_section(contents: Contents) -> Section | None:
    found = contents.validity
    if found is None or not found.findings:
        return None
    striking = [finding for finding in found.findings if finding.stands_out]
    blocks: list[Block] = [Paragraph(note) for note in found.notes]
    if striking:
        blocks.append(Facts(tuple((_finding_name(finding), finding.sentence) for finding in striking)))
    else:
        blocks.append(Paragraph("No check stands out."))
    columns: Columns[ValidityFinding] = (
        word("Check", _finding_name),
        count("n", lambda finding: finding.n),
        text("Figure", lambda finding: _value_format(finding)(finding.estimate)),
        text("95 % interval", _interval_text),
    )
    caption = "Every check: a share in per cent, or a difference of shares in points, with its 95 % interval."
    every = table(caption, columns, found.findings)
    blocks.append(Group(title="Every check", blocks=(every,), folded=True))
    return Section("validity", "Bias and validity", tuple(blocks))


def _finding_name(finding: ValidityFinding) -> str:
    return f"{finding.check}, {finding.verifier or 'labels'}"


def _value_format(finding: ValidityFinding) -> Callable[[float | None], str]:
    return difference if finding.check in COMPARING else percentage


def _interval_text(finding: ValidityFinding) -> str:
    return NONE if finding.ci is None else " to ".join(map(_value_format(finding), finding.ci))


# -- Each verifier's verdicts and scores on correct and on incorrect completions.


def confusion_section(contents: Contents) -> Section | None:
    known = {found.verifier: found for found in contents.confusions}
    tables = tuple(_confusion_table(known[row.verifier]) for row in own(contents) if row.verifier in known)
    if not tables:
        return None
    title = "Verdicts by gold, and in small print the share of the row (%)"
    return Section("confusion", "Confusion matrices", (Group(title=title, blocks=tables, layout="grid"),))


def _confusion_table(found: ConfusionCounts) -> Table:
    rows = (("correct", found.of_correct), ("incorrect", found.of_incorrect))
    return Table(
        caption=found.verifier,
        head=((Head("Gold"), Head("correct"), Head("incorrect"), Head("undecided")),),
        rows=tuple(
            Row((Cell(name), *(_share_cell(number, sum(counts)) for number in counts))) for name, counts in rows
        ),
    )


def _share_cell(number: int, whole: int) -> Cell:
    if not whole:
        return Cell("0")
    return Cell(f"{number:,}", shade=shade(number / whole, 0.0, 1.0), small=percentage(number / whole))


# -- Scores.


def cost_section(contents: Contents) -> Section | None:
    if contents.costs is None:
        return None
    plot = cost_plot(contents.costs)
    blocks: tuple[Block, ...] = (cost_table(contents.costs, clock=False), *(() if plot is None else (plot,)))
    return Section("costs", "What verdicts take", blocks)


def scores_section(contents: Contents) -> Section | None:
    if not contents.scores:
        return None
    plots: list[Block] = []
    for found in contents.scores:
        plots.append(spread_plot(found))
        if found.probability:
            plots.append(calibration_plot(found))
    group = Group(title="Scores by gold", blocks=tuple(plots), layout="grid")
    return Section("scores", "Scores", (group,))


def spread_plot(found: Scores) -> Histogram:
    return Histogram(
        caption=f"{found.verifier}: scores of {found.n:,} items with gold, AUROC {decimal(found.auroc)}.",
        edges=(found.bins[0].low, *(one.high for one in found.bins)),
        first=tuple(one.correct for one in found.bins),
        second=tuple(one.incorrect for one in found.bins),
        names=("gold correct", "gold incorrect"),
        mark=found.threshold,
    )


def calibration_plot(found: Scores) -> Scatter:
    dots = tuple(
        Dot(f"{one.correct + one.incorrect:,}", one.mean, one.rate)
        for one in found.bins
        if one.mean is not None and one.rate is not None
    )
    return Scatter(
        caption=f"{found.verifier}: share correct (%) against the mean score, by tenths, each with its items. On the "
        "line a score is the chance of being correct.",
        x_label="mean score",
        y_label="share correct",
        dots=dots,
        diagonal=True,
    )


# -- Causes of errors, as reviewers assigned them in triage.


def causes_section(contents: Contents) -> Section | None:
    if not contents.causes:
        return None
    caption = "Causes of verifiers' errors over all items, as assigned by reviewers, by answer type"
    causes = table(caption, cause_columns(contents.causes, named=True), contents.causes)
    return Section("causes", "Causes of errors", (causes,))


# -- Code: pass@1 by problem, tests that carry no information, ranked solutions.


_TOLD: tuple[Fate, ...] = ("none", "all", "broken", "apart")
"""Results of tests that are listed test by test."""
_MAX_TESTS = 200
_MAX_PROBLEMS = 10
_MAX_TEXT = 120


def testing_section(contents: Contents) -> Section | None:
    blocks = [block for figures in contents.tests for block in _suite_blocks(figures)]
    return Section("tests", "Solutions against their tests", tuple(blocks)) if blocks else None


def testing_sentence(figures: SuiteFigures) -> str:
    tests = figures.tests
    solutions = sum(problem.solutions for problem in figures.problems)
    parts = [f"{counted(sum(test.fate == fate for test in tests), 'test')} {FATES[fate]}" for fate in _TOLD]
    there = [part for part in parts if not part.startswith("0 ")]
    mean = "–" if figures.pass_at_1 is None else f"{percentage(figures.pass_at_1)} %"
    lost = f" The sandbox died on {counted(figures.lost, 'solution')}: not counted." if figures.lost else ""
    return (
        f"{figures.verifier} (run {figures.run}) ran {counted(solutions, 'solution')} of "
        f"{counted(len(figures.problems), 'problem')} against {counted(len(tests), 'test')} of suite {figures.suite}: "
        f"pass@1 {mean} (mean over problems){'; ' if there else ''}{', '.join(there)}.{lost}"
    )


def _suite_blocks(figures: SuiteFigures) -> Iterator[Block]:
    yield Paragraph(testing_sentence(figures))
    several = len({problem.dataset for problem in figures.problems}) > 1
    yield table(f"Problems, suite {figures.suite}.", _problem_columns(several=several), figures.problems)
    tests = [test for fate in _TOLD for test in figures.tests if test.fate == fate]
    if tests:
        left = len(tests) - _MAX_TESTS
        notes = (f"{left:,} more are left out here: export the table tests for all.",) if left > 0 else ()
        blocks = (table("Tests that distinguish no solutions.", _TESTS, tests[:_MAX_TESTS], notes=notes),)
        yield Group(title=f"Tests of {figures.suite} that all or no solutions pass", blocks=blocks, folded=left > 0)


def _ranking_text(problem: ProblemFigures) -> str:
    shown = [f"{name} ({passed})" for name, passed in problem.order[:_MAX_PROBLEMS]]
    more = len(problem.order) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def _problem_columns(*, several: bool) -> Columns[ProblemFigures]:
    return (
        word("Problem", lambda row: row.task_id),
        word("Data set", lambda row: row.dataset, there=several),
        count("Solutions", lambda row: row.solutions),
        share("pass@1", lambda row: row.pass_at_1),
        count("Tests", lambda row: len(row.tests)),
        count("by all", lambda row: row.count("all"), over="passed"),
        count("by none", lambda row: row.count("none"), over="passed"),
        count("broken", lambda row: row.count("broken"), over="not counted"),
        count("excluded", lambda row: row.count("apart"), over="not counted"),
        word("Solutions in order (tests passed)", _ranking_text),
    )


_TESTS: Columns[TestFigures] = (
    word("Problem", lambda row: row.task_id),
    word("Test", lambda row: str(row.position + 1)),
    word("Outcome", lambda row: FATES[row.fate]),
    word("Why", lambda row: row.why),
    word("Source", lambda row: shorten_line(row.source, _MAX_TEXT - 1)),
)
