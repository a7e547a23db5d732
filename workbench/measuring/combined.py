"""Tables of best-of-n, estimates and downstream scores in every format, with a sentence on each row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct, structs

from workbench.core.options import TableForm
from workbench.measuring.downstream import associations_table, downstream_head, is_curved, scores_table, steps_table
from workbench.measuring.downstream_scores import averages_table
from workbench.measuring.estimating import estimate_head, estimate_table, mix_table, verdict
from workbench.measuring.selecting import best_of_head, best_of_table
from workbench.statistics.records.combined import (
    BestOfReport,
    BestOfRow,
    DownstreamPoint,
    DownstreamReport,
    DownstreamRow,
    EstimateReport,
    EstimateRow,
)
from workbench.tables.document import Table
from workbench.tables.files import add_protocol_to_caption, flatten_columns, format_tables, metrics_csv

CombinedReport: TypeAlias = BestOfReport | EstimateReport | DownstreamReport
Record = TypeVar("Record", bound=Struct)
Standing = Literal["", "better", "worse", "not distinguishable"]


class RowWords(NamedTuple):
    """A description of a row.

    Attributes:
        standing: Whether the row is better or worse than what it is compared with, or not distinguishable; empty if it
            is not compared.
        words: Sentences about the row.
    """

    standing: Standing = ""
    words: tuple[str, ...] = ()


class CombinedTable(Struct, frozen=True, kw_only=True):
    """One table of a report.

    Attributes:
        name: The table's name in file names.
        records: The records behind its rows, with full-precision metrics.
        said: The description of each row.
        against: What the rows are compared with; empty if they are not compared.
        begin: Position of the row that is selected first.
    """

    name: str
    table: Table
    records: Sequence[Struct]
    said: Sequence[RowWords]
    against: str = ""
    begin: int = 0


def head(report: CombinedReport) -> str:
    match report:
        case BestOfReport():
            return best_of_head(report)
        case EstimateReport():
            return estimate_head(report)
        case DownstreamReport():
            return downstream_head(report)


def conclusion(report: CombinedReport) -> str:
    """Summarize the first table in a sentence; empty if it compares nothing."""
    first = next(_make_tables(report))
    stands = [said.standing for said in first.said if said.standing]
    if not stands:
        return " ".join(first.said[0].words) if isinstance(report, EstimateReport) and first.said else ""
    better, worse = (stands.count(one) for one in ("better", "worse"))
    alike = len(stands) - better - worse
    return f"Of {len(stands)} against {first.against}: {better} better, {worse} worse, {alike} not distinguishable."


def parts(report: CombinedReport) -> tuple[CombinedTable, ...]:
    return tuple(_make_tables(report))


def _make_tables(report: CombinedReport) -> Iterator[CombinedTable]:
    match report:
        case BestOfReport():
            picks = _make_table("best-of", best_of_table(report), report.rows, _describe_pick)
            choosing = next((place for place, one in enumerate(report.rows) if one.n > 1), 0)
            yield structs.replace(picks, against="a random pick", begin=choosing)
        case EstimateReport():
            yield _make_table("estimate", estimate_table(report), report.rows, partial(_describe_estimate, report))
            yield _make_table("mix", mix_table(report), report.mix)
        case DownstreamReport():
            yield _make_table("scores", scores_table(report), report.points, _describe_point)
            yield _make_table("downstream", associations_table(report), report.rows, _describe_reason)
            if is_curved(report.steps):
                yield _make_table("steps", steps_table(report.steps), report.steps)
            if report.averages:
                models = averages_table(report.averages, report.scored_by)
                yield _make_table("averages", models, report.averages)


def _make_table(
    name: str, table: Table, records: Sequence[Record], say: Callable[[Record], RowWords] = lambda _: RowWords()
) -> CombinedTable:
    return CombinedTable(name=name, table=table, records=records, said=tuple(map(say, records)))


# -- Sentences of rows.


def _describe_pick(one: BestOfRow) -> RowWords:
    if one.reason is not None:
        return RowWords(words=(one.reason,))
    if one.n == 1:
        return RowWords(words=("A single completion leaves no choice.",))
    if not one.mixed:
        return RowWords(words=("No question has correct and incorrect completions: no pick can beat a random one.",))
    if one.gain_ci is None:
        few = "there is one question only" if one.questions < 2 else "it is the same in every question"
        return RowWords("not distinguishable", (f"The gain has no interval: {few}.",))
    low, high = one.gain_ci
    return RowWords("better" if low > 0 else "worse" if high < 0 else "not distinguishable")


def _describe_estimate(report: EstimateReport, one: EstimateRow) -> RowWords:
    return RowWords(words=(verdict(report),)) if one is report.rows[0] else _describe_reason(one)


def _describe_point(one: DownstreamPoint) -> RowWords:
    missing = []
    if one.accuracy is None:
        missing.append("No item counts under this protocol.")
    if one.score_ci is None and one.benchmark is not None:
        missing.append("The score has no interval: its benchmark's n is not given or 1, or the scores are not shares.")
    return RowWords(words=tuple(missing))


def _describe_reason(one: DownstreamRow | EstimateRow) -> RowWords:
    return RowWords(words=() if one.reason is None else (one.reason,))


# -- Output in every format.


def combined_as(report: CombinedReport, place: int, form: TableForm) -> str:
    part = parts(report)[place]
    if form.format == "csv":
        lines = [dict(_csv_cells(record)) for record in part.records]
        return metrics_csv(lines, report.protocol, report.gold_choice)
    return format_tables([add_protocol_to_caption(part.table, report.protocol, report.gold_choice)], form)


def combined_name(report: CombinedReport, place: int) -> str:
    return f"{parts(report)[place].name}-{report.protocol}-{report.gold_choice}"


def _csv_cells(record: Struct) -> Iterator[tuple[str, Any]]:
    for name, value in flatten_columns(structs.asdict(record)):
        yield name, " ".join(map(str, value)) if isinstance(value, list) else value
