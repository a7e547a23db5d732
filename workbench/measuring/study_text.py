"""Sweeps, duels and probes, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workbench.core import reasons
from workbench.core.taxonomy import type_display
from workbench.core.text.figures import NONE, counted
from workbench.core.text.inert import inert
from workbench.statistics.records.probe import SKIP_WORDS, FamilyFigures, Figures, ProbeReport
from workbench.statistics.records.study import Consumption, DuelReport, DuelRow, Part, SweepPoint, SweepReport
from workbench.tables.table import Columns, count, ends, figure, listed, text, word


def _calls(point: SweepPoint) -> str:
    parts = _consumed(point, "judging", "execution")
    return f"{sum(part.calls for part in parts):,.1f}" if parts else NONE


def _tokens(parts: Sequence[Consumption]) -> str:
    known = [part.completion_tokens for part in parts if part.completion_tokens is not None]
    return f"{sum(known):,.0f}" if parts and len(known) == len(parts) else NONE


def _consumed(point: SweepPoint, *parts: Part) -> list[Consumption]:
    return [point.consumption[part] for part in parts if part in point.consumption]


_POINTS: Columns[SweepPoint] = (
    word("settings", lambda point: ", ".join(f"{name}={value}" for name, value in point.settings.items())),
    count("items", lambda point: point.items),
    figure("accuracy", lambda point: point.accuracy.accuracy if point.accuracy else None),
    ends(lambda point: point.accuracy.ci if point.accuracy else None),
    figure("MCC", lambda point: point.accuracy.mcc if point.accuracy else None),
    text("calls", _calls),
    text("tokens", lambda point: _tokens(_consumed(point, "judging", "execution"))),
    text("executing", lambda point: _tokens(_consumed(point, "execution"))),
)
_DUELS: Columns[DuelRow] = (
    word("dimension", lambda row: row.dimension),
    count("n", lambda row: row.n),
    count("A wins", lambda row: row.a),
    count("B wins", lambda row: row.b),
    count("ties", lambda row: row.ties),
    count("by place", lambda row: row.flipped),
    figure("win rate", lambda row: row.win_rate),
    ends(lambda row: row.ci),
)


def sweep_text(report: SweepReport) -> str:
    """Accuracy and consumption by settings."""
    table = listed(_POINTS, report.points)
    open_points = [point for point in report.points if point.state != "complete"]
    return (
        f"{inert(report.judge)}, protocol {report.protocol}, gold {report.gold_choice}\n"
        "calls and completion tokens an item, and those of the tokens that execute tests;\n"
        "without what writing the tests takes, which a problem's completions share\n\n"
        f"{table}\n" + "".join(map(_state_line, open_points))
    )


def duel_text(report: DuelReport) -> str:
    """Win rates by dimension."""
    table = listed(_DUELS, report.rows)
    lines = [f"{inert(report.verifier)}, run {report.run} ({report.state}): {counted(report.items, 'item')}"]
    lines += [f"A is {inert(report.a)}, B is {inert(report.b)}; the win rate is A's, of all wins"]
    lines += ["a win is one in both orders; by place: ties that prefer the same place in both"]
    lines += [f"  no comparison: {n:,} {inert(reasons.named(reason))}" for reason, n in sorted(report.none.items())]
    return "\n".join([*lines, "", table]) + "\n"


def _state_line(point: SweepPoint) -> str:
    why = f": {point.message}" if point.message else ""
    return f"{inert(point.verifier)} is {point.state}{inert(why)}\n"


# -- probes ------------------------------------------------------------------------------------------


class _ProbeLine(NamedTuple):
    """Figures under a name."""

    name: str
    figures: Figures


_COLUMNS: Columns[_ProbeLine] = (
    word("", lambda line: line.name),
    count("n", lambda line: line.figures.n),
    count("parsed", lambda line: line.figures.parsed),
    count("accepted", lambda line: line.figures.accepted),
    figure("ASR", lambda line: line.figures.asr),
    ends(lambda line: line.figures.ci),
)


def probe_text(report: ProbeReport) -> str:
    """An aligned table: families, all of them by answer type, controls; below it what was accepted and left out."""
    lines = [_ProbeLine(f"{one.family} {one.name}", one) for one in report.families]
    lines += [_ProbeLine(type_display(code), one) for code, one in report.by_type.items()]
    lines += [
        _ProbeLine("all families", report.overall),
        _ProbeLine("control: right completions", report.control),
        _ProbeLine("carriers: wrong completions", report.carrier),
    ]
    table = listed(_COLUMNS, lines)
    head = (
        f"{inert(report.verifier)} {inert(report.version)}\n"
        f"probe suite {report.suite}, seed {report.seed}, {counted(report.rows, 'question')} "
        f"({report.control.real:,} with a real right completion)"
    )
    return "\n".join([head, "", table, *_below(report)]) + "\n"


def _below(report: ProbeReport) -> Iterator[str]:
    accepted = [line for family in report.families for line in _accepted(family)]
    if accepted:
        yield from ("", "accepted payloads:", *accepted)
    if report.skipped:
        reasons = sorted(report.skipped.items(), key=lambda pair: -pair[1])
        yield from ("", "skipped:", *(f"  {count:,} {SKIP_WORDS[reason]}" for reason, count in reasons))


def _accepted(family: FamilyFigures) -> Iterator[str]:
    for one in family.variants:
        if one.accepted and one.expected == "incorrect":
            yield f"  {family.family} {one.variant}: {one.accepted:,} of {one.parsed:,}"
