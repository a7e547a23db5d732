"""Databases with several hard links, as in snapshot trees."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.crashing import crash, models
from tests.helpers import make_project, numbered
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


def test_a_snapshot_that_links_the_wal_blocks_no_user(names: tuple[Path, Path]) -> None:
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


def test_no_log_is_written_through_a_link(names: tuple[Path, Path]) -> None:
    path, link = names
    link.write_text("mine\n" * 100)
    os.symlink(link, f"{path}-wal")
    with pytest.raises(StoreError, match="symbolic link"):
        Database(path)
    assert link.read_text() == "mine\n" * 100
