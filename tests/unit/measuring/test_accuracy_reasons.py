"""Accuracy by the verdicts' reasons, and the area under the ROC curve of stored scores."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.helpers import make_project
from tests.tui.stage import add_run
from workbench.core.options import TableForm
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import OutcomeCode
from workbench.measuring.accuracy import accuracy
from workbench.measuring.accuracy_tables import accuracy_as, accuracy_csv
from workbench.statistics.records.report import AccuracyRow

ITEMS = 120


@pytest.fixture
def project(tmp_path: Path) -> Project:
    draw = random.Random(3)
    rows = [
        {"question_id": f"q{number // 2}", "gold": draw.choice((True, False, None)), "subtype": subtype}
        for number, subtype in enumerate(["A1", "A1", "C1", "C1"] * (ITEMS // 4))
    ]
    project = make_project(tmp_path, rows)
    outcomes = {item: OutcomeCode(draw.choice((0, 1, 2))).outcome for item in range(1, ITEMS - 20)}
    add_run(project, "rules", outcomes, reasons=("number", "letter", "A1"))
    scored = add_run(project, "scored", outcomes)
    _set(project, scored, "reason", dict.fromkeys(outcomes, None))
    _set(project, scored, "score", {item: round(draw.gauss(0, 1), 1) for item in outcomes if item % 5})
    return project


def _set(project: Project, run: int, column: str, values: Mapping[int, object]) -> None:
    with project.database.write() as connection:
        connection.executemany(
            f"UPDATE verdicts SET {column} = ? WHERE run_id = {run} AND completion_id = ?",
            [(value, item) for item, value in values.items()],
        )


def rows_of(project: Project, verifier: str, *where: str, by: str | None = None) -> dict[str | None, AccuracyRow]:
    selection = Selection(tuple(map(parse_condition, where)))
    report = accuracy(project, by=by, selection=selection)
    return {row.group: row for row in report.rows if row.verifier == verifier}


def test_each_verifiers_own_reasons_group_its_rows(project: Project) -> None:
    found = rows_of(project, "rules", by="reason")
    assert list(found) == [None, "A1", "letter", "number"]
    everything = found.pop(None)
    for name in ("n", "tp", "fp", "tn", "fn", "abstain"):
        assert sum(getattr(row, name) for row in found.values()) == getattr(everything, name)
    assert everything == rows_of(project, "rules")[None]
    judged = project.database.reader().execute(
        "SELECT count(*) FROM verdicts v JOIN completions c ON c.id = v.completion_id "
        "WHERE v.reason = 'letter' AND c.imported_gold IS NOT NULL"
    )
    assert found["letter"].n == judged.fetchone()[0]


def test_verdicts_without_a_reason_are_grouped_as_none(project: Project) -> None:
    for verifier in ("scored", "always-incorrect"):
        found = rows_of(project, verifier, by="reason")
        assert list(found) == [None, "none"]
        assert found["none"].n == found[None].n > 0


def test_reasons_of_selected_items(project: Project) -> None:
    found = rows_of(project, "rules", "type=C", by="reason")
    assert 0 < found[None].n < rows_of(project, "rules")[None].n
    assert sum(row.n for group, row in found.items() if group) == found[None].n


def test_reasons_are_explained_below_the_table(project: Project) -> None:
    text = accuracy_as(accuracy(project, by="reason"), TableForm())
    assert text.endswith("\n\nletter  compared as option letters\nnumber  compared as numbers\n")
    assert "compared as" not in accuracy_as(accuracy(project, by="type"), TableForm())


def test_a_reason_is_not_taken_for_an_answer_type(project: Project) -> None:
    assert "A1 -" not in accuracy_as(accuracy(project, by="reason"), TableForm())
    assert "A1 - " in accuracy_as(accuracy(project, by="subtype"), TableForm())


@pytest.mark.parametrize("by", [None, "subtype", "reason"])
def test_auroc_equals_scikit_learn(project: Project, by: str | None) -> None:
    from sklearn.metrics import roc_auc_score

    rows = project.database.reader().execute(
        "SELECT c.imported_gold, v.score, q.subtype FROM verdicts v JOIN completions c ON c.id = v.completion_id "
        "JOIN questions q ON q.id = c.question_id WHERE v.score IS NOT NULL AND c.imported_gold IS NOT NULL"
    )
    stored = rows.fetchall()
    for group, row in rows_of(project, "scored", by=by).items():
        own = [(gold, score) for gold, score, subtype in stored if by != "subtype" or group in (None, subtype)]
        assert row.auroc == pytest.approx(roc_auc_score(*zip(*own, strict=True)))


def test_the_protocol_does_not_change_auroc(project: Project) -> None:
    areas = {
        next(row.auroc for row in accuracy(project, protocol=protocol).rows if row.verifier == "scored")
        for protocol in ("forced", "strict", "decided")
    }
    assert len(areas) == 1


def test_auroc_is_shown_if_defined_and_always_in_csv(project: Project) -> None:
    with_scores = accuracy(project)
    assert "AUROC" in accuracy_as(with_scores, TableForm())
    assert "AUROC" not in accuracy_as(accuracy(project, verifiers=("rules",)), TableForm())
    lines = {line["verifier"]: line for line in csv.DictReader(io.StringIO(accuracy_csv(with_scores)))}
    area = next(row.auroc for row in with_scores.rows if row.verifier == "scored")
    assert area is not None
    assert float(lines["scored"]["auroc"]) == area
    assert lines["rules"]["auroc"] == ""
