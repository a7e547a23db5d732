"""Ranks verifiers by accuracy on a frozen benchmark, against the gold with which it was frozen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

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
    measure = partial(
        accuracy, project, protocol=protocol, gold="final", selection=frozen.selection, known=known, seed=None
    )
    first = measure(verifiers=tuple(judge.name for judge in everyone) or (BASELINE,))
    names = deciding(everyone, first)
    overall = measure(verifiers=names or (BASELINE,))
    by_type = measure(verifiers=names or (BASELINE,), by="type")
    judges = {judge.name: judge for judge in everyone if judge.name in names}
    facts = {name: run_facts(project, judge.run) for name, judge in judges.items() if judge.run is not None}
    rates = {flip.judge: flip.rate for flip in flips(project, frozen.stored)}
    groups: dict[str, dict[str, AccuracyRow]] = {}
    for row in by_type.rows:
        groups.setdefault(row.verifier, {})[row.group or ""] = row
    macro = {row.verifier: row.macro for row in by_type.averages}
    lines = []
    for row in (row for row in overall.rows if row.group is None):
        run, types = facts.get(row.verifier), groups[row.verifier]
        lines.append(
            record_from(
                LeaderboardLine,
                row,
                set=str(frozen.name),
                protocol=protocol,
                gold=frozen.stored.gold or "final",
                items=frozen.stored.items,
                macro=macro.get(row.verifier),
                types={name: record_from(TypeScore, one) for name, one in types.items() if name},
                chose_by_these=run is not None and run.run in frozen.stored.runs,
                flip_rate=rates.get(row.verifier),
                version=None if run is None else run.version,
                config_hash=None if run is None else run.config_hash,
            )
        )
    judged = {row.verifier for row in first.rows if row.abstain + row.error + row.n}
    return Leaderboard(
        lines=sorted(lines, key=lambda line: (line.kind == "baseline", -(line.accuracy or 0.0), line.verifier)),
        overall=overall,
        runs=list(facts.values()),
        undecided=tuple(judge.name for judge in everyone if judge.name in judged and judge.name not in judges),
    )


def leaderboard_csv(lines: Sequence[LeaderboardLine]) -> str:
    return lines_csv([dict(flatten_columns(one | one.pop("types"))) for one in map(structs.asdict, lines)], {})
