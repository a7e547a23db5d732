"""Judges whose verdicts selected the items are marked in every table that names them; other judges are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.helpers import make_project, numbered
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.app.cli import root
from workbench.core.verdict import OutcomeCode, Verdict
from workbench.measuring.notes import add_selection_judges

ITEMS = 12
MARKED = "judge †"
SAID = "verdicts of this judge, or of its model, decided what belongs to the data (marked †)."
TABLES = (
    "accuracy",
    "compare judge other",
    "compare judge other third",
    "compare --all --against judge",
    "compare --errors",
    "best-of",
    "estimate judge",
    "estimate other",
    "disagreements --queue verifiers",
    "disagreements --queue verifier-gold --verifier judge",
    "tables --paper --table 2",
    "tables --paper --table 4",
    "tables --paper --table 5",
    "pairs judge",
    "threshold judge",
    "correlate judge",
)


def made(folder: Path, *chose: str) -> str:
    """A database of pairs, three verifiers with scores and verdicts, and judges that chose its items."""
    project = make_project(folder, [{**row, "subtype": "A1"} for row in numbered(ITEMS)])
    for place, name in enumerate(("judge", "other", "third"), 2):
        said = [(item, item % place > 0) for item in range(1, ITEMS + 1)]
        verdicts = [
            (item, Verdict(outcome=OutcomeCode(int(yes)).outcome, reason="rule", score=yes / item))
            for item, yes in said
        ]
        add_complete_run(project, name, verdicts)
    add_selection_judges(project, "sample", chose)
    project.close()
    return str(project.path)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    return made(tmp_path_factory.mktemp("marked"), "judge")


@pytest.fixture(scope="module")
def unmarked(tmp_path_factory: pytest.TempPathFactory) -> str:
    return made(tmp_path_factory.mktemp("unmarked"))


def printed(command: str, database: str, *more: str) -> str:
    name, *rest = command.split()
    result = CliRunner().invoke(root, [name, database, *rest, *more], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.few(5)
@pytest.mark.parametrize("command", TABLES)
def test_a_table_marks_and_explains_the_judge_that_selected_items(command: str, database: str) -> None:
    text = printed(command, database)
    assert MARKED in text
    assert f"judge: {SAID}" in " ".join(text.split())
    assert "other †" not in text
    assert "third †" not in text


@pytest.mark.few(5)
@pytest.mark.parametrize("command", TABLES)
def test_no_judge_is_marked_without_a_selection(command: str, unmarked: str) -> None:
    assert "†" not in printed(command, unmarked)


@pytest.mark.parametrize("command", ["compare judge other", "compare --errors", "best-of", "pairs judge"])
def test_json_names_them(command: str, database: str) -> None:
    assert json.loads(printed(command, database, "--json"))["selection_judges"] == ["judge"]
