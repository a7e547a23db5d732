"""A verifier that failed on every item has no metrics under any protocol."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from tests.helpers import make_project
from tests.tui.stage import add_run
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import Outcome, OutcomeCode, Protocol3
from workbench.measuring.accuracy import accuracy
from workbench.measuring.comparing import compare, joint_errors
from workbench.measuring.estimating import estimate
from workbench.measuring.family import errors_text, family, family_text
from workbench.measuring.planning import plan
from workbench.measuring.selecting import best_of

ITEMS = 24
SAID = f"down failed on all {ITEMS} items and has no metrics."


@pytest.fixture
def project(tmp_path: Path) -> Project:
    rows: list[dict[str, Any]] = [
        {"question_id": f"q{n // 2}", "completion_id": f"c{n}", "gold": n % 2 == 0, "subtype": "A1"}
        for n in range(ITEMS)
    ]
    rows += [{"question_id": "new", "completion_id": "new", "gold": None, "subtype": "A1"}]
    project = make_project(tmp_path, rows)
    add_run(project, "good", {n: OutcomeCode(n % 2).outcome for n in range(1, ITEMS + 2)})
    add_run(project, "fair", {n: OutcomeCode(n % 3 == 0).outcome for n in range(1, ITEMS + 2)})
    # Verdicts on items without gold measure nothing either.
    add_run(project, "down", dict.fromkeys(range(1, ITEMS + 1), Outcome.ERROR) | {ITEMS + 1: Outcome.CORRECT})
    return project


@pytest.mark.parametrize("protocol", get_args(Protocol3))
class TestEveryFigure:
    def test_two_are_not_compared(self, project: Project, protocol: Protocol3) -> None:
        for pair in (("good", "down"), ("down", "good")):
            with pytest.raises(UsageError, match=f"^{re.escape(SAID)}"):
                compare(project, *pair, protocol=protocol)

    def test_a_family_ranks_it_last_without_metrics(self, project: Project, protocol: Protocol3) -> None:
        found = family(project, protocol=protocol)
        assert [(one.verifier, one.n, one.accuracy, one.ci) for one in found.members if one.verifier == "down"] == [
            ("down", 0, None, None)
        ]
        assert found.members[-1].verifier == "down"
        assert not [pair for pair in found.family if "down" in (pair.a, pair.b)]
        assert found.failed == {"down": ITEMS}
        said = " ".join(family_text(found).split())
        assert SAID in said
        assert "down have no common item" not in said
        assert "letters" not in [one.letters for one in found.members if one.verifier == "down"]

    def test_it_has_no_joint_errors(self, project: Project, protocol: Protocol3) -> None:
        found = joint_errors(project, protocol=protocol)
        assert {pair.errors.n for pair in found.errors if "down" in (pair.a, pair.b)} == {0}
        assert found.failed == {"down": ITEMS}
        assert SAID in " ".join(errors_text(found).split())

    def test_it_picks_nothing(self, project: Project, protocol: Protocol3) -> None:
        rows = [row for row in best_of(project, protocol=protocol).rows if row.verifier == "down"]
        assert rows
        assert {(row.accuracy, row.questions) for row in rows} == {(None, 0)}

    def test_it_has_no_estimate(self, project: Project, protocol: Protocol3) -> None:
        with pytest.raises(UsageError, match="down failed on all"):
            estimate(project, "down", protocol=protocol)
        assert estimate(project, "good", protocol=protocol).rows

    def test_the_table_has_no_metrics(self, project: Project, protocol: Protocol3) -> None:
        row = next(row for row in accuracy(project, protocol=protocol).rows if row.verifier == "down")
        assert (row.n, row.accuracy, row.error) == (0, None, ITEMS)


def test_one_verdict_is_enough_to_be_measured(tmp_path: Path) -> None:
    project = make_project(
        tmp_path, [{"question_id": f"q{n}", "completion_id": f"c{n}", "gold": n < 2} for n in range(4)]
    )
    add_run(project, "good", {n: OutcomeCode(n < 3).outcome for n in range(1, 5)})
    add_run(project, "once", {1: Outcome.CORRECT} | dict.fromkeys((2, 3, 4), Outcome.ERROR))
    assert compare(project, "good", "once").n == 4
    assert family(project).failed == {}
    # On these items alone it failed throughout.
    only = Selection((parse_condition("completion_id=c3"),))
    assert family(project, selection=only).failed == {"once": 1}


def test_a_plan_counts_the_labels(project: Project) -> None:
    """A verifier that failed on every item has no accuracy, but its items have gold."""
    (row,) = plan(project, verifier="down").rows
    assert (row.n, row.accuracy) == (ITEMS, None)


@pytest.mark.parametrize(
    ("choice", "counts"),
    [
        ("final", {"adjudicated": 0, "agreed": 0, "imported": ITEMS, "none": 1}),
        ("people", {"adjudicated": 0, "agreed": 0, "imported": 0, "none": ITEMS + 1}),
        ("imported", {"adjudicated": 0, "agreed": 0, "imported": ITEMS, "none": 1}),
    ],
)
def test_gold_is_counted_as_chosen(project: Project, choice: Any, counts: dict[str, int]) -> None:
    assert accuracy(project, gold=choice).gold == counts
    assert family(project, ("good", "fair")).gold["imported"] == ITEMS
