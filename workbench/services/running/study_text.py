"""Sweeps and duels, as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.model import reasons
from workbench.model.study import DuelReport, DuelRow, SweepPoint, SweepReport
from workbench.render.bars import counted
from workbench.render.columns import aligned, interval, number
from workbench.render.inert import inert


def sweep_text(report: SweepReport) -> str:
    """Accuracy and consumption by settings."""
    head = ("settings", "items", "accuracy", "95 % interval", "MCC", "calls", "tokens", "executing")
    table = aligned([head, *map(_point_cells, report.points)])
    open_points = [point for point in report.points if point.state != "complete"]
    return (
        f"{inert(report.judge)}, protocol {report.protocol}, gold {report.gold_choice}\n"
        "calls and completion tokens an item, and those of the tokens that execute tests;\n"
        "without what writing the tests takes, which a problem's completions share\n\n"
        f"{table}\n" + "".join(map(_state_line, open_points))
    )


def duel_text(report: DuelReport) -> str:
    """Win rates by dimension."""
    head = ("dimension", "n", "A wins", "B wins", "ties", "by place", "win rate", "95 % interval")
    table = aligned([head, *map(_duel_cells, report.rows)])
    lines = [f"{inert(report.verifier)}, run {report.run} ({report.state}): {counted(report.items, 'item')}"]
    lines += [f"A is {inert(report.a)}, B is {inert(report.b)}; the win rate is A's, of all wins"]
    lines += ["a win is one in both orders; by place: ties that prefer the same place in both"]
    lines += [f"  no comparison: {n:,} {inert(reasons.named(reason))}" for reason, n in sorted(report.none.items())]
    return "\n".join([*lines, "", table]) + "\n"


def _point_cells(point: SweepPoint) -> tuple[str, ...]:
    row = point.accuracy
    parts = [point.consumption[part] for part in ("judging", "execution") if part in point.consumption]
    executing = point.consumption.get("execution")
    return (
        ", ".join(f"{name}={value}" for name, value in point.settings.items()),
        f"{point.items:,}",
        number(row.accuracy if row else None),
        interval(row.ci if row else None),
        number(row.mcc if row else None),
        f"{sum(part.calls for part in parts):,.1f}" if parts else "–",
        _tokens([part.completion_tokens for part in parts]),
        _tokens([executing.completion_tokens] if executing else []),
    )


def _tokens(counts: Sequence[float | None]) -> str:
    known = [count for count in counts if count is not None]
    return f"{sum(known):,.0f}" if counts and len(known) == len(counts) else "–"


def _state_line(point: SweepPoint) -> str:
    why = f": {point.message}" if point.message else ""
    return f"{inert(point.verifier)} is {point.state}{inert(why)}\n"


def _duel_cells(row: DuelRow) -> tuple[str, ...]:
    counts = (f"{count:,}" for count in (row.n, row.a, row.b, row.ties, row.flipped))
    return (row.dimension, *counts, number(row.win_rate), interval(row.ci))
