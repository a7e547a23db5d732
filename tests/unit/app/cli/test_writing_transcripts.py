"""``transcripts --run N`` of generations: tests, solutions, pools, evolutions, refined problems."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.commands import Call, in_process
from tests.evolving import own_project
from tests.evolving_served import answering, need_a_sandbox, own_tests
from tests.served_runs import VERIFIER, here
from tests.servers.scripted import ScriptedServer, scripted
from tests.servers.wire import Received
from workbench.runs.replaying import load_recorded_replies

ANSWER = answering(own_tests(1))
WRITES = {
    "write-tests": ("--suite", "utg"),
    "write-solutions": ("--name", "more", "--rounds", "1"),
    "pool": ("--name", "pool", "--samples", "2"),
    "evolve": ("--name", "grown", "--rounds", "1"),
    "refine": ("--functions", "--output", "refined.jsonl"),
}
"""Options in addition to the model and its server."""


def reply(received: Received) -> str:
    """Return a test, a program and a problem for any request."""
    said = received.body["messages"][-1]["content"]
    found = ANSWER(received) if "```json" in said or "tests" in said else ""
    return f"{found}\n```python\ndef f(x):\n    return x\n```\n<assertion>assert f(1) == 1</assertion>"


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    own_project(tmp_path, 1).close()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "p.db"


def write(call: Call, database: Path, server: ScriptedServer, command: str, *more: str) -> None:
    given = (os.fspath(database), "--model", "m", "-o", f"base_url={server.url}", *WRITES[command], *more)
    code, _, err = call("code", command, *given)
    assert code in (0, 3), err


@pytest.mark.few(5)
@pytest.mark.parametrize("command", WRITES)
def test_transcripts_show_requests_and_replies(call: Call, database: Path, command: str) -> None:
    need_a_sandbox()
    with scripted(reply) as server:
        write(call, database, server, command)
        requests = [json.loads(one.raw) for one in server.received]
    assert requests
    code, out, err = call("transcripts", database, "--run", "1")
    assert (code, err) == (0, "")
    lines = [json.loads(line) for line in out.splitlines()]
    key = json.dumps
    assert sorted(key(line["request"]) for line in lines) == sorted(map(key, requests))
    assert all(line["response"]["choices"][0]["message"]["content"] for line in lines)
    assert {line["model"] for line in lines} == {"m"}
    _, runs, _ = call("runs", database, "--json")
    (name,) = (one["verifier"] for one in json.loads(runs))
    assert call("transcripts", database, "--verifier", name) == (0, out, "")
    Path("replies.jsonl").write_text(out)
    book, refused = load_recorded_replies(Path("replies.jsonl"))
    assert not refused
    assert book.answer("/v1/chat/completions", key(requests[0]).encode()) is not None


def test_a_run_shows_its_own_calls_and_no_others(call: Call, database: Path) -> None:
    with scripted(reply) as server:
        write(call, database, server, "pool")
        write(call, database, server, "write-tests")
        write(call, database, server, "pool", "--samples", "3")
        first = call("transcripts", database, "--run", "1")[1].splitlines()
        second = call("transcripts", database, "--run", "2")[1].splitlines()
    assert [json.loads(line)["sample"] for line in first] == [0, 1, 2]
    assert len(second) == 1
    assert not {*first} & {*second}


def test_the_run_of_a_judge_identifies_its_transcripts(tmp_path: Path, call: Call) -> None:
    with here(tmp_path, 2) as runs, scripted(lambda _: "Yes") as server:
        runs.start(server.url)
        path = runs.project.path
    by_name = call("transcripts", path, "--verifier", VERIFIER)
    assert call("transcripts", path, "--run", "1") == by_name
    assert len(by_name[1].splitlines()) == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [((), "--verifier NAME or --run N"), (("--run", "7"), "no run 7"), (("--verifier", "x", "--run", "1"), "'x'")],
)
def test_an_invalid_run_is_reported(call: Call, database: Path, words: tuple[str, ...], says: str) -> None:
    code, out, err = call("transcripts", database, *words)
    assert (code, out) == (2, "")
    assert says in err
