"""What the commands of ``workbench build`` share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from workbench.app.cli.verb import Output
from workbench.benchmarks.set_text import report_lines
from workbench.core.options import SeedNumber, option
from workbench.core.sets import FinalGold, SetReport

SetTitle = Annotated[str, option("What the set is called.", "--name")]
DryRun = Annotated[bool, option("Show what it would be, and write nothing.")]
NewVersion = Annotated[bool, option("Freeze it beside an earlier one that differs.")]
FinalGoldChoice = Annotated[
    FinalGold, option("Whose labels count: what people agreed on or a third person gave; or the file's.")
]
DrawSeed = Annotated[SeedNumber, option("Of the draws.", "--seed")]


def built(report: SetReport, *, dry_run: bool, more: Iterable[str] = ()) -> Output:
    """What came of building a set, and what comes next.

    Args:
        more: Lines that only this kind of set has.
    """
    after = ["Nothing was written (--dry-run)."] if dry_run else [f"Next: {report.next}"] if report.next else []
    return Output(report, lambda found: (*report_lines(found), *more), after=after)
