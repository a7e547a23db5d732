"""Progress output of commands, and Ctrl-C during SQLite work."""

from __future__ import annotations

import io
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, redirect_stderr
from functools import partial
from pathlib import Path

import pytest
from msgspec import structs

from tests.background import PATIENCE_S
from tests.helpers import make_project, numbered
from workbench.app.cli import common
from workbench.app.cli.common import line_of, one_line, showing_progress, shown_run
from workbench.care import backups
from workbench.core.database.connection import interruptibly
from workbench.core.progress import BYTES, Listener, Step, Stopped, listening_with, step
from workbench.core.run import RunInfo, RunUsage

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


class Stream(io.StringIO):
    """Stderr, as a terminal or not; tells when something was written."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal
        self.wrote = threading.Event()

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> int:
        found = super().write(text)
        self.wrote.set()
        return found


@pytest.fixture(params=[True, False], ids=["terminal", "file"])
def stderr(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Stream:
    """A stream for what is shown, at once."""
    stream = Stream(request.param)
    monkeypatch.setattr(common, "AFTER_S", 0.0)
    monkeypatch.setattr(common, "_REDRAW_S", 0.01)
    return stream


def test_long_work_shows_a_temporary_line_on_a_terminal(stderr: Stream) -> None:
    with redirect_stderr(stderr), showing_progress(), step("reading", 200, BYTES) as advance:
        advance(50)
        stderr.wrote.clear()
        assert stderr.wrote.wait(PATIENCE_S)
    shown = stderr.getvalue()
    assert "reading: 25%" in shown or "reading: 0%" in shown
    assert shown.endswith("\r\x1b[K" if stderr.isatty() else "\n")
    # Elsewhere a line now and then, and nothing to erase.
    assert ("\r" in shown) == stderr.isatty()


def test_short_work_shows_nothing(stderr: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "AFTER_S", 1e9)
    with redirect_stderr(stderr), showing_progress(), step("reading", 200):
        time.sleep(0.05)
    assert stderr.getvalue() == ""


def test_output_of_the_command_is_not_overwritten(stderr: Stream) -> None:
    with redirect_stderr(stderr), showing_progress(), one_line() as line, step("reading", 200):
        if line:
            line("run 3: 7 of 9")
        time.sleep(0.05)
    assert "reading" not in stderr.getvalue()
    assert ("run 3" in stderr.getvalue()) == stderr.isatty()


def test_a_line_shows_each_part_and_the_end() -> None:
    outer, inner = Step("comparing", 15, "pairs", 0.0), Step("drawing samples", None, "", 3.0)
    outer.advance(4, 3.0)
    assert line_of([outer, inner], 5.0) == "comparing: 4 of 15 pairs · drawing samples, 5 s so far"
    for second in (4.0, 5.0, 6.0):
        outer.advance(1, second)
    assert line_of([outer], 6.0) == "comparing: 7 of 15 pairs, 8 s to go"


def test_ctrl_c_ends_sql_that_would_never_end() -> None:
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as connection:
        looked = 0

        def pressed() -> None:
            nonlocal looked
            looked += 1
            if looked == 3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interruptibly(lambda: connection.execute(ENDLESS).fetchall(), connection.interrupt, pressed)
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_listener_can_interrupt_and_results_and_errors_return() -> None:
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as connection:
        looks = iter([False, False, True])
        with listening_with(Listener(lambda: next(looks, True))), pytest.raises(Stopped):
            interruptibly(lambda: connection.execute(ENDLESS).fetchall(), connection.interrupt)
        assert interruptibly(lambda: connection.execute("SELECT 7").fetchone(), connection.interrupt) == (7,)
        with pytest.raises(sqlite3.OperationalError, match="nowhere"):
            interruptibly(lambda: connection.execute("SELECT * FROM nowhere"), connection.interrupt)


@pytest.mark.parametrize("command", ["backup", "doctor"])
def test_backup_and_doctor_can_be_ended_and_leave_nothing(tmp_path: Path, command: str) -> None:
    with closing(make_project(tmp_path, numbered(50))) as project:
        works: dict[str, Callable[[], object]] = {
            "backup": partial(backups.backup_of, project.path, tmp_path / "copy.db"),
            "doctor": partial(backups.diagnosis, project.path),
        }
        before = {path.name for path in tmp_path.iterdir()}
        stopped = Listener()
        stopped.stop()
        with listening_with(stopped), pytest.raises(Stopped):
            works[command]()
        assert {path.name for path in tmp_path.iterdir()} == before
        assert all(finding.ok for finding in backups.diagnosis(project.path) if finding.name == "integrity")


def test_a_rate_limit_of_the_server_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    run = RunInfo(
        run=3, verifier="j", kind="judge", version="1", selection="all", state="running", request=None, items=9,
        done=4, workers=1, alive=True, pid=1, heartbeat=None, created_at="", started_at=None, completed_at=None,
        message=None, usage=RunUsage(),
    )  # fmt: skip
    limited = structs.replace(
        run, usage=RunUsage(warnings=["server limits the rate of calls: they wait. The server says: 9 a minute"])
    )
    lines: list[str] = []
    for tell in (shown_run(), shown_run(lines.append)):
        for now in (run, limited, limited, run, limited):
            tell(now)
    assert (
        capsys.readouterr().err.count(
            "  Run 3: server limits the rate of calls: they wait. The server says: 9 a minute\n"
        )
        == 2
    )


def test_the_obstacle_of_a_run_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    run = RunInfo(
        run=3, verifier="exact", kind="exact", version="1", selection="all", state="running", request=None, items=9,
        done=4, workers=1, alive=True, pid=1, heartbeat=None, created_at="", started_at=None, completed_at=None,
        message=None,
    )  # fmt: skip
    waiting = structs.replace(run, waiting="waiting for space since 08:57")
    lines: list[str] = []
    for tell in (shown_run(), shown_run(lines.append)):
        for now in (run, waiting, waiting, run, waiting):
            tell(now)
    assert capsys.readouterr().err == 2 * (
        "  Run 3 is waiting for space since 08:57. It then continues by itself; nothing is lost.\n"
    )
    assert lines[1].startswith("run 3 waiting for space since 08:57: 4 of 9")
