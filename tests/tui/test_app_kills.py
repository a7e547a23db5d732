"""The real app is killed in the middle of a write: no acknowledged label is lost (tests/soak has the long form)."""

from __future__ import annotations

import random
from pathlib import Path

from tests.app_kills import Kill, check, kill_while_labelling, labelling_project

KILLS = 4
MOST = 16
"""On a busy machine most kills miss the write."""


def test_kills_lose_no_acknowledged_label(tmp_path: Path) -> None:
    project = labelling_project(tmp_path, 60 * MOST)
    draw = random.Random(KILLS)
    kills: list[Kill] = []
    while len(kills) < KILLS or not (any(kill.at_write for kill in kills) or len(kills) == MOST):
        kills.append(kill_while_labelling(project, tmp_path, draw))
        check(project, tmp_path)
    assert any(kill.at_write for kill in kills)
    project.close()
