"""Frozen sets: listed, and one of them with all that is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from workbench.benchmarks.building.composition import places
from workbench.benchmarks.building.described import report_of, settings_of
from workbench.benchmarks.set_views import Flip, SetDetail, SetLine
from workbench.benchmarks.store import building
from workbench.core.database import sets
from workbench.core.project import Project
from workbench.core.sets import SetName, SetReport, StoredSet
from workbench.core.verdict import Outcome
from workbench.measuring.columns import Columns, columns
from workbench.measuring.store import figures

if TYPE_CHECKING:
    from workbench.statistics.arrays import IntArray


def every_set(project: Project) -> list[SetLine]:
    """All sets in the order they were frozen.

    Raises:
        StoreError: What one says of itself can't be read.
    """
    reader = project.database.reader()
    return [_line(reader, one, report_of(one)) for one in sets.every(reader)]


def set_detail(project: Project, name: str) -> SetDetail:
    """One set.

    Raises:
        StoreError: What it says of itself can't be read.
        UsageError: There is none of that name.
    """
    reader = project.database.reader()
    found = sets.require(reader, SetName.parse(name))
    report = report_of(found)
    line = _line(reader, found, report)
    return SetDetail(
        set=line,
        config=settings_of(found),
        report=msgspec.structs.replace(report, version=found.version, digest=found.digest),
        flips=flips(project, found),
        changed=line.changed,
    )


def flips(project: Project, found: StoredSet) -> tuple[Flip, ...]:
    """How often each judge that chose a set says something else of its items in a later run."""
    reader = project.database.reader()
    items = [one.item for one in sets.items(reader, found.id)]
    if not found.runs or not items:
        return ()
    known = columns(project)
    rows = places(known, items)
    return tuple(
        _flip(known, rows, figures.verifier_of_run(reader, run), run, building.run_since(reader, run))
        for run in found.runs
    )


def _flip(known: Columns, rows: IntArray, judge: str, run: int, later: int | None) -> Flip:
    if later is None:
        return Flip(judge=judge, run=run, later=None, both=0, flipped=0, rate=None)
    before, after = known.outcome(run)[rows], known.outcome(later)[rows]
    both = (before >= 0) & (before < Outcome.ABSTAIN) & (after >= 0) & (after < Outcome.ABSTAIN)
    decided, flipped = int(both.sum()), int((both & (before != after)).sum())
    rate = flipped / decided if decided else None
    return Flip(judge=judge, run=run, later=later, both=decided, flipped=flipped, rate=rate)


def _line(reader: building.Connection, found: StoredSet, report: SetReport) -> SetLine:
    return SetLine(
        name=found.name,
        version=found.version,
        kind=found.kind,
        questions=found.questions,
        tuples=found.items,
        seed=found.seed,
        gold=found.gold,
        guideline=found.guideline,
        code_version=found.code_version,
        digest=found.digest,
        created_at=found.created_at,
        short=len(report.shortfall),
        states=building.states(reader, found.id),
        changed=building.changed(reader, found.id, found.gold)._asdict(),
    )
