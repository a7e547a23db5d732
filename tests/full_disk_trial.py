"""Run a command with little disk space: its exit, what it leaves behind, and whether it succeeds with more space."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from subprocess import CompletedProcess

from tests.background import runner_ends
from tests.commands import run
from tests.full_disk import SmallDisk
from tests.full_disk_commands import COMMANDS, DATABASES, READS, SERVED
from tests.full_disk_input import CommandInput
from workbench.core.project import open_project
from workbench.data.store.importing import discard_dead_imports

State = dict[str, dict[str, tuple[int, bytes]] | bool]
"""File -> the tables of a database with their rows, or whether the file has any content. Caches are left out."""

SENTENCES = ("Database:", "File:", "Error:", "Run:", "Verifier:", "Wrong usage:")
_WAITING = ("nothing can be stored", "waiting for")
_PATIENCE_S = 90.0
_BESIDE = ("-wal", "-shm", ".labels.jsonl", ".columns", ".runner.log", ".runner.lock", ".parts")
_COUNTED = ("changes", "sqlite_sequence", "run_usage")
"""Tables that also record failed attempts."""


class Trial:
    """One command on a small disk.

    Args:
        name: A key of COMMANDS, READS or SERVED.
    """

    def __init__(self, command_input: CommandInput, disk: SmallDisk, name: str) -> None:
        self._input, self._disk, self._name = command_input, disk, name
        self._served = name in SERVED
        self._place = disk.path / "work"
        *self._before, self._last = {**COMMANDS, **READS, **SERVED}[name].split(" ; ")

    def run(self, lefts: Sequence[int]) -> Counter[str]:
        """Run the command with space, then with each amount of ``lefts``; count the outcomes."""
        begins = self._prepare()
        done = run(*self._words(self._last))
        allowed = (0, 1, 2, 3) if self._name in READS else (0,)
        assert done.returncode in allowed, (self._name, done.returncode, done.stderr)
        code, ends = done.returncode, self._state()
        writes = self._name not in READS and self._name not in ("doctor", "export stdout")
        assert (begins != ends) is writes, (self._name, _difference(begins, ends))
        return Counter(self._try(left, code, ends) for left in lefts)

    def _try(self, left: int, code: int, ends: State) -> str:
        begins, shown = self._prepare(), self._shown()
        words, self.waited = self._words(self._last), False
        self._disk.fill(left)
        done = self._run_with_wait(words) if self._served else run(*words)
        self._disk.empty()
        about = (self._name, left, done.returncode, done.stderr)
        assert "Traceback" not in done.stderr, about
        hidden = self._undo_hidden(shown)
        after = self._state()
        if done.returncode == code:
            assert _counts(after) == _counts(ends), (*about, _difference(_counts(ends), _counts(after)))
            return "waited, then done" if self.waited else "done"
        messages = [line for line in done.stderr.splitlines() if line.startswith(SENTENCES)]
        assert (done.returncode in (1, 3), len(messages)) == (True, 1), about
        if self._served:
            # Replies that were stored remain.
            assert _shrunk(begins, after) == {}, (*about, _shrunk(begins, after))
        else:
            # An empty new database is not a partial result: the same command continues with it.
            stays = {name: tables for name, tables in after.items() if name in begins or not _is_empty(tables)}
            assert stays == begins, (*about, _difference(begins, stays))
        again = run(*words)
        after = self._state()
        assert again.returncode == code, (*about, "again", again.returncode, again.stderr)
        assert _counts(after) == _counts(ends), (*about, "again", _difference(_counts(ends), _counts(after)))
        return "said, and undone with the next import" if hidden else "said"

    def _prepare(self) -> State:
        self._disk.empty()
        shutil.rmtree(self._place, ignore_errors=True)
        self._place.mkdir()
        for name in {
            DATABASES[word] for text in (*self._before, self._last) for word in text.split() if word in DATABASES
        }:
            if (self._input.folder / name).exists():
                shutil.copy(self._input.folder / name, self._place / name)
        for text in self._before:
            done = run(*self._words(text))
            assert done.returncode == 0, (self._name, done.stderr)
        return self._state()

    def _words(self, text: str) -> list[str]:
        return [self._word(word) for word in text.split()]

    def _word(self, word: str) -> str:
        if word in DATABASES:
            return str(self._place / DATABASES[word])
        if word == "UUID":
            with closing(sqlite3.connect(self._place / "p.db")) as connection:
                return str(connection.execute("SELECT uuid FROM reviews").fetchone()[0])
        texts = {"IN/": f"{self._input.folder}/", "FILE": f"{self._place}/new", "FOLDER": f"{self._place}/folder"}
        texts |= {"ITEM": self._input.item, "FLAGGED": self._input.flagged, "URL": self._input.url}
        for name, text in texts.items():
            word = word.replace(name, text)
        return word

    def _run_with_wait(self, words: list[str]) -> CompletedProcess[str]:
        """Run a command that may wait for space; free the space once it waits."""
        command = [sys.executable, "-m", "workbench", *words]
        log = self._input.folder / "log"
        with (
            log.open("wb") as stderr,
            subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr) as process,
        ):
            end = time.monotonic() + _PATIENCE_S
            while process.poll() is None and time.monotonic() < end:
                if any(words in log.read_text() for words in _WAITING):
                    self.waited = True
                    break
                time.sleep(0.05)
            assert time.monotonic() < end, (self._name, "waits without a message", log.read_text())
            self._disk.empty()
            process.wait(timeout=_PATIENCE_S)
        return CompletedProcess(command, process.returncode, "", log.read_text())

    def _shown(self) -> dict[str, str]:
        """Return what users see of the databases."""
        return {path.name: run("status", path).stdout for path in sorted(self._place.glob("*.db"))}

    def _undo_hidden(self, shown: dict[str, str]) -> bool:
        """Discard an import that could not be rolled back, as the next import does; users never see its rows."""
        hidden = False
        for path in self._place.glob("*.db"):
            if path.stat().st_size and self._unfinished(path):
                assert self._shown()[path.name] == shown[path.name]
                project = open_project(path)
                hidden |= discard_dead_imports(project.database) > 0
                project.close()
        return hidden

    @staticmethod
    def _unfinished(path: Path) -> bool:
        with closing(sqlite3.connect(path)) as connection:
            return bool(connection.execute("SELECT 1 FROM imports WHERE state = 'running'").fetchone())

    def _state(self) -> State:
        found: State = {}
        for path in sorted(self._place.iterdir()):
            if path.suffix == ".db" and self._served:
                with runner_ends(open_project(path)):
                    pass
            if not path.name.endswith(_BESIDE):
                found[path.name] = _tables(path) if path.suffix == ".db" else path.stat().st_size > 0
        return found


def _tables(path: Path) -> dict[str, tuple[int, bytes]]:
    with closing(sqlite3.connect(path)) as connection:
        if not _is_whole(connection):
            assert path.name == "hurt.db"
            return {"": (1, path.read_bytes())}
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
        found = {}
        for name in names:
            if name not in _COUNTED:
                # An attempt is recorded even if it had no result.
                of = " WHERE kind <> 'reveal'" if name == "label_events" else ""
                rows = connection.execute(f'SELECT * FROM "{name}"{of}').fetchall()
                found[name] = (len(rows), blake2b(repr(rows).encode(), digest_size=8).digest())
        return found


def _is_empty(tables: dict[str, tuple[int, bytes]] | bool) -> bool:
    return isinstance(tables, dict) and not any(
        count for name, (count, _) in tables.items() if name not in ("_sqlite_migrations", "secrets", "guidelines")
    )


def _is_whole(connection: sqlite3.Connection) -> bool:
    try:
        return bool(connection.execute("PRAGMA integrity_check").fetchone() == ("ok",))
    except sqlite3.DatabaseError:
        return False


def _counts(state: State) -> dict[str, object]:
    """Return the numbers of rows, without values that differ in every run: times, uuids and the order of replies."""
    return {
        name: found if isinstance(found, bool) else {table: count for table, (count, _) in found.items()}
        for name, found in state.items()
    }


def _shrunk(begins: State, after: State) -> object:
    """Return the tables with fewer rows than before."""
    old, new = _counts(begins), _counts(after)
    return {
        (name, table): count
        for name, tables in old.items()
        if isinstance(tables, dict)
        for table, count in tables.items()
        if table != "drafts" and new[name][table] < count  # type: ignore[index]
    }


def _difference(left: object, right: object) -> object:
    if isinstance(left, dict) and isinstance(right, dict):
        keys = left.keys() | right.keys()
        return {key: _difference(left.get(key), right.get(key)) for key in keys if left.get(key) != right.get(key)}
    return left, right
