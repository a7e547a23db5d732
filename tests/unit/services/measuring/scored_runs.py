"""Complete runs with given verdicts, put straight into the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.model.selection import Selection
from workbench.model.verdict import Outcome, Verdict
from workbench.services.project import Project
from workbench.store import runs, verdicts


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
