"""Picks, estimates and scores as tables: values, messages, and reasons of missing metrics."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import get_args

import pytest

from tests.helpers import make_project
from tests.tui.stage import add_run
from workbench.core.options import TableForm, TableFormat
from workbench.core.project import Project
from workbench.core.verdict import OutcomeCode
from workbench.measuring.combined import (
    CombinedReport,
    CombinedTable,
    combined_as,
    combined_name,
    head,
    parts,
)
from workbench.measuring.downstream import downstream, downstream_text
from workbench.measuring.estimating import estimate
from workbench.measuring.selecting import best_of

HOSTILE = "=1+1|`<script>\x1b[31m_x_"
ITEMS = 160


def project_of(folder: Path, gold: dict[int, bool | None] | None = None) -> Project:
    """Four completions a question; "good" errs on one of 10, "poor" on four, "silent" says nothing."""
    draw = random.Random(7)
    rows = [
        {
            "question_id": f"q{number // 4}",
            "gold": (gold or {}).get(number, number % 2 == 0),
            "subtype": "A1" if number < 60 else "B5",
        }
        for number in range(ITEMS)
    ]
    project = make_project(folder, rows)
    for name, errs in (("good", 0.1), ("poor", 0.4), (HOSTILE, 0.3)):
        said = {
            number + 1: OutcomeCode(int((number % 2 == 0) ^ (draw.random() < errs))).outcome for number in range(ITEMS)
        }
        add_run(project, name, said)
    return project


def scores_file(folder: Path) -> Path:
    path = folder / "scores.jsonl"
    lines = [
        {"verifier": name, "benchmark": benchmark, "score": score + shift}
        for name, score in (("good", 0.6), ("poor", 0.4), (HOSTILE, 0.5))
        for benchmark, shift in (("sums", 0), ("tales", 30))
    ]
    text = [json.dumps(line) for line in lines]
    path.write_text("\n".join([*text, '{"verifier": "good"}']), encoding="utf-8")
    return path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_of(tmp_path)


def reports(project: Project, folder: Path) -> dict[str, CombinedReport]:
    return {
        "best-of": best_of(project, sizes=(1, 2, 64)),
        "estimate": estimate(project, "good", by="type"),
        "scores": downstream(project, scores_file(folder)),
    }


def texts(part: CombinedTable) -> list[tuple[str, ...]]:
    return [tuple(cell.text for cell in row.cells) for row in part.table.rows]


def standings(part: CombinedTable) -> dict[str, str]:
    """Map the first cell of each row to its standing."""
    return {row[0]: said.standing for row, said in zip(texts(part), part.said, strict=True)}


def test_every_row_has_as_many_cells_as_headings(project: Project, tmp_path: Path) -> None:
    found = reports(project, tmp_path)
    assert {name: len(parts(report)) for name, report in found.items()} == {
        "best-of": 1,
        "estimate": 2,
        "scores": 2,
    }
    for report in found.values():
        assert head(report).count("\n") in (1, 2)
        assert "protocol strict, gold final" in head(report)
        for sheet in parts(report):
            assert {len(row.cells) for row in sheet.table.rows} == {len(sheet.table.titles)}
            assert len(sheet.said) == len(sheet.table.rows)
            assert bool(sheet.against) == any(said.standing for said in sheet.said)


def test_picks_without_metrics_have_a_reason(project: Project) -> None:
    (sheet,) = parts(best_of(project, ("good",), sizes=(1, 2, 64)))
    one, two, many = sheet.said
    assert (one.standing, one.words) == ("", ("A single completion leaves no choice.",))
    assert (two.standing, two.words) == ("better", ())
    assert many.words == ("No question has 64 completions with gold and a verdict to pick from.",)
    assert sheet.begin == 1
    (alike,) = parts(best_of(project, ("always-incorrect",), sizes=(2,)))
    assert "it is the same in every question" in alike.said[0].words[0]


def test_picks_among_one_class_have_a_reason(tmp_path: Path) -> None:
    project = project_of(tmp_path, dict.fromkeys(range(ITEMS), True))
    (sheet,) = parts(best_of(project, ("good",), sizes=(2,)))
    assert sheet.said[0].standing == ""
    assert "no pick can beat a random one" in sheet.said[0].words[0]


def test_an_estimate_states_its_gain(tmp_path: Path) -> None:
    project = project_of(tmp_path, dict.fromkeys(range(60, ITEMS)))
    estimates, mix = parts(estimate(project, "good", ("poor",), by="type"))
    assert estimates.said[0].words[0].startswith("No estimate. The mix by type")
    assert "No labelled item." in [
        said.words[0] for said, row in zip(estimates.said, texts(estimates), strict=True) if row[1].startswith("B")
    ]
    assert texts(mix)[0][1:] == ("15", "0")


def test_scores_are_listed_with_accuracy_and_rejected_lines_reported(project: Project, tmp_path: Path) -> None:
    report = downstream(project, scores_file(tmp_path))
    scores, orders = parts(report)
    assert [row[:2] for row in texts(scores)][:3] == [("sums", "good"), ("sums", HOSTILE), ("sums", "poor")]
    assert "n is not given" in scores.said[0].words[0]
    assert scores.said[-1].words == ()  # a mean of ranks has no interval to miss
    assert any(note.startswith("Rejected: line 7, benchmark") for note in scores.table.notes)
    assert "6 scores read; 1 line rejected" in head(report)
    assert "1 line rejected" in downstream_text(report)
    assert [*orders.table.titles][2:] == [
        "verifiers",
        *("Spearman coefficient", "p", "95 % interval"),
        *("Kendall coefficient", "p", "95 % interval"),
    ]
    assert "a bootstrap needs 10 verifiers" in orders.said[0].words[0]


def test_csv_has_full_precision_and_no_formulas(project: Project, tmp_path: Path) -> None:
    found = reports(project, tmp_path)
    picks = list(csv.DictReader(io.StringIO(combined_as(found["best-of"], 0, TableForm(format="csv")))))
    (row,) = best_of(project, ("good",), sizes=(2,)).rows
    (line,) = [line for line in picks if line["verifier"] == "good" and line["n"] == "2"]
    assert row.ci is not None
    assert (float(line["accuracy"]), float(line["ci_low"])) == (row.accuracy, row.ci[0])
    assert (line["protocol"], line["gold"]) == ("strict", "final")
    assert {line["verifier"] for line in picks if "script" in line["verifier"]} == {"'=1+1|`<script>␛[31m_x_"}
    assert "steps" in combined_as(found["scores"], 1, TableForm(format="csv"))


@pytest.mark.parametrize("as_", get_args(TableFormat))
def test_every_table_has_every_format_and_a_file_name(project: Project, tmp_path: Path, as_: TableFormat) -> None:
    named = []
    for report in reports(project, tmp_path).values():
        for place in range(len(parts(report))):
            text = combined_as(report, place, TableForm(format=as_))
            assert "\x1b" not in text
            assert "nan" not in text
            assert as_ == "csv" or "(protocol strict, gold final)" in " ".join(text.split())
            named.append(combined_name(report, place).removesuffix("-strict-final"))
    assert named == ["best-of", "estimate", "mix", "scores", "downstream"]
