"""Bundling and merging in processes that are killed a hundred times, at random steps and moments."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.bundle_kills import Scene, moments
from tests.killed_steps import killer

KILLS = 60


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_killed_bundles_and_merges_are_complete_or_absent(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    scene, random = Scene(tmp_path, 400), Random(KILLS)
    states, merges = Counter[str](), Counter[str]()
    with killer() as run:
        ended, _ = scene.kill_bundle(run)
        for when in moments(random, ended, KILLS):
            done, state = scene.kill_bundle(run, when)
            states[f"{state}{', killed' if done.killed else ''}"] += 1
        merged = run.run("merge", shutil.copyfile(scene.away, tmp_path / "home.db"), scene.back)
        for some in range(6):
            merges += scene.kill_merges(run, moments(Random(some), merged, KILLS // 6))
    for name, number in {**states, **merges}.items():
        record_property(name, number)
    print(states, merges)
    assert sum(number for state, number in states.items() if state.endswith("killed")) >= KILLS // 2
    # A merge that continues an earlier one may end before the kill.
    assert merges["killed"] >= KILLS // 3
    assert merges["took something"] >= 6
