"""Items with a decision in force."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.measuring.reviewing.desk import voted
from workbench.core.project import Project
from workbench.measuring.reviewing import deciding
from workbench.measuring.reviewing.queues import reviewed_items


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """``a`` errs on all four items, ``b`` on the first; the first two questions have types."""
    made = voted(tmp_path, "--", "+-", "-+", "+-", gold="+-+-")
    with made.database.write() as connection:
        connection.execute("UPDATE questions SET type = 'A', subtype = 'A1' WHERE id = 1")
    for item, category in ((1, "units"), (2, "format"), (3, "units")):
        deciding.mark_error(made, item, 1, category, by="dora")  # type: ignore[arg-type]
    deciding.mark_error(made, 1, 2, "units", by="dora")
    return made


def test_reviewed_is_what_has_a_decision_in_force(project: Project) -> None:
    assert reviewed_items(project) == {1, 2, 3}
    made = deciding.confirm(project, 4, by="dora")
    assert reviewed_items(project) == {1, 2, 3, 4}
    deciding.take_back(project, made.uuid, by="dora")
    assert reviewed_items(project) == {1, 2, 3}
