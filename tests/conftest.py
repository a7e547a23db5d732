"""Fixtures that every test may use."""

from __future__ import annotations

import gc
import json
import os
import signal
import sqlite3
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests.representatives import pytest_collection_modifyitems
from workbench.app.cli import COMMAND_LINE
from workbench.config.file import FOLDER_VARIABLE
from workbench.core import errors
from workbench.core.database import connection

__all__ = ["pytest_collection_modifyitems"]

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data"

# A busy machine must not fail a test: no test depends on elapsed time. In CI the examples are the same each time.
settings.register_profile(
    "workbench",
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("workbench")
if "CI" in os.environ:
    # Hypothesis collects constants of all imported modules, so examples would depend on the tests that ran earlier.
    providers._get_local_constants = lambda: providers._local_constants

# The coordinator has the same name on every machine.
os.environ["LOGNAME"] = "coordinator"

# Bytecode is cached whatever the environment says: tests start hundreds of processes.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


# Creating a context reads 140 certificates: 20 ms for each test that calls a server.
httpx.create_ssl_context = cache(httpx.create_ssl_context)


def pytest_collection_finish() -> None:
    """Exempt everything imported and collected so far from garbage collection: each collection would take a second."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


class OpenFiles:
    """The number of open files of this process, checked against its last value."""

    FOLDER = Path("/proc/self/fd")
    MORE = 300

    def __init__(self) -> None:
        self._expected = self.MORE

    def collect(self) -> None:
        """Run the garbage collector if many more files are open than after the last collection."""
        if self.FOLDER.exists() and len(os.listdir(self.FOLDER)) > self._expected:
            gc.collect()
            self._expected = len(os.listdir(self.FOLDER)) + self.MORE


open_files = OpenFiles()


@pytest.fixture(autouse=True)
def _collect_open_files() -> Iterator[None]:
    """Collect projects that tests leave open: the garbage collector runs rarely."""
    yield
    open_files.collect()


@pytest.fixture(autouse=True)
def _use_command_line_messages() -> None:
    """Messages are phrased for the current front end: tests of the app set theirs, all others use the command line."""
    errors.set_front_end(COMMAND_LINE)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real data next to the project; skip the test if it is missing."""
    if not (SHARED / "verifybench_hard_dev.jsonl").is_file():
        pytest.skip("the real data folder ../shared/data is not here")
    return SHARED


@pytest.fixture(scope="session")
def real_file(shared_data: Path) -> Path:
    """Return the file of 108 real VerifyBench-Hard rows in the released schema."""
    return shared_data / "verifybench_hard_dev.jsonl"


@pytest.fixture(scope="session")
def real_rows(real_file: Path) -> list[dict[str, Any]]:
    """Return the same rows, decoded."""
    return [json.loads(line) for line in real_file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="session", autouse=True)
def _own_configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the consent that tests give out of the user's configuration."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER_VARIABLE, str(tmp_path_factory.mktemp("configuration")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _enable_ctrl_c() -> None:
    """Tests started in the background ignore SIGINT, and so would the processes they start."""
    enable_ctrl_c()


def enable_ctrl_c() -> None:
    """Handle ctrl-C as a program started from a terminal does."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _restore_ctrl_c() -> Iterator[None]:
    """Restore the signal handler: a runner in the test's process replaces it."""
    before = signal.getsignal(signal.SIGINT)
    yield
    if signal.getsignal(signal.SIGINT) is not before:
        signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def _close_connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close connections that a test opened: one left to the garbage collector causes a warning, and so an error."""
    opened: list[sqlite3.Connection] = []
    original = connection.open_connection

    def tracked(path: Path) -> sqlite3.Connection:
        opened.append(original(path))
        return opened[-1]

    monkeypatch.setattr(connection, "open_connection", tracked)
    yield
    for one in opened:
        one.close()
