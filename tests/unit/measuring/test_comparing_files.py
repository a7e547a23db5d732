"""Comparisons in every format: all metrics in CSV, escaped names in Markdown, a new file for each save."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import get_args

import pytest

from tests.helpers import make_project, numbered
from tests.tui.stage import add_run
from workbench.core.options import TableForm, TableFormat
from workbench.core.project import Project
from workbench.core.text.inert import inert
from workbench.core.verdict import OutcomeCode
from workbench.measuring.comparing import compare, joint_errors
from workbench.measuring.comparing_tables import Report, comparison_as, comparison_name
from workbench.measuring.family import family

HOSTILE = "=a|b`<script>\x1b[31m_x_"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path, [{**row, "subtype": "A1"} for row in numbered(20)])
    add_run(project, HOSTILE, {item: OutcomeCode(item % 2).outcome for item in range(1, 21)})
    add_run(project, "other", {item: OutcomeCode(int(item % 3 == 0)).outcome for item in range(1, 21)})
    return project


def reports(project: Project) -> dict[str, Report]:
    return {
        "compare": compare(project, HOSTILE, "other", by="type"),
        "family": family(project),
        "errors": joint_errors(project),
    }


def lines(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_has_a_line_for_all_items_and_one_a_group(project: Project) -> None:
    report = compare(project, HOSTILE, "other", by="type")
    total, group = lines(comparison_as(report, TableForm(format="csv")))
    assert (total["a"], total["b"], total["group"], group["group"]) == (f"'{inert(HOSTILE)}", "other", "", "A")
    assert float(total["difference"]) == report.difference
    assert (float(total["ci_low"]), float(total["ci_high"])) == report.ci
    assert float(total["mcc_a"]) == report.metrics[2].a
    assert (total["q"], float(group["q"])) == ("", report.groups[0].q)
    assert group["mcc_a"] == ""
    assert (total["protocol"], total["gold"]) == ("strict", "final")


def test_csv_of_several_has_a_line_a_pair(project: Project) -> None:
    found = reports(project)
    pairs = lines(comparison_as(found["family"], TableForm(format="csv")))
    assert [float(line["holm_p"]) for line in pairs] == [pair.holm_p for pair in found["family"].family]  # type: ignore[union-attr]
    (joint,) = lines(comparison_as(found["errors"], TableForm(format="csv")))
    pair = found["errors"].errors[0]  # type: ignore[union-attr]
    assert (float(joint["kappa"]), int(joint["errors_both_wrong"])) == (pair.kappa, pair.errors.both_wrong)
    assert float(joint["on_correct_n"]) == pair.on_correct.n


@pytest.mark.parametrize("as_", get_args(TableFormat))
def test_every_format_escapes_names(project: Project, as_: TableFormat) -> None:
    for report in reports(project).values():
        text = comparison_as(report, TableForm(format=as_))
        assert "nan" not in text
        assert "\x1b" not in text
        if as_ == "markdown":
            assert "<script>" not in text
            assert "protocol strict, gold final" in text


def test_file_names_do_not_contain_verifier_names(project: Project) -> None:
    for kind, report in reports(project).items():
        assert comparison_name(report) == f"{kind}-strict-final"
