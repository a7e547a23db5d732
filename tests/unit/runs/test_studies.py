"""Sweeps and duels from a server to the report, through real runs in the background."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.background import runner_ends
from tests.helpers import make_project, numbered
from tests.servers.scripted import Received, ScriptedServer, scripted
from tests.unit.verifiers.judges.modelled import modelled
from workbench.app.cli import root
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.core.selection import Selection
from workbench.measuring.accuracy import accuracy
from workbench.measuring.comparing import comparable
from workbench.measuring.studies import (
    duel_report,
    duel_text,
    point_name,
    start_duel,
    start_sweep,
    sweep_points,
    sweep_report,
    sweep_text,
)
from workbench.runs import verifying
from workbench.runs.transcripts import transcript
from workbench.runs.verifying import EVERYTHING

ITEMS = 4
SMALL = {
    "strategy": "mcts",
    "model": "m",
    "seed": "7",
    "delta": "1",
    "gamma": "1",
    "beta": "1",
    "reward_tests": "per_rollout",
}


def answer(received: Received) -> str:
    """A model that searches, and that prefers the longer of two examinations."""
    asked = received.body["messages"][-1]["content"]
    if "Two examiners" in asked:
        first, second = asked.partition("Examination 1:")[2].split("Examination 2:")
        place = "1" if len(first) > len(second) else "2"
        return f"Thoroughness: {place}\nLogic: 1\nAnalysis: tie\nOverall: {place}"
    return modelled(received)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(answer) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    rows = [{**row, "completion": f"print({number})"} for number, row in enumerate(numbered(ITEMS))]
    with runner_ends(make_project(tmp_path, rows)) as project:
        yield project


def run(
    project: Project, server: ScriptedServer, name: str, selection: Selection = EVERYTHING, /, **options: str
) -> RunInfo:
    given = {"model": "m", "base_url": server.url, **options}
    started = verifying.start(project, "llm-judge", given, name, selection)
    ended = verifying.wait(project, started.run)
    assert ended.state == "complete", ended.message
    return ended


def test_points_vary_one_option_at_a_time_or_all_together() -> None:
    vary = {"depth": ["3", "9", "3"], "rollouts": ["4"]}
    assert sweep_points(vary, grid=False) == [{"depth": "3"}, {"depth": "9"}, {"rollouts": "4"}]
    assert sweep_points(vary, grid=True) == [{"depth": "3", "rollouts": "4"}, {"depth": "9", "rollouts": "4"}]
    assert point_name("mcts", {"depth": "3", "rollouts": "4"}) == "mcts/depth-3/rollouts-4"
    with pytest.raises(UsageError, match="needs an option to vary"):
        sweep_points({}, grid=True)
    with pytest.raises(UsageError, match="has 900 points"):
        sweep_points({name: [str(number) for number in range(30)] for name in ("depth", "delta")}, grid=True)


def test_nothing_starts_where_one_point_is_wrong(project: Project, server: ScriptedServer) -> None:
    options = {**SMALL, "base_url": server.url}
    with pytest.raises(UsageError, match="depth: it is a whole number from 1 to 9"):
        start_sweep(project, "llm-judge", [{"depth": "2"}, {"depth": "12"}], options)
    assert verifying.runs(project) == []
    assert server.received == []


def test_a_sweep_pays_only_for_what_is_new_and_goes_on(project: Project, server: ScriptedServer) -> None:
    options = {**SMALL, "base_url": server.url}
    points = sweep_points({"rollouts": ["1", "2"]}, grid=False)

    def swept() -> list[int]:
        started = start_sweep(project, "llm-judge", points, options)
        assert {verifying.wait(project, info.run).state for info in started} == {"complete"}
        return [info.run for info in started]

    runs = swept()
    sent = len(server.received)
    assert swept() == runs
    assert len(server.received) == sent
    report = sweep_report(project, "llm-judge", points, runs)
    one, two = report.points
    assert [point.verifier for point in report.points] == ["llm-judge/rollouts-1", "llm-judge/rollouts-2"]
    # Rollout 1 is the same in both; so the longer search costs what the second rollout adds.
    parts = {part: used.calls for part, used in two.consumption.items()}
    tests_once = parts["tests"] * ITEMS / 2
    assert sent == (parts["judging"] + parts["execution"]) * ITEMS + tests_once
    assert one.consumption["judging"].calls < parts["judging"]
    assert parts["execution"] == 2 * 2 * 1 * 1
    assert one.consumption["execution"].completion_tokens == 20 * one.consumption["execution"].calls
    for point in report.points:
        assert point.accuracy == next(
            row for row in accuracy(project, verifiers=(point.verifier,)).rows if row.verifier == point.verifier
        )
    assert "rollouts=2" in sweep_text(report)
    assert max(map(len, sweep_text(report).splitlines())) <= 80


def test_a_duel_compares_the_trajectories_blind_and_in_both_orders(project: Project, server: ScriptedServer) -> None:
    searched = run(project, server, "secret-mcts", **{**SMALL, "rollouts": "3"})
    run(project, server, "secret-vanilla", strategy="vanilla")
    before = len(server.received)
    started = start_duel(project, "secret-mcts", "secret-vanilla", {"base_url": server.url, "model": "arbiter"})
    assert started.verifier == "duel/secret-mcts/secret-vanilla"
    assert verifying.wait(project, started.run).state == "complete"
    asked = [received.body["messages"][-1]["content"] for received in server.received[before:]]
    assert len(asked) == 2 * ITEMS
    assert not any("secret" in text for text in asked), "the judges have no names"
    assert all("Conclusion: " in text and "Thought " in text for text in asked)
    assert not any("MATCH" in text for text in asked), "the trajectory is compared, not all of the search"

    report = duel_report(project, started.run)
    assert (report.a, report.b, report.items, report.none) == ("secret-mcts", "secret-vanilla", ITEMS, {})
    rows = {row.dimension: row for row in report.rows}
    assert (rows["overall"].a, rows["overall"].b, rows["overall"].ties) == (ITEMS, 0, 0)
    assert (rows["logic"].a, rows["logic"].ties, rows["logic"].flipped) == (0, ITEMS, ITEMS), "always the first place"
    assert (rows["analysis"].ties, rows["analysis"].flipped, rows["analysis"].win_rate) == (ITEMS, 0, None)
    assert "A is secret-mcts" in duel_text(report)

    for (item,) in project.database.reader().execute("SELECT id FROM completions").fetchall():
        found = transcript(project, searched.run, item)
        assert found.trace is not None
        chosen, rollouts = found.trace["answer"]["chosen"], found.trace["rollouts"]
        # Without a reward it is the first trajectory that says what most of them say.
        likely = [place for place, rollout in enumerate(rollouts) if rollout["f"] == (found.verdict == "correct")]
        steps = rollouts[likely[0] if chosen is None else chosen]["steps"]
        compared = json.loads(transcript(project, started.run, item).calls[0].request)["messages"][-1]["content"]
        assert all(found.calls[step["call"]].text in compared for step in steps)
        assert f"Conclusion: {found.verdict}." in compared

    assert {row.verifier for row in accuracy(project).rows if row.kind == "verifier"} == {
        "secret-mcts",
        "secret-vanilla",
    }
    assert started.verifier not in comparable(project), "it is not a verdict on completions"

    again = start_duel(project, "secret-mcts", "secret-vanilla", {"base_url": server.url, "model": "arbiter"})
    assert (again.run, again.state) == (started.run, "complete")
    assert len(server.received) == before + 2 * ITEMS


def test_a_duel_is_about_the_items_that_both_have_judged(project: Project, server: ScriptedServer) -> None:
    run(project, server, "all", strategy="vanilla")
    run(project, server, "two", Selection(limit=2), strategy="codejudge")
    before = len(server.received)
    started = start_duel(project, "all", "two", {"base_url": server.url, "model": "arbiter"})
    verifying.wait(project, started.run)
    report = duel_report(project, started.run)
    assert (report.items, report.none) == (2, {})
    assert len(server.received) == before + 2 * 2


def test_duels_that_can_not_be_are_refused(project: Project, server: ScriptedServer) -> None:
    run(project, server, "one", strategy="vanilla")
    exact = verifying.start(project, "exact")
    verifying.wait(project, exact.run)
    options = {"base_url": server.url, "model": "arbiter"}
    with pytest.raises(UsageError, match="No complete run of 'nobody'"):
        start_duel(project, "one", "nobody", options)
    with pytest.raises(UsageError, match="'exact' stores no transcripts"):
        start_duel(project, "one", "exact", options)
    with pytest.raises(UsageError, match="two different judges"):
        start_duel(project, "one", "one", options)
    with pytest.raises(UsageError, match="which is not a duel"):
        duel_report(project, exact.run)


def test_the_commands(project: Project, server: ScriptedServer) -> None:
    path = str(project.path)
    options = [word for name, value in {**SMALL, "base_url": server.url}.items() for word in ("-o", f"{name}={value}")]
    swept = CliRunner().invoke(
        root, ["sweep", path, "llm-judge", "--vary", "depth=1", "--vary", "depth=2", *options, "--json"]
    )
    assert swept.exit_code == 0, swept.stderr
    assert f"calls for {2 * ITEMS} items" in swept.stderr
    points = json.loads(swept.stdout)["points"]
    assert [(point["settings"], point["state"]) for point in points] == [
        ({"depth": "1"}, "complete"),
        ({"depth": "2"}, "complete"),
    ]
    arbiter = ["-o", f"base_url={server.url}", "-o", "model=arbiter"]
    names = [point["verifier"] for point in points]
    dueled = CliRunner().invoke(root, ["duel", path, *names, *arbiter, "--json"])
    assert dueled.exit_code == 0, dueled.stderr
    report = json.loads(dueled.stdout)
    assert [row["dimension"] for row in report["rows"]] == ["thoroughness", "logic", "analysis", "overall"]
    assert report["items"] == ITEMS
    shown = CliRunner().invoke(root, ["duel", path, *names, *arbiter])
    assert "win rate" in shown.stdout
    wrong = CliRunner().invoke(root, ["sweep", path, "llm-judge", "--vary", "depth"])
    assert (wrong.exit_code, "--vary" in wrong.stderr) == (2, True)
