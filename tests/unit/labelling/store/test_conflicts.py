"""The conflict queue: at a hundred thousand items, queries read only the conflicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import make_project
from workbench.labelling.store import conflicts


@pytest.mark.parametrize(
    ("sql", "parameters"),
    [(conflicts.WAITING, (1, 1)), (conflicts.COUNT, (1,)), (conflicts.IS_OPEN, (1, "correctness", 1))],
    ids=["waiting", "count", "is_open"],
)
def test_queries_read_only_conflicts(tmp_path: Path, sql: str, parameters: tuple[object, ...]) -> None:
    project = make_project(tmp_path)
    plan = [row[3] for row in project.database.reader().execute(f"EXPLAIN QUERY PLAN {sql}", parameters)]
    assert {step for step in plan if step.startswith("SCAN")} <= {"SCAN batches"}
    assert not [step for step in plan if "AUTOMATIC" in step]
    events = [step for step in plan if step.startswith(("SEARCH l ", "SEARCH e "))]
    assert events
    assert all("label_events_subject (task=? AND subject=?" in step for step in events)
    # For unlabelled subjects, the index alone shows that they have no label.
    assert all("annotator_id=?" in step for step in events if step.startswith("SEARCH l "))
    first = next(step for step in plan if step.startswith("SEARCH t "))
    assert ("PRIMARY KEY" if sql == conflicts.IS_OPEN else "task_states_state (state=?)") in first
    project.close()
