"""A database with several names (hard links): never open under two, and what a tree of snapshots has is no harm."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.commands import run
from tests.helpers import make_project, numbered
from tests.unit.core.database.test_logs import crash, models
from workbench.care.doctor import examine
from workbench.core.database.connection import Database
from workbench.core.errors import StoreError


@pytest.fixture
def names(tmp_path: Path) -> tuple[Path, Path]:
    make_project(tmp_path, numbered(4)).close()
    (tmp_path / "snapshot").mkdir()
    return tmp_path / "p.db", tmp_path / "snapshot" / "p.db"


@contextmanager
def opened_elsewhere(path: Path) -> Iterator[None]:
    """Another process has written to it and has it open still."""
    script = (
        "import sys; from pathlib import Path; from workbench.core.database.connection import Database\n"
        "database = Database(Path(sys.argv[1]))\n"
        "with database.write('full') as connection:\n"
        "    connection.execute('INSERT INTO models (name) SELECT count(*) FROM models')\n"
        "print('open', flush=True); sys.stdin.readline(); database.close()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"open\n"
        try:
            yield
        finally:
            process.communicate(b"\n")
    assert process.returncode == 0


@pytest.mark.parametrize("linked", ["before", "meanwhile"])
def test_what_is_open_under_one_name_is_refused_under_the_other(names: tuple[Path, Path], linked: str) -> None:
    path, link = names
    before = models(path)
    if linked == "before":
        os.link(path, link)
    with opened_elsewhere(path):
        if linked == "meanwhile":
            os.link(path, link)
        for _ in range(2):
            with pytest.raises(StoreError, match="open under another name") as told:
                Database(link)
            assert "process" in str(told.value)
        assert run("labels", link, "export", "-").returncode == 1
        assert not Path(f"{link}-wal").exists()
        assert models(path) == before + 1
    assert models(link) == before + 1
    assert models(path) == before + 1


def test_under_its_own_name_it_is_open_as_often_as_one_likes(names: tuple[Path, Path]) -> None:
    path, link = names
    os.link(path, link)
    before = models(path)
    with opened_elsewhere(path), opened_elsewhere(path):
        assert models(path) == before + 2


def test_a_link_that_nobody_opens_is_no_harm_and_doctor_tells_of_it(names: tuple[Path, Path]) -> None:
    path, link = names
    assert not [finding for finding in examine(path) if finding.name == "names"]
    os.link(path, link)
    before = models(path)
    with opened_elsewhere(path):
        assert models(path) == before + 1
    (found,) = [finding for finding in examine(path) if finding.name == "names"]
    assert found.ok
    assert "2 names" in found.message
    assert "workbench backup" in found.message


def test_a_snapshot_that_links_the_log_as_well_keeps_nobody_from_working(names: tuple[Path, Path]) -> None:
    path, link = names
    before = models(path)
    with opened_elsewhere(path):
        subprocess.run(["cp", "-al", *map(str, path.parent.glob("p.db*")), str(link.parent)], check=True)
        assert os.stat(f"{path}-wal").st_nlink == 2
        assert models(path) == before + 1
        with opened_elsewhere(path):
            assert models(path) == before + 2
    assert models(path) == before + 2
    shutil.rmtree(link.parent)
    assert models(path) == before + 2


def test_after_a_crash_such_a_snapshot_loses_nothing(names: tuple[Path, Path]) -> None:
    path, link = names
    before = models(path)
    crash(path)
    subprocess.run(["cp", "-al", *map(str, path.parent.glob("p.db*")), str(link.parent)], check=True)
    assert models(path) == before + 3
    assert models(link) == before + 3


def test_what_is_no_log_is_not_written_through_a_link(names: tuple[Path, Path]) -> None:
    path, link = names
    link.write_text("mine\n" * 100)
    os.link(link, f"{path}-wal")
    with pytest.raises(StoreError, match="second name"):
        Database(path)
    assert link.read_text() == "mine\n" * 100
