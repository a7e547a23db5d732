"""The search of MCTS-Judge behind a verdict: every node and rollout with its numbers, and the calls of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from textual.widgets import Tree

from tests.helpers import make_project, numbered
from tests.tui.stage import ONE_SIZE, notices, opened, press, settle, text_of, until
from tests.tui.stored_calls import StoredCall, add_judged
from tests.unit.verifiers.judges.coin import PROBLEM, Coin, judged
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.transcript import SearchTreeScreen, TranscriptScreen
from workbench.core.project import Project
from workbench.runs.transcripts import search_of, transcript
from workbench.verifiers.base import Judged

OPTIONS = {"rollouts": "6", "gamma": "1", "delta": "1"}
MARKS = {True: "✓", False: "✗", None: "?"}


class Searched(NamedTuple):
    """A search's calls, verdict and trace."""

    judge_calls: list[StoredCall]
    judged: Judged
    trace: dict[str, Any]

    def stored(self, folder: Path) -> tuple[Project, int]:
        """Create a project with this search as its only verdict; also return the verdict's run."""
        project = make_project(folder, numbered(1))
        verdict = self.judged.verdict
        return project, add_judged(project, "[mcts]", 1, self.judge_calls, verdict=verdict, trace=self.trace)


def search_with(**options: str) -> Searched:
    coin = Coin(seed=3)
    found = judged(coin, PROBLEM, **OPTIONS, **options)
    assert found.trace is not None
    judge_calls = [
        StoredCall(step, f"{step} {sample}", f"[/]{place}", sample)
        for place, (step, _, sample, _) in enumerate(coin.calls)
    ]
    return Searched(judge_calls, found, found.trace)


@pytest.fixture(scope="module")
def search() -> Searched:
    return search_with()


def labels(app: WorkbenchApp) -> list[str]:
    """Return the tree from its root, each node before its children."""
    found, left = [], [app.screen.query_one(Tree).root]
    while left:
        node = left.pop(0)
        found.append(str(node.label))
        left = [*node.children, *left]
    return found


def steps_of_calls(app: WorkbenchApp) -> set[tuple[str, int]]:
    screen = app.screen
    assert isinstance(screen, TranscriptScreen)
    return {(call.step, call.sample) for call in screen._calls.values()}


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_nodes_and_rollouts_have_their_numbers(tmp_path: Path, search: Searched, size: tuple[int, int]) -> None:
    (project, run), trace = search.stored(tmp_path), search.trace
    async with opened(project, size=size) as (app, pilot):
        app.push_screen(SearchTreeScreen(run, 1))
        await settle(pilot)
        found = labels(app)
        assert found[0] == f"root  Q {trace['nodes'][0]['q']:.1f}  N 6"
        assert len(found) == len(trace["nodes"])
        for node in trace["nodes"][1:]:
            sign = "∅" if node["action"] == "null" else MARKS[node["outcome"]]
            subtask = trace["order"][node["level"] - 1]
            figures = f"{sign} {subtask}  Q {node['q']:.1f}  N {node['n']}  UCT "
            assert any(figures in label for label in found)
        drawn = trace["rollouts"][trace["answer"]["chosen"]]["path"]
        assert sum("▶" in label for label in found) == len(drawn) - 1
        table = app.screen.query_one(VirtualTable)
        shown = [table.render_line(y).text for y in range(table.size.height)]
        for number, rollout in enumerate(trace["rollouts"], 1):
            line = next(line for line in shown if f" {number} " in line[:8])
            assert f"{rollout['weight']:.1f}" in line
            nodes = [trace["nodes"][node] for node in rollout["path"][1:]]
            assert "".join("∅" if node["action"] == "null" else MARKS[node["outcome"]] for node in nodes) in line
        assert [("▶" in line) for line in shown].count(True) == 1


async def test_node_and_rollout_open_their_own_calls(tmp_path: Path, search: Searched) -> None:
    (project, run), trace = search.stored(tmp_path), search.trace
    async with opened(project) as (app, pilot):
        app.push_screen(SearchTreeScreen(run, 1))
        await settle(pilot)
        tree = app.screen.query_one(Tree)
        place, node = next((place, node) for place, node in enumerate(trace["nodes"]) if node["action"] == "subtask")
        subtask = trace["order"][node["level"] - 1]
        tree.move_cursor(next(one for one in tree._tree_nodes.values() if one.data == place))
        await press(pilot, "enter")
        assert steps_of_calls(app) == {(f"{subtask}: {part}", node["rollout"]) for part in ("analyse", "summarise")}
        assert f"node {place}, {subtask}" in str(app.screen.query_one("TitleBar").render())
        await press(pilot, "escape")
        left_out = next(place for place, node in enumerate(trace["nodes"]) if node["action"] == "null")
        tree.move_cursor(next(one for one in tree._tree_nodes.values() if one.data == left_out))
        await press(pilot, "T")
        assert any("left out" in notice for notice in notices(app))
        await press(pilot, "tab", "enter")
        await until(pilot, lambda: isinstance(app.screen, TranscriptScreen))
        steps = trace["rollouts"][0]["steps"]
        assert {step for step, _ in steps_of_calls(app)} == {
            f"{step['subtask']}: {part}" for step in steps for part in ("analyse", "summarise")
        }
        await press(pilot, "escape", "shift+tab")
        tree.move_cursor(tree.root)
        await press(pilot, "enter", "T")
        assert isinstance(app.screen, SearchTreeScreen)


@pytest.mark.few(3)
@pytest.mark.parametrize("reuse", ["none", "history", "subtask"])
def test_every_call_of_a_subtask_belongs_to_a_rollout(tmp_path: Path, reuse: str) -> None:
    project, run = search_with(reuse=reuse).stored(tmp_path)
    found = transcript(project, run, 1)
    calls, search = found.calls, search_of(found)
    assert search is not None
    parts = {place for place, call in enumerate(calls) if call.step.endswith(("analyse", "summarise"))}
    assert {place for rollout in search.rollouts for place in rollout.calls} == parts
    assert all(len(rollout.path) + len(rollout.simulated) == 9 for rollout in search.rollouts)
    assert all(node.calls for node in search.nodes if node.done)


@pytest.mark.soak
async def test_unreadable_trace_does_not_crash(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(1))
    run = add_judged(project, "judge", 1, [StoredCall("judge")], trace={"judge": "mcts"})
    async with opened(project) as (app, pilot):
        app.push_screen(SearchTreeScreen(run, 1))
        await settle(pilot)
        assert "no readable search" in text_of(app, "#search-facts")
        await press(pilot, "enter", "T", "tab", "enter")
        assert isinstance(app.screen, SearchTreeScreen)
