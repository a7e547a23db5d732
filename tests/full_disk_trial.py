"""Trying a command with little room: what it does then, what it leaves, and whether it goes on when there is room."""

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
from tests.full_disk_commands import COMMANDS, DATABASES, IN_PARTS, READS, SERVED
from tests.full_disk_given import Given
from workbench.core.project import open_project
from workbench.data.store.importing import discard_dead_imports

State = dict[str, dict[str, tuple[int, bytes]] | bool]
"""Of each file that is no cache: the tables of a database with their rows, or whether there is something in it."""

SENTENCES = ("Database:", "File:", "Error:", "Run:", "Verifier:", "Wrong usage:")
_WAITING = ("nothing can be stored", "waiting for")
_PATIENCE_S = 90.0
_BESIDE = ("-wal", "-shm", ".labels.jsonl", ".columns", ".runner.log", ".runner.lock", ".parts")
_COUNTED = ("changes", "sqlite_sequence", "run_usage")
"""Tables that tell of attempts, too."""


class Trial:
    """One command on a small disk.

    Args:
        name: Of COMMANDS, READS or SERVED.
    """

    def __init__(self, given: Given, disk: SmallDisk, name: str) -> None:
        self._given, self._disk, self._name = given, disk, name
        self._served = name in SERVED
        self._place = disk.path / "work"
        *self._before, self._last = {**COMMANDS, **READS, **SERVED}[name].split(" ; ")

    def run(self, lefts: Sequence[int]) -> Counter[str]:
        """Try it with room, then with so much each time: how often it did its work, and said that it did not."""
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
        done = self._patiently(words) if self._served else run(*words)
        self._disk.empty()
        about = (self._name, left, done.returncode, done.stderr)
        assert "Traceback" not in done.stderr, about
        hidden = self._undo_hidden(shown)
        after = self._state()
        if done.returncode == code:
            assert _counts(after) == _counts(ends), (*about, _difference(_counts(ends), _counts(after)))
            return "waited, then done" if self.waited else "done"
        said = [line for line in done.stderr.splitlines() if line.startswith(SENTENCES)]
        assert (done.returncode in (1, 3), len(said)) == (True, 1), about
        if self._served or self._name in IN_PARTS:
            # What was answered and stored stays.
            assert _shrunk(begins, after) == {}, (*about, _shrunk(begins, after))
        else:
            # A new database without a row is no half of anything: the same command goes on with it.
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
            if (self._given.folder / name).exists():
                shutil.copy(self._given.folder / name, self._place / name)
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
        texts = {"IN/": f"{self._given.folder}/", "FILE": f"{self._place}/new", "FOLDER": f"{self._place}/folder"}
        texts |= {"ITEM": self._given.item, "FLAGGED": self._given.flagged, "URL": self._given.url}
        for name, text in texts.items():
            word = word.replace(name, text)
        return word

    def _patiently(self, words: list[str]) -> CompletedProcess[str]:
        """Run a command that may wait for room, which there is once it has waited."""
        command = [sys.executable, "-m", "workbench", *words]
        told = self._given.folder / "told"
        with (
            told.open("wb") as narration,
            subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=narration) as process,
        ):
            end = time.monotonic() + _PATIENCE_S
            while process.poll() is None and time.monotonic() < end:
                if any(words in told.read_text() for words in _WAITING):
                    self.waited = True
                    break
                time.sleep(0.05)
            assert time.monotonic() < end, (self._name, "waits without a word", told.read_text())
            self._disk.empty()
            process.wait(timeout=_PATIENCE_S)
        return CompletedProcess(command, process.returncode, "", told.read_text())

    def _shown(self) -> dict[str, str]:
        """What users see of the databases."""
        return {path.name: run("status", path).stdout for path in sorted(self._place.glob("*.db"))}

    def _undo_hidden(self, shown: dict[str, str]) -> bool:
        """Do as the next import does, where one could not be undone; nobody has seen anything of it."""
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
                # That somebody has looked is on record, also if nothing came of it.
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
    """Without what differs whenever a command is run: times, uuids, and the order in which replies came."""
    return {
        name: found if isinstance(found, bool) else {table: count for table, (count, _) in found.items()}
        for name, found in state.items()
    }


def _shrunk(begins: State, after: State) -> object:
    """Tables of which there is less."""
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
