"""A judge under many settings: named runs of one machinery that share its replies, and a curve through them.

Starting a sweep again goes on with it: what is complete stays, what was asked is never asked again, and points whose
calls others have made cost only what is new.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from workbench.core.calls import Estimate
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.core.selection import Selection
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.measuring.accuracy import accuracy
from workbench.runs.choosing import choose, make
from workbench.runs.run_costs import estimate
from workbench.runs.run_status import run_info
from workbench.runs.store import consumption
from workbench.runs.store.consumption import StepSums
from workbench.runs.trust import require_trust
from workbench.runs.verifying import EVERYTHING, start
from workbench.statistics.records.study import Consumption, Part, SweepPoint, SweepReport

if TYPE_CHECKING:
    from workbench.statistics.records.report import AccuracyRow

MOST_POINTS = 200
"""A sweep has no more runs than this."""

Settings = dict[str, str]
"""What one point of a sweep differs in, by option."""


def sweep_points(vary: Mapping[str, Sequence[str]], grid: bool) -> list[Settings]:
    """The settings of a sweep.

    Args:
        vary: Values by option.
        grid: All combinations; else one option at a time, the others staying as they are, as in the paper's figure 5.

    Raises:
        UsageError: There is nothing to vary, or too much.
    """
    sides = [[(name, value) for value in dict.fromkeys(values)] for name, values in vary.items()]
    found = (
        [dict(one) for one in product(*sides)] if grid else [{name: value} for side in sides for name, value in side]
    )
    if not vary or not found:
        raise UsageError("A sweep varies something.", "Say what: --vary depth=3,6,9")
    if len(found) > MOST_POINTS:
        raise UsageError(f"This sweep has {len(found):,} points, more than {MOST_POINTS}.", "Vary less at a time.")
    return found


def point_name(judge: str, settings: Settings) -> str:
    """The name of a judge under other settings: ``mcts/depth-3/rollouts-8``."""
    return "/".join([judge, *(f"{name}-{value}" for name, value in settings.items())])


def sweep_estimate(
    project: Project, judge: str, points: Sequence[Settings], options: Settings, selection: Selection = EVERYTHING
) -> Estimate | None:
    """What all points are about to use, each by itself; None for a judge that asks no server.

    Arguments and errors as with `start_sweep`.
    """
    found = [
        one
        for settings in points
        if (one := estimate(project, judge, {**options, **settings}, point_name(judge, settings), selection))
    ]
    if not found:
        return None
    costs = [one.cost for one in found if one.cost is not None]
    return Estimate(
        items=sum(one.items for one in found),
        stored=sum(one.stored for one in found),
        calls=sum(one.calls for one in found),
        prompt_tokens=sum(one.prompt_tokens for one in found),
        completion_tokens=sum(one.completion_tokens for one in found),
        cost=sum(costs) if len(costs) == len(found) else None,
    )


def start_sweep(
    project: Project,
    judge: str,
    points: Sequence[Settings],
    options: Settings,
    selection: Selection = EVERYTHING,
    trust: bool = False,
) -> list[RunInfo]:
    """Start the run of every point, or go on with it, in their order; arguments and errors as with `verifying.start`.

    Nothing is started unless every point can be.

    Args:
        judge: A kind or the name of a verifier.
        points: What each run differs in.
        options: What holds for all of them.
    """
    for settings in points:
        chosen = choose(project, judge, {**options, **settings}, point_name(judge, settings))
        require_trust(project, make(chosen), chosen.options, accept=trust or chosen.own)
    return [
        start(project, judge, {**options, **settings}, point_name(judge, settings), selection, trust=trust)
        for settings in points
    ]


def sweep_report(
    project: Project,
    judge: str,
    points: Sequence[Settings],
    runs: Sequence[int],
    *,
    protocol: Protocol3 = "forced",
    gold: GoldChoice = "final",
    selection: Selection = EVERYTHING,
) -> SweepReport:
    """The points with what their runs have come to.

    Args:
        runs: Each point's run.
    """
    found = []
    for settings, run in zip(points, runs, strict=True):
        info = run_info(project, run)
        row: AccuracyRow | None = None
        if info.completed_at is not None:
            report = accuracy(project, protocol=protocol, gold=gold, selection=selection, run=run)
            row = next(one for one in report.rows if one.verifier == info.verifier and one.group is None)
        sums = consumption.by_step(project.database.reader(), run)
        found.append(
            SweepPoint(
                verifier=info.verifier,
                settings=settings,
                run=run,
                state=info.state,
                message=info.message,
                items=info.done,
                accuracy=row,
                consumption=dict(_consumption(sums, info.done)) if info.done else {},
            )
        )
    return SweepReport(judge=judge, protocol=protocol, gold_choice=gold, points=found)


def _consumption(sums: Sequence[StepSums], items: int) -> Iterator[tuple[Part, Consumption]]:
    parts: dict[Part, list[StepSums]] = {"judging": [], "execution": [], "tests": []}
    for one in sums:
        parts[_part(one.step)].append(one)
    for part, ones in parts.items():
        if ones:
            yield (
                part,
                Consumption(
                    calls=sum(one.calls for one in ones) / items,
                    prompt_tokens=_mean([one.prompt_tokens for one in ones], items),
                    completion_tokens=_mean([one.completion_tokens for one in ones], items),
                ),
            )


def _part(step: str) -> Part:
    if step in ("execute", "compare"):
        return "execution"
    return "tests" if " tests: " in step else "judging"


def _mean(tokens: Sequence[int | None], items: int) -> float | None:
    known = [one for one in tokens if one is not None]
    return sum(known) / items if len(known) == len(tokens) else None
