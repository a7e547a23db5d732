"""From a pool to published sets: a kill at any stage, followed by the same call, ends in the same bytes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.pipeline import SAMPLE, kill_during, outcome, prepare, run, stages
from tests.replaying import replay


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(3))
def test_kills_at_every_stage_end_in_the_same_bytes(tmp_path: Path, seed: int) -> None:
    chance, killed = random.Random(seed), dict[str, int]()
    expected, broken = tmp_path / "whole", tmp_path / "broken"
    with replay(SAMPLE / "pool_replies.jsonl") as server:
        for folder in (expected, broken):
            folder.mkdir()
            prepare(folder, server.url)
        for name, arguments in stages(server.url).items():
            took = run(expected, arguments)
            killed[name] = 0
            for _ in range(4):
                if kill_during(broken, arguments, took * chance.uniform(0.15, 0.8)):
                    killed[name] += 1
                else:
                    # The machine was busy when the time was taken.
                    took /= 2
            run(broken, arguments)
    assert min(killed.values()) >= 1, killed
    assert outcome(broken) == outcome(expected)
