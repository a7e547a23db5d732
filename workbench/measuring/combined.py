"""Tables of best of n, estimates and downstream scores: rows, each with a sentence, in every format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct, structs

from workbench.core.options import TableForm
from workbench.measuring.downstream import associations_table, downstream_head, scores_table
from workbench.measuring.estimating import estimate_head, estimate_table, mix_table, verdict
from workbench.measuring.selecting import best_of_head, best_of_table
from workbench.measuring.trained import averages_table
from workbench.measuring.training_steps import is_curved, steps_table
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
from workbench.tables.files import figures_csv, flat, with_counting, written

CombinedReport: TypeAlias = BestOfReport | EstimateReport | DownstreamReport
Record = TypeVar("Record", bound=Struct)
Standing = Literal["", "better", "worse", "not distinguishable"]


class RowWords(NamedTuple):
    """A row in words.

    Attributes:
        standing: The result of its comparison; empty if it is not compared.
        words: Sentences.
    """

    standing: Standing = ""
    words: tuple[str, ...] = ()


class CombinedTable(Struct, frozen=True, kw_only=True):
    """One table of a report.

    Attributes:
        name: Its name in file names.
        records: The records behind its rows, with full-precision metrics.
        said: The sentences of each row.
        against: What rows are compared with; empty if they are not compared.
        begin: The row that is shown first.
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
    first = next(_parts(report))
    stands = [said.standing for said in first.said if said.standing]
    if not stands:
        return " ".join(first.said[0].words) if isinstance(report, EstimateReport) and first.said else ""
    better, worse = (stands.count(one) for one in ("better", "worse"))
    alike = len(stands) - better - worse
    return f"Of {len(stands)} against {first.against}: {better} better, {worse} worse, {alike} not distinguishable."


def parts(report: CombinedReport) -> tuple[CombinedTable, ...]:
    return tuple(_parts(report))


def headings(table: Table) -> Iterator[str]:
    above = [(heading.text, place) for line in table.head[:-1] for heading in line for place in range(heading.span)]
    for place, own in enumerate(table.head[-1]):
        text, within = above[place] if above else ("", 0)
        yield f"{text} {own.text}".strip() if within == 0 else own.text


def _parts(report: CombinedReport) -> Iterator[CombinedTable]:
    match report:
        case BestOfReport():
            picks = _part("best-of", best_of_table(report), report.rows, _of_pick)
            choosing = next((place for place, one in enumerate(report.rows) if one.n > 1), 0)
            yield structs.replace(picks, against="a random pick", begin=choosing)
        case EstimateReport():
            yield _part("estimate", estimate_table(report), report.rows, partial(_of_estimate, report))
            yield _part("mix", mix_table(report), report.mix, _of_nothing)
        case DownstreamReport():
            yield _part("scores", scores_table(report), report.points, _of_point)
            yield _part("downstream", associations_table(report), report.rows, _of_association)
            if is_curved(report.steps):
                yield _part("steps", steps_table(report.steps), report.steps, _of_nothing)
            if report.averages:
                models = averages_table(report.averages, report.scored_by)
                yield _part("averages", models, report.averages, _of_nothing)


def _part(name: str, table: Table, records: Sequence[Record], say: Callable[[Record], RowWords]) -> CombinedTable:
    return CombinedTable(name=name, table=table, records=records, said=tuple(map(say, records)))


# -- Sentences of rows.


def _of_pick(one: BestOfRow) -> RowWords:
    if one.reason is not None:
        return RowWords(words=(one.reason,))
    if one.n == 1:
        return RowWords(words=("There is nothing to choose from one.",))
    if not one.mixed:
        return RowWords(words=("No question has correct and incorrect completions: no pick can beat a random one.",))
    if one.gain_ci is None:
        few = "there is one question only" if one.questions < 2 else "it is the same in every question"
        return RowWords("not distinguishable", (f"The gain has no interval: {few}.",))
    low, high = one.gain_ci
    return RowWords("better" if low > 0 else "worse" if high < 0 else "not distinguishable")


def _of_estimate(report: EstimateReport, one: EstimateRow) -> RowWords:
    if one is report.rows[0]:
        return RowWords(words=(verdict(report),))
    return RowWords(words=() if one.reason is None else (one.reason,))


def _of_point(one: DownstreamPoint) -> RowWords:
    missing = []
    if one.accuracy is None:
        missing.append("No item counts here under this protocol.")
    if one.score_ci is None and one.benchmark is not None:
        missing.append("The score has no interval: its benchmark's n is not given or 1, or the scores are no shares.")
    return RowWords(words=tuple(missing))


def _of_association(one: DownstreamRow) -> RowWords:
    return RowWords(words=() if one.reason is None else (one.reason,))


def _of_nothing(_one: Struct) -> RowWords:
    return RowWords()


# -- Output in every format.


def combined_as(report: CombinedReport, place: int, form: TableForm) -> str:
    part = parts(report)[place]
    if form.format == "csv":
        lines = [dict(_cells(record)) for record in part.records]
        return figures_csv(lines, report.protocol, report.gold_choice)
    return written([with_counting(part.table, report.protocol, report.gold_choice)], form)


def combined_name(report: CombinedReport, place: int) -> str:
    return f"{parts(report)[place].name}-{report.protocol}-{report.gold_choice}"


def _cells(record: Struct) -> Iterator[tuple[str, Any]]:
    for name, value in flat(structs.asdict(record)):
        yield name, " ".join(map(str, value)) if isinstance(value, list) else value
