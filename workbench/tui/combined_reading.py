"""What the Combine screen asks for and what it gets; every function runs in a thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from workbench.errors import UsageError
from workbench.model.selection import Condition, Selection
from workbench.model.verdict import GoldChoice, Protocol3
from workbench.services.measuring.combined import CombinedReport, CombinedSheet, head, sheets
from workbench.services.measuring.combining import ensemble
from workbench.services.measuring.downstream import downstream
from workbench.services.measuring.estimating import estimate
from workbench.services.measuring.judged import BASELINE, everybody
from workbench.services.measuring.selecting import best_of
from workbench.services.project import Project

Task = Literal["ensembles", "best-of", "estimate", "downstream"]


class CombinedQuery(Struct, frozen=True, kw_only=True):
    """What is asked for.

    Attributes:
        verifiers: Who votes, or picks; empty for all that have a complete run.
        weighted: Ensembles with weights, too.
        sizes: Of how many completions one is picked; empty for 1, 2, 4 ...
        subject: Whose accuracy is estimated; None for the first one.
        predictors: Whose verdicts predict gold; empty for all others.
        path: The file of downstream scores; empty for none yet.
        by: What rows are grouped by; None for all items only.
    """

    task: Task = "ensembles"
    verifiers: tuple[str, ...] = ()
    weighted: bool = True
    sizes: tuple[int, ...] = ()
    subject: str | None = None
    predictors: tuple[str, ...] = ()
    path: str = ""
    by: str | None = None
    protocol: Protocol3 = "forced"
    gold: GoldChoice = "final"
    conditions: tuple[Condition, ...] = ()


class CombinedView(NamedTuple):
    """A report as it is shown."""

    wanted: CombinedQuery
    report: CombinedReport
    head: str
    sheets: tuple[CombinedSheet, ...]


def read(project: Project, wanted: CombinedQuery) -> CombinedView:
    """Count.

    Raises:
        UsageError: See `ensemble`, `best_of`, `estimate` and `downstream`.
        FormatError: The file of scores can't be read.
    """
    report = _READERS[wanted.task](project, wanted)
    return CombinedView(wanted, report, head(report), sheets(report))


def subject_of(wanted: CombinedQuery, names: tuple[str, ...]) -> str:
    """Whose accuracy is estimated.

    Raises:
        UsageError: Nobody's can be.
    """
    if not names:
        raise UsageError("No verifier has a complete run.", "Start one in Verifiers & runs.")
    return wanted.subject or next((name for name in names if name != BASELINE), names[0])


def _ensemble(project: Project, wanted: CombinedQuery) -> CombinedReport:
    return ensemble(project, wanted.verifiers, weighted=wanted.weighted, by=wanted.by, **_counting(wanted))


def _best_of(project: Project, wanted: CombinedQuery) -> CombinedReport:
    return best_of(project, wanted.verifiers, sizes=wanted.sizes, **_counting(wanted))


def _estimate(project: Project, wanted: CombinedQuery) -> CombinedReport:
    subject = subject_of(wanted, everybody(project))
    return estimate(project, subject, wanted.predictors, by=wanted.by, **_counting(wanted))


def _downstream(project: Project, wanted: CombinedQuery) -> CombinedReport:
    if not wanted.path:
        raise UsageError(
            "Does a better verifier make a better model? That takes a file with what models score after training.",
            "Name one: a line of it says which verifier, which benchmark and which score, as JSON or CSV.",
        )
    return downstream(project, Path(wanted.path), by=wanted.by, **_counting(wanted))


def _counting(wanted: CombinedQuery) -> dict[str, Any]:
    return {"protocol": wanted.protocol, "gold": wanted.gold, "selection": Selection(wanted.conditions)}


_READERS: dict[Task, Callable[[Project, CombinedQuery], CombinedReport]] = {
    "ensembles": _ensemble,
    "best-of": _best_of,
    "estimate": _estimate,
    "downstream": _downstream,
}
