"""``verifiers``, ``verify``, ``runs`` and ``verdicts`` from scripts: streams, shapes and exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.background import PATIENCE_S, install_plugin, runner_ends, runner_pid, until, until_writing
from tests.commands import run
from tests.helpers import add_items, make_project, numbered
from workbench.core.project import Project
from workbench.runs.run_status import run_info, runs

ITEMS = 600


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    install_plugin(tmp_path, monkeypatch)
    with runner_ends(make_project(tmp_path, numbered(ITEMS))) as made:
        yield made


def spawn(project: Project, verb: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "workbench", verb, os.fspath(project.path), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def call(project: Project, verb: str, *arguments: str) -> tuple[int, str, str]:
    done = run(verb, project.path, *arguments)
    return done.returncode, done.stdout, done.stderr


def document(project: Project, verb: str, *arguments: str) -> Any:
    code, out, err = call(project, verb, *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_verify_reports_and_repeats_nothing(project: Project) -> None:
    first = document(project, "verify", "exact", "--where", "gold=correct", "--limit", "10")
    assert first.items() >= {"run": 1, "verifier": "exact", "items": 10, "reused": 0, "state": "complete"}.items()
    assert first["verdicts"] == {"correct": 10, "incorrect": 0, "abstain": 0, "error": 0}
    assert first["seconds"] > 0
    every = document(project, "verify", "exact")
    assert (every["run"], every["items"], every["reused"]) == (1, ITEMS, 10)
    assert every["verdicts"] == {"correct": ITEMS // 2, "incorrect": ITEMS // 2, "abstain": 0, "error": 0}
    assert document(project, "verify", "exact")["reused"] == ITEMS


def test_verdicts_are_json_lines(project: Project) -> None:
    document(project, "verify", "exact")
    code, out, err = call(project, "verdicts", "--verifier", "exact")
    lines = [json.loads(line) for line in out.splitlines()]
    assert (code, err, len(lines)) == (0, "", ITEMS)
    assert [line["completion_id"] for line in lines] == [f"c{number}" for number in range(ITEMS)]
    wanted = {"question_id": "q0", "verifier": "exact", "verdict": "incorrect", "score": None, "reason": "text_differs"}
    assert lines[1].items() >= wanted.items()
    code, out, err = call(project, "verdicts", "--verifier", "exakt")
    assert (code, out) == (2, "")
    assert "'exakt'" in err
    assert "Verifiers: exact." in err


def test_evidence_shows_both_final_answers_in_their_text(project: Project) -> None:
    document(project, "verify", "exact", "--limit", "2")
    code, out, err = call(project, "verdicts", "--verifier", "exact", "--evidence")
    assert (code, err) == (0, "")
    assert out.split("\n\n")[1] == "\n".join(
        [
            "c1  (question q0, sample)",
            "  incorrect: text_differs",
            "  why        The texts differ.",
            "  reference  7",
            r"             \boxed{«7»}",
            "  candidate  8",
            r"             So \boxed{«8»}.",
        ]
    )


def test_evidence_of_a_verifier_of_whole_texts_claims_no_missing_answer(project: Project) -> None:
    document(project, "verify", "always-incorrect", "--limit", "1")
    _, out, _ = call(project, "verdicts", "--verifier", "always-incorrect", "--evidence")
    assert "incorrect" in out
    assert "none" not in out
    document(project, "verify", "bleu", "-o", "threshold=0.3", "--limit", "2")
    _, out, _ = call(project, "verdicts", "--verifier", "bleu", "--evidence")
    assert "  incorrect: similarity, score 0\n  why        The score is below the threshold.\n" in out


def test_evidence_is_harmless_and_marked_by_reverse_video_on_a_terminal(project: Project) -> None:
    add_items(project.database, [{"dataset": "bad", "completion": "\x1b[2J so\x9b \\boxed{8\u202e}\x07"}])
    document(project, "verify", "exact", "--where", "dataset=bad")
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "workbench", "verdicts", str(project.path), "--verifier", "exact", "--evidence"]
    subprocess.run(command, stdout=theirs, check=True, timeout=PATIENCE_S)
    shown = os.read(ours, 100_000).decode()
    os.close(theirs)
    os.close(ours)
    assert "␛[2J so⟨U+009B⟩ \\boxed{\x1b[7m8⟨U+202E⟩\x1b[0m}␇\r\n" in shown
    assert shown.count("\x1b") == 4


def test_verifiers_lists_kinds_and_their_names(project: Project) -> None:
    document(project, "verify", "slow", "-o", "ms=0", "--name", "fast", "--limit", "1")
    kinds = {kind["name"]: kind for kind in document(project, "verifiers")}
    assert {"always-incorrect", "exact", "math-verify", "normalized-exact", "slow"} <= kinds.keys()
    slow = kinds["slow"]
    assert (slow["version"], slow["isolation"], slow["package"]) == ("1", "inline", "trying-verifiers")
    assert slow["options"]["ms"] == "milliseconds an item"
    assert [(named["name"], named["options"]) for named in slow["configured"]] == [("fast", {"ms": "0"})]
    code, out, _ = call(project, "verifiers")
    assert code == 0
    assert "as fast: -o ms=0" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["exakt"], "Known verifiers: always-"),
        (["slow", "-o", "colour=red"], "no option 'colour'"),
        (["slow", "-o", "ms"], "not KEY=VALUE"),
        (["slow", "-o", "ms=\udc80"], "ms: it is not valid UTF-8 text"),
        (["slow", "-o", "ms=soon"], "rejects its options"),
        (["exact", "--where", "colour=red"], "Unknown field 'colour'"),
        (["exact", "--workers", "0"], "--workers"),
    ],
)
def test_wrong_usage_exits_with_2_and_a_message(project: Project, arguments: list[str], message: str) -> None:
    code, out, err = call(project, "verify", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert runs(project) == []


def test_another_configuration_under_a_name_exits_2(project: Project) -> None:
    document(project, "verify", "slow", "-o", "ms=0", "--limit", "1")
    code, _, err = call(project, "verify", "slow", "-o", "ms=1", "--limit", "1")
    assert code == 2
    assert "ms is 0.0, not 1.0" in err
    assert "--name" in err


def test_a_detached_run_is_listed_paused_and_resumed(project: Project) -> None:
    started = document(project, "verify", "slow", "--detach")
    assert started["state"] in ("queued", "running")
    until_writing(project, started["run"], ITEMS)
    (listed,) = document(project, "runs")
    assert listed.items() >= {"run": 1, "verifier": "slow", "state": "running", "items": ITEMS}.items()
    assert listed["pid"] == runner_pid(project)
    assert listed["heartbeat"] is not None
    assert 0 < listed["done"] < ITEMS
    paused = document(project, "runs", "pause", "1")
    assert paused["state"] == "paused"
    shown = document(project, "runs", "show", "1")
    assert shown["verdicts"]["correct"] == shown["done"] == paused["done"]
    assert shown["attempts"] == {"unsent": 0, "sent": 0, "failed": 0, "done": shown["done"]}
    assert shown["ambiguous"] == []
    assert document(project, "runs", "resume", "1")["state"] in ("queued", "running")
    assert document(project, "runs", "cancel", "1")["state"] == "cancelled"


@pytest.mark.soak
def test_a_run_that_was_cancelled_ends_its_command_with_1(project: Project) -> None:
    process = spawn(project, "verify", "slow", "--json")
    until(lambda: runs(project))
    until_writing(project, 1, ITEMS)
    document(project, "runs", "cancel", "1")
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert json.loads(out)["state"] == "cancelled"
    assert "Run 1 is cancelled." in err
    assert "resume 1" in err


@pytest.mark.soak
def test_control_c_leaves_the_run_going(project: Project) -> None:
    process = spawn(project, "verify", "slow")
    until(lambda: runs(project))
    until_writing(project, 1, ITEMS)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (130, "")
    assert "continues in the background" in err
    assert "cancel 1" in err
    assert "Traceback" not in err
    before = run_info(project, 1)
    assert before.state == "running"
    until(lambda: run_info(project, 1).done > before.done)
    document(project, "runs", "cancel", "1")


def test_two_starts_at_once_are_one_run_and_one_runner(project: Project) -> None:
    processes = [spawn(project, "verify", "slow", "-o", "ms=1", "--json") for _ in range(2)]
    reports = [json.loads(process.communicate(timeout=PATIENCE_S)[0]) for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert [(report["run"], report["verdicts"]["correct"]) for report in reports] == [(1, ITEMS)] * 2
    log = project.path.with_name("p.db.runner.log").read_text()
    assert log.count("run 1: slow 1 begins") == 1


def test_runs_without_runs_and_with_wrong_numbers(project: Project) -> None:
    assert document(project, "runs", "list") == []
    assert "no runs yet" in call(project, "runs")[1]
    code, _, err = call(project, "runs", "show", "7")
    assert code == 2
    assert "no run 7" in err
    assert call(project, "runs", "show")[0] == 2
    assert call(project, "runs", "list", "1")[0] == 2
