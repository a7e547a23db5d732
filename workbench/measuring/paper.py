"""The tables of VerifyBench as a reader sees them, each with what it was counted by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch
from itertools import chain

from workbench.core.taxonomy import UNTYPED, type_display, type_name
from workbench.core.text.marks import what_marks_mean, with_mark
from workbench.measuring.records.paper import (
    AccuracyTable,
    CountRow,
    CountsTable,
    DatasetAccuracy,
    DatasetPairs,
    PairwiseTable,
    PaperTable,
    ReferenceTable,
    SubtypeTable,
)
from workbench.statistics.accuracy import group_order
from workbench.statistics.records.report import AccuracyRow
from workbench.statistics.records.reward import PairRow
from workbench.tables.document import Cell, Head, Row, Table
from workbench.tables.figures import difference, percentage

_DECIMALS = 2

_SHORT = {"A": "Num", "B": "Exp", "C": "MC", "D": "Str"}
"""Answer types where a column is narrow."""

_FAMILIES = (
    ("LLM judges", ("llm-judge",)),
    ("Reward models", ("reward-model", "reward-local")),
    ("Imported verdicts", ("imported",)),
)
_RULES = "Rule-based functions"
_BASELINES = "Baselines"
_CONSTANT = ("always-incorrect", "always-correct")
"""Kinds of verifiers that are baselines, though they were run."""

_PLAIN_COUNTS = {
    "questions": "Unique questions",
    "completions": "Unique completions",
    "correct": "Correct completions",
    "wrong": "Wrong completions",
}


@singledispatch
def paper_table(table: PaperTable) -> list[Table]:
    """A table of the paper; table 5 is one for each data set."""
    raise TypeError(f"{type(table).__name__} is no table of the paper")


@paper_table.register
def _counts(table: CountsTable) -> list[Table]:
    caption = f"Table 1. Items with gold ({table.gold_choice}); completions by answer type and domain."
    return [counts_table(table, caption)]


def counts_table(table: CountsTable, caption: str) -> Table:
    """What is in the data sets."""
    rows: list[Row] = []
    for row in table.rows:
        if row.of in ("type", "domain") and not any(_is_section(known, row.of) for known in rows):
            rows.append(Row((Cell(_section(row.of)),), "section"))
        rows.append(Row((Cell(_count_name(row)), *(Cell(f"{row.counts[name]:,}") for name in table.datasets))))
    notes = [f"{name}: {number:,} completions without gold are left out." for name, number in _some(table.without_gold)]
    return Table(
        caption=caption,
        head=((Head("Count"), *map(Head, table.datasets)),),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _section(of: str) -> str:
    return f"By {'answer type' if of == 'type' else of}"


def _is_section(row: Row, of: str) -> bool:
    return row.kind == "section" and row.cells[0].text == _section(of)


def _count_name(row: CountRow) -> str:
    if row.of == "type":
        return type_display(row.group or "")
    return row.group or "no domain" if row.of == "domain" else _PLAIN_COUNTS[row.of]


@paper_table.register
def _accuracy(table: AccuracyTable) -> list[Table]:
    columns = [(found, group) for found in table.sets for group in (*_groups(found.rows), None)]
    cells = {(found.dataset, row.verifier, row.group): row for found in table.sets for row in found.rows}
    kinds = {row.verifier: row.kind for found in table.sets for row in found.rows}
    chose = _choosers(table.sets)
    rows: list[Row] = []
    for title, names in _families(kinds, table.kinds):
        rows.append(Row((Cell(title),), "section"))
        for name in names:
            found = [cells.get((of_set.dataset, name, group)) for of_set, group in columns]
            shown = (Cell(percentage(row.accuracy if row else None, _DECIMALS)) for row in found)
            rows.append(Row((Cell(with_mark(name, chose)), *shown), "aside" if kinds[name] == "baseline" else ""))
    return [
        Table(
            caption=f"Table 2. Accuracy (%) by answer type; AVG is the {table.average} average, over items. "
            f"Protocol {table.protocol}, gold {table.gold_choice}; {_sizes(table.sets)}.",
            head=_heads([(found.dataset, [*_groups(found.rows), None]) for found in table.sets]),
            rows=tuple(rows),
            notes=(*_undecided(table.undecided), *_fewer(table.sets), *what_marks_mean(chose)),
        )
    ]


def _families(kinds: Mapping[str, str], configured: Mapping[str, str]) -> Iterable[tuple[str, list[str]]]:
    """The verifiers under their titles, rules first and baselines last."""
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
def _references(table: ReferenceTable) -> list[Table]:
    datasets = list(dict.fromkeys(row.dataset for row in table.rows))
    cells = {(row.with_reference, row.without_reference, row.dataset): row for row in table.rows}
    chose = _named(row.selection_judges for row in table.rows)
    rows = []
    for given, without in dict.fromkeys((row.with_reference, row.without_reference) for row in table.rows):
        line = [Cell(with_mark(given, chose)), Cell(with_mark(without, chose))]
        for name in datasets:
            row = cells.get((given, without, name))
            line += [
                Cell(f"{row.n:,}" if row else percentage(None)),
                Cell(percentage(row.accuracy_with if row else None, _DECIMALS)),
                Cell(
                    percentage(row.accuracy_without if row else None, _DECIMALS),
                    small=difference(row.delta, _DECIMALS) if row else "",
                ),
            ]
        rows.append(Row(tuple(line)))
    unpaired = [
        f"{row.with_reference} on {row.dataset}: {row.unpaired:,} items count for one of the two only and are left out."
        for row in table.rows
        if row.unpaired
    ]
    return [
        Table(
            caption="Table 3. Accuracy (%) of judges with and without the reference answer, and the difference in "
            f"points; {table.average} average over the n items both have judged. "
            f"Protocol {table.protocol}, gold {table.gold_choice}.",
            head=(
                (Head("", 2), *(Head(name, 3) for name in datasets)),
                (
                    Head("Judge"),
                    Head("Without reference"),
                    *(Head(text) for _ in datasets for text in _REFERENCE_HEADS),
                ),
            ),
            rows=tuple(rows),
            left=2,
            notes=(*table.notes, *unpaired, *(() if rows else (_NO_REFERENCE_PAIR,)), *what_marks_mean(chose)),
        )
    ]


_REFERENCE_HEADS = ("n", "w/ ref", "w/o ref")
_NO_REFERENCE_PAIR = (
    "No judge has run both with and without the reference answer (-o reference=false); --pair A=B names two verifiers."
)


@paper_table.register
def _pairwise(table: PairwiseTable) -> list[Table]:
    taken = [found for found in table.sets if found.refused is None and found.reports]
    groups = {found.dataset: _groups(row for report in found.reports for row in report.rows) for found in taken}
    cells = {
        (found.dataset, report.verifier, row.group): row
        for found in taken
        for report in found.reports
        for row in report.rows
    }
    columns = [(found.dataset, group) for found in taken for group in (*groups[found.dataset], None)]
    chose = _named(report.selection_judges for found in taken for report in found.reports)
    rows = [
        Row(
            (
                Cell(with_mark(name, chose)),
                *(_pair_cell(cells.get((dataset, name, group))) for dataset, group in columns),
            )
        )
        for name in dict.fromkeys(report.verifier for found in taken for report in found.reports)
    ]
    sizes = "; ".join(f"{found.dataset} {max(report.paired for report in found.reports):,} pairs" for found in taken)
    return [
        Table(
            caption="Table 4. Pairwise accuracy (%): the correct completion of a question scores strictly above the "
            f"incorrect one, a tie is wrong; AVG is the {table.average} average, over pairs. "
            f"Gold {table.gold_choice}{sizes and '; ' + sizes}.",
            head=_heads([(found.dataset, [*groups[found.dataset], None]) for found in taken]),
            rows=tuple(rows),
            notes=(*_pair_notes(table.sets), *what_marks_mean(chose)),
        )
    ]


def _pair_cell(row: PairRow | None) -> Cell:
    return Cell(percentage(row.accuracy if row else None, _DECIMALS))


def _pair_notes(sets: Sequence[DatasetPairs]) -> Iterable[str]:
    for found in sets:
        if found.refused is not None:
            yield f"{found.dataset} is refused: {found.refused}"
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
def _subtypes(table: SubtypeTable) -> list[Table]:
    return [_subtypes_of(table, found) for found in table.sets]


def _subtypes_of(table: SubtypeTable, found: DatasetAccuracy) -> Table:
    names = list(dict.fromkeys(row.verifier for row in found.rows if row.kind == "verifier"))
    chose = _choosers([found])
    cells = {(row.verifier, row.group): row for row in found.rows}
    largest = {row.group: max(row.n, 0) for row in sorted(found.rows, key=lambda row: row.n)}
    rows = []
    for group in sorted((name for name in largest if name), key=group_order):
        is_type = group in _groups(found.rows)
        line = [_subtype_cell(cells.get((name, group)), is_type) for name in names]
        size = Cell(f"{largest[group]:,}")
        rows.append(Row((Cell(_group_name(group, is_type)), size, *line), "total" if is_type else ""))
    return Table(
        caption=f"Table 5. Accuracy (%) by answer subtype on {found.dataset}, and where it is below its type's the "
        f"difference in points. Types are {table.average} averages, over items. "
        f"Protocol {table.protocol}, gold {table.gold_choice}.",
        head=((Head("Answer type"), Head("n"), *(Head(with_mark(name, chose)) for name in names)),),
        rows=tuple(rows),
        notes=(*_fewer([found]), *what_marks_mean(chose)),
    )


def _subtype_cell(row: AccuracyRow | None, is_type: bool) -> Cell:
    if row is None:
        return Cell(percentage(None))
    below = not is_type and row.delta is not None and row.delta < 0
    return Cell(percentage(row.accuracy, _DECIMALS), small=difference(row.delta, _DECIMALS) if below else "")


def _group_name(group: str, is_type: bool) -> str:
    return type_name(group) if is_type else f"   {type_name(group)}"


def _groups(rows: Iterable[AccuracyRow | PairRow]) -> list[str]:
    """The answer types of some rows: codes of one letter, then what is untyped."""
    names = {row.group for row in rows if row.group is not None and (len(row.group) == 1 or row.group == UNTYPED)}
    return sorted(names, key=group_order)


def _heads(sets: Sequence[tuple[str, Sequence[str | None]]]) -> tuple[tuple[Head, ...], ...]:
    """The data sets over their types."""
    return (
        (Head(""), *(Head(name, len(groups)) for name, groups in sets)),
        (Head("Verifier"), *(Head(_short(group)) for _, groups in sets for group in groups)),
    )


def _short(group: str | None) -> str:
    return "AVG" if group is None else _SHORT.get(group, group)


def _sizes(sets: Sequence[DatasetAccuracy]) -> str:
    """How many items each data set counts, by type."""
    return "; ".join(f"n {found.dataset} {_size(found.rows)}" for found in sets)


def _size(rows: Sequence[AccuracyRow]) -> str:
    most = {group: max(row.n for row in rows if row.group == group) for group in {row.group for row in rows}}
    by_type = " ".join(f"{_short(group)} {most[group]:,}" for group in _groups(rows))
    return f"{most.get(None, 0):,} ({by_type})" if by_type else f"{most.get(None, 0):,}"


def _fewer(sets: Sequence[DatasetAccuracy]) -> Iterable[str]:
    """Verifiers that have judged fewer items than others have."""
    for found in sets:
        sizes = {row.verifier: row.n for row in found.rows if row.group is None}
        most = max(sizes.values(), default=0)
        for name, n in sizes.items():
            if n < most:
                yield f"{name} on {found.dataset}: n {n:,} of {most:,}."


def _choosers(sets: Sequence[DatasetAccuracy]) -> list[str]:
    """Verifiers that helped to choose the items of a data set."""
    return _named([row.verifier] for found in sets for row in found.rows if row.selection_judge)


def _named(names: Iterable[Iterable[str]]) -> list[str]:
    """All names, each once."""
    return list(dict.fromkeys(chain.from_iterable(names)))


def _undecided(names: Sequence[str]) -> Iterable[str]:
    if names:
        yield f"Left out, as they decide no item (scores without a threshold): {', '.join(names)}."


def _some(counts: dict[str, int]) -> Iterable[tuple[str, int]]:
    return ((name, number) for name, number in counts.items() if number)
