"""``verify``, ``runs`` and ``verdicts`` with a model server, from scripts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.background import PATIENCE_S, install_plugin, runner_ends, until
from tests.commands import run
from tests.helpers import make_project
from tests.served_runs import VERIFIER, rows
from tests.servers.providers import providers
from tests.servers.scripted import Received, Scripted, ScriptedServer, chat_reply, scripted
from workbench.core.project import Project

ITEMS = 40


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    install_plugin(tmp_path, monkeypatch)
    with runner_ends(make_project(tmp_path, rows(ITEMS))) as made:
        yield made


def spawn(project: Project, verb: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "workbench", verb, os.fspath(project.path), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def call(project: Project, verb: str, *arguments: str, code: int = 0) -> tuple[str, str]:
    done = run(verb, project.path, *arguments)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


def document(project: Project, verb: str, *arguments: str, code: int = 0) -> Any:
    return json.loads(call(project, verb, *arguments, "--json", code=code)[0])


def asking(server: ScriptedServer, **more: object) -> list[str]:
    given = {"base_url": server.url, "model": "m", **more}
    return [VERIFIER, *(word for name, value in given.items() for word in ("-o", f"{name}={value}"))]


def test_a_run_from_estimate_to_transcript(project: Project) -> None:
    broken = [True]

    def answer(received: Received) -> str | Scripted:
        if broken[0] and received.body["messages"][0]["content"].endswith(" 7."):
            return Scripted(400, body={"error": {"message": "\x1b[2Jno"}})
        return "Yes"

    with scripted(answer) as server:
        out, err = call(project, "verify", *asking(server))
        assert f"About {ITEMS} calls for {ITEMS} items" in err
        assert "cost unknown: no price in workbench.toml" in err
        assert "Judge those again: workbench runs" in err
        assert "resume 1 --retry-errors" in err
        assert f"{ITEMS} calls; 3.9k tokens in, 780 out; 39 without a known price; failed: 1 bad_request" in out
        assert document(project, "verify", *asking(server))["reused"] == ITEMS
        shown = document(project, "runs", "show", "1")
        assert shown["attempts"] == {"unsent": 0, "sent": 0, "failed": 1, "done": ITEMS - 1}
        assert (shown["ambiguous"], shown["spent"]["calls"], shown["usage"]["errors"]) == ([], 39, {"bad_request": 1})
        assert "failed: 1 bad_request" in call(project, "runs")[0]
        told = call(project, "runs", "show", "1")[0]
        assert "spent: 39 calls, 4.68k tokens, cost unknown" in told
        assert "Resume it with --retry-errors" in told

        broken[0] = False
        document(project, "runs", "resume", "1", "--retry-errors")
        until(lambda: document(project, "runs", "show", "1")["verdicts"]["correct"] == ITEMS)
        again = document(project, "verify", *asking(server, parser="judgment"), "--name", "again")
        assert (again["reused"], again["verdicts"]["incorrect"]) == (ITEMS, ITEMS)
        assert len(server.received) == ITEMS + 1

    (found,) = document(project, "verdicts", "--verifier", "again", "--transcript", "c3")
    assert (found["verdict"], found["calls"][0]["reused"], found["calls"][0]["text"]) == ("incorrect", True, "Yes")
    text, _ = call(project, "verdicts", "--verifier", VERIFIER, "--transcript", "c3")
    assert "1. ask 0  (judge, scripted-model by openai-compatible, finish stop, 100 tokens in, 20 out" in text
    assert "It is 3." in text
    assert "\x1b" not in text
    other = ("verdicts", "--verifier", VERIFIER, "--run", "2", "--transcript", "c3")
    assert "Run 2 is" in call(project, *other, code=2)[1]


@pytest.mark.soak
def test_a_spent_budget_exits_with_3_and_advice(project: Project) -> None:
    with scripted(lambda received: "Yes") as server:
        out, err = call(project, "verify", *asking(server, max_calls=5), code=3)
        assert "is paused" in out
        assert "The budget is used up: 5 of 5 calls were made. Raise it and resume the run." in err
        assert document(project, "verify", *asking(server))["state"] == "complete"
        assert len(server.received) == ITEMS


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["openai", "gemini", "xai"])
def test_a_wrong_key_exits_with_3_and_is_not_measured(
    project: Project, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-0123456789abcdef")
    provider = providers()[name]
    words = provider.cell("wrong_key").says
    with scripted(lambda received: provider.answer("wrong_key")) as server:
        out, err = call(project, "verify", *asking(server, api_key_env="MY_KEY"), code=3)
        assert len(server.received) < ITEMS
    for told in (err, call(project, "runs", "show", "1")[0]):
        assert words in told
    assert "0 correct, 0 incorrect, 0 abstain, 0 error" in out
    assert VERIFIER not in call(project, "accuracy")[0]
    with scripted(lambda received: "Yes") as server:
        again = document(project, "verify", *asking(server, api_key_env="MY_KEY"))
        assert (again["state"], again["items"], len(server.received)) == ("complete", ITEMS, ITEMS)


def test_control_c_leaves_the_run_going_on_its_server(project: Project) -> None:
    go = threading.Event()
    with scripted(lambda received: Scripted(hold=go, body=chat_reply("Yes"))) as server:
        process = spawn(project, "verify", *asking(server, concurrency=4))
        until(lambda: len(server.received) == 4)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
        assert "continues in the background" in err
        go.set()
        until(lambda: document(project, "runs")[0]["state"] == "complete")
        assert len(server.received) == ITEMS


@pytest.mark.parametrize(
    ("verb", "arguments", "message"),
    [
        ("runs", ["list", "--retry-errors"], "--retry-errors is only for resume"),
        ("verdicts", ["--verifier", "x", "--transcript", "c1"], "no verdicts of a verifier 'x'"),
        (
            "verdicts",
            ["--verifier", "x", "--transcript", "c1", "--evidence"],
            "Give one of --transcript and --evidence",
        ),
        ("verify", [VERIFIER, "-o", "model=m"], "base_url: it is missing"),
    ],
)
def test_wrong_usage_exits_2(project: Project, verb: str, arguments: list[str], message: str) -> None:
    _, err = call(project, verb, *arguments, code=2)
    assert message in err
