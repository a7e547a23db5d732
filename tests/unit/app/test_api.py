"""The Python API: its frames agree with the commands."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import workbench
from tests.helpers import make_project, numbered
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.errors import StoreError, UsageError
from workbench.core.project import Project
from workbench.core.verdict import Outcome, Verdict
from workbench.measuring.accuracy import accuracy


@pytest.fixture
def stored(tmp_path: Path) -> Project:
    project = make_project(tmp_path, [*numbered(6, type="A", subtype="A1"), {"type": "B", "completion_id": "c9"}])
    said = [Outcome.CORRECT, Outcome.INCORRECT, Outcome.INCORRECT, Outcome.ABSTAIN, Outcome.ERROR, Outcome.CORRECT]
    add_complete_run(project, "v", [(n, Verdict(outcome=said[n - 1], reason=f"r{n % 2}")) for n in range(1, 7)])
    add_complete_run(project, "w", [(n, Verdict(outcome=Outcome.CORRECT, score=n / 7)) for n in range(1, 5)])
    return project


def test_the_accuracy_frame_is_the_accuracy_report(stored: Project) -> None:
    with workbench.open_project(stored.path) as project:
        frame = project.accuracy(by="type", protocol="strict")
    report = accuracy(stored, by="type", protocol="strict")
    assert frame["accuracy"].astype(object).where(frame["accuracy"].notna(), None).tolist() == [
        row.accuracy for row in report.rows
    ]
    assert frame["verifier"].tolist() == [row.verifier for row in report.rows]
    assert frame["group"].tolist() == [row.group or "overall" for row in report.rows]
    assert [
        None if low != low else (low, high) for low, high in zip(frame["ci_low"], frame["ci_high"], strict=True)
    ] == [row.ci for row in report.rows]
    assert not set(frame.dtypes.map(str)) - {"category", "int64", "float64", "bool"}
    assert frame.attrs["protocol"] == "strict"
    assert frame.attrs["gold_from"] == report.gold


@pytest.mark.parametrize("protocol", ["forced", "strict", "decided"])
def test_right_columns_agree_with_the_accuracy_table(stored: Project, protocol: str) -> None:
    with workbench.open_project(stored.path) as project:
        judged = project.verdicts("v")
    (row,) = (row for row in accuracy(stored, verifiers=("v",), protocol=protocol).rows if row.verifier == "v")  # type: ignore[arg-type]
    right = judged[f"right_{protocol}"].dropna()
    assert (len(right), float(right.mean())) == (row.n, row.accuracy)


def test_verdicts_on_items_without_gold_are_there(stored: Project) -> None:
    said = {1: Outcome.ABSTAIN, 7: Outcome.CORRECT}
    add_complete_run(stored, "x", [(item, Verdict(outcome=outcome)) for item, outcome in said.items()])
    with workbench.open_project(stored.path) as project:
        found, stated = project.verdicts(), project.sql("SELECT count(*) AS n FROM verdicts WHERE sample = 0")
        some = project.verdicts("x", where="type=B")
    without = found[found["gold"].isna()]
    assert len(found) == int(stated["n"][0]) > len(found) - len(without) > 0
    assert found.attrs == {"without_gold": len(without)}
    assert without[["right_forced", "right_strict", "right_decided"]].isna().all().all()
    assert set(without["verdict"]) <= {"correct", "incorrect", "abstain", "error"}
    assert (some["type"].tolist(), some.attrs) == (["B"], {"without_gold": 1})


def test_items_have_gold_and_texts(stored: Project) -> None:
    with workbench.open_project(stored.path) as project:
        items = project.items("type=A")
        texts = project.items(["type=B"], texts=True)
    assert items["gold"].tolist() == [True, False] * 3
    assert items["gold_from"].tolist() == ["imported"] * 6
    assert items.dtypes[["type", "subtype", "model", "gold_from"]].map(str).tolist() == ["category"] * 4
    assert texts["completion"].tolist() == [r"It is \boxed{6}."]
    assert texts["gold"].isna().all()


def test_only_runs_that_count_and_verifiers_that_are_there(stored: Project) -> None:
    with workbench.open_project(stored.path) as project:
        assert project.runs()["verifier"].tolist() == ["v", "w"]
        assert set(project.verdicts()["verifier"]) == {"v", "w"}
        compared = project.compare("v", "w")
        assert compared["n"].tolist() == [4]
        assert {"ci_low", "ci_high"} <= set(compared.columns)
        with pytest.raises(UsageError, match="nobody"):
            project.verdicts("nobody")
        with pytest.raises(UsageError, match="colour"):
            project.items("colour=red")


def test_a_queue_names_its_items_and_votes(stored: Project) -> None:
    with workbench.open_project(stored.path) as project:
        frame = project.disagreements("verifier-gold", limit=2)
    assert len(frame) == 2
    assert {"completion_id", "score", "why", "v", "w"} <= set(frame.columns)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM completions",
        "SELEC 1",
        "SELECT * FROM nothing",
        "SELECT ?",
        "INSERT INTO models VALUES (9, 'x')",
        "BEGIN",
        "PRAGMA query_only = OFF",
        "PRAGMA writable_schema = ON",
        "ATTACH '{folder}/new.db' AS new",
        "VACUUM INTO '{folder}/new.db'",
    ],
)
def test_sql_that_writes_is_rejected(stored: Project, tmp_path: Path, statement: str) -> None:
    with workbench.open_project(stored.path) as project:
        with pytest.raises(UsageError):
            project.sql(statement.format(folder=tmp_path))
        with pytest.raises(UsageError):
            project.sql("DELETE FROM changes")
        assert not (tmp_path / "new.db").exists()
        assert len(project.sql("PRAGMA table_info(models)")) > 1
        assert project.sql("SELECT count(*) AS n FROM changes")["n"].tolist() != [0]
        assert project.sql("SELECT count(*) AS n FROM items WHERE type = ?", ["A"])["n"].tolist() == [6]


@pytest.mark.parametrize(
    ("figures", "wrong"),
    [
        ("accuracy", {"protocol": "lenient"}),
        ("accuracy", {"gold": "silver"}),
        ("compare", {"a": "v", "b": "w", "protocol": "lenient"}),
        ("compare", {"a": "v", "b": "w", "gold": "silver"}),
        ("disagreements", {"gold": "silver"}),
        ("disagreements", {"limit": -1}),
    ],
)
def test_an_unknown_word_is_rejected(stored: Project, figures: str, wrong: dict[str, Any]) -> None:
    with workbench.open_project(stored.path) as project, pytest.raises(UsageError):
        getattr(project, figures)(**wrong)


def test_one_verifier_needs_no_list(stored: Project) -> None:
    with workbench.open_project(stored.path) as project:
        assert project.accuracy(verifiers="v").equals(project.accuracy(verifiers=["v"]))


def test_there_must_be_a_database(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        workbench.open_project(tmp_path / "none.db")


def test_sqlite_utils_reads_a_project_and_writes_nothing(stored: Project) -> None:
    with workbench.open_project(stored.path) as project:
        assert project.db["completions"].count == 7
        assert [row["item"] for row in project.db["items"].rows_where("type = ?", ["B"])] == [7]
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            project.db.execute("INSERT INTO models (name) VALUES ('m')")


def test_the_tools_of_sqlite_work_on_a_project(stored: Project) -> None:
    stored.close()
    utils = [sys.executable, "-m", "sqlite_utils"]
    counts = subprocess.run([*utils, "tables", stored.path, "--counts"], check=True, capture_output=True).stdout
    assert {"table": "completions", "count": 7} in json.loads(counts)
    rows = subprocess.run(
        [*utils, "rows", stored.path, "items", "--limit", "2"], check=True, capture_output=True
    ).stdout
    assert [row["item"] for row in json.loads(rows)] == [1, 2]
    with closing(sqlite3.connect(stored.path)) as plain:
        assert plain.execute("SELECT count(*) FROM items").fetchone() == (7,)
