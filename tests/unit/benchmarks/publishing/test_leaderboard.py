"""The leaderboard: metrics on frozen gold, three consistent files, and judges that selected the set."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from workbench.benchmarks.options import PublishOptions
from workbench.benchmarks.publishing.publishing import publish
from workbench.benchmarks.records import Publication
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import OutcomeCode, Verdict
from workbench.measuring.accuracy import accuracy


def lines(folder: Path) -> dict[str, dict[str, Any]]:
    found = [json.loads(line) for line in (folder / "leaderboard/small.jsonl").read_bytes().splitlines()]
    return {line["verifier"]: line for line in found}


def test_metrics_equal_the_accuracy_table(made: tuple[Path, Publication], project: Project) -> None:
    found = lines(made[0])
    where = Selection((parse_condition("set=small"),))
    table = {row.verifier: row for row in accuracy(project, verifiers=("chooser", "other"), selection=where).rows}
    types = accuracy(project, verifiers=("chooser", "other"), selection=where, by="type")
    assert list(found) == ["other", "chooser", "majority-by-type", "always-correct", "always-incorrect"]
    for name, line in found.items():
        row = table[name]
        assert line["ci"] == pytest.approx(row.ci)
        for field in ("n", "questions", "accuracy", "mcc", "balanced_accuracy", "fpr", "fnr", "coverage", "abstain"):
            assert line[field] == getattr(row, field), field
        own = {row.group: row for row in types.rows if row.verifier == name and row.group}
        assert {kind: score["accuracy"] for kind, score in line["types"].items()} == {
            kind: row.accuracy for kind, row in own.items()
        }
        total = sum(score["n"] * score["accuracy"] for score in line["types"].values())
        assert total / line["n"] == pytest.approx(line["accuracy"])
        assert (line["average"], line["protocol"], line["gold"], line["set"]) == ("micro", "strict", "final", "small@1")
    assert found["other"]["mcc_ci"] is not None


def test_csv_and_markdown_agree(made: tuple[Path, Publication]) -> None:
    found = lines(made[0])
    rows = {
        row["verifier"]: row for row in csv.DictReader(io.StringIO((made[0] / "leaderboard/small.csv").read_text()))
    }
    assert rows.keys() == found.keys()
    for name, row in rows.items():
        assert float(row["accuracy"]) == found[name]["accuracy"]
        assert (float(row["ci_low"]), float(row["ci_high"])) == tuple(found[name]["ci"])
        assert int(row["A_n"]) == found[name]["types"]["A"]["n"]
    shown = (made[0] / "leaderboard/small.md").read_text()
    assert "| chooser † |" in shown
    assert "the same verdicts selected the items" in shown
    assert "Protocol strict" in shown
    assert "micro" in shown


def test_a_judge_that_chose_the_set_is_marked_with_its_flip_rate(
    project: Project, made: tuple[Path, Publication]
) -> None:
    before = lines(made[0])
    assert (before["chooser"]["selection_judge"], before["chooser"]["chose_by_these"]) == (True, True)
    assert (before["other"]["selection_judge"], before["other"]["flip_rate"]) == (False, None)
    reader = project.database.reader()
    verifier, run = reader.execute("SELECT verifier_id, id FROM runs ORDER BY id LIMIT 1").fetchone()
    old = reader.execute("SELECT completion_id, outcome FROM verdicts WHERE run_id = ?", (run,)).fetchall()
    _run_again(project, verifier, [(item, outcome if item > 5 else 1 - outcome) for item, outcome in old])
    publish(project, PublishOptions(sets=("small",), folder=project.path.with_name("out"), protocol="strict"))
    after = lines(project.path.with_name("out"))["chooser"]
    flipped = reader.execute(
        "SELECT avg(completion_id <= 5) FROM set_items JOIN sets ON sets.id = set_id WHERE name = 'small'"
    ).fetchone()[0]
    assert (after["selection_judge"], after["chose_by_these"], after["protocol"]) == (True, False, "strict")
    assert after["flip_rate"] == pytest.approx(flipped)


def _run_again(project: Project, verifier: int, found: list[tuple[int, int]]) -> None:
    from workbench.runs.store import runs, verdicts

    with project.database.write() as connection:
        run = runs.add(connection, verifier, "2")
        runs.queue(connection, run, Selection(), len(found), 1)
        verdicts.put(
            connection, run, [(item, Verdict(outcome=OutcomeCode(outcome).outcome)) for item, outcome in found]
        )
        runs.complete(connection, run, len(found))


def test_without_verifiers_only_baselines_are_listed(project: Project) -> None:
    with project.database.write() as connection:
        connection.execute("UPDATE runs SET completed_at = NULL")
    publish(project, PublishOptions(sets=("small",), folder=project.path.with_name("out")))
    assert {line["kind"] for line in lines(project.path.with_name("out")).values()} == {"baseline"}
    assert "No verifier has judged these items yet." in (project.path.with_name("out") / "README.md").read_text()
