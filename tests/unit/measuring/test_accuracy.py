"""Accuracy from the database equals scikit-learn and statsmodels on the same rows, in every protocol."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project
from tests.unit.statistics.clustered import by_hand
from workbench.core.errors import UsageError
from workbench.core.options import TableForm
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import Protocol3
from workbench.labelling.labels import import_labels
from workbench.measuring.accuracy import accuracy
from workbench.measuring.accuracy_tables import accuracy_as, accuracy_csv

SUBTYPES = ("A1", "A8", "B5", "C1", "D2", None)
ITEMS = 400


def add_run(project: Project, name: str, outcomes: dict[int, int], *, complete: bool = True) -> int:
    with project.database.write() as connection:
        verifier = connection.execute(
            "INSERT INTO verifiers (name, kind, config, config_hash, created_at) VALUES (?, 'exact', '{}', ?, '') "
            "ON CONFLICT (name) DO UPDATE SET kind = 'exact' RETURNING id",
            (name, name),
        ).fetchone()[0]
        version = connection.execute("SELECT count(*) FROM runs").fetchone()[0]
        run: int = connection.execute(
            "INSERT INTO runs (verifier_id, version, selection, workers, state, items, created_at, completed_at) "
            "VALUES (?, ?, '{}', 1, ?, 0, '', ?) RETURNING id",
            (verifier, str(version), "complete" if complete else "paused", "now" if complete else None),
        ).fetchone()[0]
        connection.executemany(
            "INSERT INTO verdicts (run_id, completion_id, outcome, ms) VALUES (?, ?, ?, 0)",
            [(run, item, outcome) for item, outcome in outcomes.items()],
        )
    return run


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    draw = random.Random(7)
    return [
        {
            "question_id": f"q{number // 3}",
            "completion_id": f"c{number}",
            "subtype": SUBTYPES[number // 3 % len(SUBTYPES)],
            "type": (SUBTYPES[number // 3 % len(SUBTYPES)] or " ")[0].strip() or None,
            "gold": draw.choice((True, False, False, None)),
            "model": draw.choice(("small", "large")),
            "domain": draw.choice(("math", "logic")),
            "source": f"s{number % 5}",
        }
        for number in range(ITEMS)
    ]


@pytest.fixture
def project(tmp_path: Path, rows: list[dict[str, Any]]) -> Project:
    project = make_project(tmp_path, rows)
    draw = random.Random(11)
    add_run(project, "noisy", {item: draw.choice((0, 0, 1, 1, 2, 3)) for item in range(1, ITEMS + 1, 1)})
    add_run(project, "partial", {item: draw.choice((0, 1)) for item in range(1, ITEMS, 4)})
    return project


def judged(project: Project, verifier: str) -> list[tuple[str, str | None, int, int]]:
    """Query (question, subtype, gold, outcome) of rows with imported gold and a verdict."""
    return (
        project.database.reader()
        .execute(
            "SELECT q.key, q.subtype, c.imported_gold, v.outcome FROM verdicts v JOIN runs r ON r.id = v.run_id "
            "JOIN verifiers f ON f.id = r.verifier_id JOIN completions c ON c.id = v.completion_id "
            "JOIN questions q ON q.id = c.question_id WHERE f.name = ? AND c.imported_gold IS NOT NULL",
            (verifier,),
        )
        .fetchall()
    )


def predictions(pairs: list[tuple[int, int]], protocol: Protocol3) -> tuple[list[int], list[int]]:
    gold, said = [], []
    for truth, outcome in pairs:
        if outcome > 1 and protocol == "decided":
            continue
        gold.append(truth)
        said.append(outcome if outcome < 2 else (0 if protocol == "forced" else 1 - truth))
    return gold, said


@pytest.mark.parametrize("protocol", ["forced", "strict", "decided"])
@pytest.mark.parametrize("verifier", ["noisy", "partial"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_metric_equals_the_oracle(project: Project, verifier: str, protocol: Protocol3) -> None:
    from sklearn.metrics import accuracy_score, balanced_accuracy_score, matthews_corrcoef

    report = accuracy(project, verifiers=(verifier,), by="subtype", protocol=protocol)
    found = {row.group: row for row in report.rows if row.verifier == verifier}
    everything = judged(project, verifier)
    groups = {None: everything} | {
        code or "untyped": [row for row in everything if row[1] == code] for code in SUBTYPES
    }
    assert set(found) == set(groups)
    for group, rows in groups.items():
        gold, said = predictions([(row[2], row[3]) for row in rows], protocol)
        kept = [row[0] for row in rows if protocol != "decided" or row[3] < 2]
        row = found[group]
        assert row.n == len(gold)
        assert row.accuracy == pytest.approx(accuracy_score(gold, said), abs=1e-12)
        assert (row.mcc is None) == (row.balanced_accuracy is None) == (len(set(gold)) < 2)
        if row.balanced_accuracy is not None:
            assert row.mcc == pytest.approx(matthews_corrcoef(gold, said), abs=1e-12)
            assert row.balanced_accuracy == pytest.approx(balanced_accuracy_score(gold, said), abs=1e-12)
        assert row.ci == pytest.approx(by_hand([a == b for a, b in zip(gold, said, strict=True)], kept), abs=1e-9)
        assert row.coverage == pytest.approx(sum(item[3] < 2 for item in rows) / len(rows))


def test_every_table_has_the_baseline_with_mcc_0(project: Project) -> None:
    for protocol in ("forced", "strict", "decided"):
        report = accuracy(project, by="type", protocol=protocol)
        baseline = [row for row in report.rows if row.verifier == "always-incorrect"]
        assert baseline
        assert all(row.mcc == 0 and row.fpr in (0, None) and row.fnr in (1, None) for row in baseline)


def test_gold_has_a_source_and_annotators_outrank_the_import(project: Project, tmp_path: Path) -> None:
    lines = [("c0", "ann", "correct"), ("c0", "bob", "correct"), ("c1", "ann", "correct"), ("c1", "bob", "incorrect")]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps({"completion_id": c, "annotator": a, "verdict": v}) + "\n" for c, a, v in lines))
    import_labels(project, path)
    report = accuracy(project)
    assert sum(report.gold.values()) == ITEMS
    assert (report.gold["agreed"], report.gold["adjudicated"]) == (1, 0)
    people = accuracy(project, verifiers=("noisy",), gold="people")
    assert people.rows[0].n == 1
    assert (people.rows[0].tp + people.rows[0].fn) == 1
    final, imported = (
        accuracy(project, verifiers=("noisy",), gold=choice).rows[0].n for choice in ("final", "imported")
    )
    assert final == imported + (1 if _gold_of(project, "c0") is None else 0) - (_gold_of(project, "c1") is not None)


def _gold_of(project: Project, key: str) -> int | None:
    row = project.database.reader().execute("SELECT imported_gold FROM completions WHERE key = ?", (key,)).fetchone()
    value: int | None = row[0]
    return value


def test_an_incomplete_newer_run_does_not_replace_the_table(project: Project) -> None:
    before = accuracy(project, verifiers=("noisy",)).rows
    run = add_run(project, "noisy", {1: 1}, complete=False)
    assert accuracy(project, verifiers=("noisy",)).rows == before
    assert accuracy(project, run=run).rows[0].n <= 1


def test_a_run_of_another_verifier_is_rejected(project: Project) -> None:
    run = add_run(project, "other", {1: 1})
    with pytest.raises(UsageError, match="of 'other', not of noisy"):
        accuracy(project, verifiers=("noisy",), run=run)


def test_items_can_be_selected(project: Project) -> None:
    chosen = Selection((parse_condition("type=A"), parse_condition("model=small")))
    rows = accuracy(project, verifiers=("noisy",), by="subtype", selection=chosen).rows
    assert {row.group for row in rows if row.verifier == "noisy"} == {None, "A1", "A8"}


@pytest.mark.parametrize("wrong", [{"verifiers": ("nobody",)}, {"run": 99}, {"by": "colour"}])
def test_unknown_names_are_reported(project: Project, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        accuracy(project, **wrong)


def test_csv_and_text_have_the_metrics_of_the_report(project: Project) -> None:
    import csv
    import io

    report = accuracy(project, by="type")
    lines = list(csv.DictReader(io.StringIO(accuracy_csv(report))))
    assert len(lines) == len(report.rows)
    for line, row in zip(lines, report.rows, strict=True):
        assert (line["verifier"], line["group"], int(line["n"])) == (row.verifier, row.group or "", row.n)
        assert math.isclose(float(line["accuracy"]), row.accuracy or 0)
        assert float(line["mcc"]) == row.mcc
    text = accuracy_as(report, TableForm())
    assert "protocol strict, gold final" in text
    assert "A - Numeric Values" in text
