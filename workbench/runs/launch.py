"""Starting the runner: a process of its own that outlives whoever starts it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from workbench.core.database.connection import Database
from workbench.core.errors import RunError
from workbench.core.own_files import append_own, open_own
from workbench.runs.liveness import is_alive
from workbench.runs.store import runs

_START_S = 30.0
_LOOK_S = 0.02
_LOG_BYTES = 1_000_000
_LAST_BYTES = 10_000


def log_path(database: Path) -> Path:
    """Where the runner of a database writes what went wrong."""
    return database.with_name(f"{database.name}.runner.log")


def ensure_runner(database: Database) -> None:
    """See to it that a runner lives; call it after the run was queued.

    Raises:
        RunError: The runner doesn't start.
    """
    if is_alive(runs.lease(database.reader()), database.path):
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
    return row is not None and (row.pid == pid or is_alive(row, database.path))


def _spawn(database: Path) -> subprocess.Popen[bytes]:
    """Start the runner in a session of its own, where no key press and no closed terminal reaches it."""
    try:
        with append_own(log_path(database), _LOG_BYTES) as stream:
            return subprocess.Popen(
                [sys.executable, "-P", "-m", "workbench.runs.runner", os.fspath(database.resolve())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stream,
                start_new_session=True,
                close_fds=True,
            )
    except OSError as error:
        where = f" {error.filename}:" if error.filename else ""
        raise RunError(f"The background runner can't be started:{where} {error.strerror or error}.") from error


def _last_line(database: Path) -> str:
    try:
        with open_own(log_path(database)) as log:
            log.seek(max(os.fstat(log.fileno()).st_size - _LAST_BYTES, 0))
            lines = log.read(_LAST_BYTES).decode("utf-8", "replace").splitlines()
    except OSError as error:
        return f"its log can't be read: {error.strerror}"
    return lines[-1] if lines else "it left no message"
