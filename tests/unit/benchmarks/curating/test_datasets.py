"""Whole datasets: excluded from all metrics and restored, renamed, and never changed during active work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import in_process
from tests.helpers import make_project, numbered
from tests.tui.solved import solved_project
from workbench.benchmarks.curating.datasets import rename, take_in_again, take_out
from workbench.coding import problems
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import selection_of
from workbench.data.records import ProblemQuery
from workbench.data.store import problems as problem_rows
from workbench.labelling import bundling, coordinating, people
from workbench.measuring.briefing import briefed, every_dataset
from workbench.measuring.columns import columns

WHY = "the gold labels are another file's"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path, [*numbered(4, dataset="wrong"), *numbered(2, dataset="right")])


def with_gold(project: Project) -> int:
    return int((columns(project).gold("final") >= 0).sum())


def queue_run(project: Project, where: str, state: str = "queued") -> None:
    selection = json.dumps(
        {"conditions": [dict(zip(("field", "operator", "value"), where.partition("="), strict=True))]}
    )
    with project.database.write() as connection:
        connection.execute(
            "INSERT INTO verifiers (name, kind, config, config_hash, created_at) VALUES ('v', 'rules', '{}', 'v', '')"
        )
        connection.execute(
            "INSERT INTO runs (verifier_id, version, selection, workers, state, items, created_at) "
            "VALUES (1, '1', ?, 1, ?, 0, '')",
            (selection if where else "{}", state),
        )


def test_an_excluded_dataset_does_not_count_until_restored(project: Project) -> None:
    item = selection_of(["dataset=wrong", "completion_id=c1"])
    coordinating.exclude(project, item, reason="proof", by="ines")
    assert with_gold(project) == 5
    done = take_out(project, "wrong", reason=WHY, by="ines")
    assert (done.items, done.questions) == (3, 2)
    assert with_gold(project) == 2
    assert [one.out for one in every_dataset(project)] == [WHY, None]
    matter = next(one for one in briefed(project).briefing if one.kind == "out")
    assert WHY in matter.sentence
    assert "4 items" in matter.sentence
    assert take_out(project, "wrong", reason=WHY, by="ines").items == 0
    assert take_in_again(project, "wrong", by="ines").items == 3
    assert with_gold(project) == 5
    assert [one.out for one in every_dataset(project)] == [None, None]
    with pytest.raises(UsageError, match="The data set 'wrong' is not excluded"):
        take_in_again(project, "wrong", by="ines")


def test_author_and_reason_stay_in_the_history(project: Project) -> None:
    take_out(project, "wrong", reason=WHY, by="ines")
    take_in_again(project, "wrong", by="ben")
    said = project.database.reader().execute(
        "SELECT DISTINCT e.kind, a.name, e.note FROM label_events AS e JOIN annotators AS a ON a.id = e.annotator_id"
    )
    assert said.fetchall() == [("exclusion", "ines", f"data set taken out: {WHY}"), ("retraction", "ben", None)]


def test_problems_of_one_that_is_out_are_in_no_list(tmp_path: Path) -> None:
    project = solved_project(tmp_path)
    take_out(project, problems.datasets(project)[0], reason=WHY, by="ines")
    assert problems.datasets(project) == []
    assert list(problem_rows.ids(project.database.reader(), ProblemQuery())) == []
    assert problems.find(project, "own/clip") == []


def test_its_name_is_free_once_it_has_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    call = in_process(monkeypatch, capfd)
    row = {
        "task_id": "p/1",
        "prompt": "def f(): ...",
        "entry_point": "f",
        "canonical_solution": "def f():\n    return 1\n",
    }
    for name, want in (("tests.jsonl", 2), ("mended.jsonl", 1)):
        (tmp_path / name).write_text(json.dumps({**row, "tests": [f"assert f() == {want}"]}) + "\n", encoding="utf-8")
    assert call("import", "p.db", "tests.jsonl")[0] == 0
    code, _, said = call("import", "p.db", "mended.jsonl", "--dataset", "tests")
    assert (code, "that one can be renamed or excluded" in said) == (3, True)
    assert call("datasets", "p.db", "exclude", "tests", "--reason", "wrong tests")[0] == 0
    code, _, said = call("import", "p.db", "mended.jsonl", "--dataset", "tests")
    assert (code, "was excluded: wrong tests" in said) == (2, True)
    assert call("datasets", "p.db", "rename", "tests", "tests-old")[1] == "tests is now called tests-old\n"
    assert call("import", "p.db", "mended.jsonl", "--dataset", "tests")[0] == 0
    assert call("datasets", "p.db")[1].splitlines() == [
        "tests-old    0 items    1 question    out: wrong tests",
        "tests    0 items    1 question",
    ]


@pytest.mark.parametrize("where", ["", "dataset=wrong", "state=unlabelled"])
def test_nothing_of_it_is_done_while_a_run_is_going_on_it(project: Project, where: str) -> None:
    queue_run(project, where)
    with pytest.raises(UsageError, match="Run 1 is working on the data set"):
        take_out(project, "wrong", reason=WHY, by="ines")
    with pytest.raises(UsageError, match="Run 1 is working on the data set"):
        rename(project, "wrong", "old")
    with pytest.raises(UsageError, match="Run 1 is working on the data set"):
        take_in_again(project, "wrong", by="ines")
    assert with_gold(project) == 6


def test_a_run_on_another_dataset_is_no_obstacle(project: Project) -> None:
    queue_run(project, "dataset=right")
    take_out(project, "wrong", reason=WHY, by="ines")
    assert rename(project, "wrong", "old").dataset == "old"


def test_a_name_in_use_by_active_work_cannot_be_changed(project: Project, tmp_path: Path) -> None:
    queue_run(project, "dataset=wrong", "paused")
    with pytest.raises(UsageError, match="Run 1 is paused and may continue under the name 'wrong'"):
        rename(project, "wrong", "old")
    people.assign(project, ["amira"], per_item=1, selection=selection_of(["dataset=right"]))
    bundling.bundle(project, tmp_path / "away.db", annotator="amira")
    with pytest.raises(UsageError, match="2 of its items are in bundles"):
        rename(project, "right", "old")


@pytest.mark.parametrize(
    ("name", "to", "said"),
    [
        ("wrong", "right", "already"),
        ("wrong", " ", "' ' is not a valid data set name"),
        ("wrong", "a\tb", r"'a\\tb' is not a valid data set name"),
        ("wrnog", "x", "no data set"),
    ],
)
def test_invalid_names_are_rejected(project: Project, name: str, to: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        rename(project, name, to)


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501])
def test_excluding_a_dataset_needs_a_reason(project: Project, reason: str) -> None:
    with pytest.raises(UsageError, match="requires a reason"):
        take_out(project, "wrong", reason=reason, by="ines")
