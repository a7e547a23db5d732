"""The tables of VerifyBench (arXiv 2505.15801) for the data sets of a project, from the figures every table shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.core.database.vocabularies import dataset_names
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection
from workbench.core.taxonomy import UNTYPED
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.measuring.accuracy import accuracy
from workbench.measuring.columns import columns
from workbench.measuring.comparing import compare
from workbench.measuring.judged import judges_of
from workbench.measuring.pairing import pairs
from workbench.measuring.paper import paper_table
from workbench.measuring.records.paper import (
    PAPER_NUMBERS,
    AccuracyTable,
    CountsTable,
    DatasetAccuracy,
    DatasetPairs,
    PairwiseTable,
    PaperNumber,
    PaperTable,
    PaperTables,
    ReferenceRow,
    ReferenceTable,
    SubtypeTable,
)
from workbench.measuring.report.card import counts_table
from workbench.measuring.report.counting import GoldItems, has_scores, unpaired
from workbench.runs.store import runs
from workbench.statistics.records.report import AccuracyRow
from workbench.tables.files import WRITERS, TableFormat

_JUDGE = "llm-judge"
_REFERENCE = "reference"


class PaperFigures:
    """What the tables are asked for: data sets, verifiers, and how to count.

    Attributes:
        datasets: The columns, in this order.
        verifiers: The rows; empty for all that have a complete run.
        given: Pairs for table 3, a judge with the reference first; they come before those found by configuration.

    Raises (on creation):
        UsageError: There is no such data set, or a verifier has no complete run.
    """

    def __init__(
        self,
        project: Project,
        *,
        datasets: Sequence[str] = (),
        verifiers: Sequence[str] = (),
        given: Sequence[tuple[str, str]] = (),
        protocol: Protocol3 = "strict",
        gold: GoldChoice = "final",
    ) -> None:
        known = dataset_names(project.database.reader())
        if unknown := [name for name in datasets if name not in known]:
            there = ", ".join(known) or "none yet"
            raise UsageError(f"There is no data set {', '.join(unknown)}.", f"Data sets: {there}.")
        self.project, self.protocol, self.gold = project, protocol, gold
        self.datasets = tuple(datasets or known)
        judges_of(project, tuple(verifiers))
        judges_of(project, tuple({name for pair in given for name in pair}))
        self.verifiers, self.given = tuple(verifiers), tuple(given)

    def table(self, number: PaperNumber) -> PaperTable:
        """One table by its number in the paper."""
        tables: dict[PaperNumber, Callable[[], PaperTable]] = {
            1: self.counts,
            2: self.accuracy,
            3: self.references,
            4: self.pairwise,
            5: self.subtypes,
        }
        return tables[number]()

    def counts(self) -> CountsTable:
        """Table 1: what has gold, by type and domain."""
        return counts_table(columns(self.project), self.gold, datasets=self.datasets)

    def accuracy(self) -> AccuracyTable:
        """Table 2: accuracy by type, and over all items."""
        sets, undecided = self._decided("type")
        return AccuracyTable(
            protocol=self.protocol, gold_choice=self.gold, sets=sets, kinds=self._kinds(), undecided=undecided
        )

    def references(self) -> ReferenceTable:
        """Table 3: judges with and without the reference answer."""
        rows, notes = [], []
        for given, without in self._reference_pairs():
            for name in self.datasets:
                try:
                    rows.append(self._reference_row(name, given, without))
                except UsageError as error:
                    notes.append(f"{name}: {error.message}")
        return ReferenceTable(protocol=self.protocol, gold_choice=self.gold, rows=rows, notes=notes)

    def pairwise(self) -> PairwiseTable:
        """Table 4: which completion of a question scores higher; only where each question has one of each kind."""
        return PairwiseTable(gold_choice=self.gold, sets=[self._pairs(name) for name in self.datasets])

    def subtypes(self) -> SubtypeTable:
        """Table 5: accuracy by subtype, with the difference from the type's."""
        by_type, _ = self._decided("type")
        by_subtype, _ = self._decided("subtype")
        sets = [
            DatasetAccuracy(dataset=types.dataset, rows=_types_before_subtypes(types.rows, subtypes.rows))
            for types, subtypes in zip(by_type, by_subtype, strict=True)
        ]
        return SubtypeTable(protocol=self.protocol, gold_choice=self.gold, sets=sets)

    def _decided(self, by: str) -> tuple[list[DatasetAccuracy], list[str]]:
        """Rows of the verifiers that decide at all, by data set, and the names of the others."""
        reports = [
            accuracy(
                self.project,
                verifiers=self.verifiers,
                by=by,
                protocol=self.protocol,
                gold=self.gold,
                selection=_of_dataset(name),
            )
            for name in self.datasets
        ]
        place = {name: number for number, name in enumerate(self.verifiers)}
        judging = [
            sorted(
                (row for row in report.rows if row.coverage is not None),
                key=lambda row: place.get(row.verifier, len(place)),
            )
            for report in reports
        ]
        deciding = {row.verifier for rows in judging for row in rows if row.coverage}
        sets = [
            DatasetAccuracy(dataset=name, rows=[row for row in rows if row.verifier in deciding])
            for name, rows in zip(self.datasets, judging, strict=True)
        ]
        undecided = dict.fromkeys(row.verifier for rows in judging for row in rows if row.verifier not in deciding)
        return sets, list(undecided)

    def _kinds(self) -> dict[str, str]:
        return {known.name: known.kind for known in runs.verifiers(self.project.database.reader())}

    def _reference_pairs(self) -> list[tuple[str, str]]:
        """Pairs that were given, then judges whose configurations differ in nothing but the reference."""
        complete = {judge.name for judge in judges_of(self.project)}
        judges = [
            known
            for known in runs.verifiers(self.project.database.reader())
            if known.kind == _JUDGE and known.name in complete and _REFERENCE in known.config
        ]
        rest = {known.name: {**known.config, _REFERENCE: None} for known in judges}
        found = [
            (one.name, other.name)
            for one in judges
            if one.config[_REFERENCE]
            for other in judges
            if not other.config[_REFERENCE] and rest[one.name] == rest[other.name]
        ]
        wanted = [pair for pair in found if not self.verifiers or set(pair) & set(self.verifiers)]
        return list(dict.fromkeys([*self.given, *wanted]))

    def _reference_row(self, dataset: str, given: str, without: str) -> ReferenceRow:
        found = compare(
            self.project, without, given, protocol=self.protocol, gold=self.gold, selection=_of_dataset(dataset)
        )
        return ReferenceRow(
            dataset=dataset,
            with_reference=given,
            without_reference=without,
            n=found.n,
            unpaired=found.unpaired,
            accuracy_with=found.accuracy_b,
            accuracy_without=found.accuracy_a,
            delta=found.difference,
            ci=found.ci,
            p=found.permutation_p,
            selection_judges=found.selection_judges,
        )

    def _pairs(self, dataset: str) -> DatasetPairs:
        everything = columns(self.project)
        part = GoldItems.of(everything, self.gold, dataset=dataset)
        if refused := unpaired(part):
            return DatasetPairs(dataset=dataset, refused=refused)
        reports, left_out = [], {}
        for judge in judges_of(self.project, self.verifiers):
            if has_scores(everything, judge.run, part):
                try:
                    reports.append(
                        pairs(self.project, judge.name, by="type", gold=self.gold, selection=_of_dataset(dataset))
                    )
                except UsageError as error:
                    left_out[judge.name] = error.message
        return DatasetPairs(dataset=dataset, reports=reports, left_out=left_out)


def paper_tables(figures: PaperFigures, numbers: Sequence[PaperNumber] = PAPER_NUMBERS) -> PaperTables:
    """The tables asked for, in the paper's order.

    Raises:
        UsageError: See `PaperFigures`.
    """
    return PaperTables(tables=[figures.table(number) for number in sorted(set(numbers))])


def _of_dataset(name: str) -> Selection:
    return Selection((Condition("dataset", "=", name),))


def _types_before_subtypes(by_type: list[AccuracyRow], by_subtype: list[AccuracyRow]) -> list[AccuracyRow]:
    """Each verifier's rows: all items, its types, its subtypes."""
    rows = []
    for name in dict.fromkeys(row.verifier for row in by_type):
        rows += [row for row in by_type if row.verifier == name]
        rows += [row for row in by_subtype if row.verifier == name and row.group not in (None, UNTYPED)]
    return rows


def tables_text(found: PaperTables, format: TableFormat) -> str:
    """All tables, one below the other."""
    write = WRITERS[format]
    return "\n".join(write(table) for one in found.tables for table in paper_table(one))
