"""Whose log lies beside a database: a copy put over a crashed, an open or a running one is told before it is read."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from tests.older import make_older
from workbench.care.backups import backup
from workbench.core.database import logs
from workbench.core.database.connection import Database
from workbench.core.errors import StoreError
from workbench.core.project import open_project

KILLED = """
import os, sys
from pathlib import Path
from workbench.core.database.connection import Database
database = Database(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    with database.write("full") as connection:
        connection.execute("INSERT INTO models (name) VALUES (?)", (f"killed {os.getpid()} {number}" + "x" * 3000,))
os._exit(9)
"""


def crash(path: Path, writes: int = 3) -> None:
    """A process has written and was killed, so that its log is still there."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), str(writes)], check=False)
    assert done.returncode == 9
    assert Path(f"{path}-wal").stat().st_size > 0


def models(path: Path) -> int:
    database = Database(path)
    try:
        number: int = database.reader().execute("SELECT count(*) FROM models").fetchone()[0]
        return number
    finally:
        database.close()


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with ``p.db``, its backup ``copy.db``, a copy by hand ``hand.db``, and more in ``p.db`` since."""
    project = make_project(tmp_path, numbered(6))
    backup(project, tmp_path / "copy.db")
    project.close()
    shutil.copy(tmp_path / "p.db", tmp_path / "hand.db")
    with closing(open_project(tmp_path / "p.db")) as again, again.database.write() as connection:
        connection.execute("INSERT INTO models (name) VALUES ('since')")
    return tmp_path


def cp(source: Path, target: Path) -> None:
    target.write_bytes(source.read_bytes())


def mv(source: Path, target: Path) -> None:
    source.rename(target)


@pytest.mark.parametrize("put", [cp, mv])
@pytest.mark.parametrize("source", ["copy.db", "hand.db"])
def test_a_copy_put_over_a_crashed_database_is_told(home: Path, source: str, put: Callable[[Path, Path], None]) -> None:
    crash(home / "p.db")
    put(home / source, home / "p.db")
    before = files(home)

    for _ in range(2):
        with pytest.raises(StoreError, match=r"p\.db-wal is not the log of p\.db") as told:
            Database(home / "p.db")
    assert "workbench restore" in told.value.hint
    assert files(home) == before


@pytest.mark.parametrize("put", [cp, mv])
@pytest.mark.parametrize("source", ["copy.db", "hand.db"])
def test_a_copy_put_over_an_open_database_is_told(home: Path, source: str, put: Callable[[Path, Path], None]) -> None:
    script = "import sys; from tests.unit.core.database.test_logs import hold; hold(sys.argv[1])"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(home / "p.db")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdin
        assert holder.stdout
        assert holder.stdout.readline() == b"open\n"
        put(home / source, home / "p.db")
        with pytest.raises(StoreError, match="is not the log of"):
            Database(home / "p.db")
        holder.stdin.close()


@pytest.mark.parametrize("put", [cp, mv])
@pytest.mark.parametrize("source", ["copy.db", "hand.db"])
def test_what_runs_writes_no_more_and_leaves_the_copy_alone(
    home: Path, source: str, put: Callable[[Path, Path], None]
) -> None:
    content = (home / source).read_bytes()
    script = "import sys; from tests.unit.core.database.test_logs import run; run(sys.argv[1])"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(home / "p.db")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as runner:
        assert runner.stdin
        assert runner.stdout
        assert runner.stdout.readline() == "written\n"
        put(home / source, home / "p.db")
        runner.stdin.write("\n")
        runner.stdin.flush()
        assert runner.stdout.readline() == ("overwritten\n" if put is cp else "replaced\n")
        runner.stdin.close()
    assert runner.returncode == 0
    if put is cp or source == "copy.db":
        assert (home / "p.db").read_bytes() == content
        with pytest.raises(StoreError, match="is not the log of"):
            Database(home / "p.db")


def run(path: str) -> None:
    """Write to a database, and again when told to, then end as programs do."""
    database = Database(path)
    for _ in range(2):
        try:
            with database.write() as connection:
                connection.execute("INSERT INTO models (name) VALUES (hex(randomblob(9)))")
            print("written", flush=True)
        except StoreError as error:
            print(error.cause, flush=True)
        sys.stdin.readline()
    database.close()


def hold(path: str) -> None:
    """Have a database open, with something in its log, until standard input ends."""
    database = Database(path)
    with database.write() as connection:
        connection.execute("INSERT INTO models (name) VALUES ('held')")
    print("open", flush=True)
    sys.stdin.read()
    os._exit(9)


def test_a_crashed_database_loses_nothing(home: Path) -> None:
    crash(home / "p.db")
    shutil.copytree(home, home / "moved")
    assert models(home / "p.db") == models(home / "moved" / "p.db") == 4


@pytest.mark.parametrize("moment", ["partly written back", "wholly written back", "after a vacuum", "no page 1"])
def test_an_own_log_is_never_taken_for_another(home: Path, moment: str) -> None:
    path = home / "p.db"
    database = Database(path)
    held = sqlite3.connect(path, isolation_level=None)
    if moment == "after a vacuum":
        held.execute("VACUUM")
    for number in range(3):
        with database.write() as connection:
            connection.execute("INSERT INTO models (name) VALUES (?)", (f"m{number}",))
        if moment == "partly written back" and number == 1:
            held.execute("BEGIN")
            held.execute("SELECT count(*) FROM models").fetchone()
    if "written back" in moment:
        database.write_back()
    for name in ("p.db", "p.db-wal"):
        shutil.copy(home / name, home / name.replace("p.db", "crashed.db"))
    assert logs.foreign_log(path) is None
    assert logs.foreign_log(home / "crashed.db") is None
    assert models(home / "crashed.db") == 4
    held.close()
    database.close()


def test_a_copy_from_before_the_last_checkpoint_is_told(home: Path) -> None:
    crash(home / "p.db")
    shutil.copy(home / "p.db", home / "old.db")
    assert models(home / "p.db") == 4
    crash(home / "p.db")
    cp(home / "old.db", home / "p.db")
    assert logs.foreign_log(home / "p.db") is not None


def test_the_log_of_an_older_state_is_told(home: Path) -> None:
    crash(home / "p.db")
    shutil.copy(home / "p.db-wal", home / "old-wal")
    assert models(home / "p.db") == 4
    shutil.move(home / "old-wal", home / "p.db-wal")
    assert logs.foreign_log(home / "p.db") is None, "all of it has been written back"
    with closing(open_project(home / "p.db")) as project, project.database.write() as connection:
        connection.execute("INSERT INTO models (name) VALUES ('later')")
    crash(home / "p.db")
    shutil.copy(home / "p.db-wal", home / "old-wal")
    assert models(home / "p.db") == 8
    with closing(open_project(home / "p.db")) as project, project.database.write() as connection:
        connection.execute("INSERT INTO models (name) VALUES ('latest')")
    shutil.move(home / "old-wal", home / "p.db-wal")
    assert logs.foreign_log(home / "p.db") is not None


def test_a_database_of_version_8_goes_back_to_its_copy_no_other_way(tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    make_project(tmp_path, numbered(4)).close()
    make_older(path, 8)
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        # The program of then made the tables in more steps than a copy does.
        raw.execute("CREATE TABLE step (id INTEGER)")
        raw.execute("DROP TABLE step")
        raw.execute("VACUUM INTO ?", (str(tmp_path / "copy.db"),))
        raw.execute("INSERT INTO models (name) VALUES ('m')")
        for end in ("", "-wal"):
            shutil.copy(f"{path}{end}", tmp_path / f"crashed.db{end}")
    shutil.copy(tmp_path / "crashed.db-wal", tmp_path / "copy.db-wal")
    assert logs.foreign_log(tmp_path / "copy.db") is not None, "by the counters of page 1"
    assert models(tmp_path / "crashed.db") == 1
    (tmp_path / "copy.db-wal").unlink()
    crash(tmp_path / "crashed.db")
    cp(tmp_path / "copy.db", tmp_path / "crashed.db")
    with pytest.raises(StoreError, match="is not the log of"):
        Database(tmp_path / "crashed.db")


def test_a_crashed_migration_is_gone_on_with(tmp_path: Path) -> None:
    make_project(tmp_path, numbered(4)).close()
    make_older(tmp_path / "p.db", 8)
    held = sqlite3.connect(tmp_path / "p.db")
    held.execute("BEGIN")
    held.execute("SELECT count(*) FROM models").fetchone()
    Database(tmp_path / "p.db").close()
    for end in ("", "-wal"):
        shutil.copy(tmp_path / f"p.db{end}", tmp_path / f"crashed.db{end}")
    assert models(tmp_path / "crashed.db") == 0
    held.close()


HALF = """
import os, sys
from pathlib import Path
from workbench.core.database.connection import Database
from workbench.data.store.importing import import_session
database = Database(Path(sys.argv[1]))
with import_session(database, "d") as session:
    bulk = session._bulk
    bulk.execute("PRAGMA cache_size = 10")
    for number in range(2000):
        bulk.execute("INSERT INTO models (name) VALUES (?)", (f"m{number}" + "x" * 2000,))
    os._exit(9)
"""


def test_a_copy_put_over_a_first_import_that_was_killed_is_told(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    backup(project, tmp_path / "copy.db")
    project.close()
    assert subprocess.run([sys.executable, "-c", HALF, str(project.path)], check=False).returncode == 9
    assert Path(f"{project.path}-journal").stat().st_size > 0
    shutil.copytree(tmp_path, tmp_path / "same")
    assert models(tmp_path / "same" / "p.db") == 0

    cp(tmp_path / "copy.db", project.path)
    with pytest.raises(StoreError, match=r"p\.db-journal is not the log of"):
        Database(project.path)


@pytest.mark.parametrize("content", [b"", b"x", b"\0" * 100_000, os.urandom(100_000)])
def test_what_is_no_log_is_left_to_sqlite(home: Path, content: bytes) -> None:
    (home / "p.db-wal").write_bytes(content)
    assert models(home / "p.db") == 1


@pytest.mark.parametrize("cut", [32, 33, 4_000, 4_151, 4_152, 4_153, 9_000, -1, -4_000])
def test_a_log_cut_off_anywhere_is_still_its_own(home: Path, cut: int) -> None:
    crash(home / "p.db")
    whole = (home / "p.db-wal").read_bytes()
    (home / "p.db-wal").write_bytes(whole[:cut])
    assert 1 <= models(home / "p.db") <= 4


def test_looking_costs_this_process_no_lock(home: Path) -> None:
    database = Database(home / "p.db")
    with database.write() as connection:
        connection.execute("INSERT INTO models (name) VALUES ('m')")
    with database.write():
        # Another process asks while this one looks.
        Database(home / "p.db").close()
        assert logs.foreign_log(home / "p.db") is None
        script = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('DELETE FROM models')"
        done = subprocess.run([sys.executable, "-c", script, str(home / "p.db")], capture_output=True, check=False)
        assert b"database is locked" in done.stderr
    database.close()


def test_of_a_long_log_that_is_being_written_back_only_the_newest_is_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(home / "p.db")

    def write(number: int) -> None:
        with database.write() as connection:
            connection.execute("INSERT INTO models (name) VALUES (?)", (f"{number} {'x' * 3000}",))

    def read() -> int:
        """Bytes of file and log that it takes to tell."""
        taken: list[int] = []

        def counted(file: int, length: int, at: int) -> bytes:
            got = pread(file, length, at)
            taken.append(len(got))
            return got

        monkeypatch.setattr(os, "pread", counted)
        assert logs.foreign_log(database.path) is None
        monkeypatch.undo()
        return sum(taken)

    pread = os.pread
    write(-1)
    with closing(sqlite3.connect(database.path)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM models").fetchone()
        needed = []
        for round_ in range(4):
            for number in range(200):
                write(1000 * round_ + number)
            with closing(sqlite3.connect(database.path)) as newer:
                newer.execute("BEGIN")
                newer.execute("SELECT count(*) FROM models").fetchone()
                # It keeps the log from beginning anew.
                other.rollback()
                database.write_back()
                write(1000 * round_ + 999)
                other.execute("BEGIN")
                other.execute("SELECT count(*) FROM models").fetchone()
            needed.append(read())
    database.close()
    assert Path(f"{database.path}-wal").exists() is False
    assert needed[-1] < 2 * needed[0], needed
