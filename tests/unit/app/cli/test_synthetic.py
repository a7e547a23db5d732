"""``code write-tests`` and ``write-solutions`` from scripts, and the state after a kill."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.background import PATIENCE_S
from tests.coding import ADD, make_code_project
from tests.commands import Call, in_process
from tests.served_runs import stored_requests
from tests.servers.scripted import ScriptedServer, scripted
from tests.servers.wire import Received, Scripted
from workbench.coding.options import SuiteOptions
from workbench.coding.synthesis.tests import USUAL, write_tests
from workbench.core.code import Problem
from workbench.core.project import open_project, opened_project
from workbench.runs.generation import models_from

PROBLEMS = 12


def problems() -> list[Problem]:
    return [
        Problem(
            task_id=f"own/{number}", prompt=f"f{number}?", entry_point=f"f{number}", suites={"base": ADD.suites["plus"]}
        )
        for number in range(PROBLEMS)
    ]


def make(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    made = problems()
    project = make_code_project(folder, {problem.task_id: [{"completion": "x"}] for problem in made}, *made)
    with project.database.write() as connection:
        # The line around texts follows from it: requests of two databases are the same.
        connection.execute("UPDATE secrets SET secret = ?", (bytes(32),))
    project.close()
    return project.path


def reply_to(received: Received) -> str:
    found = re.search(r"calls (\w+) with values", received.body["messages"][0]["content"])
    assert found is not None
    return "".join(f"<assertion>assert {found[1]}({number}) == {number}</assertion>" for number in range(12))


def writing(path: Path, server: ScriptedServer, *arguments: str) -> list[str]:
    return ["code", "write-tests", os.fspath(path), "--model", "m", "-o", f"base_url={server.url}", *arguments]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


def suite(path: Path) -> list[tuple[object, ...]]:
    project = open_project(path)
    rows: list[tuple[object, ...]] = (
        project.database.reader()
        .execute(
            "SELECT t.question_id, t.position, t.form, t.source, s.about FROM tests AS t JOIN suites AS s "
            "ON s.id = t.suite_id WHERE s.name = 'utg' ORDER BY 1, 2"
        )
        .fetchall()
    )
    project.close()
    return rows


def test_streams_and_exit_codes(tmp_path: Path, call: Call) -> None:
    path = make(tmp_path)
    refuses = [True]

    def answer(received: Received) -> str | Scripted:
        if refuses[0] and "f3?" in received.body["messages"][0]["content"]:
            return Scripted(400, body={"error": {"message": "no"}})
        return reply_to(received)

    with scripted(answer) as server:
        code, out, err = call(*writing(path, server, "--suite", "utg", "--filters", "all", "--n", "5"))
        assert code == 3
        assert "55 tests by m for 12 problems" in out
        assert "1 call failed: bad_request" in out
        assert "tries them again" in err
        refuses[0] = False
        code, out, err = call(*writing(path, server, "--suite", "utg", "--filters", "all", "--n", "5", "--json"))
        assert code == 0
        assert (json.loads(out)["kept"], json.loads(out)["dropped"]) == (60, {"surplus": 84})
        assert "13 calls" in err
        assert len(server.received) == 13
    _, out, _ = call("runs", path)
    assert out.startswith("run 1  tests/utg  1  complete  writes texts  13 calls")


@pytest.mark.soak
def test_a_kill_repeats_no_reply_that_was_stored(tmp_path: Path, call: Call) -> None:
    path, other = make(tmp_path / "killed"), make(tmp_path / "whole")
    stored_then: set[str] = set()
    victims: list[subprocess.Popen[bytes]] = []

    def answer(received: Received) -> str:
        if len(server.received) == 7 and victims:
            victims[0].kill()
            victims[0].wait()
        return reply_to(received)

    with scripted(answer) as server:
        arguments = writing(path, server, "--suite", "utg", "--filters", "all", "-o", "concurrency=2")
        command = [sys.executable, "-m", "workbench", *arguments]
        victims.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        assert victims[0].wait(timeout=PATIENCE_S) == -9
        victims.clear()
        project = open_project(path)
        stored_then = stored_requests(project)
        project.close()
        assert 4 <= len(stored_then) <= 7
        assert call(*arguments)[0] == 0
        counts = Counter(hashlib.sha256(received.raw).hexdigest() for received in server.received)
        assert {counts[request] for request in stored_then} == {1}
        assert len(server.received) <= PROBLEMS + 2
    with scripted(reply_to) as server, opened_project(other) as project:
        write_tests(
            project, "utg", SuiteOptions(filters="all"), models_from(project, ["m"], {"base_url": server.url}, USUAL)
        )
    assert suite(path) == suite(other)
    assert len(suite(path)) == 10 * PROBLEMS


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(("--suite", "utg", "--filters", "odd"), "no filter 'odd'"), (("--suite", "base"), "it was imported")],
)
def test_wrong_usage(tmp_path: Path, call: Call, arguments: tuple[str, ...], words: str) -> None:
    path = make(tmp_path)
    with scripted(reply_to) as server:
        code, out, err = call(*writing(path, server, *arguments))
        assert (code, out, words in err, server.received) == (2, "", True, []), err


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["write-solutions", "--name", "x", "--kinds", "wrong"], "There is no kind of solution 'wrong'."),
        (["write-tests", "--suite", "x", "--filters", "wrong"], "There is no filter 'wrong'."),
    ],
)
def test_a_invalid_option_is_reported_before_any_preparation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], command: list[str], told: str
) -> None:
    call = in_process(monkeypatch, capfd)
    code, _, error = call("code", command[0], make(tmp_path), "--model", "nobody's", *command[1:])
    assert (code, told in error) == (2, True)
