"""Accuracy plots: relative to the better constant baseline, on one axis, without untyped items."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.commands import run
from tests.helpers import make_project, numbered
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.verdict import OutcomeCode, Verdict


@pytest.fixture
def page(tmp_path: Path) -> str:
    """Type A is mostly correct, D mostly incorrect, and some items have no type."""
    rows = [
        {**row, "gold": gold, **({"subtype": subtype} if subtype else {})}
        for number, row in enumerate(numbered(36))
        for subtype, gold in [(("A1", number % 6 > 0), ("D2", number % 6 == 0), (None, True))[number // 12]]
    ]
    project = make_project(tmp_path, rows)
    add_complete_run(
        project, "v", [(n, Verdict(outcome=OutcomeCode(n % 2).outcome)) for n in range(1, 37)], kind="exact"
    )
    project.close()
    found = run("report", project.path, "-o", "-", "--format", "html", "--examples", "0")
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_plots_are_against_the_better_constant_on_one_axis(page: str) -> None:
    plots = [plot for plot in re.findall(r"<svg.*?</svg>", page, re.DOTALL) if "always" in plot]
    said = [re.findall(r"always (?:in)?correct", plot)[0] for plot in plots]
    assert len(plots) == 4, "all items, A, D and untyped"
    assert said == ["always correct", "always correct", "always incorrect", "always correct"]
    ticks = [re.findall(r'class="tick"[^>]*>([^<]*)<', plot) for plot in plots]
    assert all(tick == ticks[0] for tick in ticks)
    assert (ticks[0][0], ticks[0][-1]) == ("0", "100")


def test_untyped_items_are_a_group_like_any_other(page: str) -> None:
    table = page[page.index("Accuracy (%) by answer subtype") :]
    table = table[: table.index("</table>")]
    (line,) = [row for row in table.split("<tr") if "untyped" in row]
    (subtype,) = [row for row in table.split("<tr") if "D2 - " in row]
    assert line.split(">")[0] == subtype.split(">")[0], "it is a group like a subtype"
