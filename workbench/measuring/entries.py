"""The verifiers and baselines of an accuracy table (entries), and the columns that each is measured on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct, structs

from workbench.core.project import Project
from workbench.core.selection import Selection, split_grouping
from workbench.core.taxonomy import UNTYPED
from workbench.core.verdict import PROTOCOL, GoldChoice, OutcomeCode, Protocol3
from workbench.data.store import browsing
from workbench.measuring.column_memory import Made
from workbench.measuring.columns import Columns, columns
from workbench.measuring.judged import BASELINE, VerifierRun, judges_of, measurable, own_gold
from workbench.statistics.records.report import AccuracyReport, AccuracyRow, CellTests, Kind

if TYPE_CHECKING:
    from workbench.statistics.accuracy import AccuracyColumns, ClusterCounts
    from workbench.statistics.confusion import BoolArray, Graded, IntArray
    from workbench.statistics.permutations import CellTest, Pieces


# -- Tests of cells of the accuracy table against the rest of their scope: differences, p-values, q-values.


Parts: TypeAlias = tuple[str, ...]
"""Identifies a group among the rows of one entry."""


class CellKey(NamedTuple):
    verifier: str
    parts: Parts


def with_deltas(rows: Sequence[AccuracyRow], columns: AccuracyColumns, pieces: Pieces) -> list[AccuracyRow]:
    import numpy as np

    from workbench.statistics.permutations import scope_of

    shares = np.bincount(pieces.scope, weights=pieces.right) / np.maximum(
        np.bincount(pieces.scope, weights=pieces.size), 1
    )
    only = scope_of(pieces.group, pieces.scope, len(columns.names))
    against = {part: float(shares[place]) for part, place in zip(columns.parts, only, strict=True) if place >= 0}
    return [
        row
        if row.accuracy is None or row.groups not in against
        else structs.replace(row, delta=row.accuracy - against[row.groups])
        for row in rows
    ]


def with_tests(
    rows: Sequence[AccuracyRow], tests: Mapping[str, Mapping[Parts, CellTest]], seed: int | None
) -> tuple[list[AccuracyRow], CellTests | None]:
    """Return the rows of a table with p- and q-values, and how these were computed.

    A group is compared with its scope: all items, or the type of a subtype. If a scope has only two groups, both have
    the same test, which counts once. If there are several scopes, the tests of one verifier in one scope are a family.

    Args:
        tests: Verifier -> its groups' tests.
        seed: The seed of these tests.
    """
    from workbench.statistics.subgroups import tree

    of = {CellKey(name, parts): (name, test.of) for name, found in tests.items() for parts, test in found.items()}
    distinct = {(name, test.of): test for name, found in tests.items() for test in found.values()}
    if not distinct:
        return list(rows), None
    branches = len({test.scope for test in distinct.values()}) > 1
    families = [(name, test.scope) if branches else None for (name, _), test in distinct.items()]
    q = dict(zip(distinct, tree([test.p for test in distinct.values()], families), strict=True))
    shown = []
    for row in rows:
        hypothesis = of.get(CellKey(row.verifier, row.groups))
        if hypothesis is None:
            shown.append(row)
        else:
            shown.append(structs.replace(row, p=distinct[hypothesis].p, q=q[hypothesis]))
    how = [test.how for test in distinct.values()]
    return shown, CellTests(
        hypotheses=len(distinct),
        exact=how.count("counted"),
        drawn=how.count("drawn"),
        approximate=how.count("normal"),
        families=len(set(families)),
        seed=seed if "drawn" in how else None,
    )


def combine_q_values(reports: Mapping[str, AccuracyReport]) -> dict[str, AccuracyReport]:
    """Recompute q-values over all tables that are reported together. Cells are tested only in tables that are
    significant as a whole.

    Args:
        reports: Name of each table -> its report.
    """
    from workbench.measuring.notes import cells_in_words
    from workbench.statistics.subgroups import across

    tested = {name: report for name, report in reports.items() if report.tests is not None}
    if len(tested) < 2:
        return dict(reports)
    q = across([[row.q for row in report.rows if row.q is not None] for report in tested.values()])
    found = dict(reports)
    for (name, report), values in zip(tested.items(), q, strict=True):
        later = iter(values)
        rows = [row if row.q is None else structs.replace(row, q=next(later)) for row in report.rows]
        together = structs.replace(report, rows=rows)
        words = dict(zip(cells_in_words(report), cells_in_words(together), strict=True))
        found[name] = structs.replace(together, notes=tuple(words.get(note, note) for note in report.notes))
    return found


TypeField: TypeAlias = Literal["type", "subtype"]
"""Granularity of answer types."""

MAJORITY: Final = "majority-by-type"
"""The baseline that predicts the majority class of each type; it knows the gold on which it is measured."""
CONSTANTS: Final[dict[str, OutcomeCode]] = {BASELINE: OutcomeCode.INCORRECT, "always-correct": OutcomeCode.CORRECT}
BASELINES: Final = (*CONSTANTS, MAJORITY)
"""Rows of every table; they need no run."""


class AccuracyQuery(Struct, frozen=True, kw_only=True):
    """A request for an accuracy table.

    Attributes:
        verifiers: Names; empty for all verifiers with a complete run that judge completions.
        by: A property, or several with commas between them; None for the row over all items only.
        run: Measure exactly this run; None for the newest complete run of each verifier.
        live: Also include verifiers whose first complete run is in progress.
    """

    verifiers: tuple[str, ...] = ()
    by: str | None = None
    protocol: Protocol3 = PROTOCOL
    gold: GoldChoice = "final"
    selection: Selection = Selection()
    run: int | None = None
    live: bool = False


class Entry(Struct, frozen=True, kw_only=True, eq=False):
    """A verifier or a baseline with its verdicts.

    Attributes:
        run: The run that provides its verdicts; None for a baseline.
        outcome: Its `OutcomeCode` on every visible item, -1 without a verdict (int8).
        expected: Number of verdicts that a run which has never been complete will have; None for other runs.
    """

    name: str
    kind: Kind
    run: int | None
    outcome: IntArray
    expected: int | None = None


class Measured:
    """An entry on the items on which it is measured; everything is computed on first use.

    Args:
        by: The property that forms groups; None for all items only.
    """

    def __init__(self, entries: Entries, entry: Entry, by: str | None) -> None:
        self.entries, self.entry, self._by = entries, entry, by
        self._fields = split_grouping(by) if by else ()
        self._rows: BoolArray | slice = entries.rows
        if "reason" in self._fields:
            judged = entry.outcome >= 0
            self._rows = judged if isinstance(self._rows, slice) else self._rows & judged

    @cached_property
    def columns(self) -> AccuracyColumns:
        from workbench.statistics.accuracy import AccuracyColumns

        known, run, rows = self.entries.everything, self.entry.run, self._rows
        groups = known.groups(self._by, run) if self._by else None
        clusters, score = known.clusters(self._by, run), known.score(run)
        return AccuracyColumns(
            outcome=self.entry.outcome[rows],
            gold=self.entries.gold[rows],
            question=known.question[rows],
            group=None if groups is None else groups.code[rows],
            names=() if groups is None else groups.names,
            parts=() if groups is None else groups.parts,
            score=None if score is None else score[rows],
            clusters=clusters if isinstance(rows, slice) else clusters.of(rows),
        )

    @cached_property
    def counts(self) -> ClusterCounts:
        from workbench.statistics.accuracy import count_clusters

        return count_clusters(self.columns)

    @property
    def kind(self) -> IntArray:
        """Each item's answer type, a position in the names of `Entries.kinds`."""
        return self.entries.kinds.code[self._rows]

    def graded(self) -> Graded:
        from workbench.statistics.confusion import grade

        return grade(self.columns.outcome, self.columns.gold, self.entries.asked.protocol)

    def pieces(self) -> Pieces:
        """Return the counted items by question and group."""
        import numpy as np

        from workbench.statistics.permutations import Pieces

        size, right = self.counts.graded(self.entries.asked.protocol)
        scope: IntArray = np.zeros(len(size), dtype=np.int64)
        if "subtype" in self._fields:
            # A subtype is compared with its type, not with all items.
            scope = self.entries.everything.of_clusters("type", self._by, self.entry.run)
        clusters = self.counts.clusters
        return Pieces(size, right, clusters.group, scope, clusters.question).of(size > 0)


