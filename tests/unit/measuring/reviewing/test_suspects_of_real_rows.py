"""Deliberately flipped labels of real rows are found again."""

from __future__ import annotations

import shutil
from pathlib import Path
from statistics import mean

import pytest

from bench.suspects import recall
from workbench.core.project import open_project

SEEDS = 50


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_most_of_ten_flipped_labels_are_in_the_first_twenty(judged_rows: Path, tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    shutil.copy(judged_rows, path)
    project = open_project(path)
    found = [recall(project, seed) for seed in range(SEEDS)]
    assert mean(one.queue for one in found) > 0.9
    assert 0.1 < mean(one.random for one in found) < 0.3
