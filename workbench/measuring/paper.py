"""Computes and renders the tables of the paper VerifyBench, each with a note on how it was computed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import singledispatch
from itertools import chain
from typing import Any

from workbench.config import protocol_of
from workbench.core.database.selection import check_names, dataset_names
from workbench.core.errors import UsageError
from workbench.core.options import TableForm, record_from
from workbench.core.project import Project
from workbench.core.run import ConfiguredVerifier
from workbench.core.selection import Condition, Selection
from workbench.core.taxonomy import UNTYPED, type_display, type_name
from workbench.core.text.emphasis import explain_marks, with_mark
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.measuring.accuracy import accuracy
from workbench.measuring.columns import columns
from workbench.measuring.comparing import compare
from workbench.measuring.judged import judges_of
from workbench.measuring.records.documents import (
    PAPER_NUMBERS,
    AccuracyTable,
    BenchmarkScore,
    CountRow,
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
from workbench.measuring.report.card import GoldItems, count_part, counts_of, has_scores, unpaired
from workbench.measuring.scores import pairs
from workbench.runs.store import runs
from workbench.statistics.accuracy import group_order
from workbench.statistics.records.probe import PairRow
from workbench.statistics.records.report import AccuracyRow
from workbench.tables.document import Cell, Table, difference, percentage
from workbench.tables.files import format_tables
from workbench.tables.table import Column, Columns, column, count, text, word
from workbench.tables.table import table as declared

_DECIMALS = 2
_SHORT = {"A": "Num", "B": "Exp", "C": "MC", "D": "Str"}
"""Short names of answer types for narrow columns."""
_FAMILIES = (
    ("LLM judges", ("llm-judge",)),
    ("Reward models", ("reward-model", "reward-local")),
    ("Imported verdicts", ("imported",)),
)
_RULES = "Rule-based functions"
_BASELINES = "Baselines"
_CONSTANT = ("always-incorrect", "always-correct")
"""Kinds of verifiers that are baselines, even if they have a run."""
_PLAIN_COUNTS = {
    "questions": "Unique questions",
    "completions": "Unique completions",
    "correct": "Correct completions",
    "wrong": "Wrong completions",
}


@singledispatch
def paper_table(table: PaperTable) -> list[Table]:
    raise TypeError(f"{type(table).__name__} is not a table of the paper")


@paper_table.register
def _counts_table(table: CountsTable) -> list[Table]:
    caption = f"Table 1. Items with gold ({table.gold_choice}); completions by answer type and domain."
    return [paper_counts(table, caption)]


def paper_counts(table: CountsTable, caption: str) -> Table:
    def of(dataset: str) -> Column[CountRow]:
        return count(dataset, lambda row: row.counts[dataset])

    return declared(
        caption,
        (word("Count", _count_row_name), *map(of, table.datasets)),
        table.rows,
        notes=(
            f"{name}: {number:,} completions without gold are left out."
            for name, number in table.without_gold.items()
            if number
        ),
        section=lambda row: _SECTIONS.get(row.of, ""),
    )


_SECTIONS = {"type": "By answer type", "domain": "By domain"}


def _count_row_name(row: CountRow) -> str:
    if row.of == "type":
        return type_display(row.group or "")
    return row.group or "no domain" if row.of == "domain" else _PLAIN_COUNTS[row.of]


@paper_table.register
def _accuracy_table(table: AccuracyTable) -> list[Table]:
    cells = {(found.dataset, row.verifier, row.group): row for found in table.sets for row in found.rows}
    kinds = {row.verifier: row.kind for found in table.sets for row in found.rows}
    chose = _selection_judges(table.sets)
    titles = {name: title for title, names in _verifier_families(kinds, table.kinds) for name in names}
    return [
        declared(
            f"Table 2. Accuracy (%) by answer type; AVG is the {table.average} average, over items. "
            f"Protocol {table.protocol}, gold {table.gold_choice}; {_sizes_note(table.sets)}.",
            _verifier_columns(cells, {found.dataset: _types_in_order(found.rows) for found in table.sets}, chose),
            titles,
            notes=(*_undecided_note(table.undecided), *_fewer_items_notes(table.sets), *explain_marks(chose)),
            kind=lambda name: "aside" if kinds[name] == "baseline" else "",
            section=titles.__getitem__,
        )
    ]


def _verifier_columns(
    cells: Mapping[tuple[str, str, str | None], AccuracyRow | PairRow],
    groups: Mapping[str, Sequence[str]],
    chose: Collection[str],
) -> Columns[str]:
    def of(dataset: str, group: str | None) -> Column[str]:
        return column(_short_type(group), lambda name: cells.get((dataset, name, group)), _share_text, over=dataset)

    by_type = (of(dataset, group) for dataset, types in groups.items() for group in (*types, None))
    return (word("Verifier", lambda name: with_mark(name, chose), over=""), *by_type)


def _share_text(row: AccuracyRow | PairRow | None) -> str:
    return percentage(row.accuracy if row else None, _DECIMALS)


def _verifier_families(kinds: Mapping[str, str], configured: Mapping[str, str]) -> Iterable[tuple[str, list[str]]]:
    titles = {kind: title for title, members in _FAMILIES for kind in members}
    under: dict[str, list[str]] = {title: [] for title in (_RULES, *(title for title, _ in _FAMILIES), _BASELINES)}
    for name, kind in kinds.items():
        under[
            _BASELINES
            if kind == "baseline" or configured.get(name) in _CONSTANT
            else titles.get(configured.get(name, ""), _RULES)
        ].append(name)
    return ((title, names) for title, names in under.items() if names)


@paper_table.register
def _reference_table(table: ReferenceTable) -> list[Table]:
    cells = {((row.with_reference, row.without_reference), row.dataset): row for row in table.rows}
    judges = dict.fromkeys(pair for pair, _ in cells)
    chose = _distinct_names(row.selection_judges for row in table.rows)

    def of(dataset: str) -> Columns[tuple[str, str]]:
        def found(pair: tuple[str, str]) -> ReferenceRow | None:
            return cells.get((pair, dataset))

        return (
            column("n", found, lambda row: f"{row.n:,}" if row else percentage(None), over=dataset),
            column(
                "w/ ref", found, lambda row: percentage(row.accuracy_with if row else None, _DECIMALS), over=dataset
            ),
            column("w/o ref", found, _cell_without_reference, over=dataset),
        )

    unpaired = (
        f"{row.with_reference} on {row.dataset}: {row.unpaired:,} items count for one of the two only and are left out."
        for row in table.rows
        if row.unpaired
    )
    return [
        declared(
            "Table 3. Accuracy (%) of judges with and without the reference answer, and the difference in "
            f"points; {table.average} average over the n items both have judged. "
            f"Protocol {table.protocol}, gold {table.gold_choice}.",
            (
                word("Judge", lambda pair: with_mark(pair[0], chose), over=""),
                word("Without reference", lambda pair: with_mark(pair[1], chose), over=""),
                *chain.from_iterable(map(of, dict.fromkeys(row.dataset for row in table.rows))),
            ),
            judges,
            notes=(*table.notes, *unpaired, *(() if judges else (_NO_REFERENCE_PAIR,)), *explain_marks(chose)),
        )
    ]


def _cell_without_reference(row: ReferenceRow | None) -> Cell:
    if row is None:
        return Cell(percentage(None))
    return Cell(percentage(row.accuracy_without, _DECIMALS), small=difference(row.delta, _DECIMALS))


_NO_REFERENCE_PAIR = (
    "No judge has run both with and without the reference answer (reference=false); name the two verifiers as a pair."
)


@paper_table.register
def _pairwise_table(table: PairwiseTable) -> list[Table]:
    taken = [found for found in table.sets if found.refused is None and found.reports]
    groups = {found.dataset: _types_in_order(row for report in found.reports for row in report.rows) for found in taken}
    cells = {
        (found.dataset, report.verifier, row.group): row
        for found in taken
        for report in found.reports
        for row in report.rows
    }
    chose = _distinct_names(report.selection_judges for found in taken for report in found.reports)
    sizes = "; ".join(f"{found.dataset} {max(report.paired for report in found.reports):,} pairs" for found in taken)
    return [
        declared(
            "Table 4. Pairwise accuracy (%): the correct completion of a question scores strictly above the "
            f"incorrect one, a tie is wrong; AVG is the {table.average} average, over pairs. "
            f"Gold {table.gold_choice}{sizes and '; ' + sizes}.",
            (*_verifier_columns(cells, groups, chose), *_other_benchmark_columns(table.elsewhere)),
            dict.fromkeys(report.verifier for found in taken for report in found.reports),
            notes=(*_pair_notes(table.sets), *_unpaired_verifier_notes(table), *explain_marks(chose)),
        )
    ]


def _other_benchmark_columns(scores: Sequence[BenchmarkScore]) -> Iterable[Column[str]]:
    said = {(score.benchmark, score.verifier): score.score for score in scores}

    def of(benchmark: str) -> Column[str]:
        return column(
            "AVG", lambda name: said.get((benchmark, name)), lambda score: percentage(score, _DECIMALS), over=benchmark
        )

    return (of(benchmark) for benchmark in dict.fromkeys(score.benchmark for score in scores))


def _unpaired_verifier_notes(table: PairwiseTable) -> Iterable[str]:
    here = {report.verifier for found in table.sets for report in found.reports}
    for name in dict.fromkeys(score.verifier for score in table.elsewhere if score.verifier not in here):
        yield f"{name} has scores on other benchmarks, but none on a pair here."


def _pair_notes(sets: Sequence[DatasetPairs]) -> Iterable[str]:
    for found in sets:
        if found.refused is not None:
            yield f"{found.dataset} is rejected: {found.refused}"
        elif not found.reports:
            yield f"{found.dataset}: no verifier has scores for it."
        for name, why in found.left_out.items():
            yield f"{found.dataset}, {name}: {why}"
        for report in found.reports:
            if report.unpaired.unscored:
                yield (
                    f"{found.dataset}, {report.verifier}: {report.unpaired.unscored:,} questions without both scores "
                    "are left out."
                )


@paper_table.register
def _subtype_tables(table: SubtypeTable) -> list[Table]:
    return [_subtype_table(table, found) for found in table.sets]


def _subtype_table(table: SubtypeTable, found: DatasetAccuracy) -> Table:
    names = dict.fromkeys(row.verifier for row in found.rows if row.kind == "verifier")
    chose = _selection_judges([found])
    cells = {(row.verifier, row.group): row for row in found.rows}
    largest = {row.group: max(row.n, 0) for row in sorted(found.rows, key=lambda row: row.n)}
    types = _types_in_order(found.rows)

    def of(name: str) -> Column[str]:
        return text(with_mark(name, chose), lambda group: _subtype_cell(cells.get((name, group)), group in types))

    return declared(
        f"Table 5. Accuracy (%) by answer subtype on {found.dataset}, and where it is below its type's the "
        f"difference in points. Types are {table.average} averages, over items. "
        f"Protocol {table.protocol}, gold {table.gold_choice}.",
        (
            word("Answer type", lambda group: f"{'' if group in types else '   '}{type_name(group)}"),
            count("n", largest.__getitem__),
            *map(of, names),
        ),
        sorted((name for name in largest if name), key=group_order),
        notes=(*_fewer_items_notes([found]), *explain_marks(chose)),
        kind=lambda group: "total" if group in types else "",
    )


def _subtype_cell(row: AccuracyRow | None, is_type: bool) -> Cell:
    if row is None:
        return Cell(percentage(None))
    below = not is_type and row.delta is not None and row.delta < 0
    return Cell(percentage(row.accuracy, _DECIMALS), small=difference(row.delta, _DECIMALS) if below else "")


def _types_in_order(rows: Iterable[AccuracyRow | PairRow]) -> list[str]:
    names = {row.group for row in rows if row.group is not None and (len(row.group) == 1 or row.group == UNTYPED)}
    return sorted(names, key=group_order)


def _short_type(group: str | None) -> str:
    return "AVG" if group is None else _SHORT.get(group, group)


def _sizes_note(sets: Sequence[DatasetAccuracy]) -> str:
    return "; ".join(f"n {found.dataset} {_size_text(found.rows)}" for found in sets)


def _size_text(rows: Sequence[AccuracyRow]) -> str:
    most = {group: max(row.n for row in rows if row.group == group) for group in {row.group for row in rows}}
    by_type = " ".join(f"{_short_type(group)} {most[group]:,}" for group in _types_in_order(rows))
    return f"{most.get(None, 0):,} ({by_type})" if by_type else f"{most.get(None, 0):,}"


def _fewer_items_notes(sets: Sequence[DatasetAccuracy]) -> Iterable[str]:
    for found in sets:
        sizes = {row.verifier: row.n for row in found.rows if row.group is None}
        most = max(sizes.values(), default=0)
        for name, n in sizes.items():
            if n < most:
                yield f"{name} on {found.dataset}: n {n:,} of {most:,}."


def _selection_judges(sets: Sequence[DatasetAccuracy]) -> list[str]:
    return _distinct_names([row.verifier] for found in sets for row in found.rows if row.selection_judge)


def _distinct_names(names: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(names)))


def _undecided_note(names: Sequence[str]) -> Iterable[str]:
    if names:
        yield f"Left out, because they decide no item (scores without a threshold): {', '.join(names)}."


# -- The tables of VerifyBench (arXiv 2505.15801) for a project's data sets, computed by the same functions as all other
# tables.


_JUDGE = "llm-judge"
_REFERENCE = "reference"
_PUBLISHED = "published"


class PaperFigures:
    """A request for the tables: data sets and frozen benchmarks, verifiers, and conventions.

    Attributes:
        parts: Name of a data set or benchmark -> its items; each is a column of the tables, in this order.
        verifiers: The verifiers in the rows; empty for all that have a complete run.
        given: Pairs of judges for table 3, the one with the reference first; they come before the pairs detected by
            their configuration.
        elsewhere: Scores on benchmarks outside this project, for table 4.

    Raises (on creation): UsageError: A data set or benchmark does not exist, two have the same name, or a verifier has
        no complete run.
    """

    def __init__(
        self,
        project: Project,
        *,
        datasets: Sequence[str] = (),
        sets: Sequence[str] = (),
        only: Selection | None = None,
        verifiers: Sequence[str] = (),
        given: Sequence[tuple[str, str]] = (),
        protocol: Protocol3 | None = None,
        gold: GoldChoice = "final",
        elsewhere: Sequence[BenchmarkScore] = (),
    ) -> None:
        known = dataset_names(project.database.reader())
        if unknown := [name for name in datasets if name not in known]:
            there = ", ".join(known) or "none yet"
            raise UsageError(f"There is no data set {', '.join(map(repr, unknown))}.", f"Data sets: {there}.")
        self.project, self.protocol, self.gold = project, protocol or protocol_of(project), gold
        self.parts = self._selections(datasets or (() if sets else known), sets, only or Selection())
        judges_of(project, tuple(verifiers))
        judges_of(project, tuple({name for pair in given for name in pair}))
        self.verifiers, self.given, self.elsewhere = tuple(verifiers), tuple(given), list(elsewhere)

    def _selections(self, datasets: Iterable[str], sets: Iterable[str], only: Selection) -> dict[str, Selection]:
        named = [("dataset", name) for name in datasets] + [("set", name) for name in sets]
        twice = sorted({name for field, name in named if (field, name) != next(one for one in named if one[1] == name)})
        if twice:
            raise UsageError(
                f"{twice[0]!r} is the name of both a data set and a frozen set.",
                "Name one of them: two columns need two names.",
            )
        reader = self.project.database.reader()
        return {
            name: check_names(reader, Selection((*only.conditions, Condition(field, "=", name))))
            for field, name in named
        }

    def table(self, number: PaperNumber) -> PaperTable:
        tables: tuple[Callable[[], PaperTable], ...] = (
            self.counts,
            self.accuracy,
            self.references,
            self.pairwise,
            self.subtypes,
        )
        return tables[number - 1]()

    def counts(self) -> CountsTable:
        """Return table 1: items with gold, by type and domain."""
        everything = columns(self.project)
        counts = {
            name: count_part(everything, GoldItems.of(everything, self.gold, everything.chosen(chosen)))
            for name, chosen in self.parts.items()
        }
        return counts_of(counts, self.gold)

    def accuracy(self) -> AccuracyTable:
        """Return table 2: accuracy by type, and over all items."""
        sets, undecided = self._accuracy_of_decided("type")
        kinds = {known.name: known.kind for known in runs.verifiers(self.project.database.reader())}
        return AccuracyTable(protocol=self.protocol, gold_choice=self.gold, sets=sets, kinds=kinds, undecided=undecided)

    def references(self) -> ReferenceTable:
        """Return table 3: judges with and without the reference answer."""
        rows, notes = [], []
        for given, without in self._reference_pairs():
            for name in self.parts:
                try:
                    rows.append(self._reference_row(name, given, without))
                except UsageError as error:
                    notes.append(f"{name}: {error.message}")
        return ReferenceTable(protocol=self.protocol, gold_choice=self.gold, rows=rows, notes=notes)

    def pairwise(self) -> PairwiseTable:
        """Return table 4: which completion of a question scores higher, for questions with one correct and one
        incorrect completion.
        """
        sets = [self._dataset_pairs(name) for name in self.parts]
        return PairwiseTable(gold_choice=self.gold, sets=sets, elsewhere=self.elsewhere)

    def subtypes(self) -> SubtypeTable:
        """Return table 5: accuracy by subtype, with the difference from the accuracy on its type."""
        by_type, _ = self._accuracy_of_decided("type")
        by_subtype, _ = self._accuracy_of_decided("subtype")
        sets = [
            DatasetAccuracy(dataset=types.dataset, rows=_types_before_subtypes(types.rows, subtypes.rows))
            for types, subtypes in zip(by_type, by_subtype, strict=True)
        ]
        return SubtypeTable(protocol=self.protocol, gold_choice=self.gold, sets=sets)

    def _accuracy_of_decided(self, by: str) -> tuple[list[DatasetAccuracy], list[str]]:
        reports = [
            accuracy(
                self.project,
                verifiers=self.verifiers,
                by=by,
                protocol=self.protocol,
                gold=self.gold,
                selection=chosen,
                seed=None,
                notes=False,
            )
            for chosen in self.parts.values()
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
            for name, rows in zip(self.parts, judging, strict=True)
        ]
        undecided = dict.fromkeys(row.verifier for rows in judging for row in rows if row.verifier not in deciding)
        return sets, list(undecided)

    def _reference_pairs(self) -> list[tuple[str, str]]:
        complete = {judge.name for judge in judges_of(self.project)}
        judges = [
            known
            for known in runs.verifiers(self.project.database.reader())
            if known.kind == _JUDGE and known.name in complete and _REFERENCE in known.config
        ]
        rest = {known.name: _config_without_reference(known) for known in judges}
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
            self.project, without, given, protocol=self.protocol, gold=self.gold, selection=self.parts[dataset]
        )
        return record_from(
            ReferenceRow,
            found,
            dataset=dataset,
            with_reference=given,
            without_reference=without,
            accuracy_with=found.accuracy_b,
            accuracy_without=found.accuracy_a,
            delta=found.difference,
            p=found.permutation_p,
        )

    def _dataset_pairs(self, dataset: str) -> DatasetPairs:
        everything = columns(self.project)
        part = GoldItems.of(everything, self.gold, everything.chosen(self.parts[dataset]))
        if refused := unpaired(part):
            return DatasetPairs(dataset=dataset, refused=refused)
        reports, left_out = [], {}
        for judge in judges_of(self.project, self.verifiers):
            if has_scores(everything, judge.run, part):
                try:
                    chosen = self.parts[dataset]
                    reports.append(pairs(self.project, judge.name, by="type", gold=self.gold, selection=chosen))
                except UsageError as error:
                    left_out[judge.name] = error.message
        return DatasetPairs(dataset=dataset, reports=reports, left_out=left_out)


def _config_without_reference(judge: ConfiguredVerifier) -> dict[str, Any]:
    """Return a judge's configuration without the options that depend on the reference.

    A judge with published prompts has separate prompts with and without the reference.
    """
    known = {**judge.config, _REFERENCE: None}
    if _PUBLISHED in known:
        known |= dict.fromkeys(("template", "template_sha256"))
        known[_PUBLISHED] = judge.options.get(_PUBLISHED)
    return known


def paper_tables(figures: PaperFigures, numbers: Sequence[PaperNumber] = PAPER_NUMBERS) -> PaperTables:
    """Return the requested tables, in the paper's order.

    Raises:
        UsageError: See `PaperFigures`.
    """
    with figures.project.database.reading():
        return PaperTables(tables=[figures.table(number) for number in sorted(set(numbers))])


def _types_before_subtypes(by_type: list[AccuracyRow], by_subtype: list[AccuracyRow]) -> list[AccuracyRow]:
    rows = []
    for name in dict.fromkeys(row.verifier for row in by_type):
        rows += [row for row in by_type if row.verifier == name]
        rows += [row for row in by_subtype if row.verifier == name and row.group not in (None, UNTYPED)]
    return rows


def tables_text(found: PaperTables, form: TableForm) -> str:
    return format_tables((table for one in found.tables for table in paper_table(one)), form)
