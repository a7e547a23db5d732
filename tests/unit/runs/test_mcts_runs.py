"""MCTS-Judge in real runs: a local server, a background process, and a kill in the middle of a tree."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.background import kill, runner_ends, runner_pid, until
from tests.helpers import make_project, numbered
from tests.servers.scripted import Received, Scripted, ScriptedServer, chat_reply, scripted
from tests.unit.verifiers.judges.modelled import modelled
from tests.unit.verifiers.judges.recount import check_visits, recounted
from workbench.core.project import Project
from workbench.core.run import Transcript
from workbench.runs import run_status, verifying
from workbench.runs.transcripts import transcript

ITEMS = 3
# A seed tells the samples of a request apart; without fences databases send the same bytes.
OPTIONS = {
    "strategy": "mcts",
    "model": "m",
    "rollouts": "4",
    "delta": "3",
    "gamma": "2",
    "reward_tests": "per_rollout",
    "seed": "7",
    "fence": "off",
}


class Stalling:
    """Answer a number of calls and hold all others until `go_on` is set."""

    def __init__(self, answered: int) -> None:
        self.answered = answered
        self.waiting = 0
        self.go_on = threading.Event()

    def __call__(self, received: Received) -> str | Scripted:
        if self.answered or self.go_on.is_set():
            self.answered -= 1
            return modelled(received)
        self.waiting += 1
        return Scripted(body=chat_reply(modelled(received)), hold=self.go_on)


@contextmanager
def new_project(folder: Path) -> Iterator[Project]:
    folder.mkdir()
    rows = [{**row, "completion": f"print({number})"} for number, row in enumerate(numbered(ITEMS))]
    with runner_ends(make_project(folder, rows)) as project:
        yield project


def start(project: Project, server: ScriptedServer, name: str = "mcts") -> int:
    return verifying.start(project, "llm-judge", {**OPTIONS, "base_url": server.url}, name).run


def finished(project: Project, run: int) -> list[Transcript]:
    """A run's transcripts when it has ended, in the order of the items."""
    ended = run_status.wait(project, run)
    assert ended.state == "complete", ended.message
    items = project.database.reader().execute("SELECT id FROM completions ORDER BY id").fetchall()
    return [transcript(project, run, item) for (item,) in items]


def same(one: list[Transcript], other: list[Transcript]) -> bool:
    """Return whether two runs have equal verdicts, scores, traces and calls."""
    accounts = [
        [(found.verdict, found.score, found.trace, [(call.step, call.request, call.sample) for call in found.calls])]
        for found in (*one, *other)
    ]
    return accounts[: len(one)] == accounts[len(one) :]


def test_the_stored_tree_has_the_calls_and_a_second_search_makes_none(tmp_path: Path) -> None:
    with new_project(tmp_path / "one") as project, scripted(modelled) as server:
        first = finished(project, start(project, server))
        sent = len(server.received)
        assert same(first, finished(project, start(project, server, "again")))
        assert len(server.received) == sent
    total = Counter[str]()
    for one in first:
        assert one.trace is not None
        check_visits(one.trace)
        counts = recounted(one.trace)
        assert Counter(call.step.rpartition(" ")[2] for call in one.calls) == counts
        total += counts
    writing = sum(total[step] for step in ("generate", "reformat", "validate"))
    # Two of the three completions answer one question, and share its tests.
    assert sent == sum(total.values()) - writing // 3


@pytest.mark.soak
def test_a_kill_in_mid_tree_repeats_no_call_and_changes_nothing(tmp_path: Path) -> None:
    with new_project(tmp_path / "whole") as project, scripted(modelled) as server:
        expected = finished(project, start(project, server))
        sent = len(server.received)
    stalling = Stalling(answered=sent * 2 // 3)
    with new_project(tmp_path / "killed") as project, scripted(stalling) as server:
        run = start(project, server)
        until(lambda: stalling.waiting >= ITEMS)
        pid = runner_pid(project)
        assert pid is not None
        kill(pid)
        before = len(server.received)
        rows = project.database.reader().execute(
            "SELECT q.body FROM responses AS r JOIN requests AS q ON q.id = r.request_id"
        )
        # The tests' samples have the same bytes; all others differ by their seed.
        stored = {body for (body,) in rows if b'"seed"' in body}
        stalling.go_on.set()
        verifying.resume(project, run)
        assert same(finished(project, run), expected)
    assert len(stored) > 100
    assert not stored & {received.raw for received in server.received[before:]}, "what was stored is not asked again"
    assert len(server.received) < sent + before - len(stored)
