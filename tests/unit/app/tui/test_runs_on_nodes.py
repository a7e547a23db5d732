"""Cluster runs show the work of each node, in the app and on the command line."""

from __future__ import annotations

from msgspec import structs

from tests.unit.app.tui.test_writing_runs import info, words
from workbench.app.tui.screens import runs as runs_screen
from workbench.core.run import Amount, ClusterUse, NodeUse, RunCosts
from workbench.core.text.run_words import node_lines

USE = ClusterUse(
    address="ray",
    nodes=[
        NodeUse(name="one/aa", workers=2, judged=1200, seconds=60.0, deaths=1, lost=34),
        NodeUse(name="two/[bb]", workers=1, refused="it keeps programs in at L2 only"),
        NodeUse(name="three/cc", workers=1),
    ],
)


def test_lines_show_progress_rate_and_failures_of_each_node() -> None:
    assert [*node_lines(USE)] == [
        "node one/aa: 2 workers, 1,200 results, 20.0 a second; died 1 time, 34 repeated on other nodes",
        "node two/[bb]: rejected: it keeps programs in at L2 only",
        "node three/cc: 1 worker, 0 results, – a second; died 0 times, 0 repeated on other nodes",
    ]
    assert [*node_lines(None)] == []


def test_the_details_of_a_run_hold_them() -> None:
    nothing = Amount(calls=0, tokens=0, cost=None)
    costs = RunCosts(attempts={}, ambiguous=[], spent=nothing, possibly_spent=nothing, to_finish=None)
    said = words(runs_screen.run_details(structs.replace(info(), cluster=USE), costs, "log")).splitlines()
    assert [line for line in said if line.startswith("node ")] == [*node_lines(USE)]
    assert "node " not in words(runs_screen.run_details(info(), costs, "log"))
