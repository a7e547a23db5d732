"""An undefined metric is null or "–" in every format and command, never 0."""

from __future__ import annotations

import csv
import io
import json
import re
from math import isnan
from pathlib import Path
from typing import Any

import pytest

import workbench
from tests.commands import run
from tests.helpers import make_project, numbered
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.verdict import Outcome, OutcomeCode, Verdict

ITEMS = 24


def verdict_of(item: int, every: int) -> Verdict:
    return Verdict(outcome=OutcomeCode(int(item % every == 0)).outcome, score=float(item % every))


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Gold of one class in the data set "wrong", of both in "mixed"; a verifier that always refuses among others."""
    rows = [{**row, "gold": False, "dataset": "wrong", "subtype": "A1"} for row in numbered(ITEMS // 2)]
    rows += [{**row, "dataset": "mixed", "subtype": "B1"} for row in numbered(ITEMS // 2)]
    project = make_project(tmp_path_factory.mktemp("undefined"), rows)
    for name, every in (("third", 3), ("fourth", 4), ("never", 1000)):
        add_complete_run(project, name, [(item, verdict_of(item, every)) for item in range(1, ITEMS + 1)], kind="exact")
    abstains = [(item, Verdict(outcome=Outcome.ABSTAIN)) for item in range(1, ITEMS + 1)]
    add_complete_run(project, "silent", abstains, kind="exact")
    project.close()
    return str(project.path)


def document(*arguments: str) -> Any:
    found = run(*arguments, "--json")
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def test_json_has_null_for_one_class_and_zero_for_a_constant_verdict(database: str) -> None:
    rows = document("accuracy", database, "--by", "dataset")["rows"]
    found = {(row["verifier"], row["group"]): row["mcc"] for row in rows}
    names = {name for name, _ in found}
    assert {found[name, "wrong"] for name in names} == {None}
    assert found["never", "mixed"] == 0 == found["always-incorrect", "mixed"]
    assert found["fourth", "mixed"] not in (0, None)
    undefined = [row for row in rows if row["group"] == "wrong"]
    assert {(row["balanced_accuracy"], row["fnr"], row["auroc"]) for row in undefined} == {(None, None, None)}
    assert all(row["fpr"] is not None for row in undefined)


@pytest.mark.parametrize("format_", ["text", "csv", "markdown", "latex"])
def test_tables_have_a_dash_or_nothing(database: str, format_: str) -> None:
    only = ("--where", "dataset=wrong", "--verifier", "third", "--long")
    found = run("accuracy", database, *only, "--format", format_).stdout
    if format_ == "csv":
        (row, *_) = csv.DictReader(io.StringIO(found))
        assert (row["mcc"], row["balanced_accuracy"], row["fnr"]) == ("", "", "")
        return
    (line,) = [line for line in found.splitlines() if re.match(r"\W*third\W+all", line)]
    cells = re.split(r"\s*[|&]\s*|\s{2,}", line.strip("| \\"))
    mcc = next(head for head in found.splitlines() if "MCC" in head)
    at = re.split(r"\s*[|&]\s*|\s{2,}", mcc.strip("| \\")).index("MCC")
    assert cells[at] in ("–", r"{\textendash}")


def test_no_item_at_all_leaves_everything_undefined(database: str) -> None:
    """Under "decided" a verifier that only abstains counts on nothing."""
    row, *_ = document("accuracy", database, "--protocol", "decided", "--verifier", "silent")["rows"]
    names = ("accuracy", "ci", "balanced_accuracy", "mcc", "fpr", "fnr", "auroc")
    assert (row["n"], row["coverage"]) == (0, 0.0)
    assert [row[name] for name in names] == [None] * len(names)


def test_comparisons_and_thresholds_report_it_too(database: str) -> None:
    wrong = ("--where", "dataset=wrong")
    metrics = {one["metric"]: one for one in document("compare", database, "third", "fourth", *wrong)["metrics"]}
    for metric in ("balanced_accuracy", "mcc"):
        assert [metrics[metric][key] for key in ("a", "b", "difference", "ci")] == [None] * 4
    assert "MCC  –" in re.sub(" +", "  ", run("compare", database, "third", "fourth", *wrong).stdout)

    found = run("threshold", database, "third", "--on", "dataset=mixed", "--where", "dataset=wrong", "--json")
    assert '"mcc": 0' not in found.stdout


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_the_report_has_a_dash(database: str, tmp_path: Path, name: str) -> None:
    found = run("report", database, "-o", tmp_path / name, "--where", "dataset=wrong", "--examples", "0")
    assert found.returncode == 0, found.stderr
    text = re.sub(r"<[^>]+>", "|", (tmp_path / name).read_text(encoding="utf-8"))
    summary = text[text.index("MCC") :]
    row = summary[summary.index("third") :]
    assert "–" in row[:400]
    assert "0.000" not in row[:400]


def test_frames_have_nan(database: str) -> None:
    with workbench.open_project(database) as project:
        found = project.accuracy(where="dataset=wrong")
        assert found["mcc"].dtype == found["balanced_accuracy"].dtype == float
        assert isnan(found["mcc"].max())
        assert project.accuracy(where="dataset=mixed").set_index("verifier")["mcc"]["never"] == 0


def test_the_app_has_a_dash() -> None:
    from tests.tui.test_accuracy_sheet import row
    from workbench.app.tui.kit.accuracy_sheet import AccuracySheet, group_detail, verifier_detail
    from workbench.app.tui.kit.accuracy_view import FIGURES
    from workbench.statistics.records.report import AccuracyReport

    rows = [row("v", None, 0.5, mcc=None), row("w", None, 0.5, mcc=-0.5)]
    gold = {"adjudicated": 0, "agreed": 100, "imported": 0, "none": 0}
    report = AccuracyReport(protocol="forced", gold=gold, gold_choice="final", by=None, rows=rows, averages=[])
    sheet = AccuracySheet(report)
    detail = verifier_detail(sheet, "v", FIGURES["mcc"], descending=False, wide=True)
    at = [column.key for column in detail.columns].index("MCC")
    assert detail.rows[0].cells[at].text == "–"
    by_mcc = group_detail(sheet, None, FIGURES["mcc"], (), wide=True)
    assert [shown.cells[at].text for shown in by_mcc.rows] == ["-0.500", "–"]
