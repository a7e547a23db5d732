"""Complete runs with fixed verdicts, written directly to the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.core.project import Project, open_project
from workbench.core.selection import Selection
from workbench.core.verdict import Outcome, Verdict
from workbench.interchange.importing import import_files, plan_import
from workbench.runs.store import runs, verdicts
from workbench.runs.store.verifier_inputs import inputs


def scores(by_item: Mapping[int, float | None]) -> list[tuple[int, Verdict]]:
    """Verdicts of a reward model without a threshold; None for a call that failed."""
    return [
        (
            item,
            Verdict(outcome=Outcome.ERROR, reason="timeout")
            if score is None
            else Verdict(outcome=Outcome.ABSTAIN, reason="no_threshold", score=score),
        )
        for item, score in by_item.items()
    ]


def types(by_item: Mapping[int, str | None]) -> list[tuple[int, Verdict]]:
    """Verdicts of an answer-type verifier; None where it has no suggestion."""
    return [
        (item, Verdict(outcome=Outcome.ABSTAIN, reason="suggested_type" if code else "unparsed", rule=code))
        for item, code in by_item.items()
    ]


def add_complete_run(
    project: Project, name: str, found: Iterable[tuple[int, Verdict]], *, kind: str = "reward-model"
) -> int:
    """A complete run of a verifier of this name; returns its number."""
    rows = list(found)
    with project.database.write() as connection:
        verifier = runs.add_verifier(connection, name=name, kind=kind, options={}, config={}, config_hash=name)
        run = runs.add(connection, verifier, "1")
        runs.queue(connection, run, Selection(), len(rows), 1)
        verdicts.put(connection, run, rows)
        runs.complete(connection, run, len(rows))
    return run


def judged_project(path: Path, tuples: Path, verifiers: Sequence[Any]) -> Project:
    """A project of a file's items with a complete run of each verifier."""
    project = open_project(path, create=True)
    import_files(project, plan_import([tuples]), dataset="items")
    items = [row[0] for row in project.database.reader().execute("SELECT id FROM completions ORDER BY id")]
    asked = inputs(project.database, items)
    for verifier in verifiers:
        said = [(item.item, verifier.verify(item)) for item in asked]
        add_complete_run(project, verifier.name, said, kind=verifier.name)
    return project
