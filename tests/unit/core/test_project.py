"""A project created by a command: the file is removed if nothing was stored."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from tests.commands import run
from tests.full_disk import small_disk
from workbench.core.errors import StoreError
from workbench.core.project import opened_project


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("error", [StoreError("full"), KeyboardInterrupt()])
def test_a_new_empty_database_is_removed(tmp_path: Path, error: BaseException, *, stored: bool) -> None:
    def fail() -> None:
        with opened_project(tmp_path / "p.db", create=True) as project:
            if stored:
                with project.database.write() as connection:
                    connection.execute("INSERT INTO datasets (name, created_at) VALUES ('d', '')")
            raise error

    with pytest.raises(type(error)):
        fail()
    assert [file.name for file in tmp_path.iterdir()] == (["p.db"] if stored else [])


def test_an_existing_empty_database_stays(tmp_path: Path) -> None:
    with opened_project(tmp_path / "p.db", create=True):
        pass
    with suppress(StoreError), opened_project(tmp_path / "p.db", create=True):
        raise StoreError("full")
    assert [file.name for file in tmp_path.iterdir()] == ["p.db"]


def test_a_failed_first_import_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text(
        "".join(f'{{"question": "q{n}", "reference": "7", "completion": "{"x" * 2000}"}}\n' for n in range(2000))
    )
    with small_disk(tmp_path) as disk:
        disk.fill(900_000)
        done = run("import", disk.path / "p.db", tmp_path / "data.jsonl")
        assert done.returncode == 1
        assert "full" in done.stderr
        assert not list(disk.path.glob("p.db*"))
        disk.empty()
        assert run("import", disk.path / "p.db", tmp_path / "data.jsonl").returncode == 0
