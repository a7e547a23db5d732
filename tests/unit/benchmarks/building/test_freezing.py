"""Freezing: all or nothing, once, and no other contents under the same name without request."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from msgspec.structs import replace

from tests.pools import PoolQuestion, make_pool
from tests.unit.measuring.reviewing.desk import add_run
from workbench.benchmarks.building.balanced import build_balanced
from workbench.benchmarks.building.picks import build_picks
from workbench.benchmarks.options import BalancedOptions, PicksOptions
from workbench.core.database import sets
from workbench.core.errors import UsageError
from workbench.core.project import Project, open_project
from workbench.measuring.store import figures

ONE = BalancedOptions(per_type=1)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_pool(tmp_path, [PoolQuestion(f"q{number}", "A1", "++--") for number in range(9)])
    add_run(made, "judge", "++--" * 9)
    return made


def names(project: Project) -> list[str]:
    return [f"{one.name}@{one.version}" for one in sets.all_sets(project.database.reader())]


class KilledError(Exception):
    """The process ends here."""


def test_a_build_that_is_cut_short_leaves_nothing_and_again_gives_the_same(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = build_picks(project, PicksOptions(judge="judge", dry_run=True))

    def dies(*_: Any) -> int:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(figures, "add", dies)
        with pytest.raises(KilledError):
            build_picks(project, PicksOptions(judge="judge"))
    reader = project.database.reader()
    counts = [reader.execute(f"SELECT count(*) FROM {table}").fetchone() for table in ("sets", "set_items", "set_runs")]
    assert counts == [(0,), (0,), (0,)]
    assert build_picks(project, PicksOptions(judge="judge")).tuples == planned.tuples


def test_two_at_once_freeze_one_set(project: Project) -> None:
    reports = []

    def build() -> None:
        own = open_project(project.path)
        reports.append(build_balanced(own, ONE))
        own.close()

    threads = [Thread(target=build) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.unchanged for one in reports) == [False, True, True]
    assert names(project) == ["balanced@1"]


@pytest.mark.parametrize(
    ("changes", "seed", "told"),
    [
        ({"per_type": 2}, 0, "per_type 1, now 2; items only now: 2"),
        ({}, 7, "seed 0, now 7"),
        ({"fill": "types"}, 0, "fill none, now types"),
        ({"quota": "equal"}, 0, "quota none, now equal"),
        ({"cap_source": 9}, 0, "cap_source none, now 9"),
    ],
)
def test_other_settings_are_rejected_by_name(project: Project, changes: dict[str, Any], seed: int, told: str) -> None:
    build_balanced(project, ONE)
    with pytest.raises(UsageError, match=told) as caught:
        build_balanced(project, BalancedOptions(**{"per_type": 1, **changes}, seed=seed))
    assert "--new-version freezes the new set as balanced@2" in caught.value.hint


def test_other_data_are_rejected_by_name(project: Project) -> None:
    first = build_balanced(project, ONE)
    with project.database.write() as connection:
        connection.execute("UPDATE item_states SET state = 'conflict', gold = NULL, gold_from = NULL")
        connection.execute(
            "UPDATE item_states SET state = 'final', gold = completion_id % 2, gold_from = 'agreed' "
            "WHERE completion_id IN (1, 2)"
        )
    with pytest.raises(UsageError, match="items only there: 1; items only now: 1"):
        build_balanced(project, ONE)
    second = build_balanced(project, replace(ONE, new_version=True))
    assert (second.version, second.unchanged) == (2, False)
    assert second.digest != first.digest
    assert build_balanced(project, replace(ONE, new_version=True)).unchanged
    assert names(project) == ["balanced@1", "balanced@2"]


def test_another_kind_is_rejected_even_as_a_new_version(project: Project) -> None:
    build_picks(project, PicksOptions(judge="judge", name="mine"))
    with pytest.raises(UsageError, match="'mine' is already the name of a set of kind picks"):
        build_balanced(project, replace(ONE, name="mine", new_version=True))


@pytest.mark.parametrize("name", ["a b", "", "x@2", "-x"])
def test_invalid_names_are_rejected(project: Project, name: str) -> None:
    with pytest.raises(UsageError):
        build_balanced(project, replace(ONE, name=name))


def test_the_current_guideline_version_is_recorded(project: Project) -> None:
    build_balanced(project, ONE)
    assert sets.all_sets(project.database.reader())[0].guideline == "1"
