"""Excluded items are listed but counted nowhere, whoever excluded them and whichever gold is chosen."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from tests.unit.measuring.scored_runs import add_complete_run, scores
from workbench.core.project import Project
from workbench.core.selection import Condition
from workbench.core.verdict import GoldChoice, Outcome, Verdict
from workbench.data.records import BrowseQuery
from workbench.interchange.exporting import ExportOptions, export
from workbench.labelling.coordinating import exclude
from workbench.labelling.labels import import_labels
from workbench.measuring.accuracy import accuracy
from workbench.measuring.accuracy_items import AccuracyCell, JudgedItems
from workbench.measuring.briefing import status
from workbench.measuring.browsing import ItemTable, detail
from workbench.measuring.comparing import compare
from workbench.measuring.scores import pairs

OUT = {1, 2, 3}
CHOICES: tuple[GoldChoice, ...] = ("final", "people", "imported")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Six items that two people label; of each way of exclusion there is one."""
    made = make_project(tmp_path, numbered(6))
    says = {"c1": ("unsuitable", "unsuitable"), "c2": ("correct", "unsuitable")}
    lines = [
        {"completion_id": f"c{n}", "annotator": name, "verdict": says.get(f"c{n}", ("correct", "correct"))[place]}
        for n in range(6)
        for place, name in enumerate(("ann", "bob"))
    ]
    lines.append({"completion_id": "c2", "annotator": "cy", "verdict": "unsuitable", "role": "adjudicator"})
    path = tmp_path / "labels.jsonl"
    path.write_text(
        "".join(
            json.dumps({**line, "reason": "proof"} if line["verdict"] == "unsuitable" else line) + "\n"
            for line in lines
        )
    )
    assert import_labels(made, path).refused == 0
    assert exclude(made, [1], reason="truncated").excluded == 1
    for name in ("yes", "also"):
        add_complete_run(made, name, [(n, Verdict(outcome=Outcome.CORRECT)) for n in range(1, 7)], kind="rules")
    add_complete_run(made, "scorer", scores(dict.fromkeys(range(1, 7), 0.5)))
    assert status(made).states["excluded"] == len(OUT)
    return made


@pytest.mark.parametrize("gold", CHOICES)
def test_no_table_counts_it(project: Project, gold: GoldChoice) -> None:
    for row in accuracy(project, verifiers=("yes",), gold=gold).rows:
        assert row.n == 3
    assert compare(project, "yes", "also", gold=gold).n == 3
    assert set(JudgedItems(project, AccuracyCell(verifier="yes", gold=gold)).ids()) == {4, 5, 6}


def test_no_pair_has_it(project: Project) -> None:
    assert [row.n for row in pairs(project, "scorer", gold="imported").rows] == [1]


def test_an_excluded_item_has_no_gold(project: Project) -> None:
    gold = dict(project.database.reader().execute("SELECT completion_id, gold FROM gold").fetchall())
    assert {item for item, value in gold.items() if value is None} == OUT


def test_an_excluded_item_is_listed_with_its_reason(project: Project) -> None:
    table = ItemTable(project, BrowseQuery(conditions=(Condition("state", "=", "excluded"),)))
    assert set(table.ids()) == OUT
    found = detail(project, 1)
    assert (found.state, found.reason, found.gold) == ("excluded", "truncated", "none")
    assert [label.annotator for label in found.labels if label.kind == "exclusion"] == ["coordinator"]


def test_an_export_includes_it_without_gold(project: Project, tmp_path: Path) -> None:
    report = export(project, ExportOptions(file=tmp_path / "all.csv", format="csv"))
    assert (report.written, report.without_gold) == (6, len(OUT))
    assert (
        export(project, ExportOptions(file=tmp_path / "in.csv", format="csv", where=("state!=excluded",))).written == 3
    )


def test_the_table_of_labels_names_who_excluded_it(project: Project, tmp_path: Path) -> None:
    export(project, ExportOptions(file=tmp_path / "labels.csv", format="csv", table="labels", names=True))
    with (tmp_path / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["annotator"], row["role"]) for row in rows if row["role"] != "annotator"] == [
        ("coordinator", "coordinator"),
        ("cy", "adjudicator"),
    ]
