"""Read-only access includes the data of the WAL, under any name of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crashing import crash, files
from tests.helpers import make_project, numbered
from workbench.core.database.looking import opened_read_only
from workbench.core.errors import StoreError


@pytest.fixture
def crashed(tmp_path: Path) -> Path:
    make_project(tmp_path, numbered(4)).close()
    crash(tmp_path / "p.db")
    return tmp_path / "p.db"


def killed(path: Path) -> int:
    with opened_read_only(path) as database:
        found = database.reader().execute("SELECT count(*) FROM models WHERE name LIKE 'killed%'").fetchone()
        return int(found[0])


@pytest.mark.parametrize("index", [True, False], ids=["with -shm", "without"])
def test_a_link_reads_the_wal_next_to_its_target(crashed: Path, tmp_path: Path, index: bool) -> None:
    if not index:
        Path(f"{crashed}-shm").unlink()
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "named.db"
    link.symlink_to(crashed)
    before = files(crashed.parent)
    assert killed(link) == 3
    assert {name: text for name, text in files(crashed.parent).items() if not name.endswith("-shm")} == {
        name: text for name, text in before.items() if not name.endswith("-shm")
    }


def test_concurrent_writes_are_noticed(tmp_path: Path) -> None:
    make_project(tmp_path, numbered(4)).close()
    with opened_read_only(tmp_path / "p.db") as database:
        with (tmp_path / "p.db").open("ab") as file:
            file.write(b"\0")
        with pytest.raises(StoreError, match="it has changed in the meantime"):
            database.require_place()
