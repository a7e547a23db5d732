"""The real app is killed 200 times while an annotator labels, and on until 100 kills hit a write or just missed one."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.app_kills import Kill, check, kill_while_labelling, labelling_project
from workbench.core.project import Project, open_project
from workbench.labelling import ledger

KILLS = 200
AT_WRITE = KILLS // 2
MOST = 4 * KILLS
"""On a busy machine fewer kills hit a write."""


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_200_kills_lose_no_acknowledged_label(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    project = labelling_project(tmp_path, 60 * MOST)
    draw = random.Random(KILLS)
    kills = list[Kill]()
    while len(kills) < KILLS or (sum(kill.at_write for kill in kills) < AT_WRITE and len(kills) < MOST):
        kills.append(kill_while_labelling(project, tmp_path, draw))
        check(project, tmp_path)
    growth = [later.acknowledged - earlier.acknowledged for earlier, later in pairwise(kills)]
    assert min(growth) > 0
    in_write, at_write = sum(kill.in_write for kill in kills), sum(kill.at_write for kill in kills)
    record_property("in_write", in_write)
    record_property("at_write", at_write)
    assert at_write >= AT_WRITE, f"{in_write} in a write, {at_write} in or next to one"
    assert recomputed(project, tmp_path) == states(project)
    project.close()


def states(project: Project) -> list[tuple[object, ...]]:
    return project.database.reader().execute("SELECT * FROM task_states ORDER BY task, subject").fetchall()


def recomputed(project: Project, folder: Path) -> list[tuple[object, ...]]:
    """Recompute the states in a copy."""
    project.database.reader().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    copy = open_project(shutil.copy(project.path, folder / "copy.db"))
    ledger.recompute(copy)
    found = states(copy)
    copy.close()
    return found
