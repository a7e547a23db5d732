"""``replay`` from scripts: a local model server that marks its replies as recorded."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.background import PATIENCE_S, runner_ends
from tests.replaying import Replay, replay, write_lines
from workbench.core.project import open_project
from workbench.interchange.importing import import_files, plan_import
from workbench.llm.caller import ORIGIN_HEADER
from workbench.measuring.accuracy import accuracy
from workbench.runs.previewing import check_servers
from workbench.runs.run_status import wait
from workbench.runs.verdict_files import verdict_lines
from workbench.runs.verifying import start

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replay]:
    lines = [{"match": "known", "raw": "Final Judgment: Yes"}, {"match": "", "raw": "x"}]
    with replay(
        write_lines(tmp_path_factory.mktemp("replay") / "my répliés.jsonl", lines), "--model", "old-one"
    ) as running:
        yield running


def ask(server: Replay, verb: str, path: str, body: bytes | None = None) -> tuple[int, str | None, Any]:
    address = urlsplit(server.url)
    connection = HTTPConnection(address.hostname or "", address.port or 0, timeout=PATIENCE_S)
    try:
        connection.request(verb, f"{address.path}{path}", body)
        response = connection.getresponse()
        return response.status, response.headers[ORIGIN_HEADER], json.loads(response.read())
    finally:
        connection.close()


def test_it_prints_its_address_and_listens_only_locally(server: Replay) -> None:
    assert server.report == {"base_url": server.url, "replies": 1, "refused": 1, "models": ["old-one"]}
    assert urlsplit(server.url).hostname == "127.0.0.1"


def test_every_response_is_marked_as_recorded(server: Replay) -> None:
    mark = "my%20r%C3%A9pli%C3%A9s.jsonl"
    known = ask(server, "POST", "/chat/completions", b'{"messages": [{"content": "a known one"}]}')
    assert known[:2] == (200, mark)
    assert known[2]["choices"][0]["message"]["content"] == "Final Judgment: Yes"
    assert ask(server, "GET", "/models") == (
        200,
        mark,
        {"object": "list", "data": [{"id": "old-one", "object": "model"}]},
    )


def test_a_client_that_goes_away_leaves_no_trace(tmp_path: Path) -> None:
    with replay(write_lines(tmp_path / "r.jsonl", [{"match": "a", "raw": "b"}])) as running:
        address = urlsplit(running.url)
        with socket.create_connection((address.hostname, address.port)) as client:
            client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\n{")
        assert ask(running, "GET", "/models")[0] == 200
        running.process.terminate()
        assert running.process.stderr is not None
        assert running.process.stderr.read() == ""


def test_an_unmatched_request_is_reported(server: Replay) -> None:
    status, _, body = ask(server, "POST", "/chat/completions", b'{"messages": []}')
    assert (status, body["error"]["code"]) == (422, 422)
    assert body["error"]["message"] == "No recorded reply fits this request: 1 are in my répliés.jsonl."
    assert ask(server, "POST", "/chat/completions", b"{")[0] == 400
    assert ask(server, "POST", "/chat/completions", b"[" * 100_000)[0] == 400


@pytest.mark.few(2)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server(tmp_path: Path, number: signal.Signals) -> None:
    file = write_lines(tmp_path / "r.jsonl", [{"match": "x", "raw": "y"}, {"match": "z"}])
    with replay(file) as running:
        running.process.send_signal(number)
        assert running.process.wait(PATIENCE_S) == 0
        assert running.process.stderr is not None
        err = running.process.stderr.read()
    assert err.startswith(f"{file}:2:line: Object missing required field `raw`")


@pytest.mark.few(2)
@pytest.mark.parametrize(("content", "code"), [("", 1), ("nonsense\n", 1)])
def test_a_file_with_nothing_to_serve_ends_it(tmp_path: Path, content: str, code: int) -> None:
    file = tmp_path / "r.jsonl"
    file.write_text(content)
    done = subprocess.run(
        [sys.executable, "-m", "workbench", "replay", file], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert "holds no recorded reply" in done.stderr


def test_a_port_in_use_is_reported(server: Replay, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "r.jsonl", [{"match": "x", "raw": "y"}])
    command = [sys.executable, "-m", "workbench", "replay", str(file), "--port", str(urlsplit(server.url).port)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout) == (2, "")
    port = urlsplit(server.url).port
    assert done.stderr.splitlines()[0] == f"Wrong usage: Port {port} is in use by another program."


def test_the_sample_replies_judge_the_sample_tuples(tmp_path: Path) -> None:
    sample = ROOT / "sample_data"
    with (
        runner_ends(open_project(tmp_path / "s.db", create=True)) as project,
        replay(sample / "judge_replies.jsonl", "--model", "sample-judge") as running,
    ):
        import_files(project, plan_import([sample / "tuples.jsonl"]), dataset="sample")
        options = {"base_url": running.url, "model": "sample-judge"}
        (checked,) = check_servers(project, "llm-judge", options)
        assert any("sample-judge" in finding.text for finding in checked.findings)
        recorded = [one for one in checked.findings if "recorded replies, from judge_replies.jsonl" in one.text]
        assert [one.level for one in recorded] == ["good"]
        assert not any(one.level == "problem" or "LM Studio" in one.text for one in checked.findings)
        run = wait(project, start(project, "llm-judge", options, "sample-judge").run)
        assert run.verdicts == {"correct": 38, "incorrect": 39, "abstain": 2, "error": 0}
        assert run.reasons == {"unparsed": 1, "truncated": 1}
        (row,) = [row for row in accuracy(project, verifiers=("sample-judge",)).rows if row.verifier == "sample-judge"]
        assert (row.fp, row.fn) == (4, 5)
        assert run.recorded is True
        assert {line.origin for line in verdict_lines(project, "sample-judge")} == {"judge_replies.jsonl"}
        rules = wait(project, start(project, "exact").run)
        assert rules.recorded is False
        assert {line.origin for line in verdict_lines(project, "exact")} == {None}


@pytest.mark.soak
def test_items_without_a_recorded_reply_are_separate_errors(tmp_path: Path) -> None:
    sample = ROOT / "sample_data"
    some = tmp_path / "some.jsonl"
    # The first requests have no reply: they do not end the run.
    some.write_text("".join(SAMPLE.read_text().splitlines(keepends=True)[20:60]))
    with runner_ends(open_project(tmp_path / "s.db", create=True)) as project, replay(some) as running:
        import_files(project, plan_import([sample / "tuples.jsonl"]), dataset="sample")
        run = wait(project, start(project, "llm-judge", {"base_url": running.url, "model": "sample-judge"}, "j").run)
        assert (run.state, run.done) == ("complete", 79)
        assert run.reasons is not None
        assert run.reasons["bad_request"] == 39
        assert "HTTP 422: No recorded reply fits this request: 40 are in some.jsonl." in run.failures[0]


SAMPLE = ROOT / "sample_data" / "judge_replies.jsonl"


def test_it_lists_the_models_whose_replies_it_has() -> None:
    with replay(SAMPLE) as running:
        assert running.report["models"] == ["sample-judge"]
        assert [row["id"] for row in ask(running, "GET", "/models")[2]["data"]] == ["sample-judge"]


def test_until_eof_ends_with_standard_input() -> None:
    command = [sys.executable, "-m", "workbench", "replay", str(SAMPLE), "--until-eof"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"http://127.0.0.1:")
        process.stdin.write(b"what is said there is nobody's\n")
        process.stdin.flush()
        assert process.poll() is None
        process.stdin.close()
        assert process.wait(PATIENCE_S) == 0
