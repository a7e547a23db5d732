"""Ensembles, best of n, estimates and downstream scores as plain rows, each with what it says in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

from msgspec import Struct, structs

from workbench.model.best_of import BestOfReport
from workbench.model.downstream import DownstreamReport
from workbench.model.ensemble import EnsembleReport
from workbench.model.estimate import EstimateReport
from workbench.reports.document import Table
from workbench.services.measuring import combined_words as words
from workbench.services.measuring.combining_text import BEST, ensemble_head, headline_row, members_table, rules_table
from workbench.services.measuring.downstream_text import associations_table, downstream_head, scores_table
from workbench.services.measuring.estimating_text import estimate_head, estimate_table, mix_table
from workbench.services.measuring.selecting_text import best_of_head, best_of_table

CombinedReport: TypeAlias = EnsembleReport | BestOfReport | EstimateReport | DownstreamReport
Record = TypeVar("Record", bound=Struct)


class CombinedTable(Struct, frozen=True, kw_only=True):
    """One table of a report.

    Attributes:
        name: For the name of a file.
        records: What its rows were made from, with figures in full.
        said: What each row says.
        against: What rows are compared with; empty where they are not.
        begin: The row to look at first.
    """

    name: str
    table: Table
    records: Sequence[Struct]
    said: Sequence[words.RowWords]
    against: str = ""
    begin: int = 0


class CombinedRow(Struct, frozen=True, kw_only=True):
    """A row.

    Attributes:
        cells: One text a column.
        standing: What its figures say of it; empty where it is not compared.
        words: The same in a sentence or more, and why figures are missing.
    """

    cells: tuple[str, ...]
    standing: words.Standing
    words: tuple[str, ...]


class CombinedSheet(Struct, frozen=True, kw_only=True):
    """A table in plain texts, all of them data.

    Attributes:
        columns: Their headings.
        left: So many columns are words, all others figures.
        against: What rows are compared with; empty where they are not.
        begin: The row to look at first.
    """

    caption: str
    columns: tuple[str, ...]
    left: int
    lines: tuple[CombinedRow, ...]
    notes: tuple[str, ...]
    against: str
    begin: int


def head(report: CombinedReport) -> str:
    """What is counted, and how: two or three lines."""
    match report:
        case EnsembleReport():
            return ensemble_head(report)
        case BestOfReport():
            return best_of_head(report)
        case EstimateReport():
            return estimate_head(report)
        case DownstreamReport():
            return downstream_head(report)


def sheets(report: CombinedReport) -> tuple[CombinedSheet, ...]:
    """A report's tables."""
    return tuple(map(_sheet, parts(report)))


def parts(report: CombinedReport) -> tuple[CombinedTable, ...]:
    """A report's tables with the records they were made from."""
    return tuple(_parts(report))


def _sheet(part: CombinedTable) -> CombinedSheet:
    table = part.table
    return CombinedSheet(
        caption=table.caption,
        columns=tuple(_headings(table)),
        left=table.left,
        lines=tuple(
            CombinedRow(cells=tuple(cell.text for cell in row.cells), standing=said.standing, words=said.words)
            for row, said in zip(table.rows, part.said, strict=True)
        ),
        notes=table.notes,
        against=part.against,
        begin=part.begin,
    )


def _headings(table: Table) -> Iterator[str]:
    """A heading a column; one over several columns stands before the first of them."""
    above = [(heading.text, place) for line in table.head[:-1] for heading in line for place in range(heading.span)]
    for place, own in enumerate(table.head[-1]):
        text, within = above[place] if above else ("", 0)
        yield f"{text} {own.text}".strip() if within == 0 else own.text


def _parts(report: CombinedReport) -> Iterator[CombinedTable]:
    match report:
        case EnsembleReport():
            rules = _part("ensembles", rules_table(report), report.rows, words.of_rule)
            yield structs.replace(rules, against=BEST, begin=headline_row(report))
            say = partial(words.of_member, report.headline)
            members = _part("members", members_table(report), report.members, say)
            yield structs.replace(members, against="the same without the member")
        case BestOfReport():
            picks = _part("best-of", best_of_table(report), report.rows, words.of_pick)
            choosing = next((place for place, one in enumerate(report.rows) if one.n > 1), 0)
            yield structs.replace(picks, against="a random pick", begin=choosing)
        case EstimateReport():
            yield _part("estimate", estimate_table(report), report.rows, partial(words.of_estimate, report))
            yield _part("mix", mix_table(report), report.mix, words.of_nothing)
        case DownstreamReport():
            yield _part("scores", scores_table(report), report.points, words.of_point)
            yield _part("downstream", associations_table(report), report.rows, words.of_association)


def _part(name: str, table: Table, records: Sequence[Record], say: Callable[[Record], words.RowWords]) -> CombinedTable:
    return CombinedTable(name=name, table=table, records=records, said=tuple(map(say, records)))
