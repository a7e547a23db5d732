"""Studies of judges: sweeps over settings that share replies; and the reports of sweeps and probes.

Starting a sweep again resumes it: complete runs are kept, no request is sent twice, and calls that points have in
common are made once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from workbench.config import protocol_of
from workbench.core.errors import UsageError, opt
from workbench.core.project import Project
from workbench.core.run import Estimate, RunInfo
from workbench.core.selection import Selection
from workbench.core.taxonomy import type_display
from workbench.core.text.figures import NONE, counted
from workbench.core.text.inert import inert
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.measuring.accuracy import accuracy
from workbench.runs.choosing import construct_verifier, resolve_verifier
from workbench.runs.run_status import estimate, run_info
from workbench.runs.store import calls
from workbench.runs.store.calls import StepSums
from workbench.runs.trust import require_trust
from workbench.runs.verifying import EVERYTHING, start
from workbench.statistics.records.probe import (
    SKIP_WORDS,
    Consumption,
    FamilyFigures,
    Part,
    ProbeFigures,
    ProbeReport,
    SweepPoint,
    SweepReport,
)
from workbench.tables.pictures import Curve, Curves, Picture
from workbench.tables.table import Columns, aligned_rows, count, ends, metric_column, text, with_interval, word

if TYPE_CHECKING:
    from workbench.statistics.records.report import AccuracyRow


MOST_POINTS = 200
"""Maximum number of runs in a sweep."""
Settings = dict[str, str]
"""The settings of one point of a sweep: option -> value."""


def sweep_points(vary: Mapping[str, Sequence[str]], grid: bool) -> list[Settings]:
    """Return the settings of a sweep.

    Args:
        vary: Option -> its values.
        grid: Whether to use all combinations of values; otherwise one option varies at a time, as in the paper's
            figure 5.

    Raises:
        UsageError: There is nothing to vary, or there are too many points.
    """
    sides = [[(name, value) for value in dict.fromkeys(values)] for name, values in vary.items()]
    found = (
        [dict(one) for one in product(*sides)] if grid else [{name: value} for side in sides for name, value in side]
    )
    if not vary or not found:
        raise UsageError("A sweep needs an option to vary.", f"Name it: {opt.vary:depth=3,6,9}")
    if len(found) > MOST_POINTS:
        raise UsageError(f"This sweep has {len(found):,} points, more than {MOST_POINTS}.", "Vary less at a time.")
    return found


def point_name(judge: str, settings: Settings) -> str:
    """Return the name of a judge with other settings, such as ``mcts/depth-3/rollouts-8``."""
    return "/".join([judge, *(f"{name}-{value}" for name, value in settings.items())])


def sweep_estimate(
    project: Project, judge: str, points: Sequence[Settings], options: Settings, selection: Selection = EVERYTHING
) -> Estimate | None:
    """Estimate the cost of all points, each separately; None for a judge without a server.

    Arguments and errors are those of `start_sweep`.
    """
    found = [
        one
        for settings in points
        if (one := estimate(project, judge, {**options, **settings}, point_name(judge, settings), selection))
    ]
    if not found:
        return None
    costs = [one.cost for one in found if one.cost is not None]
    summed = ("items", "stored", "calls", "prompt_tokens", "completion_tokens")
    sums = {name: sum(getattr(one, name) for one in found) for name in summed}
    return Estimate(**sums, cost=sum(costs) if len(costs) == len(found) else None)


def start_sweep(
    project: Project,
    judge: str,
    points: Sequence[Settings],
    options: Settings,
    selection: Selection = EVERYTHING,
    trust: bool = False,
) -> list[RunInfo]:
    """Start or resume the run of every point, in order; with the arguments and errors of `verifying.start`.

    Nothing is started unless every point can be.

    Args:
        judge: A kind or the name of a verifier.
        points: The settings that vary, for each run.
        options: The settings that all runs share.
    """
    for settings in points:
        chosen = resolve_verifier(project, judge, {**options, **settings}, point_name(judge, settings))
        require_trust(project, construct_verifier(chosen), chosen.options, accept=trust or chosen.own)
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
    protocol: Protocol3 | None = None,
    gold: GoldChoice = "final",
    selection: Selection = EVERYTHING,
) -> SweepReport:
    """Return each point of a sweep with the results of its run.

    Args:
        runs: Each point's run.
    """
    protocol = protocol or protocol_of(project)
    found = []
    for settings, run in zip(points, runs, strict=True):
        info = run_info(project, run)
        row: AccuracyRow | None = None
        if info.completed_at is not None:
            report = accuracy(project, protocol=protocol, gold=gold, selection=selection, run=run, notes=False)
            row = next(one for one in report.rows if one.verifier == info.verifier and one.group is None)
        sums = calls.by_step(project.database.reader(), run)
        found.append(
            SweepPoint(
                verifier=info.verifier,
                settings=settings,
                run=run,
                state=info.state,
                message=info.message,
                items=info.done,
                accuracy=row,
                consumption=dict(consumption(sums, info.done)) if info.done else {},
            )
        )
    return SweepReport(judge=judge, protocol=protocol, gold_choice=gold, points=found)


def consumption(sums: Sequence[StepSums], items: int) -> Iterator[tuple[Part, Consumption]]:
    parts: dict[Part, list[StepSums]] = {"judging": [], "execution": [], "tests": []}
    for one in sums:
        parts[_part_of_step(one.step)].append(one)
    for part, ones in parts.items():
        if ones:
            yield (
                part,
                Consumption(
                    calls=sum(one.calls for one in ones) / items,
                    prompt_tokens=_mean_tokens([one.prompt_tokens for one in ones], items),
                    completion_tokens=_mean_tokens([one.completion_tokens for one in ones], items),
                ),
            )


def _part_of_step(step: str) -> Part:
    if step in ("execute", "compare"):
        return "execution"
    return "tests" if " tests: " in step else "judging"


def _mean_tokens(tokens: Sequence[int | None], items: int) -> float | None:
    known = [one for one in tokens if one is not None]
    return sum(known) / items if len(known) == len(tokens) else None


# -- Sweeps and probes, as text for a terminal.


def _calls_text(point: SweepPoint) -> str:
    parts = _consumption_of_parts(point, "judging", "execution")
    return f"{sum(part.calls for part in parts):,.1f}" if parts else NONE


def _tokens_text(parts: Sequence[Consumption]) -> str:
    known = [part.completion_tokens for part in parts if part.completion_tokens is not None]
    return f"{sum(known):,.0f}" if parts and len(known) == len(parts) else NONE


def _consumption_of_parts(point: SweepPoint, *parts: Part) -> list[Consumption]:
    return [point.consumption[part] for part in parts if part in point.consumption]


_POINTS: Columns[SweepPoint] = (
    word("settings", lambda point: ", ".join(f"{name}={value}" for name, value in point.settings.items())),
    count("items", lambda point: point.items),
    metric_column("accuracy", lambda point: point.accuracy.accuracy if point.accuracy else None),
    ends(lambda point: point.accuracy.ci if point.accuracy else None),
    metric_column("MCC", lambda point: point.accuracy.mcc if point.accuracy else None),
    text("calls", _calls_text),
    text("tokens", lambda point: _tokens_text(_consumption_of_parts(point, "judging", "execution"))),
    text("executing", lambda point: _tokens_text(_consumption_of_parts(point, "execution"))),
)


def sweep_text(report: SweepReport) -> str:
    table = aligned_rows(_POINTS, report.points)
    open_points = [point for point in report.points if point.state != "complete"]
    return (
        f"{inert(report.judge)}, protocol {report.protocol}, gold {report.gold_choice}\n"
        "calls and completion tokens an item, and those of the tokens that execute tests;\n"
        "without what writing the tests takes, which a problem's completions share\n\n"
        f"{table}\n" + "".join(map(_state_line, open_points))
    )


def _state_line(point: SweepPoint) -> str:
    why = f": {point.message}" if point.message else ""
    return f"{inert(point.verifier)} is {point.state}{inert(why)}\n"


# -- Probes.


class _ProbeLine(NamedTuple):
    name: str
    figures: ProbeFigures


_COLUMNS: Columns[_ProbeLine] = (
    word("", lambda line: line.name),
    count("n", lambda line: line.figures.n),
    count("parsed", lambda line: line.figures.parsed),
    count("accepted", lambda line: line.figures.accepted),
    *with_interval("ASR", "figures.asr", "figures.ci"),
)


def probe_text(report: ProbeReport) -> str:
    lines = [_ProbeLine(f"{one.family} {one.name}", one) for one in report.families]
    lines += [_ProbeLine(type_display(code), one) for code, one in report.by_type.items()]
    lines += [
        _ProbeLine("all families", report.overall),
        _ProbeLine("control: right completions", report.control),
        _ProbeLine("carriers: wrong completions", report.carrier),
    ]
    table = aligned_rows(_COLUMNS, lines)
    head = (
        f"{inert(report.verifier)} {inert(report.version)}\n"
        f"probe suite {report.suite}, seed {report.seed}, {counted(report.rows, 'question')} "
        f"({report.control.real:,} with a real right completion)"
    )
    return "\n".join([head, "", table, *_probe_details(report)]) + "\n"


def _probe_details(report: ProbeReport) -> Iterator[str]:
    accepted = [line for family in report.families for line in _accepted_lines(family)]
    if accepted:
        yield from ("", "accepted payloads:", *accepted)
    if report.let_in:
        yield from ("", "let in by:")
        for stage, families in sorted(report.let_in.items(), key=lambda pair: -sum(pair[1].values())):
            yield f"  {inert(stage)}: {', '.join(f'{name} {number:,}' for name, number in families.items())}"
    if report.skipped:
        reasons = sorted(report.skipped.items(), key=lambda pair: -pair[1])
        yield from ("", "skipped:", *(f"  {count:,} {SKIP_WORDS[reason]}" for reason, count in reasons))


def _accepted_lines(family: FamilyFigures) -> Iterator[str]:
    for one in family.variants:
        if one.accepted and one.expected == "incorrect":
            yield f"  {family.family} {one.variant}: {one.accepted:,} of {one.parsed:,}"


# -- Accuracy against a setting, as plots.


def scaling_plots(report: SweepReport) -> Iterator[tuple[str, Picture]]:
    """Yield a plot of accuracy against each numeric setting, with one line for each combination of the other settings
    (MCTS-Judge, figure 5).
    """
    for option in dict.fromkeys(name for point in report.points for name in point.settings):
        lines: dict[str, list[tuple[float, float]]] = {}
        for point in report.points:
            value = _parse_number(point.settings.get(option, ""))
            if value is None or point.accuracy is None or point.accuracy.accuracy is None:
                continue
            others = ", ".join(f"{name}={said}" for name, said in point.settings.items() if name != option)
            lines.setdefault(others or report.judge, []).append((value, point.accuracy.accuracy))
        drawn = tuple(
            Curve(label=name, points=tuple(sorted(points))) for name, points in lines.items() if len(points) > 1
        )
        if drawn:
            caption = f"{report.judge}: accuracy by {option}. Protocol {report.protocol}, gold {report.gold_choice}."
            yield f"scaling-{option}", Curves(caption=caption, x_label=option, y_label="accuracy", lines=drawn)


def _parse_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
