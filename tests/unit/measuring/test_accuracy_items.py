"""The items of an accuracy cell: exactly the rows that its metrics count."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from tests.helpers import make_project
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.database.selection import chosen_ids
from workbench.core.errors import UsageError
from workbench.core.project import Project, open_project
from workbench.core.selection import Condition, Selection
from workbench.core.verdict import GoldChoice, OutcomeCode, Protocol3, Verdict
from workbench.measuring.accuracy import accuracy
from workbench.measuring.accuracy_items import AccuracyCell, JudgedItems, Which
from workbench.measuring.entries import BASELINES

ITEMS = 24
LENGTHS = (999, 1_000, 2_000)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Items of several types, sources, models and lengths, some without gold; one verifier that says everything."""
    rows = [
        {
            "question_id": f"q{number // 2}",
            "gold": None if number % 7 == 3 else number % 3 == 0,
            "subtype": (None, "A1", "A8", "B5")[number % 4],
            "source": f"source {number % 3}",
            "domain": f"domain {number % 2}",
            "model": "m" if number % 5 else None,
            "completion": "x" * LENGTHS[number % 3],
        }
        for number in range(ITEMS)
    ]
    made = make_project(tmp_path_factory.mktemp("items"), rows)
    found = [
        (item, Verdict(outcome=OutcomeCode(item * 5 // 3 % 4).outcome, reason=("", "number", "letter")[item % 3]))
        for item in range(1, ITEMS + 1)
        if item % 11
    ]
    add_complete_run(made, "all kinds", found, kind="rules")
    return made.path


@pytest.fixture
def project(file: Path) -> Project:
    return open_project(file)


def check(items: JudgedItems, n: int, wrong: int, undecided: int, left_out: int) -> None:
    """The numbers of the items, and that every kind of them is what it is called."""
    assert (len(items), items.wrong, items.right, items.undecided) == (n, wrong, n - wrong, undecided)
    assert items.left_out == left_out
    rows = items.rows(items.ids())
    assert len(rows) == n
    assert sum(not row.right for row in rows) == wrong
    kinds = {which: list(items.ids(which)) for which in get_args(Which)}
    assert sorted(kinds["wrong"] + kinds["right"]) == sorted(kinds["all"])
    assert len(kinds["wrong"]) == wrong
    assert len(kinds["undecided"]) == undecided
    assert {*kinds["accepted"], *kinds["refused"]} == {*kinds["wrong"]} - {*kinds["undecided"]}
    assert sum(number for _, number in items.reasons()) == n


@pytest.mark.parametrize("protocol", get_args(Protocol3))
@pytest.mark.parametrize(
    "by", ["type", "subtype", "source", "model", "dataset", "reason", "length", "type,domain", "length,reason"]
)
def test_every_cell_lists_the_items_its_metrics_count(project: Project, by: str, protocol: Protocol3) -> None:
    selection = (Condition("source", "!=", "source 2"),)
    report = accuracy(project, by=by, protocol=protocol, selection=Selection(selection))
    assert {row.verifier for row in report.rows} == {"all kinds", *BASELINES}
    for row in report.rows:
        cell = AccuracyCell(verifier=row.verifier, by=by, group=row.group, conditions=selection, protocol=protocol)
        undecided = 0 if protocol == "decided" else row.abstain + row.error
        check(JudgedItems(project, cell), row.n, row.fp + row.fn, undecided, row.abstain + row.error - undecided)


@pytest.mark.parametrize("by", ["type", "source", "model", "length"])
def test_a_group_and_its_condition_select_the_same_items(project: Project, by: str) -> None:
    rows = [row for row in accuracy(project, by=by).rows if row.verifier == "all kinds" and row.group is not None]
    assert len(rows) > 1
    judged = set(JudgedItems(project, AccuracyCell(verifier="all kinds")).ids())
    for row in rows:
        group = JudgedItems(project, AccuracyCell(verifier="all kinds", by=by, group=row.group)).ids()
        conditions = (Condition(by, "=", row.group or ""),)
        assert JudgedItems(project, AccuracyCell(verifier="all kinds", conditions=conditions)).ids() == group
        named = chosen_ids(project.database.reader(), Selection(conditions))
        assert judged.intersection(named) == set(group)


def test_an_unknown_length_is_rejected(project: Project) -> None:
    with pytest.raises(UsageError, match="not a valid length"):
        JudgedItems(project, AccuracyCell(verifier="all kinds", conditions=(Condition("length", "=", "3k"),)))


@pytest.mark.parametrize("gold", get_args(GoldChoice))
def test_items_use_the_chosen_gold(project: Project, gold: GoldChoice) -> None:
    (row,) = (row for row in accuracy(project, gold=gold).rows if row.verifier == "all kinds")
    assert len(JudgedItems(project, AccuracyCell(verifier="all kinds", gold=gold))) == row.n


def test_wrong_verdicts_are_listed_first_with_their_reason(project: Project) -> None:
    items = JudgedItems(project, AccuracyCell(verifier="all kinds", protocol="strict"))
    rows = items.rows(items.ids())
    ranks = [(row.outcome >= OutcomeCode.ABSTAIN, row.right) for row in rows]
    assert ranks == sorted(ranks, key=lambda pair: (pair[1], pair[0]))
    accepted = items.rows(items.ids("accepted"))
    assert {(row.outcome, row.gold) for row in accepted} == {(OutcomeCode.CORRECT, False)}
    assert rows[: len(accepted)] == accepted
    assert {row.item.id: row.reason for row in rows} == {
        row.item.id: ("", "number", "letter")[row.item.id % 3] for row in rows
    }
    counted = dict(items.reasons("accepted"))
    assert counted == {
        reason: found
        for reason, code in (("none", ""), ("number", "number"), ("letter", "letter"))
        if (found := sum(row.reason == code for row in accepted))
    }


def test_ids_of_other_items_have_no_row(project: Project) -> None:
    items = JudgedItems(project, AccuracyCell(verifier="all kinds", by="type", group="A"))
    other = JudgedItems(project, AccuracyCell(verifier="all kinds", by="type", group="B"))
    assert items.rows(other.ids()) == []
    assert items.rows([0, 10**9]) == []
    assert len(JudgedItems(project, AccuracyCell(verifier="all kinds", by="type", group="Z"))) == 0
