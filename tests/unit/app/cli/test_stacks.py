"""``stack`` on the command line: a stack, its tables, and rejected usage."""

from __future__ import annotations

import json
import re
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
from workbench.core.verdict import OutcomeCode

ITEMS = 120


@pytest.fixture
def database(tmp_path: Path) -> str:
    """Rules that accept only what is right, but not all of it, and a judge that is wrong on every twelfth."""
    kinds = ["AB"[n // 60] for n in range(ITEMS)]
    rows = [
        {"question_id": f"q{n // 2}", "completion_id": f"c{n}", "gold": n % 2 == 0, "type": kind, "subtype": f"{kind}1"}
        for n, kind in enumerate(kinds)
    ]
    project = make_project(tmp_path, rows)
    add_run(project, "rules", {n + 1: OutcomeCode(int(n % 2 == 0 and n % 3 != 0)).outcome for n in range(ITEMS)})
    add_run(project, "exact", {n + 1: OutcomeCode((n % 2 == 0) ^ (n % 12 in (4, 9))).outcome for n in range(ITEMS)})
    project.close()
    return str(project.path)


def call(*arguments: str) -> Any:
    return CliRunner().invoke(root, ["stack", *arguments], catch_exceptions=False)


def document(*arguments: str) -> Any:
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    jsonschema.validate(found, schema("stack"))
    return found


def test_a_stack_that_is_named(database: str) -> None:
    found = document(database, "--stages", "rules:correct@A, exact")
    assert (found["stages"], found["items"], found["lacking"]) == ("rules:correct@A, exact:both", ITEMS, 0)
    assert found["rows"][0]["reached"] == 60
    whole = document(database, "--stages", "exact")
    assert whole["figures"]["accuracy"] == whole["alone"][0]["figures"]["accuracy"] == pytest.approx(100 / 120)


def test_the_stages_of_a_stack_sum_up(database: str) -> None:
    # Verdicts of the rules are right; the judge is right on the deferred items, except for its odd errors.
    found = document(database, "--stages", "rules:correct, exact")
    assert found["figures"]["accuracy"] == pytest.approx(110 / 120)
    assert found["alone"][1]["against"]["difference"] == pytest.approx(10 / 120)
    of_all = [row for row in found["rows"] if row["group"] is None]
    assert [sum(row[name] for row in of_all) for name in ("accepted", "accepted_wrong", "refused", "left")] == [
        70, 10, 50, of_all[0]["left"],
    ]  # fmt: skip
    for stage in of_all:
        types = [row for row in found["rows"] if row["stage"] == stage["stage"] and row["group"] is not None]
        assert [row["group"] for row in types] == ["A", "B"]
        assert sum(row["accepted"] for row in types) == stage["accepted"]


def test_text_and_other_formats(database: str) -> None:
    said = call(database, "--stages", "rules:correct, exact").stdout
    assert "Decisions of each stage" in said
    assert "the stack is right more often than exact, by 8.3 points" in " ".join(said.split())
    for form in ("markdown", "latex", "csv"):
        assert call(database, "--stages", "rules, exact", "--format", form).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--stages", "rules, nobody"], "No complete run of 'nobody'"),
        (["--stages", "rules:maybe"], "'maybe' decides nothing"),
        ([], "Name the verifiers of a stack in order: --stages 'rules:correct, qwen:score>=0.9, gpt'"),
    ],
)
def test_invalid_stacks_are_rejected(database: str, arguments: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        call(database, *arguments)
