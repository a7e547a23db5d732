"""Kill a runner just before or just after a commit; runners are forked from a process that has loaded the program.

Every commit counts: those of calls, replies, verdicts, heartbeats and the state of the run.
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
from pathlib import Path
from typing import Any, NamedTuple


class Commit(NamedTuple):
    """The commit at which a runner is killed, counted from 1, before or after it; 0 for none."""

    number: int = 0
    after: bool = False


NEVER = Commit()
"""The runner is not killed."""


class Working(NamedTuple):
    """A working runner.

    Attributes:
        pid: Its process id.
    """

    process: subprocess.Popen[str]
    pid: int

    def end(self) -> int | None:
        """Wait until it ends; return the number of its commits, or None if it was killed."""
        assert self.process.stdout
        found: int | None = json.loads(self.process.stdout.readline())
        return found


class Runners:
    """Start runners, one at a time; see `runners`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def begin(self, database: Path, commit: Commit = NEVER) -> Working:
        """Let a runner process everything queued in a database."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps([str(database), *commit]), file=self._process.stdin, flush=True)
        return Working(self._process, json.loads(self._process.stdout.readline()))


@contextmanager
def runners() -> Iterator[Runners]:
    """Start a process that forks runners."""
    root = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-m", "tests.killed_runner"]
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Runners(process)
        finally:
            assert process.stdin
            process.stdin.close()


class _Commits:
    def __init__(self, commit: Commit) -> None:
        self._commit = commit
        self.made = 0

    def factory(self, base: type[sqlite3.Connection]) -> type[sqlite3.Connection]:
        commits = self

        class Watched(base):  # type: ignore[misc, valid-type]
            def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
                if not sql.upper().startswith("COMMIT"):
                    return super().execute(sql, *args)  # type: ignore[no-any-return]
                commits.made += 1
                falls = commits.made == commits._commit.number
                if falls and not commits._commit.after:
                    os.kill(os.getpid(), signal.SIGKILL)
                found: sqlite3.Cursor = super().execute(sql, *args)
                if falls:
                    os.kill(os.getpid(), signal.SIGKILL)
                return found

        return Watched


def _child(database: str, commit: Commit, writer: int) -> None:
    from workbench.runs import runner

    commits = _Commits(commit)
    connect = sqlite3.connect

    def watched(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        kwargs["factory"] = commits.factory(kwargs.get("factory", sqlite3.Connection))
        found: sqlite3.Connection = connect(*args, **kwargs)
        return found

    sqlite3.connect = watched  # type: ignore[assignment]
    runner._IDLE_S = 0.0
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    runner.run_database(Path(database))
    os.write(writer, json.dumps(commits.made).encode())
    os._exit(0)


def main() -> None:
    """Start the runners that are requested on standard input."""
    import workbench.runs.batching
    import workbench.runs.local
    import workbench.runs.runner
    import workbench.runs.serving
    import workbench.verifiers.judges.verifier
    import workbench.verifiers.stacks.stack  # noqa: F401

    for line in sys.stdin:
        database, number, after = json.loads(line)
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            try:
                _child(database, Commit(number, after), writer)
            finally:
                os._exit(1)
        os.close(writer)
        print(json.dumps(child), flush=True)
        with os.fdopen(reader) as pipe:
            reply = pipe.read()
        os.waitpid(child, 0)
        print(reply or "null", flush=True)


if __name__ == "__main__":
    main()
