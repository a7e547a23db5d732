"""Shards of items: by question content, equal on every machine, each question in exactly one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from workbench.core.database.selection import ids_of, in_shard
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import MOST_SHARES, Selection, Shard, parse_condition, selection_of


def keys(project: Project, shard: str) -> list[str]:
    """Question and completion ids of a share, sorted."""
    items = ids_of(project.database.reader(), Selection().in_shard(Shard.parse(shard)))
    rows = project.database.reader().execute(
        "SELECT q.key, c.key, c.id FROM completions c JOIN questions q ON q.id = c.question_id"
    )
    return sorted(f"{question} {key}" for question, key, item in rows if item in items)


@pytest.mark.parametrize("of", [1, 2, 3, 7, MOST_SHARES])
def test_every_question_is_in_one_share_with_all_its_completions(tmp_path: Path, of: int) -> None:
    project = make_project(tmp_path, numbered(120))
    shares = [keys(project, f"{place}/{of}") for place in range(1, min(of, 40) + 1)]
    found = [key for share in shares for key in share]
    assert len(found) == len(set(found))
    if of <= 7:
        assert len(found) == 120
    for share in shares:
        questions = {key.split()[0] for key in share}
        assert sum(key.split()[0] in questions for key in found) == len(share)
    project.close()


def test_shares_are_about_even(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4000))
    sizes = [len(keys(project, f"{place}/4")) for place in range(1, 5)]
    # 500 questions each, within four standard deviations.
    assert all(abs(size / 2 - 500) < 4 * (2000 * 0.25 * 0.75) ** 0.5 for size in sizes)
    project.close()


def test_another_order_of_import_gives_the_same_shares(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    rows = numbered(60)
    one, other = make_project(tmp_path / "a", rows), make_project(tmp_path / "b", rows[::-1])
    for place in (1, 2, 3):
        assert keys(one, f"{place}/3") == keys(other, f"{place}/3")
    one.close()
    other.close()


def test_nested_shares_have_the_same_bounds(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(200))
    assert keys(project, "1/2") == sorted(keys(project, "1/6") + keys(project, "2/6") + keys(project, "3/6"))
    others = ids_of(project.database.reader(), selection_of(["shard!=2/3"]))
    assert len(others) == len(keys(project, "1/3") + keys(project, "3/3"))
    assert len(ids_of(project.database.reader(), selection_of(["shard!=3/3"]))) == 200 - len(keys(project, "3/3"))
    project.close()


@pytest.mark.parametrize("text", ["x", "1", "0/3", "4/3", "1/0", "1/1001", "-1/3", "1.5/3", "1/3/3", "1+2/3", "١/3"])
def test_an_invalid_share_is_rejected(text: str) -> None:
    with pytest.raises(UsageError):
        Shard.parse(text)


def test_shares_are_not_compared(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    with pytest.raises(UsageError, match="can't be compared"):
        ids_of(project.database.reader(), Selection((parse_condition("shard<1/3"),)))
    project.close()


def test_a_question_on_the_bound_between_two_shares_is_in_one_of_them() -> None:
    shares = [in_shard(Shard.parse(f"{place}/3")) for place in (1, 2, 3)]
    with closing(sqlite3.connect(":memory:")) as connection:
        for place in (1, 2):
            bound = ((place << 64) // 3).to_bytes(8, "big")
            found = [
                connection.execute(
                    f"SELECT count(*) FROM (SELECT ? AS hash) q WHERE {text}", [bound, *given]
                ).fetchone()[0]
                for text, given in shares
            ]
            assert found == [0, *(int(share == place) for share in (1, 2))]
