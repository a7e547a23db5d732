"""What is rescued of hurt databases: every label that can be read, and true numbers of what is missing."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Call, in_process
from tests.hurting import KINDS, PAGE, hurt, owners, places, rich_project, spared
from workbench.care.backups import doctor
from workbench.care.rescuing import rescue
from workbench.core.database.hashes import COVERED
from workbench.core.project import open_project

MADE_ANEW = {"changes", "generation", "sqlite_sequence", "_sqlite_migrations"}


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


def test_of_a_whole_database_every_row_comes_back(rich: Path, tmp_path: Path) -> None:
    found = rescue(rich, tmp_path / "out.db")
    assert found.is_whole
    # A score that was changed would look the same.
    assert "verdicts" in found.without_digest
    assert "label_events" not in found.without_digest
    assert not COVERED & {*found.without_digest}
    assert any("carry no digest" in note for note in found.notes)
    assert tables(tmp_path / "out.db") == tables(rich)


@pytest.mark.parametrize("name", ["assignments", "label_events"])
def test_an_empty_page_among_rows_is_one_that_is_lost(rich: Path, tmp_path: Path, name: str) -> None:
    data, pages = bytearray(rich.read_bytes()), owners(rich)
    empty = next(page for page, owner in pages.items() if owner == "evolutions")
    row = max(place.page for place in places(rich, name).values())
    one, other = (slice((page - 1) * PAGE, page * PAGE) for page in (empty, row))
    data[one], data[other] = data[other], data[one]
    (tmp_path / "hurt.db").write_bytes(data)

    found = rescue(tmp_path / "hurt.db", tmp_path / "out.db")

    told = next(one for one in found.tables if one.table == name)
    assert told.pages_lost == 1
    assert (told.rows, told.missing or 0) == (len(table(rich, name)), 0)


@pytest.mark.parametrize("kind", KINDS, ids=[kind.__name__ for kind in KINDS])
def test_every_label_that_can_be_read_comes_back(rich: Path, tmp_path: Path, kind: Any) -> None:
    labels, standing = table(rich, "label_events"), places(rich, "label_events")
    own = [page for page, name in owners(rich).items() if name == "label_events"]
    damage = hurt(rich, tmp_path / "hurt.db", random.Random(kind.__name__).choice(own), kind, 1)

    found = rescue(tmp_path / "hurt.db", tmp_path / "out.db")

    back = table(tmp_path / "out.db", "label_events")
    readable = {number for number, place in standing.items() if spared(damage, place)}
    assert {number: back.get(number) for number in readable} == {number: labels[number] for number in readable}
    assert back.items() <= labels.items()
    told = next(one for one in found.tables if one.table == "label_events")
    assert told.missing in (None, len(labels) - len(back))
    assert {finding.name for finding in doctor(open_project(tmp_path / "out.db")) if not finding.ok} == set()
