"""Ranks verifiers by accuracy on a frozen benchmark, against the gold with which it was frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from workbench.benchmarks.building.comparing import flips
from workbench.benchmarks.publishing.frozen import FrozenSet
from workbench.benchmarks.records import LeaderboardLine, TypeScore
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.verdict import Protocol3
from workbench.measuring.accuracy import accuracy
from workbench.measuring.columns import Columns
from workbench.measuring.judged import BASELINE, judges_of
from workbench.measuring.report.contents import RunFacts
from workbench.measuring.report.gathering import deciding, run_facts
from workbench.statistics.records.report import AccuracyReport, AccuracyRow
from workbench.tables.files import flatten_columns, lines_csv


class Leaderboard(Struct, frozen=True, kw_only=True):
    """The metrics of every verifier that has a decided verdict on an item of a benchmark.

    Attributes:
        lines: One line for each verifier and baseline.
        overall: The report on all items.
        runs: The runs that provide the verdicts.
        undecided: Verifiers that judged items without a decided verdict: scores without a threshold, or only errors.
    """

    lines: list[LeaderboardLine]
    overall: AccuracyReport
    runs: list[RunFacts]
    undecided: tuple[str, ...]


def leaderboard_of(project: Project, frozen: FrozenSet, known: Columns, protocol: Protocol3) -> Leaderboard:
    """Measure every verifier with a complete run.

    Args:
        known: The columns with the benchmark's frozen gold.
    """
    everyone = judges_of(project)
    first = _measure(project, frozen, known, protocol, tuple(judge.name for judge in everyone) or (BASELINE,))
    names = deciding(everyone, first)
    overall = _measure(project, frozen, known, protocol, names or (BASELINE,))
    by_type = _measure(project, frozen, known, protocol, names or (BASELINE,), by="type")
    judges = {judge.name: judge for judge in everyone if judge.name in names}
    facts = {name: run_facts(project, judge.run) for name, judge in judges.items() if judge.run is not None}
    rates = {flip.judge: flip.rate for flip in flips(project, frozen.stored)}
    groups: dict[str, dict[str, AccuracyRow]] = {}
    for row in by_type.rows:
        groups.setdefault(row.verifier, {})[row.group or ""] = row
    macro = {row.verifier: row.macro for row in by_type.averages}
    lines = [
        _leaderboard_line(
            frozen, row, groups[row.verifier], macro.get(row.verifier), protocol, facts.get(row.verifier), rates
        )
        for row in overall.rows
        if row.group is None
    ]
    judged = {row.verifier for row in first.rows if row.abstain + row.error + row.n}
    return Leaderboard(
        lines=sorted(lines, key=lambda line: (line.kind == "baseline", -(line.accuracy or 0.0), line.verifier)),
        overall=overall,
        runs=list(facts.values()),
        undecided=tuple(judge.name for judge in everyone if judge.name in judged and judge.name not in judges),
    )


def _measure(
    project: Project,
    frozen: FrozenSet,
    known: Columns,
    protocol: Protocol3,
    names: tuple[str, ...],
    by: str | None = None,
) -> AccuracyReport:
    return accuracy(
        project,
        verifiers=names,
        by=by,
        protocol=protocol,
        gold="final",
        selection=frozen.selection,
        known=known,
        seed=None,
    )


def _leaderboard_line(
    frozen: FrozenSet,
    row: AccuracyRow,
    groups: Mapping[str, AccuracyRow],
    macro: float | None,
    protocol: Protocol3,
    run: RunFacts | None,
    rates: Mapping[str, float | None],
) -> LeaderboardLine:
    return record_from(
        LeaderboardLine,
        row,
        set=str(frozen.name),
        protocol=protocol,
        gold=frozen.stored.gold or "final",
        items=frozen.stored.items,
        macro=macro,
        types={name: TypeScore(n=one.n, accuracy=one.accuracy, ci=one.ci) for name, one in groups.items() if name},
        chose_by_these=run is not None and run.run in frozen.stored.runs,
        flip_rate=rates.get(row.verifier),
        version=None if run is None else run.version,
        config_hash=None if run is None else run.config_hash,
    )


def leaderboard_csv(lines: Sequence[LeaderboardLine]) -> str:
    return lines_csv([dict(flatten_columns(one | one.pop("types"))) for one in map(structs.asdict, lines)], {})
