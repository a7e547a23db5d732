"""A database on a read-only medium or without write permission can be read, completely and correctly."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path

import pytest

from tests.commands import run
from tests.crashing import crash, files
from tests.full_disk import small_disk
from tests.full_disk_commands import COMMANDS, DATABASES, READS
from tests.full_disk_input import CommandInput, prepare
from tests.full_disk_trial import SENTENCES
from tests.unprivileged import open_folder, ordinary_user
from workbench.core.errors import StoreError
from workbench.core.project import open_project, opened_project
from workbench.measuring.briefing import status

READABLE = ("p.db", "pool.db", "code.db")
ELSEWHERE = {
    "import new", "export", "export workbench", "export parquet", "export stdout", "publish", "labels export", "report",
    "report figures", "calibrate figures", "cost figures", "downstream figures",
    "backup", "restore", "restore backup", "rescue", "doctor",
}  # fmt: skip
"""Commands that write other files alone, or nothing, or that put another file in the database's place."""

User = Callable[[], AbstractContextManager[None]]


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandInput]:
    with open_folder() as folder:
        found = prepare(folder)
        yield found


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    # The other checks of doctor take seconds.
    monkeypatch.setattr("workbench.care.backups.check_sandbox", list)


@contextmanager
def read_only_disk(content: Path) -> Iterator[tuple[Path, User]]:
    with open_folder() as folder, small_disk(folder) as disk:
        shutil.copytree(content, disk.path, dirs_exist_ok=True)
        subprocess.run(["mount", "-o", "remount,ro", str(disk.path)], check=True)
        yield disk.path, nullcontext
        subprocess.run(["mount", "-o", "remount,rw", str(disk.path)], check=True)


@contextmanager
def folder_of_another(content: Path) -> Iterator[tuple[Path, User]]:
    with open_folder() as folder:
        shutil.copytree(content, folder, dirs_exist_ok=True)
        folder.chmod(0o555)
        try:
            yield folder, ordinary_user
        finally:
            folder.chmod(0o755)


@contextmanager
def files_of_another(content: Path) -> Iterator[tuple[Path, User]]:
    """The folder may be written, the files may not."""
    with open_folder() as folder:
        shutil.copytree(content, folder, dirs_exist_ok=True)
        for file in folder.iterdir():
            file.chmod(0o444)
        folder.chmod(0o777)
        yield folder, ordinary_user


places = pytest.mark.parametrize("place", [read_only_disk, folder_of_another, files_of_another])
Place = Callable[[Path], AbstractContextManager[tuple[Path, User]]]


def words_of(text: str, folder: Path, given: CommandInput, out: Path) -> list[str]:
    words = [str(folder / DATABASES[word]) if word in DATABASES else word for word in text.split()]
    texts = {"IN/": f"{given.folder}/", "FILE": f"{out}/new", "FOLDER": f"{out}/folder"}
    texts |= {"ITEM": given.item, "FLAGGED": given.flagged}
    for short, whole in texts.items():
        words = [word.replace(short, whole) for word in words]
    return words


def copied(given: CommandInput, folder: Path) -> Path:
    """A folder with a copy of the given project alone."""
    content = folder / "content"
    content.mkdir()
    shutil.copy(given.folder / "p.db", content)
    return content


@pytest.mark.soak
@pytest.mark.parametrize(
    "place",
    [
        read_only_disk,
        *(pytest.param(place, marks=pytest.mark.soak) for place in (folder_of_another, files_of_another)),
    ],
)
def test_read_commands_give_the_usual_output_and_write_nothing(
    given: CommandInput, tmp_path: Path, place: Place
) -> None:
    content = tmp_path / "content"
    content.mkdir()
    for name in READABLE:
        if (given.folder / name).exists():
            shutil.copy(given.folder / name, content)
    with place(content) as (folder, user):
        before = files(folder)
        for name, text in READS.items():
            if name in ("models", "import dry"):
                continue
            wanted = run(*words_of(text, content, given, tmp_path))
            with user():
                found = run(*words_of(text, folder, given, tmp_path))
            assert (found.returncode, found.stdout.replace(str(folder), str(content))) == (
                wanted.returncode,
                wanted.stdout,
            ), (name, found.stderr)
        assert files(folder) == before


