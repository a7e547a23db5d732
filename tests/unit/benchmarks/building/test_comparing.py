"""Comparing versions of a benchmark, and checking frozen ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pools import PoolQuestion, make_pool
from workbench.benchmarks.building.balanced import build_balanced
from workbench.benchmarks.building.comparing import every_set, set_detail, set_diff
from workbench.benchmarks.building.freezing import sets_finding
from workbench.benchmarks.options import BalancedOptions
from workbench.care.backups import diagnosis
from workbench.core.database import sets
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.sets import ItemMember, NewSet, QuestionMember


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_pool(tmp_path, [PoolQuestion(f"q{number}", "A1", "+-") for number in range(4)])


def put(project: Project, seed: int, *members: ItemMember, questions: tuple[QuestionMember, ...] = ()) -> None:
    new = NewSet(
        name="s",
        kind="balanced",
        seed=seed,
        config="{}",
        report="{}",
        gold="people",
        items=members,
        questions=questions,
    )
    with project.database.write() as connection:
        sets.put(connection, new)


def member(item: int, gold: bool | None = True, subtype: str | None = "A1") -> ItemMember:
    return ItemMember(item=item, stratum="A", gold=gold, gold_from="agreed", subtype=subtype)


def test_differences_between_two_versions(project: Project) -> None:
    put(project, 0, member(1), member(2), member(3), member(4))
    put(project, 1, member(2), member(3, False), member(4, subtype="A2"), member(5))
    diff = set_diff(project, "s@1", "s")

    assert (diff.old, diff.new, diff.same) == ("s@1", "s@2", 1)
    assert diff.settings == {"seed": (0, 1)}
    assert [one.completion_id for one in diff.only_old] == ["q0-1"]
    assert [one.completion_id for one in diff.only_new] == ["q2-1"]
    assert [(one.completion_id, one.before, one.after) for one in diff.gold] == [("q1-1", "correct", "incorrect")]
    assert [(one.completion_id, one.before, one.after) for one in diff.subtypes] == [("q1-2", "A1", "A2")]
    assert diff.texts == ()


def test_the_same_ids_in_another_dataset_are_the_same_item_with_other_texts(project: Project) -> None:
    with project.database.write() as connection:
        connection.execute("INSERT INTO datasets (id, name, created_at) VALUES (2, 'pool-2', '')")
        connection.execute(
            "INSERT INTO questions SELECT id + 90, 2, key, source_id, type, subtype, hash FROM questions WHERE id < 3"
        )
        connection.execute(
            "INSERT INTO completions SELECT id + 90, question_id + 90, key, model_id, imported_gold, "
            "CASE id WHEN 1 THEN x'00' ELSE hash END, characters FROM completions WHERE question_id < 3"
        )
    put(project, 0, member(1), member(2), member(5))
    put(project, 0, member(91), member(92))
    diff = set_diff(project, "s@1", "s@2")

    assert [one.completion_id for one in diff.texts] == ["q0-1"]
    assert [one.dataset for one in diff.texts] == ["pool-2"]
    assert ([one.completion_id for one in diff.only_old], diff.only_new, diff.same) == (["q2-1"], (), 1)


def test_sets_of_questions_are_compared_too(project: Project) -> None:
    put(project, 0, questions=(QuestionMember(question=1, stratum="A"), QuestionMember(question=2, stratum="A")))
    put(project, 0, questions=(QuestionMember(question=2, stratum="A", subtype="A1"),))
    diff = set_diff(project, "s@1", "s@2")

    assert [(one.question_id, one.completion_id) for one in diff.only_old] == [("q0", None)]
    assert [(one.before, one.after) for one in diff.subtypes] == [(None, "A1")]


def test_an_unknown_benchmark_is_reported(project: Project) -> None:
    with pytest.raises(UsageError, match="There is no set 'x'"):
        set_diff(project, "x", "s")


def test_doctor_reports_gold_that_differs_from_the_frozen_one(project: Project) -> None:
    build_balanced(project, BalancedOptions(per_type=3))
    assert sets_finding(project).message == "1 as they were frozen"
    with project.database.write() as connection:
        connection.execute("UPDATE item_states SET gold = 1 - gold WHERE completion_id IN (1, 2, 3, 4, 5, 6, 7, 8)")
        connection.execute("UPDATE item_states SET subtype = 'B4' WHERE completion_id < 9")
    detail = set_detail(project, "balanced")
    assert detail.changed == {"gold": 6, "subtype": 6}

    found = next(one for one in diagnosis(project.path) if one.name == "frozen sets")
    assert (found.ok, found.message) == (
        False,
        "gold of 6 items differs from the frozen set balanced@1; "
        "the answer type of 6 items differs from the frozen set balanced@1",
    )
    # An older version may differ: that is why there is a newer one.
    build_balanced(project, BalancedOptions(per_type=3, new_version=True))
    assert sets_finding(project).ok


def test_doctor_reports_changed_members(project: Project) -> None:
    build_balanced(project, BalancedOptions(per_type=3))
    with project.database.write() as connection:
        connection.execute("UPDATE questions SET hash = x'00'")
    assert sets_finding(project).message == (
        "balanced@1 is not what was frozen: its members or their texts have changed"
    )


def test_a_benchmark_is_shown_with_its_sources(project: Project) -> None:
    report = build_balanced(project, BalancedOptions(per_type=2, seed=5))
    (line,) = every_set(project)
    detail = set_detail(project, "balanced@1")

    assert (line.name, line.version, line.questions, line.tuples, line.gold) == ("balanced", 1, 2, 4, "people")
    assert detail.config["per_type"] == 2
    assert detail.report == report
    assert (detail.set.seed, detail.set.digest, detail.changed) == (5, report.digest, {"gold": 0, "subtype": 0})
