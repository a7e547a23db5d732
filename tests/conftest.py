"""Fixtures every test may use."""

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

# A busy machine is no failure: no test is judged by a clock. Where integration runs, examples are the same each time.
settings.register_profile(
    "workbench",
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("workbench")
if "CI" in os.environ:
    # Constants of the program are examples, too: of those of its modules that earlier tests have imported.
    providers._get_local_constants = lambda: providers._local_constants

# Whoever runs the tests, the coordinator of their projects has one name.
os.environ["LOGNAME"] = "coordinator"

# Compiled once, whatever the surroundings say: tests start hundreds of processes.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


# A context reads 140 certificates: 20 ms for each test that calls a server.
httpx.create_ssl_context = cache(httpx.create_ssl_context)


def pytest_collection_finish() -> None:
    """Have no collection look at what was imported and collected by now: each would take a second."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


class OpenFiles:
    """How many files this process has open, as often as that has grown."""

    FOLDER = Path("/proc/self/fd")
    MORE = 300

    def __init__(self) -> None:
        self._expected = self.MORE

    def collect(self) -> None:
        """Close what only the collector closes, where there is much more than after the last time."""
        if self.FOLDER.exists() and len(os.listdir(self.FOLDER)) > self._expected:
            gc.collect()
            self._expected = len(os.listdir(self.FOLDER)) + self.MORE


open_files = OpenFiles()


@pytest.fixture(autouse=True)
def _left_open() -> Iterator[None]:
    """Projects that tests leave open are closed by the collector, which comes seldom."""
    yield
    open_files.collect()


@pytest.fixture(autouse=True)
def _worded_for_the_command_line() -> None:
    """Messages are worded for the front end at work: the app's tests start one, all others are at a shell."""
    errors.set_front_end(COMMAND_LINE)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data beside the project; tests that need it are skipped elsewhere."""
    if not (SHARED / "verifybench_hard_dev.jsonl").is_file():
        pytest.skip("the real data folder ../shared/data is not here")
    return SHARED


@pytest.fixture(scope="session")
def real_file(shared_data: Path) -> Path:
    """108 real VerifyBench-Hard rows in the released schema."""
    return shared_data / "verifybench_hard_dev.jsonl"


@pytest.fixture(scope="session")
def real_rows(real_file: Path) -> list[dict[str, Any]]:
    """The same rows, decoded."""
    return [json.loads(line) for line in real_file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="session", autouse=True)
def _own_configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests accept is not remembered for whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER_VARIABLE, str(tmp_path_factory.mktemp("configuration")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_is_heeded() -> None:
    """Tests started in the background ignore it, and what they start would, too."""
    heed_ctrl_c()


def heed_ctrl_c() -> None:
    """Take ctrl-C as a program does that was started by hand."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _ctrl_c_is_as_it_was() -> Iterator[None]:
    """A runner in the test's own process takes signals over; the next test is to have them again."""
    before = signal.getsignal(signal.SIGINT)
    yield
    if signal.getsignal(signal.SIGINT) is not before:
        signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def _connections_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close what a test has opened: a connection left to the garbage collector is a warning, so an error."""
    opened: list[sqlite3.Connection] = []
    original = connection.open_connection

    def tracked(path: Path) -> sqlite3.Connection:
        opened.append(original(path))
        return opened[-1]

    monkeypatch.setattr(connection, "open_connection", tracked)
    yield
    for one in opened:
        one.close()
