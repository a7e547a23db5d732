"""A few kills of bundles and merges; `tests/soak/test_bundle_kills.py` has the many."""

from __future__ import annotations

from pathlib import Path
from random import Random

from tests.bundle_kills import Scene, moments
from tests.killed_steps import When, killer


def test_a_killed_bundle_or_merge_is_complete_or_absent(tmp_path: Path) -> None:
    scene, random = Scene(tmp_path, 12), Random(17)
    with killer() as run:
        ended, state = scene.kill_bundle(run)
        assert (ended.killed, state) == (False, "whole")
        for when in moments(random, ended, 2):
            scene.kill_bundle(run, when)
        # The last step before its transaction is committed, and the steps after its file is there.
        assert {scene.kill_bundle(run, When(step=ended.steps - back))[1] for back in (1, 40)} <= {
            "whole",
            "whole, not recorded",
        }
        assert scene.kill_merges(run, [When(step=500 + 500 * number) for number in range(3)])["killed"] == 3
