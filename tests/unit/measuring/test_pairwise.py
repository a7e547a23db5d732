"""Pairwise comparisons through real runs: pairs, metrics and the command."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.helpers import add_items, make_project
from tests.served_runs import HereRunner, here_on
from tests.servers.scripted import Received, scripted
from workbench.app.cli import root
from workbench.core.errors import UsageError
from workbench.measuring.pairwise import pairwise_report, pairwise_text
from workbench.measuring.scores import pairs
from workbench.runs.verifying import start
from workbench.statistics.records.probe import PAIRWISE, PairwiseReport
from workbench.verifiers.base import identity
from workbench.verifiers.duel.pairwise import Pairwise

WORDS = ("right", "wrong")


def rows(questions: int, completions: int = 2) -> list[dict[str, Any]]:
    return [
        {
            "question_id": f"q{number}",
            "completion_id": f"q{number}-{place}",
            "question": f"Question {number}?",
            "completion": f"{WORDS[place % 2]} {place}",
            "gold": place % 2 == 0,
        }
        for number in range(questions)
        for place in range(completions)
    ]


def solutions(got: Received) -> list[str]:
    return re.findall(r"^(?:right|wrong) \d+$", got.body["messages"][0]["content"], re.MULTILINE)


def knows(got: Received) -> str:
    first, second = (text.startswith("right") for text in solutions(got))
    return "Overall: " + ("tie" if first == second else "1" if first else "2")


def first(got: Received) -> str:
    return "Overall: 1"


def report(
    folder: Path, answer: Callable[[Received], str], data: list[dict[str, Any]], **options: str
) -> tuple[PairwiseReport, int, HereRunner]:
    with scripted(answer) as server, here_on(make_project(folder, data)) as runs:
        runs.claim()
        run = start(runs.project, PAIRWISE, {"base_url": server.url, "model": "m", **options}).run
        runs.work(run)
        return pairwise_report(runs.project, run), len(server.received), runs


def shares(found: PairwiseReport) -> list[tuple[int, float | None]]:
    return [(row.n, row.share) for row in found.rows]


def test_a_perfect_judge_is_consistent_and_right(tmp_path: Path) -> None:
    found, calls, _ = report(tmp_path, knows, rows(5))
    assert calls == 10
    assert (found.items, found.pairs, found.read, found.ties, found.inconsistent) == (10, 5, 5, 0, 0)
    assert shares(found) == [(5, 1.0), (10, 0.5), (5, 1.0)]


def test_replies_use_the_chosen_sampling(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []

    def drawn(got: Received) -> str:
        asked.append(got.body)
        return first(got)

    report(tmp_path, drawn, rows(1), temperature="none", max_tokens="64", seed="7")
    assert {(one.get("temperature"), one["max_tokens"], one["seed"]) for one in asked} == {(None, 64, 7)}
    given = {"base_url": "http://127.0.0.1:9/v1", "model": "m"}
    assert identity(Pairwise(**given)) != identity(Pairwise(**given, temperature="0.7"))
    assert identity(Pairwise(**given)) == identity(Pairwise(**given, temperature="0", max_tokens="2048"))
    with pytest.raises(ValueError, match="top_k: it can't be sent"):
        Pairwise(**given, top_k="5")


def test_a_judge_that_prefers_the_first_is_biased_and_ties_every_pair(tmp_path: Path) -> None:
    found, _, _ = report(tmp_path, first, rows(5))
    assert (found.read, found.ties, found.inconsistent, found.gold_ties) == (5, 0, 5, 5)
    assert shares(found) == [(5, 0.0), (10, 1.0), (5, 0.0)]
    assert "5 with different preferences in the two orders, counted as ties" in pairwise_text(found)


def test_empty_replies_are_not_ties(tmp_path: Path) -> None:
    found, _, _ = report(tmp_path, lambda got: "Hm.", [*rows(2), *rows(3, 1)[2:]])
    assert (found.pairs, found.read, found.inconsistent) == (2, 0, 0)
    assert found.none == {"unparsed": 4, "no_rival": 1}
    assert shares(found) == [(0, None)] * 3
    assert [row.ci for row in found.rows] == [None] * 3


def test_neighbours_are_compared_in_a_circle_without_excluded_items(tmp_path: Path) -> None:
    with scripted(knows) as server, here_on(make_project(tmp_path, rows(1, 6))) as runs:
        with runs.project.database.write() as connection:
            connection.execute("INSERT INTO item_states (completion_id, state) VALUES (6, 'excluded')")
        options = {"base_url": server.url, "model": "m"}
        runs.claim()
        run = start(runs.project, PAIRWISE, options).run
        runs.work(run)
        found = pairwise_report(runs.project, run)
        assert (found.pairs, found.ties) == (5, 1)
        assert len(server.received) == 10
        assert all(len(set(solutions(got))) == 2 for got in server.received)
        scores = runs.sql("SELECT completion_id, score FROM verdicts WHERE run_id = ? AND sample = 0", run)
        assert sorted(scores)[:2] == [(1, 0.75), (2, 0.0)]
        runs.claim()
        wide = start(runs.project, PAIRWISE, {**options, "opponents": "4"}, "wide").run
        runs.work(wide)
        assert pairwise_report(runs.project, wide).pairs == 10
        assert len(server.received) == 20


def test_scores_enter_the_score_metrics(tmp_path: Path) -> None:
    with scripted(knows) as server, here_on(make_project(tmp_path, rows(5))) as runs:
        runs.claim()
        run = start(runs.project, PAIRWISE, {"base_url": server.url, "model": "m"}).run
        runs.work(run)
        assert pairs(runs.project, "pairwise").rows[0].accuracy == 1.0
        runs.claim()
        rules = runs.work(start(runs.project, "exact").run).run
        with pytest.raises(UsageError, match="compares no completions"):
            pairwise_report(runs.project, rules)


def test_the_command_prints_the_table_and_resumes(tmp_path: Path) -> None:
    project = make_project(tmp_path, rows(3))
    path = str(project.path)
    with scripted(knows) as server:
        asked = ["pairwise", path, "-o", f"base_url={server.url}", "-o", "model=m"]
        printed = CliRunner().invoke(root, asked)
        assert printed.exit_code == 0, printed.output
        assert "pairwise accuracy" in printed.output
        add_items(project.database, rows(4)[6:])
        found = json.loads(CliRunner().invoke(root, [*asked, "--json"]).stdout)
        assert (found["pairs"], found["state"]) == (4, "complete")
        assert len(server.received) == 8
