"""A reward server with an audit: when it has ended a share of what it judged is in the project."""

from __future__ import annotations

import signal
from pathlib import Path

import httpx

from tests.background import PATIENCE_S
from tests.rewarding import launched
from workbench.core.project import open_project


def test_a_share_of_what_was_judged_is_stored_and_the_answers_are_the_same(tmp_path: Path) -> None:
    items = [{"reference": str(row), "completion": rf"\boxed{{{row}}}", "question": f"q{row}"} for row in range(64)]
    audit = ("--audit", tmp_path / "p.db", "--audit-share", ".5", "--audit-name", "rl", "--audit-seed", "7")
    with launched(tmp_path, *audit) as server:
        server.until_ready()
        for _ in range(3):
            answer = httpx.post(f"{server.url}/reward", json={"items": items}, timeout=PATIENCE_S).json()
            assert {one["reward"] for one in answer["items"]} == {1.0}
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE_S) == 0
    project = open_project(tmp_path / "p.db")
    reader = project.database.reader()
    steps = reader.execute("SELECT step, accepted, dropped FROM training_steps ORDER BY step").fetchall()
    assert steps == [(0, 64, 0), (1, 64, 0), (2, 64, 0)]
    taken = reader.execute("SELECT count(*) FROM audited").fetchone()[0]
    assert 60 < taken < 132
    assert reader.execute("SELECT name, verifier, seed, share FROM trainings").fetchall() == [("rl", "rules", 7, 0.5)]
    project.close()


def test_a_share_that_is_none_is_refused(tmp_path: Path) -> None:
    from tests.commands import run

    assert run("reward-server", "--audit", tmp_path / "p.db", "--audit-share", "0").returncode == 2
