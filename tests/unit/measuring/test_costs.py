"""Costs of verdicts by the server's usage, however many replies were stored before, and the Pareto front."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import make_project, numbered
from tests.served_runs import HereRunner, here_on
from tests.servers.scripted import Received, scripted
from workbench.app.cli import root
from workbench.core.selection import selection_of
from workbench.measuring.costs import CostRow, cost_table, costs, on_front
from workbench.runs.verifying import start

ITEMS = 8
PRICES = '[prices."m"]\ninput = 1.0\noutput = 10.0\ndate = "2026-11-01"\n'


def knows(got: Received) -> str:
    return "Yes" if r"\boxed{7}" in got.body["messages"][-1]["content"].rpartition("So ")[2] else "No"


def items() -> list[dict[str, Any]]:
    return [{**row, "question_id": f"q{n}", "question": f"How many, {n}?"} for n, row in enumerate(numbered(ITEMS))]


def judged(runs: HereRunner, url: str, name: str, strategy: str) -> None:
    runs.claim()
    options = {"base_url": url, "model": "m", "strategy": strategy, "fence": "off"}
    done = runs.work(start(runs.project, "llm-judge", options, name).run)
    assert done.state == "complete", done.message


def by_name(rows: list[CostRow]) -> dict[str, CostRow]:
    return {row.verifier: row for row in rows}


def test_shared_requests_count_for_every_verifier(tmp_path: Path) -> None:
    (tmp_path / "workbench.toml").write_text(PRICES)
    with scripted(knows) as server, here_on(make_project(tmp_path, items())) as runs:
        judged(runs, server.url, "one", "vanilla")
        judged(runs, server.url, "two", "codejudge")
        requests = len(server.received)
        judged(runs, server.url, "again", "vanilla")
        assert len(server.received) == requests == 2 * ITEMS + 2, "what is the same is asked once"
        report = costs(runs.project)
        rows = by_name(report.rows)
        assert (rows["one"].calls, rows["two"].calls, rows["again"].calls) == (1, 2, 1)
        assert [rows["one"].prompt_tokens, rows["one"].tokens] == [100, 20]
        assert [rows["two"].prompt_tokens, rows["two"].tokens] == [200, 40]
        dollars = (100 * 1.0 + 20 * 10.0) / 1e6
        assert [rows[name].dollars for name in ("one", "two", "again")] == pytest.approx(
            [dollars, 2 * dollars, dollars]
        )
        assert report.against == "dollars"
        assert all(row.seconds > 0 for row in report.rows)
        half = costs(runs.project, ("two",), selection=selection_of(("gold=correct",)))
        assert (half.rows[0].items, half.rows[0].calls) == (ITEMS // 2, 2)
        rows = by_name(costs(runs.project, against="calls").rows)
        best = max(row.accuracy.accuracy or 0.0 for row in rows.values())
        assert {name for name, row in rows.items() if row.leads} >= {
            name for name in ("one", "again") if rows[name].accuracy.accuracy == best
        }


def test_an_unpriced_verifier_has_no_cost_and_is_not_on_the_front(tmp_path: Path) -> None:
    with scripted(knows) as server, here_on(make_project(tmp_path, items())) as runs:
        judged(runs, server.url, "one", "vanilla")
        runs.claim()
        runs.work(start(runs.project, "exact", {}, "exact").run)
        report = costs(runs.project)
        assert report.against == "tokens"
        rows = by_name(costs(runs.project, against="dollars").rows)
        assert (rows["one"].dollars, rows["one"].leads) == (None, None)
        assert (rows["exact"].dollars, rows["exact"].calls, rows["exact"].tokens) == (0.0, 0.0, 0.0)
        assert rows["exact"].leads
        assert rows["exact"].seconds > 0
        notes = " ".join(cost_table(report).notes)
        assert "Without a known price: one." in notes
        done = CliRunner().invoke(root, ["cost", str(runs.project.path), "--format", "csv"])
        assert done.exit_code == 0, done.output
        assert done.stdout.splitlines()[0].startswith("verifier,leads,n,accuracy")
        done = CliRunner().invoke(root, ["cost", str(runs.project.path), "--json"])
        assert {row["verifier"] for row in json.loads(done.stdout)["rows"]} == {"one", "exact"}


FIGURE = st.none() | st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


@given(st.lists(st.tuples(FIGURE, FIGURE), max_size=8))
def test_a_verifier_on_the_front_leads_for_some_price(points: list[tuple[float | None, float | None]]) -> None:
    """A leading verifier is the most accurate of those that cost no more; any other is matched for less."""
    whole = [(accuracy, price) for accuracy, price in points if accuracy is not None and price is not None]
    leads = on_front(points)
    for (accuracy, price), front in zip(points, leads, strict=True):
        if accuracy is None or price is None:
            assert front is None
            continue
        affordable = [other for other in whole if other[1] <= price]
        best = max(other[0] for other in affordable)
        cheapest = min(other[1] for other in affordable if other[0] == best)
        assert front == (accuracy == best and price == cheapest)
    assert not whole or any(leads)
