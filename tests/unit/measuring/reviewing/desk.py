"""Projects with verdicts and annotators for tests of queues and decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.helpers import make_project, numbered
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.database import events, people
from workbench.core.label import LabelEvent, LabelVerdict
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import Outcome, Verdict
from workbench.labelling import ledger
from workbench.runs.store import runs, verdicts

SIGNS = {"+": Outcome.CORRECT, "-": Outcome.INCORRECT, "?": Outcome.ABSTAIN, "!": Outcome.ERROR}


def voted(folder: Path, *items: str, gold: str | None = None, names: Sequence[str] = "abcdefgh") -> Project:
    """Items ``c0``, ``c1`` … (row ids from 1), each a string of signs: one verdict a verifier, ``.`` for none.

    Args:
        gold: A sign an item, ``.`` for none; by default every other item is correct.
        names: The verifiers' names.
    """
    rows = numbered(len(items))
    for row, sign in zip(rows, gold or "", strict=False):
        row["gold"] = {"+": True, "-": False, ".": None}[sign]
    project = make_project(folder, rows)
    for number in range(len(items[0])):
        add_run(project, names[number], "".join(item[number] for item in items))
    return project


def add_run(project: Project, name: str, signs: str) -> int:
    """A complete run of a verifier with a verdict, or none, on the items in order; returns its number."""
    found = [(item, Verdict(outcome=SIGNS[sign])) for item, sign in enumerate(signs, 1) if sign != "."]
    return add_complete_run(project, name, found, kind="judge")


def add_later_run(project: Project, name: str, signs: str) -> int:
    """One more complete run of a verifier that has one; returns its number."""
    found = [(item, Verdict(outcome=SIGNS[sign])) for item, sign in enumerate(signs, 1) if sign != "."]
    with project.database.write() as connection:
        (verifier,) = connection.execute("SELECT id FROM verifiers WHERE name = ?", (name,)).fetchone()
        run = runs.add(connection, verifier, "2")
        runs.queue(connection, run, Selection(), len(found), 1)
        verdicts.put(connection, run, found)
        runs.complete(connection, run, len(found))
    return run


def label(project: Project, item: int, said: Mapping[str, LabelVerdict]) -> None:
    """People's verdicts on an item, in their order."""
    with project.database.write("full") as connection:
        for name, verdict in said.items():
            event = LabelEvent(
                uuid=events.new_uuid(),
                kind="label",
                task="correctness",
                subject=item,
                annotator=people.add(connection, name),
                created_at=people.now(),
                round=events.round_of(connection, "correctness", item),
                verdict=verdict,
            )
            ledger.record(connection, event)
