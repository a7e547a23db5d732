"""``threshold``, ``pairs`` and ``types`` on the command line: one JSON document with its schema, or text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from schemas.documents import schema
from tests.helpers import make_project, numbered
from tests.unit.measuring.scored_runs import add_complete_run, scores, types
from workbench.app.cli import root
from workbench.core.errors import UsageError
from workbench.core.taxonomy import ANSWER_TYPE

ITEMS = 12


@pytest.fixture
def database(tmp_path: Path) -> str:
    rows = [{**row, "subtype": "A1", "source": f"s{number // 2 % 2}"} for number, row in enumerate(numbered(ITEMS))]
    project = make_project(tmp_path, rows)
    add_complete_run(project, "rm", scores({item: float(item % 2) for item in range(1, ITEMS + 1)}))
    add_complete_run(project, "typist", types(dict.fromkeys(range(1, ITEMS + 1), "A1")), kind=ANSWER_TYPE)
    project.close()
    return str(project.path)


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(root, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def document(name: str, *arguments: str) -> Any:
    found = json.loads(printed(*arguments, "--json"))
    jsonschema.validate(found, schema(name))
    return found


def test_threshold(database: str) -> None:
    found = document("threshold", "threshold", database, "rm", "--on", "source=s0", "--method", "youden")
    assert (found["threshold"], found["method"], found["on"]) == (1.0, "youden", "source=s0")
    assert (found["fitted"]["n"], found["rest"]["n"], found["rest"]["accuracy"]) == (6, 6, 1.0)
    assert "rows the threshold was fitted on" in printed("threshold", database, "rm")


def test_pairs(database: str) -> None:
    found = document("pairs", "pairs", database, "rm", "--by", "subtype")
    assert [(row["group"], row["n"], row["accuracy"]) for row in found["rows"]] == [(None, 6, 1.0), ("A1", 6, 1.0)]
    assert "A1 - Integer" in printed("pairs", database, "rm", "--by", "subtype")


def test_types(database: str) -> None:
    (found,) = document("curate-types", "curate", database, "types")["proposals"]
    assert (found["verifier"], found["questions"], found["agree"], found["accuracy"]) == ("typist", 6, 6, 1.0)


def test_impossible_requests_show_an_error(database: str) -> None:
    for arguments, words in (
        (("pairs", database, "typist"), "gives no scores"),
        (("threshold", database, "rm", "--on", "gold=correct"), "No threshold can be fitted"),
        (("threshold", database, "rm", "--on", "colour=red"), "Unknown field"),
    ):
        with pytest.raises(UsageError, match=words):
            CliRunner().invoke(root, list(arguments), catch_exceptions=False)
