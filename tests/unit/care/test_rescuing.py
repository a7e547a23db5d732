"""Rescuing damaged databases: every readable label, and correct counts of missing data."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

from tests.commands import Call, in_process
from tests.damage import KINDS, hurt, owners, readable, rich_project, without_a_row
from workbench.care.backups import diagnosis
from workbench.care.rescuing import rescue

MADE_ANEW = {"changes", "sqlite_sequence", "_sqlite_migrations"}


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rich_project(tmp_path_factory.mktemp("rich"))


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


def table(path: Path, name: str) -> dict[Any, Any]:
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        return {row[0]: row for row in connection.execute(f'SELECT * FROM "{name}"')}


def tables(path: Path) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in {*names} - MADE_ANEW}


def test_every_row_of_an_intact_database_is_rescued(rich: Path, tmp_path: Path) -> None:
    found = rescue(rich, tmp_path / "out.db")
    assert found.is_whole
    assert tables(tmp_path / "out.db") == tables(rich)


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", KINDS, ids=[kind.__name__ for kind in KINDS])
def test_every_readable_label_is_rescued(rich: Path, tmp_path: Path, kind: Any) -> None:
    labels = table(rich, "label_events")
    own = [page for page, name in owners(rich).items() if name == "label_events"]
    hurt(rich, tmp_path / "hurt.db", random.Random(kind.__name__).choice(own), kind, 1)

    found = rescue(tmp_path / "hurt.db", tmp_path / "out.db")

    back = table(tmp_path / "out.db", "label_events")
    whole = readable(tmp_path / "hurt.db", "label_events", labels).items() & labels.items()
    assert whole <= back.items()
    assert len(whole) > len(labels) / 5
    # A byte that makes a text none is kept, and told.
    told_changed = {*found.changed_labels}
    assert {number: row for number, row in back.items() if number not in told_changed}.items() <= labels.items()
    told = next(one for one in found.tables if one.table == "label_events")
    assert told.missing in (None, 0)
    assert told.missing is None or len(back) == len(labels)
    assert {finding.name for finding in diagnosis(tmp_path / "out.db") if not finding.ok} == set()


def test_an_id_beyond_the_size_of_the_file_does_not_keep_rescue_busy(rich: Path, tmp_path: Path) -> None:
    """Rows of a damaged table are read by id; one that damage has made huge must not be counted up to."""
    labels, path = table(rich, "label_events"), Path(copy(rich, tmp_path / "p.db"))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TEMP TABLE one AS SELECT * FROM label_events LIMIT 1")
        connection.execute(f"UPDATE one SET id = {2**50}, uuid = 'far'")
        connection.execute("INSERT INTO label_events SELECT * FROM one")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    own = sorted(page for page, name in owners(path).items() if name == "label_events")
    hurt(path, tmp_path / "hurt.db", own[3], KINDS[3], 1)
    rescue(tmp_path / "hurt.db", tmp_path / "out.db")
    back = table(tmp_path / "out.db", "label_events")
    assert readable(tmp_path / "hurt.db", "label_events", labels).keys() <= back.keys()


@pytest.mark.soak
def test_the_last_row_before_the_damage_is_rescued(rich: Path, tmp_path: Path) -> None:
    labels, pages = table(rich, "label_events"), owners(rich)
    # Those on which nothing but the end of the file follows: no index is whole, and nobody knows how far to look.
    own = sorted(page for page, name in pages.items() if name == "label_events")
    for page in own[-9:]:
        hurt(rich, tmp_path / "hurt.db", page, KINDS[5], 1)
        found = rescue(tmp_path / "hurt.db", tmp_path / f"{page}.db")
        back = table(tmp_path / f"{page}.db", "label_events")
        assert readable(tmp_path / "hurt.db", "label_events", labels).keys() == back.keys()
        assert not found.is_whole


def test_tables_without_row_ids_are_rescued_too(rich: Path, tmp_path: Path) -> None:
    verdicts = table_of_verdicts(rich)
    own = sorted(page for page, name in owners(rich).items() if name == "verdicts")
    hurt(rich, tmp_path / "hurt.db", own[-1], KINDS[3], 1)
    rescue(tmp_path / "hurt.db", tmp_path / "out.db")
    back = table_of_verdicts(tmp_path / "out.db")
    with closing(sqlite3.connect(f"file:{tmp_path}/hurt.db?immutable=1", uri=True)) as connection:
        for key, row in verdicts.items():
            try:
                # A row that its whole key names is read without a look at the next.
                asked = "SELECT * FROM verdicts WHERE run_id = 1 AND completion_id = ? AND sample = 0"
                read = connection.execute(asked, key).fetchone()
            except sqlite3.DatabaseError:
                continue
            assert back[key] == read == row


def table_of_verdicts(path: Path) -> dict[Any, Any]:
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        return {row[1:2]: row for row in connection.execute("SELECT * FROM verdicts")}


def test_rows_found_only_in_an_index_are_reported_as_doubtful(rich: Path, tmp_path: Path) -> None:
    without_a_row(rich, tmp_path / "hurt.db")
    found = rescue(tmp_path / "hurt.db", tmp_path / "out.db")
    (told,) = (one for one in found.tables if one.table == "models")
    assert (told.rows, told.missing, told.stand_ins, found.is_whole) == (2, None, 1, False)
    # Items refer to it.
    assert {row[1] for row in table(tmp_path / "out.db", "models").values()} == {"m0", "m1", "lost-3"}


def test_an_item_that_only_a_damaged_row_names_lacks_no_text(rich: Path, tmp_path: Path) -> None:
    copy(rich, tmp_path / "hurt.db")
    with closing(sqlite3.connect(tmp_path / "hurt.db")) as connection, connection:
        connection.execute("UPDATE verdicts SET completion_id = 9999 WHERE completion_id = 5")
    rescued = rescue(tmp_path / "hurt.db", tmp_path / "out.db")
    found = {one.table: one for one in rescued.tables}
    assert any(note.startswith("completions lacks 1 row: ") for note in rescued.notes)
    assert (found["completions"].stand_ins, found["completion_text"].stand_ins) == (1, 1)
    assert (found["completion_text"].rows, found["completion_text"].missing) == (240, 0)
