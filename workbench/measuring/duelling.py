"""Duels: a model compares, blind and in both orders, what two judges reasoned about the same items.

A duel is a run of a kind of its own: so it is resumed, limited, paused and looked into like any other, and its calls
are journalled and stored. Its verdicts are no verdicts on completions, and no table counts them as such.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.core.selection import Condition, Selection
from workbench.measuring.accuracy import complete_run
from workbench.runs.run_status import run_info, run_row
from workbench.runs.store import duels as stored
from workbench.runs.verifying import EVERYTHING, start
from workbench.statistics.records.study import DUEL, DuelReport, DuelRow


def start_duel(
    project: Project,
    a: str,
    b: str,
    options: dict[str, str],
    name: str | None = None,
    selection: Selection = EVERYTHING,
    trust: bool = False,
) -> RunInfo:
    """Start a duel between the newest complete runs of two judges, or go on with it.

    Args:
        a: The name of the first judge.
        b: The second's.
        options: Which model compares, as for any verifier with a server.
        name: The duel's own name; ``duel/A/B`` by default.
        selection: Of these items those that both have judged.

    Raises:
        UsageError: One of them has no complete run or no transcripts; else as with `verifying.start`.
    """
    runs = [_judge_run(project, judge) for judge in (a, b)]
    if runs[0] == runs[1]:
        raise UsageError("A duel is between two different judges.")
    pinned = {**options, "a": str(runs[0]), "b": str(runs[1])}
    judged = tuple(Condition(f"verdict:{judge}", "!=", "none") for judge in (a, b))
    both = Selection((*selection.conditions, *judged), selection.limit)
    return start(project, DUEL, pinned, name or f"duel/{a}/{b}", both, trust=trust)


def duel_report(project: Project, run: int) -> DuelReport:
    """What a duel has come to so far.

    Raises:
        UsageError: There is no such run, or it is no duel.
    """
    from workbench.verifiers.duel.reading import DIMENSIONS

    reader = project.database.reader()
    info, row = run_info(project, run), run_row(reader, run)
    if row.verifier.kind != DUEL:
        raise UsageError(f"Run {run} is of {row.verifier.name!r}, which is no duel.")
    found = list(stored.duels(reader, run))
    traces = [(question, msgspec.json.decode(trace)) for question, _, trace in found if trace is not None]
    return DuelReport(
        verifier=row.verifier.name,
        run=run,
        state=info.state,
        a=run_row(reader, row.verifier.config["a"]).verifier.name,
        b=run_row(reader, row.verifier.config["b"]).verifier.name,
        items=len(found),
        none=dict(Counter(reason or "" for _, reason, _ in found if reason != "duel")),
        rows=[_row(dimension, traces) for dimension in DIMENSIONS],
    )


def _row(dimension: Any, traces: list[tuple[int, dict[str, Any]]]) -> DuelRow:
    from workbench.statistics.duel import duel_row

    places = [[order[dimension] for order in trace["orders"]] for _, trace in traces]
    return duel_row(
        dimension,
        [trace["winners"][dimension] for _, trace in traces],
        [first == second and first in ("first", "second") for first, second in places],
        [question for question, _ in traces],
    )


def _judge_run(project: Project, judge: str) -> int:
    run = complete_run(project, judge)
    if run is None or not stored.has_calls(project.database.reader(), run):
        raise UsageError(
            f"{judge!r} keeps no transcripts: it asks no model.", "A duel is between judges such as llm-judge."
        )
    return run
