"""Starting the runner: a process of its own that outlives whoever starts it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from workbench.errors import RunError
from workbench.runs.lease import is_alive
from workbench.store import runs
from workbench.store.connection import Database

_START_S = 30.0
_LOOK_S = 0.02
_LOG_BYTES = 1_000_000


def log_path(database: Path) -> Path:
    """Where the runner of a database writes what went wrong."""
    return database.with_name(f"{database.name}.runner.log")


def ensure_runner(database: Database) -> None:
    """See to it that a runner lives; call it after the run was queued.

    Raises:
        RunError: The runner doesn't start.
    """
    if is_alive(runs.lease(database.reader())):
        return
    process = _spawn(database.path)
    # Whoever starts a process has to collect it when it ends; the app may outlive many runners.
    threading.Thread(target=process.wait, name="runner-end", daemon=True).start()
    patience = time.monotonic() + _START_S
    while not _has_begun(database, process.pid):
        if process.returncode is not None:
            if process.returncode == 0:
                return
            raise RunError(
                f"The background runner ended with exit code {process.returncode}: {_last_line(database.path)}",
                f"More in {log_path(database.path)}.",
            )
        if time.monotonic() > patience:
            raise RunError("The background runner doesn't start.", f"See {log_path(database.path)}.")
        time.sleep(_LOOK_S)


def _has_begun(database: Database, pid: int) -> bool:
    """Whether this runner took its claim (and may have died since), or another one lives."""
    row = runs.lease(database.reader())
    return row is not None and (row.pid == pid or is_alive(row))


def _spawn(database: Path) -> subprocess.Popen[bytes]:
    """Start the runner in a session of its own, where no key press and no closed terminal reaches it."""
    log = log_path(database)
    mode = "wb" if log.exists() and log.stat().st_size > _LOG_BYTES else "ab"
    try:
        with log.open(mode) as stream:
            return subprocess.Popen(
                [sys.executable, "-P", "-m", "workbench.runs.runner", os.fspath(database.resolve())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stream,
                start_new_session=True,
                close_fds=True,
            )
    except OSError as error:
        raise RunError(f"The background runner can't be started: {error}.") from error


def _last_line(database: Path) -> str:
    lines = log_path(database).read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[-1] if lines else "it left no message"
