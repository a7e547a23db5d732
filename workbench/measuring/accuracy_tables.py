"""Renders an accuracy report as tables, the same for a terminal, Markdown and LaTeX, and in sentences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from statistics import NormalDist
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import structs

from workbench.core import reasons
from workbench.core.options import TableForm
from workbench.core.selection import group_name, split_grouping
from workbench.core.taxonomy import UNTYPED
from workbench.core.text.emphasis import CHOSE
from workbench.core.text.figures import NONE, counted, interval, listed, number, p_value, percent, percent_interval
from workbench.measuring.entries import BASELINES, CONSTANTS
from workbench.measuring.judged import counting
from workbench.statistics.records.report import (
    METRICS,
    AccuracyReport,
    AccuracyRow,
    AverageRow,
    CellTests,
    NoisyRow,
    TransferRow,
)
from workbench.tables.document import Cell, Table
from workbench.tables.files import format_tables, lines_csv
from workbench.tables.table import Column, Columns, count, ends, metric_column, table, text, with_interval, word

_Line: TypeAlias = AccuracyRow | AverageRow


def accuracy_tables(report: AccuracyReport) -> tuple[Table, ...]:
    return (_main_table(report), *_transfer_table(report), *_label_noise_table(report))


def _label_noise_table(report: AccuracyReport) -> tuple[Table, ...]:
    if not report.label_noise:
        return ()
    columns: Columns[NoisyRow] = (
        word("verifier", lambda row: row.verifier),
        word("errors by", lambda row: row.source),
        metric_column("gold wrong", lambda row: row.wrong),
        *with_interval("measured", "measured"),
        *with_interval("without", "accuracy", "ci"),
    )
    note = "It assumes that label errors are independent of verdicts and equally frequent in both classes."
    unlikely = (
        "–: half of the labels may be wrong, or a verifier agrees with the labels more or less than such noise allows, "
        "so that errors are not independent."
    )
    has_none = any(row.ci is None and row.measured_ci is not None for row in report.label_noise)
    notes = (note, unlikely) if has_none else (note,)
    return (table("Accuracy against error-free labels.", columns, report.label_noise, notes=notes),)


def _main_table(report: AccuracyReport) -> Table:
    baselines = {row.verifier for row in report.rows if is_baseline(row)}
    return table(
        _caption(report),
        _columns(report),
        _table_lines(report),
        notes=_table_notes(report),
        kind=lambda line: "aside" if line.verifier in baselines else "",
    )


def _table_lines(report: AccuracyReport) -> Iterator[_Line]:
    averages = {row.verifier: row for row in report.averages if row.groups > 1}
    for row in report.rows:
        yield row
        if row.group is None and row.verifier in averages:
            yield averages[row.verifier]


def _columns(report: AccuracyReport) -> Columns[_Line]:
    tested = any(row.delta is not None for row in report.rows)
    others = (column for name in METRICS if name != "accuracy" for column in _metric_columns(name, report))
    return (
        word("verifier", lambda line: line.verifier + (f" {CHOSE}" if getattr(line, "selection_judge", False) else "")),
        word("group", lambda line: _group_text(line, report.by)),
        _only_row("n", lambda row: f"{row.n:,}"),
        metric_column("accuracy", lambda line: line.macro if isinstance(line, AverageRow) else line.accuracy),
        _only_row("95 % interval", lambda row: interval(row.ci)),
        _only_row("delta", lambda row: NONE if row.delta is None else f"{row.delta:+.3f}", there=tested),
        _only_row("q", lambda row: p_value(row.q), there=tested),
        *others,
    )


def _metric_columns(name: str, report: AccuracyReport) -> Iterator[Column[_Line]]:
    metric = METRICS[name]
    there = not metric.is_optional or any(getattr(row, name) is not None for row in report.rows)
    yield _only_row(metric.heading, lambda row: number(getattr(row, name)), there=there)
    if metric.interval:
        yield _only_row("95 % interval", lambda row: interval(getattr(row, metric.interval)))


def metric_columns(*names: str, of: str = "") -> Iterator[Column[Any]]:
    """Declare columns of some metrics of `AccuracyRow`.

    Args:
        of: The attribute of a record that has its `AccuracyRow`; empty if the record is one.
    """
    for name in names:
        yield metric_column(METRICS[name].heading, attrgetter(f"{of}.{name}" if of else name))


def _only_row(heading: str, shown: Callable[[AccuracyRow], str], *, there: bool = True) -> Column[_Line]:
    return text(heading, lambda line: "" if isinstance(line, AverageRow) else shown(line), there=there)


def _group_text(line: _Line, by: str | None) -> str:
    if isinstance(line, AverageRow):
        return f"macro over {line.groups} {'groups' if ',' in line.over else f'{line.over}s'}"
    return "all (micro)" if line.group is None else group_name(line.group, by)


def _caption(report: AccuracyReport, what: str = "Accuracy") -> str:
    return f"{what}: {counting(report.protocol, report.gold_choice, report.gold)}."


def _table_notes(report: AccuracyReport) -> tuple[str, ...]:
    means = "Micro is the mean over items"
    if any(one.macro is not None and one.groups > 1 for one in report.averages):
        means += ", macro the mean over groups"
    made = [f"Intervals: 95 %, clustered by question. {means}."]
    if report.tests is not None:
        against = "its type" if report.by and "subtype" in split_grouping(report.by) else "all items"
        made.append(f"Delta: a group's accuracy less that of {against}. q: {tests_in_words(report.tests)}.")
    return (*made, *report.notes)


def tests_in_words(tests: CellTests) -> str:
    over = f"Benjamini and Hochberg over {counted(tests.hypotheses, 'test')}"
    if tests.families > 1:
        over = f"Benjamini and Bogomolov over {counted(tests.hypotheses, 'test')} in {tests.families:,} families"
    drawn = f" ({tests.drawn:,} by draws, seed {tests.seed})" if tests.drawn else ""
    rough = f" ({tests.approximate:,} still by a normal distribution)" if tests.approximate else ""
    return f"{tests.method}{drawn}{rough}, after {over}"


def _transfer_table(report: AccuracyReport) -> tuple[Table, ...]:
    if not report.transfer:
        return ()
    first = report.transfer[0]
    expected, accepted = first.prevalence is not None, first.accept_rate is not None
    columns: Columns[TransferRow] = (
        word("verifier", lambda row: row.verifier),
        metric_column("accuracy", lambda row: row.accuracy, there=expected),
        ends(lambda row: row.ci, there=expected),
        metric_column("correct", lambda row: row.true_rate, there=accepted),
    )
    notes = []
    if expected:
        notes.append(f"Accuracy to expect where {first.prevalence:g} of completions are correct.")
    if accepted:
        notes.append(f"Share of correct completions where a verifier accepts {first.accept_rate:g} of them.")
    note = "This assumes that correct and incorrect completions there are like those here."
    return (table(" ".join(notes), columns, report.transfer, notes=(note,)),)


# -- The overview: verifiers as rows, answer types as columns. It answers the first question of most readers.


_WEAKEST = "↓"
"""Marks the type on which a verifier is weakest."""


def overview(report: AccuracyReport) -> Table:
    lines = _rows_of_all_items(report)
    cells = {(row.verifier, row.group): row for row in report.rows}
    worst = [found.row for line in lines if (found := weakest(report, line.verifier)) is not None]

    def accuracy_on(code: str, line: AccuracyRow) -> Cell:
        row = cells.get((line.verifier, code))
        return Cell(NONE) if row is None else Cell(number(row.accuracy), small=_WEAKEST if row in worst else "")

    sizes: dict[str, int] = {}
    for row in report.rows:
        if row.group is not None:
            sizes[row.group] = max(sizes.get(row.group, 0), row.n)
    codes = [] if set(sizes) <= {UNTYPED} else list(sizes)
    columns: Columns[AccuracyRow] = (
        word("verifier", lambda line: line.verifier + (f" {CHOSE}" if line.selection_judge else "")),
        *(text(code, partial(accuracy_on, code)) for code in codes),
        *with_interval("all", "accuracy", "ci"),
        metric_column("MCC", lambda line: line.mcc),
        count("n", lambda line: line.n),
        count("?", lambda line: line.abstain + line.error),
    )
    return table(
        _caption(report, "Accuracy by answer type" if codes else "Accuracy"),
        columns,
        lines,
        notes=(*_overview_notes(report, codes, sizes), *conclusion(report), *report.notes),
        kind=lambda line: "aside" if is_baseline(line) else "",
    )


def _overview_notes(report: AccuracyReport, codes: Sequence[str], sizes: Mapping[str, int]) -> tuple[str, ...]:
    made = "?: undecided verdicts (abstentions and errors). Intervals: 95 %, clustered by question."
    if not codes:
        return (made,)
    names = ", ".join(f"{group_name(code, 'type')} ({sizes[code]:,})" for code in codes)
    return (f"{names}; {_WEAKEST} a verifier's weakest type. {made}",)


# -- Accuracy reports as text, CSV, Markdown and LaTeX.


def accuracy_as(report: AccuracyReport, form: TableForm) -> str:
    if form.format == "csv":
        return accuracy_csv(report)
    tables = format_tables(accuracy_tables(report), form)
    return tables + _reasons_in_words(report) if form.format == "text" else tables


def overview_as(report: AccuracyReport, form: TableForm) -> str:
    return format_tables((overview(report), *_transfer_table(report)), form)


def accuracy_csv(report: AccuracyReport) -> str:
    """Render the report as CSV, with metrics at full precision; undefined metrics are empty.

    A name that a spreadsheet would take for a formula gets a leading apostrophe, and control characters are shown as
    pictures: names of models and sources come from others' files and must not be executed by the spreadsheet. JSON has
        all names unchanged.
    """
    averages = {average.verifier: average for average in report.averages}
    lines = [_csv_line(report, row, averages.get(row.verifier) if row.group is None else None) for row in report.rows]
    return lines_csv(lines, {})


def _csv_line(report: AccuracyReport, row: AccuracyRow, average: AverageRow | None) -> dict[str, object]:
    intervals = {
        metric.interval: getattr(row, metric.interval) or (None, None) for metric in METRICS.values() if metric.interval
    }
    low, high = intervals.pop("ci")

    def own(*names: str) -> dict[str, object]:
        return {name: getattr(row, name) for name in names}

    return {
        **own("verifier", "group", "n", "questions", "accuracy"),
        "ci_low": low,
        "ci_high": high,
        **own(*METRICS),
        "protocol": report.protocol,
        "gold": report.gold_choice,
        **own("kind", "delta", "p", "q"),
        "macro": average and average.macro,
        "macro_over": average and average.over,
        "deff": row.deff,
        "selection_judge": int(row.selection_judge),
        **{
            f"{name.removesuffix('_ci')}_{end}": value
            for name, ends_ in intervals.items()
            for end, value in zip(("low", "high"), ends_, strict=True)
        },
    }


def sorted_by(report: AccuracyReport, key: str) -> AccuracyReport:
    """Return the report with its verifiers sorted by name, or by a metric on all items, best first.

    Baselines come last, after verifiers without this metric.
    """
    order = [row.verifier for row in sorted(_rows_of_all_items(report), key=lambda row: _sort_key(row, key))]
    place = {name: at for at, name in enumerate(order)}
    parts = ("rows", "averages", "transfer")
    ordered = {part: sorted(getattr(report, part), key=lambda row: place[row.verifier]) for part in parts}
    return structs.replace(report, **ordered)


def accuracy_name(report: AccuracyReport, part: str = "") -> str:
    """Return the file name of a report.

    Args:
        part: The part of the data in the report, such as the type ``"A"``; empty for all data.
    """
    fields = split_grouping(report.by) if report.by else ()
    words = ("accuracy", part, *fields, report.protocol, report.gold_choice)
    return "-".join(word for word in words if word.isalnum())


def _rows_of_all_items(report: AccuracyReport) -> list[AccuracyRow]:
    return [row for row in report.rows if row.group is None]


def _sort_key(row: AccuracyRow, key: str) -> tuple[bool, bool, float, str]:
    name = row.verifier.casefold()
    if key == "name":
        return row.kind == "baseline", False, 0.0, name
    value = getattr(row, key)
    if value is not None and METRICS[key].better == "low":
        value = -value
    return row.kind == "baseline", value is None, -(value or 0.0), name


def _reasons_in_words(report: AccuracyReport) -> str:
    codes = sorted({row.group for row in report.rows if row.group is not None}) if report.by == "reason" else []
    known = [(code, reasons.title(code)) for code in codes if reasons.title(code)]
    width = max((len(code) for code, _ in known), default=0)
    return "".join(f"\n{code:<{width}}  {words}" for code, words in known) + ("\n" if known else "")


# -- The report in sentences: the most accurate verifier, those below the majority-class baseline, the weakest cell.


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
