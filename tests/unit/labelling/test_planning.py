"""The planner: missing labels per group, available items, and costs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from schemas.documents import schema
from tests.helpers import make_project
from tests.tui.stage import add_run
from workbench.app.cli import root
from workbench.core.errors import UsageError
from workbench.core.label import LabelVerdict
from workbench.core.project import Project
from workbench.core.verdict import Outcome
from workbench.labelling import people
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.measuring.accuracy import accuracy
from workbench.measuring.planning import Plan, PlanRow, plan, plan_text
from workbench.statistics.prediction_powered import half_width, needed_items

GOLD, FREE = 30, 400
"""Items of A1 with gold and without; B2 has ten without, and gold on none."""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    rows: list[dict[str, Any]] = [
        {"question_id": f"a{number // 2}", "subtype": "A1", "gold": True if number < GOLD else None}
        for number in range(GOLD + FREE)
    ]
    rows += [{"question_id": f"b{number}", "subtype": "B2"} for number in range(10)]
    made = make_project(tmp_path, [{**row, "completion_id": f"c{place}"} for place, row in enumerate(rows)])
    yield made
    made.close()


def judged(project: Project, name: str, wrong: int) -> None:
    """A run that is wrong on so many of the items with gold, whole questions at a time."""
    add_run(
        project,
        name,
        {item: Outcome.INCORRECT if item <= wrong else Outcome.CORRECT for item in range(1, GOLD + FREE + 11)},
    )


def row_of(found: Plan, group: str) -> PlanRow:
    (row,) = [row for row in found.rows if row.group == group]
    return row


def test_without_a_verifier_the_worst_case_is_assumed(project: Project) -> None:
    found = plan(project, within=0.1)
    row = row_of(found, "B2")
    assert (row.verifier, row.n, row.accuracy, row.half_width) == (None, 0, None, 0.5)
    assert row.needed == row.more == needed_items(0.5, 1.0, 0.1)
    assert (row.available, row.shortfall, row.labels) == (10, row.more - 10, 20)
    assert "0.5 is assumed" in plan_text(found)
    assert "short" in plan_text(found)


def test_the_current_interval_equals_the_accuracy_table(project: Project) -> None:
    judged(project, "rules", 6)
    found = plan(project, within=0.05, verifier="rules")
    row = row_of(found, "A1")
    (same,) = [one for one in accuracy(project, verifiers=("rules",), by="subtype").rows if one.group == "A1"][:1]
    assert same.ci is not None
    assert (row.n, row.accuracy, row.deff) == (GOLD, same.accuracy, same.deff)
    assert row.deff > 1.5
    assert row.half_width == pytest.approx((same.ci[1] - same.ci[0]) / 2)
    expected = sum(same.ci) / 2
    assert row.needed == needed_items(expected, same.deff, 0.05)
    assert half_width(expected, row.needed - 1, same.deff) > 0.05
    assert row.more == row.needed - GOLD
    assert row.labels == 2 * min(row.more, FREE)


def test_a_precise_group_needs_no_labels(project: Project) -> None:
    judged(project, "rules", 0)
    row = row_of(plan(project, within=0.12, verifier="rules"), "A1")
    # 30 items of 15 questions, all right: 15 trials.
    assert row.half_width == pytest.approx((1 - 0.025 ** (1 / 15)) / 2)
    assert (row.more, row.shortfall, row.labels) == (0, 0, 0)
    assert row.needed <= row.n


def test_the_most_demanding_verifier_counts(project: Project) -> None:
    judged(project, "sure", 0)
    judged(project, "unsure", 14)
    found = plan(project, within=0.05)
    assert row_of(found, "A1").verifier == "unsure"
    alone = plan(project, within=0.05, verifier="sure")
    assert row_of(alone, "A1").more < row_of(found, "A1").more


def test_higher_precision_needs_more_labels(project: Project) -> None:
    judged(project, "rules", 6)
    counts = [row_of(plan(project, within=within), "A1").more for within in (0.2, 0.1, 0.05, 0.02)]
    assert counts == sorted(counts)
    assert [row.group for row in plan(project, by="type").rows] == ["A", "B"]


def test_the_plan_can_use_annotated_gold_only(project: Project) -> None:
    row = row_of(plan(project, gold="people"), "A1")
    assert (row.n, row.available) == (0, GOLD + FREE)


def test_conflicts_and_times_so_far_are_projected(project: Project) -> None:
    people.assign(project, ["amira", "ben"], per_item=2)
    for name, seconds in (("amira", 10), ("ben", 30)):
        session = AnnotationSession(project, name)
        for number in range(4):
            item = session.next()
            assert item is not None
            differs = name == "ben" and number == 0
            verdict: LabelVerdict = "incorrect" if differs else "correct"
            session.submit(item, Answer(verdict=verdict, focused_ms=1000 * seconds))
        session.close()
    found = plan(project, within=0.1)
    assert found.seconds_per_label == 20
    assert found.hours == pytest.approx(found.labels * 20 / 3600)
    assert found.conflict_rate == 1 / 4
    items = sum(row.more - row.shortfall for row in found.rows)
    # Both labels of the conflict are there; it takes an adjudicator.
    assert found.labels == 2 * (items - 1) + found.adjudications
    assert plan(project, within=0.1, per_item=1).conflict_rate is None


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("said", "per_item", "lacks", "adjudications"),
    [
        ({"amira": ["correct"] * 3}, 2, 3 * 1 + 7 * 2, 0),
        ({"amira": ["correct"] * 3}, 3, 3 * 2 + 7 * 3, 0),
        # A single label would suffice, but an undecided item takes at least another one.
        ({"amira": ["correct"] * 3}, 1, 10, 0),
        ({"amira": ["correct", "correct"], "ben": ["incorrect", "incorrect"]}, 2, 8 * 2, 10),
        ({"amira": ["correct", None]}, 2, 1 + 9 * 2, 0),
    ],
)
def test_existing_labels_are_not_missing(
    tmp_path: Path, said: dict[str, list[LabelVerdict | None]], per_item: int, lacks: int, adjudications: int
) -> None:
    rows = [{"question_id": f"q{number}", "completion_id": f"c{number}", "subtype": "A1"} for number in range(10)]
    project = make_project(tmp_path, rows)
    people.assign(project, ["amira", "ben", "chidi"], per_item=max(per_item, 2))
    for name, verdicts in said.items():
        session = AnnotationSession(project, name)
        for verdict in verdicts:
            item = session.next()
            assert item is not None
            session.submit(item, Answer(verdict=verdict or "correct"))
            if verdict is None:
                session.undo()
        session.close()
    found = plan(project, within=0.1, per_item=per_item)
    made = sum(verdict is not None for verdicts in said.values() for verdict in verdicts)
    (row,) = found.rows
    assert (row.available, row.made, found.adjudications) == (10, made, adjudications)
    assert found.labels == row.labels == lacks + adjudications
    assert f"Not counted: {made} label" in plan_text(found)
    project.close()


def test_excluded_items_are_not_available(project: Project) -> None:
    before = row_of(plan(project), "B2").available
    with project.database.write() as connection:
        connection.execute(
            "INSERT INTO item_states (completion_id, state) VALUES ((SELECT max(id) FROM completions), 'excluded')"
        )
    assert row_of(plan(project), "B2").available == before - 1


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"within": 0.0}, "from 0.0001 to less than 0.5"),
        ({"within": 0.5}, "from 0.0001 to less than 0.5"),
        ({"within": float("nan")}, "from 0.0001 to less than 0.5"),
        ({"within": 1e-9}, "from 0.0001 to less than 0.5"),
        ({"per_item": 0}, "at least 1"),
        ({"per_item": 10**20}, "at most 1,000"),
        ({"verifier": "nobody"}, "No complete run of 'nobody'"),
    ],
    ids=["none", "half", "nan", "too-fine", "unlabelled", "too-many", "unknown"],
)
def test_impossible_plans_are_rejected(project: Project, fields: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        plan(project, **fields)


def test_the_command_prints_one_document_of_its_schema(project: Project) -> None:
    judged(project, "rules", 6)
    result = CliRunner().invoke(
        root, ["plan", str(project.path), "--within", "0.1", "--by", "type", "--json"], catch_exceptions=False
    )
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    jsonschema.validate(document, schema("plan"))
    assert [row["group"] for row in document["rows"]] == ["A", "B"]
    text = CliRunner().invoke(root, ["plan", str(project.path)], catch_exceptions=False).stdout
    assert "A1 - Integer" in text
    assert "labels to make, 2 an item" in text


def test_assign_accepts_an_order_and_rejects_an_incomplete_one(project: Project) -> None:
    judged(project, "one", 0)
    judged(project, "two", 3)
    command = ["assign", str(project.path), "--annotators", "amira,ben", "--limit", "3"]
    refused = CliRunner().invoke(root, [*command, "--verifier", "one"])
    assert refused.exit_code == 2
    assert "--order" in refused.output
    done = CliRunner().invoke(
        root, [*command, "--order", "disagreement", "--per-subtype", "3", "--json"], catch_exceptions=False
    )
    assert json.loads(done.stdout)["assigned"] == 6
    rows = project.database.reader().execute("SELECT DISTINCT subject FROM assignments WHERE task = 'correctness'")
    assert sorted(subject for (subject,) in rows) == [1, 2, 3]
    assert "disagreement" not in done.stdout