class Entries:
    """The verifiers and baselines of a table, and its items.

    Args:
        known: Columns with gold that differs from the current gold; None to read the current columns.

    Attributes:
        everything: Columns of all visible items.
        rows: The selected ones among them.
        kept: A mask of the selected items; None if all are selected.
        gold: The gold of all visible items.
        everyone: Verifiers in the order of creation, then the baselines whose names no verifier has.
        named: The same by name.
        kinds: The items grouped by answer type.
        tied: Types with as many correct as incorrect items by gold.
        items: Number of selected items with gold.
        own: Verifier whose verdicts are the source of some gold -> number of items with that gold, on which it is not
            measured.
    """

    def __init__(self, project: Project, asked: AccuracyQuery, known: Columns | None = None) -> None:
        self.asked = asked
        self.everything = known or columns(project)
        self.kinds = self.everything.groups("type")
        self.kept = self.everything.chosen(asked.selection)
        self.rows: BoolArray | slice = slice(None) if self.kept is None else self.kept
        self.gold = self.everything.gold(asked.gold)
        self.items = int((self.gold[self.rows] >= 0).sum())
        own = own_gold(project, self.everything, asked.gold)
        self.own = {name: int(found[self.rows].sum()) for name, found in own.items()} if own else {}
        self.everyone = [
            Entry(
                name=judge.name,
                kind="verifier",
                run=judge.run,
                outcome=measurable(self.everything.outcome(judge.run), own.get(judge.name)),
                expected=judge.expected,
            )
            for judge in _verifier_runs(project, asked)
        ]
        self.named = {entry.name: entry for entry in self.everyone}
        outcomes, self.tied = self._baseline_outcomes()
        for name, outcome in outcomes.items():
            self.named.setdefault(name, Entry(name=name, kind="baseline", run=None, outcome=outcome))
        self.everyone = list(self.named.values())

    @property
    def verifiers(self) -> list[Entry]:
        return [entry for entry in self.everyone if entry.kind == "verifier"]

    @property
    def unfinished(self) -> dict[str, float]:
        """Map each verifier whose run has never been complete to the share of its items judged so far."""
        return {
            entry.name: min(int((entry.outcome >= 0).sum()) / max(entry.expected, 1), 1.0)
            for entry in self.everyone
            if entry.expected is not None
        }

    def remembered(self, name: str, of: tuple[Entry, ...], make: Callable[[], Made]) -> Made:
        if self.kept is not None:
            return make()
        asked, everything = self.asked, self.everything
        key: list[object] = [name, asked.by, asked.protocol, asked.gold]
        sources: list[object] = [self.gold, self.kinds]
        for entry in of:
            key += [entry.name, entry.run]
            sources += [entry.outcome, everything.score(entry.run), everything.clusters(asked.by, entry.run)]
        return everything.counted(tuple(key), tuple(sources), make)

    def counted_among(self, entry: Entry, items: Sequence[int]) -> int:
        import numpy as np

        there = np.isin(self.everything.item, items) & (entry.outcome >= 0) & (self.gold >= 0)
        return int(there[self.rows].sum())

    def lacking(self, field: TypeField) -> list[int]:
        groups, rows = self.everything.groups(field), self.rows
        bare = groups.code == groups.names.index(UNTYPED) if UNTYPED in groups.names else groups.code < 0
        items: list[int] = self.everything.item[rows][(bare & (self.gold >= 0))[rows]].tolist()
        return items

    def _baseline_outcomes(self) -> tuple[dict[str, IntArray], tuple[str, ...]]:
        import numpy as np

        from workbench.statistics.accuracy import always, majority

        everything = self.everything
        gold = self.gold if self.kept is None else np.where(self.kept, self.gold, np.int8(-1))
        most = everything.counted(
            (MAJORITY, self.asked.gold),
            (gold, self.kinds),
            lambda: majority(gold, self.kinds.code, len(self.kinds.names)),
        )
        outcomes = {
            name: everything.counted(name, (everything.item,), partial(always, outcome, len(gold)))
            for name, outcome in CONSTANTS.items()
        }
        return {**outcomes, MAJORITY: most.outcome}, tuple(self.kinds.names[place] for place in most.tied)


def _verifier_runs(project: Project, asked: AccuracyQuery) -> tuple[VerifierRun, ...]:
    if asked.run is not None or not asked.verifiers:
        return judges_of(project, asked.verifiers, asked.run, live=asked.live)
    run = set(browsing.newest_runs(project.database.reader()).values())
    named = tuple(name for name in asked.verifiers if name in run or name not in BASELINES)
    return judges_of(project, named, live=asked.live) if named else ()