@pytest.mark.few(3)
@places
def test_commands_that_write_report_why_they_cannot(given: CommandInput, tmp_path: Path, place: Place) -> None:
    content = copied(given, tmp_path)
    with place(content) as (folder, user), open_folder() as out:
        out.chmod(0o777)
        before = files(folder)
        for name, text in COMMANDS.items():
            words = words_of(text, folder, given, out)
            if " ; " in text or name in ELSEWHERE or str(folder / "p.db") not in words:
                continue
            # It loads what it needs, which an ordinary user may not be allowed to read.
            run(*words_of(text, content, given, tmp_path))
            with user():
                found = run(*words)
            told = [line for line in found.stderr.splitlines() if line.startswith(SENTENCES)]
            assert (found.returncode, len(told)) == (1, 1), (name, found.stderr)
            assert "can be read here, but not written" in told[0], (name, found.stderr)
            assert "workbench backup" in found.stderr
        assert files(folder) == before


@places
def test_an_impossible_dry_run_suggests_a_copy(given: CommandInput, tmp_path: Path, place: Place) -> None:
    content = copied(given, tmp_path)
    text = f"{COMMANDS['assign']} --dry-run"
    with place(content) as (folder, user):
        before = files(folder)
        run(*words_of(text, content, given, tmp_path))
        with user():
            found = run(*words_of(text, folder, given, tmp_path))
        assert files(folder) == before
    said = found.stderr.splitlines()
    assert (found.returncode, found.stdout, len(said)) == (1, "", 2), found.stderr
    assert "p.db can be read here, but not written: " in said[0]
    assert said[1].strip().startswith("Nothing was changed. A copy can be written: workbench backup ")


def logged(folder: Path, given: CommandInput) -> Path:
    """A database with something in its log that is not in the file."""
    folder.mkdir()
    shutil.copy(given.folder / "p.db", folder)
    crash(folder / "p.db")
    return folder


def models(path: Path) -> int:
    with opened_project(path) as project:
        return int(project.database.reader().execute("SELECT count(*) FROM models").fetchone()[0])


@places
def test_the_wal_is_read_too(given: CommandInput, tmp_path: Path, place: Place) -> None:
    content = logged(tmp_path / "content", given)
    with place(content) as (folder, user):
        before = {name: text for name, text in files(folder).items() if not name.endswith("-shm")}
        with user():
            assert models(folder / "p.db") == models(given.folder / "p.db") + 3
        assert {name: text for name, text in files(folder).items() if not name.endswith("-shm")} == before


def test_concurrent_writes_of_the_owner_are_noticed(given: CommandInput, tmp_path: Path) -> None:
    content = copied(given, tmp_path)
    with folder_of_another(content) as (folder, user):
        with user():
            project = open_project(folder / "p.db")
            assert status(project).items
        with closing(sqlite3.connect(folder / "p.db", isolation_level=None)) as owner:
            owner.execute("UPDATE models SET name = name || 'x'")
            with user(), pytest.raises(StoreError, match="it has changed in the meantime"):
                project.database.require_place()
        project.close()


def test_another_user_can_read_while_the_owner_writes(given: CommandInput, tmp_path: Path) -> None:
    content = copied(given, tmp_path)
    before = models(content / "p.db")
    with folder_of_another(content) as (folder, user):
        owner = open_project(folder / "p.db")
        for number in range(3):
            with owner.database.write() as connection:
                connection.execute("INSERT INTO models (name) VALUES (?)", (f"new {number}",))
            with user():
                assert models(folder / "p.db") == before + number + 1
        owner.close()


@places
@pytest.mark.parametrize("words", ["open DB", "open DB --as amira", "serve DB --port 0", "serve DB --link amira"])
def test_the_app_does_not_open_it(
    given: CommandInput, tmp_path: Path, place: Place, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As a window in a browser is opened, which needs no terminal.
    monkeypatch.setenv("TEXTUAL_DRIVER", "none:None")
    content = copied(given, tmp_path)
    with place(content) as (folder, user), user():
        found = run(*words_of(words, folder, given, tmp_path))
    assert found.returncode == 1
    assert "can be read here, but not written" in found.stderr
