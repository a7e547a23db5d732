"""Kill commands just before each point at which they change files or databases, each point once.

Points are the calls that name, remove, cut and sync files, and the statements by which SQLite writes: commits,
copies, changes of the journal's mode, and the last close of a database. They run in processes forked from one that
has loaded them.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.commands import stub_sandboxes
from tests.newer_schema import newer_events

_NAMING = ("rename", "replace", "link", "symlink", "unlink", "remove", "mkdir", "rmdir")
CALLS = frozenset((*_NAMING, "fsync", "fdatasync", "truncate", "ftruncate", "chmod", "fchmod", "utime"))
STATEMENTS = ("COMMIT", "VACUUM", "PRAGMA JOURNAL_MODE", "PRAGMA WAL_CHECKPOINT")
_LOADED = ("care", "data", "labels", "sets")


class Done(NamedTuple):
    """The outcome of a command.

    Attributes:
        killed: Whether it was killed before it finished.
        code: Its exit code.
        points: The points it passed, in order; only if it finished.
    """

    killed: bool
    code: int = 0
    points: list[str] = []  # noqa: RUF012


class Killer:
    """Run commands; see `killer`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, folder: Path, *words: str, point: int = 0) -> Done:
        """Run a command in a folder, and kill it just before its point of that number (from 1)."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps([str(folder), words, point]), file=self._process.stdin, flush=True)
        return Done(*json.loads(self._process.stdout.readline()))


@contextmanager
def killer() -> Iterator[Killer]:
    """Start a process that runs commands."""
    root = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-m", "tests.killed_points"]
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Killer(process)
        finally:
            assert process.stdin
            process.stdin.close()


class _Points:
    def __init__(self, last: int) -> None:
        self._last = last
        self._process = os.getpid()
        self.passed: list[str] = []

    def reach(self, name: str) -> None:
        # Points of child processes do not count.
        if os.getpid() != self._process:
            return
        self.passed.append(name)
        if len(self.passed) == self._last:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, _frame: Any, event: str, called: Any) -> None:
        if event == "c_call" and called.__name__ in CALLS and getattr(called, "__module__", "") in ("posix", "nt"):
            self.reach(called.__name__)

    def connection(self, base: type[sqlite3.Connection]) -> type[sqlite3.Connection]:
        reach = self.reach

        class Watched(base):  # type: ignore[misc, valid-type]
            def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
                if sql.upper().startswith(STATEMENTS):
                    reach(" ".join(sql.split()[:2]))
                return super().execute(sql, *args)  # type: ignore[no-any-return]

            def backup(self, *args: Any, **kwargs: Any) -> None:
                reach("backup()")
                super().backup(*args, **kwargs)

            def commit(self) -> None:
                reach("commit()")
                super().commit()

            def close(self) -> None:
                reach("close()")
                super().close()

        return Watched


def _child(folder: str, words: list[str], point: int, writer: int) -> None:
    from workbench.app.cli import main

    points = _Points(point)
    connect = sqlite3.connect

    def watched(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        kwargs["factory"] = points.connection(kwargs.get("factory", sqlite3.Connection))
        found: sqlite3.Connection = connect(*args, **kwargs)
        return found

    sqlite3.connect = watched  # type: ignore[assignment]
    os.chdir(folder)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    if words[0] == "migrate":
        # A program with a newer schema opens the database.
        newer_events(pytest.MonkeyPatch())
        words = ["status", *words[1:]]
    if words[0] == "doctor":
        stub_sandboxes(pytest.MonkeyPatch())
    sys.argv = ["workbench", *words]
    sys.setprofile(points.watch)
    code: object = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    points.reach("end")
    sys.setprofile(None)
    os.write(writer, json.dumps([False, code or 0, points.passed]).encode())
    os._exit(0)


def main() -> None:
    """Run the commands that arrive on standard input."""
    for name in _LOADED:
        import_module(f"workbench.app.cli.{name}")
    for line in sys.stdin:
        folder, words, point = json.loads(line)
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            try:
                _child(folder, words, point, writer)
            finally:
                os._exit(1)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            reply = pipe.read()
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status)
        print(reply if reply and not killed else json.dumps([killed, os.waitstatus_to_exitcode(status)]), flush=True)


if __name__ == "__main__":
    main()
