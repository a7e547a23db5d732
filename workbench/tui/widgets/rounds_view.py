"""An evolution of tests as lines and rows: its rounds with bars, its steps, its models, its problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from workbench.model.evolution import REJECTIONS
from workbench.model.evolution_report import EvolutionReport, ProblemEvolution, StepRow
from workbench.render.bars import NONE, bar, counted, percent
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.columns import TableCell, TableColumn, TableRow

_BAR: Final = 20  # cells of a full bar
_FIRST_K: Final = "1"

LEFT_OUT: Final = {"few_tests": "out: few tests", "too_easy": "out: too easy"}

PROBLEM_COLUMNS: Final = (
    TableColumn("task_id", "problem", min_width=12, ideal_width=24),
    TableColumn("pool", "pool", 5, 5, "right"),
    TableColumn("tests", "tests by round", min_width=16, ideal_width=24),
    TableColumn("passing", "pass@1 % by round", min_width=18, ideal_width=24),
    TableColumn("state", "result", min_width=16, ideal_width=24),
)

STEP_COLUMNS: Final = (
    TableColumn("step", "step", 16, 18),
    *(
        TableColumn(key, title, width, width, "right")
        for key, title, width in (
            ("asked", "asked", 6),
            ("replied", "replied", 7),
            ("proposed", "proposed", 8),
            ("taken", "taken", 6),
            ("kept", "kept", 6),
        )
    ),
    TableColumn("rejected", "not taken", 14, 60),
)

MODEL_COLUMNS: Final = (
    TableColumn("model", "model", 12, 30),
    TableColumn("problems", "problems", 8, 8, "right"),
    TableColumn("solutions", "solutions", 9, 9, "right"),
    TableColumn("passing", "pass@1 on the final suites", 26, 30),
)


def chart(report: EvolutionReport) -> str:
    """The rounds, a line each: tests, and pass@1 as a bar; round 0 is what it began with."""
    lines = [f"{'round':>5} {'problems':>8} {'tests':>6} {'each':>5}  {'pass@1':<{_BAR + 7}} {'alike %':>7}  left out"]
    for row in report.rounds:
        share = row.pass_at.get(_FIRST_K)
        out = ", ".join(f"{name} {number}" for name, number in row.left_out.items())
        mean = NONE if row.mean_tests is None else f"{row.mean_tests:.1f}"
        lines.append(
            f"{row.round:>5} {row.problems:>8,} {row.tests:>6,} {mean:>5}  {_barred(share)} "
            f"{percent(row.kept_alike, 0):>7}  {out or NONE}"
        )
    return "\n".join(lines)


def caption(report: EvolutionReport) -> str:
    """What it is, and how far it has come."""
    settings = report.settings
    skipped = sum(report.skipped.values())
    parts = [
        f"{report.finished:,} of {counted(report.problems, 'problem')} through {counted(settings.rounds, 'round')}",
        f"from suite {printable(settings.suite)}",
        f"tests by {printable(settings.model)}",
        f"seed {settings.seed}",
        f"{skipped:,} can't evolve" if skipped else "",
    ]
    return " · ".join(filter(None, parts))


def _barred(share: float | None) -> str:
    return f"{bar(share or 0.0, _BAR)} {percent(share):>6}"


def problem_row(task_id: str, found: ProblemEvolution | None, question: int) -> TableRow:
    """One problem: how its tests and its solutions fare from round to round."""
    rounds = () if found is None else found.rounds
    solutions = 0 if found is None else len(found.solutions)
    state = LEFT_OUT.get(rounds[-1].left_out or "", "in the set") if rounds else "not through all rounds"
    return TableRow(
        question,
        (
            TableCell(task_id),
            TableCell(f"{solutions:,}"),
            TableCell(_arrows([str(len(one.kept)) for one in rounds])),
            TableCell(
                _arrows([percent(one.perfect / solutions if solutions and one.kept else None, 0) for one in rounds]),
                "bold",
            ),
            TableCell(state, "success" if state == "in the set" else "dim"),
        ),
    )


def _arrows(values: Sequence[str]) -> str:
    return " → ".join(values) or NONE


def step_rows(report: EvolutionReport) -> list[TableRow]:
    """What each step of each round brought."""
    return [
        TableRow(
            place,
            (
                TableCell(f"{one.round} {one.mode}"),
                *(
                    TableCell(f"{number:,}")
                    for number in (one.asked, one.replied, one.proposed, one.taken, one.retained)
                ),
                TableCell(_rejected(one), "dim"),
            ),
        )
        for place, one in enumerate(report.steps)
    ]


def _rejected(one: StepRow) -> str:
    return ", ".join(f"{number} {REJECTIONS.get(code, code)}" for code, number in one.rejected.items()) or NONE


def model_rows(report: EvolutionReport) -> list[TableRow]:
    """How each model's solutions fare against the result."""
    return [
        TableRow(
            place,
            (
                TableCell(one.model or "unknown"),
                TableCell(f"{one.problems:,}"),
                TableCell(f"{one.solutions:,}"),
                TableCell(_barred(one.pass_at.get(_FIRST_K))),
            ),
        )
        for place, one in enumerate(report.models)
    ]
