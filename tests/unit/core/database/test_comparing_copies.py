"""A good backup is never replaced by one with less data, unless requested."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from workbench.core.database.backup import backup
from workbench.core.errors import StoreError

_PERSON = "INSERT INTO annotators (id, name, role, created_at) VALUES (7, 'a', 'annotator', '')"
_EVENT = (
    "INSERT INTO label_events (uuid, kind, task, subject, annotator_id, verdict, schema, created_at) "
    "VALUES ('u', 'label', 'correctness', 1, 7, 'correct', 2, '2025')"
)
BETTER = {
    "more people": ((_PERSON,), "1 more people"),
    "more label events": ((_PERSON, _EVENT), "1 more label events"),
    "another project": (("UPDATE secrets SET secret = zeroblob(32)",), "another project"),
    "a newer version": (("PRAGMA user_version = 99",), "newer workbench"),
}


@pytest.mark.parametrize(("statements", "said"), BETTER.values(), ids=BETTER)
def test_a_copy_with_more_data_is_kept(tmp_path: Path, statements: tuple[str, ...], said: str) -> None:
    project, copy = make_project(tmp_path, numbered(2)), tmp_path / "copy.db"
    backup(project.database, copy)
    with closing(sqlite3.connect(copy)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    before = copy.read_bytes()
    with pytest.raises(StoreError, match=said) as refused:
        backup(project.database, copy, force=True)
    assert "--discard" in refused.value.hint
    assert copy.read_bytes() == before
    backup(project.database, copy, force=True, discard=True)
    assert copy.read_bytes() != before
    project.close()


def test_a_copy_with_a_newer_label_is_kept(tmp_path: Path) -> None:
    project, copy = make_project(tmp_path, numbered(2)), tmp_path / "copy.db"
    backup(project.database, copy)
    for path, year in ((copy, "2025"), (project.path, "2024")):
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(_PERSON)
            connection.execute(_EVENT.replace("2025", year))
    with pytest.raises(StoreError, match="newest label event is of 2025, that of the database is of 2024"):
        backup(project.database, copy, force=True)
    project.close()


@pytest.mark.parametrize("content", [b"", b"no database", None])
def test_a_bad_copy_is_replaced(tmp_path: Path, content: bytes | None) -> None:
    project, copy = make_project(tmp_path, numbered(2)), tmp_path / "copy.db"
    backup(project.database, copy)
    copy.write_bytes(copy.read_bytes()[:-40_000] if content is None else content)
    backup(project.database, copy, force=True)
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT count(*) FROM completions").fetchone() == (2,)
    project.close()
