"""Undecided verdicts count as wrong unless an option or the project settings choose another protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import workbench
from tests.commands import run
from tests.helpers import make_project, numbered
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.errors import UsageError
from workbench.core.verdict import Outcome, OutcomeCode, Verdict

ITEMS, CORRECT = 40, 8
FIGURES = [
    ["accuracy", "DB"],
    ["accuracy", "DB", "--by", "type"],
    ["compare", "DB", "half", "always-incorrect"],
    ["compare", "DB", "half", "silent", "always-incorrect"],
    ["compare", "DB", "--errors"],
    ["cost", "DB"],
    ["best-of", "DB"],
    ["estimate", "DB", "half", "--predictor", "silent"],
    ["stack", "DB", "--stages", "half:correct, silent"],
]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """One completion of five is correct; one verifier always abstains, the other does on every other item."""
    rows = [
        {**row, "gold": place < CORRECT, "question_id": f"q{place // 2}"} for place, row in enumerate(numbered(ITEMS))
    ]
    project = make_project(tmp_path, rows)
    add_complete_run(
        project,
        "half",
        [
            (item, Verdict(outcome=Outcome.ABSTAIN if item % 2 else OutcomeCode(item <= CORRECT).outcome))
            for item in range(1, ITEMS + 1)
        ],
        kind="exact",
    )
    silent = [(item, Verdict(outcome=Outcome.ABSTAIN)) for item in range(1, ITEMS + 1)]
    add_complete_run(project, "silent", silent, kind="exact")
    project.close()
    return project.path


def document(database: Path, words: list[str], *more: str) -> Any:
    found = run(*(str(database) if word == "DB" else word for word in words), *more, "--json")
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def accuracies(report: Any) -> dict[str, float | None]:
    return {row["verifier"]: row["accuracy"] for row in report["rows"] if row["group"] is None}


def test_a_verifier_that_always_abstains_is_never_right(database: Path) -> None:
    report = document(database, ["accuracy", "DB"])
    assert accuracies(report)["always-incorrect"] == 1 - CORRECT / ITEMS
    assert accuracies(report)["silent"] == 0
    assert accuracies(report)["half"] == 0.5
    silent = next(row for row in report["rows"] if row["verifier"] == "silent")
    assert (silent["abstain"], silent["coverage"], silent["n"]) == (ITEMS, 0, ITEMS)
    shown = run("accuracy", str(database)).stdout
    assert "protocol strict" in shown
    assert next(line.split() for line in shown.splitlines() if line.startswith("silent"))[-1] == str(ITEMS)


@pytest.mark.few(4)
@pytest.mark.parametrize("words", FIGURES, ids=lambda words: " ".join(words[:1] + words[2:3]))
def test_every_command_uses_the_project_protocol_by_default(database: Path, words: list[str]) -> None:
    assert document(database, words)["protocol"] == "strict"
    database.with_name("workbench.toml").write_text('protocol = "forced"\n')
    assert document(database, words)["protocol"] == "forced"
    assert document(database, words, "--protocol", "decided")["protocol"] == "decided"


def test_the_report_and_the_papers_tables_count_so_too(database: Path) -> None:
    for said, words in (("strict", ""), ("forced", 'protocol = "forced"\n')):
        database.with_name("workbench.toml").write_text(words)
        page = database.with_name(f"{said}.md")
        assert run("report", str(database), "-o", str(page)).returncode == 0
        assert f"Protocol {said}" in page.read_text("utf-8")
        assert f"Protocol {said}" in run("tables", str(database), "--paper", "--table", "2").stdout


def test_python_counts_so_too(database: Path) -> None:
    def half() -> tuple[str, float]:
        found = workbench.open_project(database).accuracy(verifiers="half")
        return found.attrs["protocol"], float(found["accuracy"].iloc[0])

    assert half() == ("strict", 0.5)
    database.with_name("workbench.toml").write_text('protocol = "forced"\n')
    assert half() == ("forced", 1 - CORRECT / 2 / ITEMS)
    assert workbench.open_project(database).accuracy(protocol="decided").attrs["protocol"] == "decided"


@pytest.mark.parametrize("value", ['"lenient"', "3", '["strict"]', '""'])
def test_an_unknown_protocol_is_rejected_by_file_and_field(database: Path, value: str) -> None:
    file = database.with_name("workbench.toml")
    file.write_text(f"protocol = {value}\n")
    found = run("accuracy", str(database))
    assert found.returncode == 2
    assert f"{file}:protocol: " in found.stderr
    assert 'protocol = "strict" (or "forced", "decided")' in found.stderr
    with pytest.raises(UsageError, match=r"workbench\.toml:protocol: "):
        workbench.open_project(database).accuracy()
    assert document(database, ["accuracy", "DB"], "--protocol", "strict")["protocol"] == "strict"
    file.write_text("annotation = 3\n")
    assert document(database, ["accuracy", "DB"])["protocol"] == "strict", (
        "what is wrong elsewhere is not about figures"
    )
