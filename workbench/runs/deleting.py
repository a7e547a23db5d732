"""Deleting a run: what would go, what keeps it, and what takes its place in figures."""

from __future__ import annotations

from msgspec import Struct

from workbench.core.errors import RunError
from workbench.core.project import Project
from workbench.core.run import GENERATION
from workbench.runs.liveness import is_alive
from workbench.runs.run_status import run_row
from workbench.runs.store import run_removal
from workbench.runs.store import runs as stored_runs


class Removal(Struct, frozen=True, kw_only=True):
    """A run that is to go.

    Attributes:
        removes: What goes with it, in words, and how many of them.
        next_run: The run that figures of the verifier come from then; None where none is left.
    """

    run: int
    verifier: str
    removes: dict[str, int]
    next_run: int | None


def removal(project: Project, run: int) -> Removal:
    """What deleting a run would mean.

    Raises:
        UsageError: There is no such run.
        RunError: It can't be deleted; see `delete`.
    """
    reader = project.database.reader()
    row = run_row(reader, run)
    if row.state == "queued" or (row.state == "running" and is_alive(stored_runs.lease(reader), project.path)):
        raise RunError(f"Run {run} is at work.", f"Cancel it first: workbench runs DB cancel {run}")
    if row.verifier.kind == GENERATION:
        raise RunError(f"Run {run} stays: it wrote texts, which are items now.", "It holds no verdicts.")
    if sets := run_removal.sets_of(reader, run):
        raise RunError(
            f"Run {run} stays: its verdicts chose what belongs to {', '.join(sets)}.", "A frozen set keeps its reasons."
        )
    if reviews := run_removal.reviews_of(reader, run):
        raise RunError(
            f"Run {run} stays: {reviews:,} decisions of reviewers are about its verdicts.",
            "What people decided is never deleted.",
        )
    others = [
        other.id
        for other in stored_runs.every(reader)
        if other.verifier.id == row.verifier.id and other.id != run and other.completed_at is not None
    ]
    return Removal(
        run=run,
        verifier=row.verifier.name,
        removes=run_removal.hanging(reader, run),
        next_run=max(others, default=None),
    )


def delete(project: Project, run: int) -> Removal:
    """Delete a run with its verdicts and all that hangs on them; replies of model servers stay and are used again.

    Returns:
        What has gone.

    Raises:
        UsageError: There is no such run.
        RunError: It is at work, chose a frozen set, reviewers decided about its verdicts, or it wrote texts.
    """
    with project.database.write("full") as connection:
        found = removal(project, run)
        if run_row(connection, run).state == "running":
            # Should its runner live where it can't be seen from here, it finds that out.
            stored_runs.drop_lease(connection)
        run_removal.remove(connection, run)
    return found
