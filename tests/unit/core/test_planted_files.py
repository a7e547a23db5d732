"""Files planted in place of the program's own are neither read, written nor waited for."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from workbench.config import file as settings
from workbench.config.verifiers import save_verifier
from workbench.core.errors import RunError, StoreError, UsageError
from workbench.core.files import NotOwnFileError, append_own, cache_folder, open_own, read_own, whole_file
from workbench.core.project import open_project
from workbench.measuring import browsing
from workbench.measuring.column_memory import ColumnMemory
from workbench.runs import lease
from workbench.tables.files import write_next_to

ANOTHER = 65534


def _link(place: Path, victim: Path) -> None:
    place.symlink_to(victim)


def _hard_link(place: Path, victim: Path) -> None:
    place.hardlink_to(victim)


def _pipe(place: Path, _: Path) -> None:
    os.mkfifo(place)


def _folder(place: Path, _: Path) -> None:
    place.mkdir()


def _socket(place: Path, _: Path) -> None:
    os.mknod(place, stat.S_IFSOCK | 0o600)


def _dangling(place: Path, victim: Path) -> None:
    place.symlink_to(victim.with_name("not-there"))


def _of_another(place: Path, _: Path) -> None:
    if os.geteuid():
        pytest.skip("only root gives files away")
    place.write_text("theirs")
    os.chown(place, ANOTHER, ANOTHER)


HOSTILE: list[Callable[[Path, Path], None]] = [_link, _hard_link, _pipe, _folder, _socket, _dangling, _of_another]
hostile = pytest.mark.parametrize("put", HOSTILE, ids=lambda put: put.__name__.strip("_"))


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    (tmp_path / "elsewhere").mkdir()
    path = tmp_path / "elsewhere" / "authorized_keys"
    path.write_text("mine\n")
    return path


@pytest.fixture(autouse=True)
def _untouched(victim: Path) -> object:
    yield
    assert victim.read_text() == "mine\n"
    assert os.listdir(victim.parent) == [victim.name]


@hostile
def test_a_planted_file_is_named_and_left_unchanged(
    tmp_path: Path, victim: Path, put: Callable[[Path, Path], None]
) -> None:
    place = tmp_path / "kept"
    put(place, victim)
    before = os.lstat(place)
    for use in (open_own, lambda path: read_own(path, 10), lambda path: append_own(path, 10)):
        with pytest.raises(NotOwnFileError, match=r"remove it.*kept"):
            use(place)
    after = os.lstat(place)
    assert (after.st_mode, after.st_size, after.st_mtime_ns) == (before.st_mode, before.st_size, before.st_mtime_ns)


@hostile
def test_a_runner_writes_no_log_to_a_planted_file(
    tmp_path: Path, victim: Path, put: Callable[[Path, Path], None]
) -> None:
    project = make_project(tmp_path, numbered(2))
    put(lease.log_path(project.path), victim)
    with pytest.raises(RunError, match=r"can't be started: .*p\.db\.runner\.log: it is .*remove it"):
        lease.ensure_runner(project.database)


@hostile
def test_settings_are_not_read_from_a_planted_file(
    tmp_path: Path, victim: Path, put: Callable[[Path, Path], None]
) -> None:
    put(settings.file_of(tmp_path / "p.db"), victim)
    with pytest.raises(UsageError, match="remove it"):
        settings.read(tmp_path / "p.db")
    with pytest.raises(UsageError, match="remove it"):
        save_verifier(settings.file_of(tmp_path / "p.db"), "mine", "exact", {})


@hostile
def test_a_log_of_the_database_is_not_followed(tmp_path: Path, victim: Path, put: Callable[[Path, Path], None]) -> None:
    make_project(tmp_path, numbered(2)).close()
    for end in ("-wal", "-shm", "-journal"):
        if put in (_of_another, _hard_link):
            continue
        place = tmp_path / f"p.db{end}"
        put(place, victim)
        with pytest.raises(StoreError, match="remove it"):
            open_project(tmp_path / "p.db")
        place.rmdir() if place.is_dir() else place.unlink()
    open_project(tmp_path / "p.db").close()


@hostile
@pytest.mark.parametrize("what", ["folder", "part"])
def test_planted_column_files_are_ignored(
    tmp_path: Path, victim: Path, put: Callable[[Path, Path], None], what: str
) -> None:
    folder = cache_folder(tmp_path / "p.db")
    if what == "part":
        folder.mkdir()
    place, leads = (folder, victim.parent) if what == "folder" else (folder / "items.npz", victim)
    if what == "folder" and put is _hard_link:
        leads = victim
    put(place, leads)
    project = make_project(tmp_path, numbered(2))
    assert ColumnMemory(project.database)._load(None) is None


@hostile
def test_files_next_to_the_database_never_follow_links(
    tmp_path: Path, victim: Path, put: Callable[[Path, Path], None]
) -> None:
    project = make_project(tmp_path, numbered(2))
    put(tmp_path / "p-item-1.json", victim)
    put(tmp_path / "p-screen.svg", victim)
    with pytest.raises(StoreError, match="remove it"):
        browsing.write_item(project, browsing.read(project, 1))
    written = write_next_to(project.path, "screen", ".svg", "<svg/>")
    assert written.name == "p-screen-2.svg"
    assert stat.S_IMODE(written.stat().st_mode) == 0o600


def test_own_files_are_private(tmp_path: Path) -> None:
    with append_own(tmp_path / "log", 10) as log:
        log.write(b"x" * 11)
    with append_own(tmp_path / "log", 10) as log:
        log.write(b"anew")
    assert (tmp_path / "log").read_bytes() == b"anew"
    (tmp_path / "shared").write_text("")
    (tmp_path / "shared").chmod(0o666)
    for name in ("log", "new", "shared"):
        if name != "log":
            with whole_file(tmp_path / name) as file:
                file.write(b"1")
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == (0o644 if name == "shared" else 0o600)
    with whole_file(tmp_path / "export", private=False) as file:
        file.write(b"1")
    (tmp_path / "plain").touch()
    assert (tmp_path / "export").stat().st_mode == (tmp_path / "plain").stat().st_mode
