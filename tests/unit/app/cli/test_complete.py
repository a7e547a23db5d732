"""``workbench complete``: its output and exit codes, and kills or Ctrl-C without loss."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.background import PATIENCE_S
from tests.commands import Call, in_process
from tests.drawn_pool import make_drawn_pool
from tests.sampling import answering, carry_out, completions, plan, write_plan
from tests.servers.scripted import Received, Scripted, chat_reply, scripted
from workbench.core.project import Project

MODELS = {"a": "samples = 2\ntemperature = 1\nconcurrency = 2", "b": "concurrency = 1"}
QUESTIONS = 40
"""More than a part."""


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make_drawn_pool(tmp_path, [f"What is {number}?" for number in range(3)])
    yield made
    made.close()


def pool(folder: Path) -> Project:
    folder.mkdir()
    return make_drawn_pool(folder, [f"What is {number}?" for number in range(QUESTIONS)])


def completion_text(model: str, question: str) -> str:
    return f"{model}: {question}"


def test_a_plan_from_dry_run_to_done(project: Project, call: Call) -> None:
    with scripted(answering(completion_text)) as server:
        file = write_plan(project.path.parent, server.url, {"a": "rpm = 60000", "b": ""})
        code, out, _ = call("complete", project.path, file, "--dry-run")
        assert code == 0
        assert "3 questions of draw@1" in out
        assert "All 2 models: 0 of 6 completions there, 6 calls to make" in out
        code, _, err = call("complete", project.path, file)
        assert code == 2
        assert "Not trusted yet" in err
        code, out, _ = call("complete", project.path, file, "--trust")
        assert code == 0
        assert out.startswith("6 new completions of 3 questions")
        code, out, _ = call("complete", project.path, file, "--trust", "--json", "--model", "b")
        assert code == 0
    (found,) = json.loads(out)["models"]
    assert (found["model"], found["there"], found["wanted"]) == ("b", 3, 3)
    code, out, _ = call("complete", project.path, file, "--dry-run", "--json")
    assert json.loads(out)["total"]["calls"] == 0


def test_a_model_without_a_plan(project: Project, call: Call) -> None:
    with scripted(answering(completion_text)) as server:
        given = ("--set", "draw", "--model", "a", "-o", f"base_url={server.url}", "-o", "temperature=1", "-n", 2)
        code, out, err = call("complete", project.path, *given)
    assert (code, err) == (0, "")
    assert out.startswith("6 new completions")
    for wrong, message in (
        (("--model", "a", "-o", "base_url=http://a/v1"), "The questions are missing"),
        (("--set", "draw"), "No model is named"),
        ((write_plan(project.path.parent, "http://a/v1", {"a": ""}), "-n", 2), "write them into the plan"),
        ((project.path.parent / "plan.toml", "--set", "draw"), "The plan names the questions"),
    ):
        code, _, err = call("complete", project.path, *wrong)
        assert code == 2
        assert message in err


def test_failures_are_reported_and_set_the_exit_code(project: Project, call: Call) -> None:
    def answer(model: str, question: str) -> str | Scripted:
        if model == "b":
            return Scripted(401, body={"error": {"message": "\x1b[31mno"}})
        return Scripted(400, body={"error": {"message": "too long a prompt"}}) if "1" in question else "so"

    with scripted(answering(answer)) as server:
        file = write_plan(project.path.parent, server.url, {"a": "", "b": ""})
        code, out, err = call("complete", project.path, file, "--trust")
        assert code == 1
        assert "a: 2 of 3 there, 1 failed (bad_request)" in out
        assert "rejects calls" in err
        assert "\x1b" not in err
        assert "Not complete: a, b." in err
        code, _, _ = call("complete", project.path, file, "--trust", "--model", "a")
        assert code == 3


def test_replies_that_were_cut_off_are_seen(project: Project, call: Call) -> None:
    def answer(received: Received) -> Scripted:
        reply = chat_reply("and so")
        reply["choices"][0]["finish_reason"] = "length"
        return Scripted(body=reply)

    with scripted(answer) as server:
        file = write_plan(project.path.parent, server.url, {"a": ""})
        _, out, _ = call("complete", project.path, file, "--trust")
    assert "a: 3 of 3 there, 3 cut off by max_tokens" in out


def test_ctrl_c_stores_received_replies(project: Project, call: Call) -> None:
    stop = True

    def answer(received: Received) -> str:
        nonlocal stop
        if stop:
            stop = False
            os.kill(os.getpid(), signal.SIGINT)
        return "so"

    with scripted(answer) as server:
        file = write_plan(project.path.parent, server.url, {"a": "concurrency = 1"})
        code, out, err = call("complete", project.path, file, "--trust")
        assert (code, out) == (130, "")
        assert "run the same command again to continue" in err
        code, _, _ = call("complete", project.path, file, "--trust")
        assert code == 0
        assert len(server.received) == 3


def test_ctrl_c_reports_its_wait_for_calls_in_flight(
    project: Project, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages, was_reported = list[str](), threading.Event()

    def line(words: str) -> None:
        messages.append(words)
        if "stopping" in words:
            was_reported.set()

    def answer(received: Received) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        was_reported.wait(PATIENCE_S)
        return "so"

    monkeypatch.setattr("workbench.app.cli.completions.one_line", lambda: nullcontext(line))
    with scripted(answer) as server:
        file = write_plan(project.path.parent, server.url, {"a": "concurrency = 1"})
        code, _, _ = call("complete", project.path, file, "--trust")
    assert code == 130
    assert "0 completions, 1 of 1 model at work, stopping once 1 call in flight is finished" in messages


@pytest.mark.soak
def test_a_kill_at_any_time_leads_to_the_same_file(tmp_path: Path, call: Call) -> None:
    whole, killed = pool(tmp_path / "whole"), pool(tmp_path / "killed")
    with scripted(answering(completion_text)) as server:
        carry_out(whole, plan(whole, server.url, MODELS))
    expected = completions(whole)
    whole.close()
    held, go_on = threading.Event(), threading.Event()
    requests: list[bytes] = []

    def answer(received: Received) -> Scripted:
        requests.append(received.raw)
        text = completion_text(received.body["model"], received.body["messages"][0]["content"])
        if len(requests) > 2 * QUESTIONS and not go_on.is_set():
            held.set()
            return Scripted(body=chat_reply(text), hold=go_on)
        return Scripted(body=chat_reply(text))

    with scripted(answer) as server:
        file = write_plan(tmp_path / "killed", server.url, MODELS)
        command = [sys.executable, "-m", "workbench", "complete", str(killed.path), str(file), "--trust"]
        with subprocess.Popen(command) as process:
            assert held.wait(PATIENCE_S)
            process.kill()
        go_on.set()
        before = len(requests)
        (answered,) = killed.database.reader().execute("SELECT count(*) FROM responses").fetchone()
        code, _, err = call("complete", killed.path, file, "--trust")
        assert code == 0, err
    assert completions(killed) == expected
    assert 0 < answered < 3 * QUESTIONS
    assert len(requests) - before == 3 * QUESTIONS - answered
    killed.close()
    exported = []
    for folder in ("whole", "killed"):
        out = tmp_path / f"{folder}.jsonl"
        assert call("export", tmp_path / folder / "p.db", out, "--format", "verifybench")[0] == 0
        exported.append(out.read_bytes())
    assert exported[0] == exported[1]
