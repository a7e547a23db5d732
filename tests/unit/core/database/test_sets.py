"""Frozen benchmarks: versions, conditions on them, and immutability."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from workbench.core.database import sets
from workbench.core.database.selection import chosen_ids
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.sets import ItemMember, NewSet, QuestionMember, SetName, StoredSet


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path, numbered(6))


def freeze(project: Project, name: str, items: tuple[int, ...] = (), questions: tuple[int, ...] = ()) -> StoredSet:
    new = NewSet(
        name=name,
        kind="balanced" if items else "draw",
        seed=0,
        config="{}",
        report="{}",
        items=tuple(ItemMember(item=item, stratum="A", gold=True, gold_from="agreed", subtype="A1") for item in items),
        questions=tuple(QuestionMember(question=question, stratum="A") for question in questions),
    )
    with project.database.write() as connection:
        return sets.put(connection, new)


def chosen(project: Project, condition: str) -> list[int]:
    return chosen_ids(project.database.reader(), Selection((parse_condition(condition),)))


def test_a_condition_names_the_newest_version_or_another(project: Project) -> None:
    assert freeze(project, "s", (1, 2)).version == 1
    assert freeze(project, "s", (3,)).version == 2

    assert chosen(project, "set=s") == [3]
    assert chosen(project, "set=s@1") == [1, 2]
    assert chosen(project, "set!=s@1") == [3, 4, 5, 6]


def test_a_set_of_questions_holds_all_their_completions(project: Project) -> None:
    found = freeze(project, "draw", questions=(1, 3))

    assert (found.items, found.questions) == (0, 2)
    assert chosen(project, "set=draw") == [1, 2, 5, 6]


@pytest.mark.parametrize("condition", ["set=no", "set=s@9", "set=", "set=a b", "set<s", "set=s@0"])
def test_an_unknown_benchmark_is_rejected(project: Project, condition: str) -> None:
    freeze(project, "s", (1,))

    with pytest.raises(UsageError):
        chosen(project, condition)


def test_the_digest_depends_on_members_but_not_row_ids(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    one = freeze(make_project(first, numbered(4)), "s", (1, 4))
    other = freeze(make_project(second, numbered(4)[::-1]), "s", (4, 1))

    assert one.digest == other.digest
    assert one.digest != freeze(make_project(tmp_path, numbered(4)), "s", (1, 3)).digest


@pytest.mark.parametrize("table", ["sets", "set_items", "set_questions", "set_runs"])
@pytest.mark.parametrize("statement", ["DELETE FROM {}", "UPDATE {} SET rowid = rowid"])
def test_a_set_is_frozen(project: Project, table: str, statement: str) -> None:
    freeze(project, "s", (1, 2))
    freeze(project, "d", questions=(1,))
    if table != "sets":
        statement = statement.replace("rowid = rowid", "set_id = set_id")
    with project.database.write() as connection:
        if table == "set_runs":
            verifier = (
                "INSERT INTO verifiers (name, kind, config, config_hash, created_at) VALUES ('v', 'k', '', '', '')"
            )
            connection.execute(verifier)
            connection.execute(
                "INSERT INTO runs (verifier_id, version, selection, workers, state, items, created_at) "
                "VALUES (1, '1', '', 1, 'complete', 0, '')"
            )
            connection.execute("INSERT INTO set_runs VALUES (1, 1)")
        with pytest.raises(sqlite3.IntegrityError, match="frozen"):
            connection.execute(statement.format(table))


def test_a_benchmark_is_stored_with_its_sources(project: Project) -> None:
    made = freeze(project, "s", (2, 1))
    reader = project.database.reader()

    assert sets.require(reader, SetName("s")) == made
    assert [member.item for member in sets.items(reader, made.id)] == [1, 2]
    with pytest.raises(UsageError, match="no set 's@2'"):
        sets.require(reader, SetName("s", 2))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE completion_text SET text = 'other' WHERE id = 1",
        "UPDATE question_text SET reference = 'other' WHERE id = 1",
        "UPDATE questions SET hash = x'00' WHERE id = 1",
        "UPDATE completions SET key = 'other' WHERE id = 1",
    ],
)
def test_the_digest_depends_on_the_texts_of_members(project: Project, statement: str) -> None:
    made = freeze(project, "s", (1, 2))
    with project.database.write() as connection:
        connection.execute(statement)
    reader = project.database.reader()

    assert sets.digest(reader, sets.items(reader, made.id), ()).hex() != made.digest
