"""``workbench reward-server`` as a process: its first output, its end, and no leftovers."""

from __future__ import annotations

import asyncio
import json
import signal
from functools import partial
from pathlib import Path

import psutil
import pytest

from tests.background import PATIENCE_S, install_plugin, until
from tests.commands import Call, in_process
from tests.evolving_served import need_a_sandbox
from tests.helpers import make_project
from tests.rewarding import launched, post_reward

LATER = b'{"reference": "r", "completion": "later a", "id": 7}'
LONG = b'{"reference": "r", "completion": "now' + b"x" * 30_000 + b'"}'


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--verifier", "nothing"], "no verifier named 'nothing'"),
        (["--verifier", "llm-judge", "-o", "base_url=http://localhost:9/v1", "-o", "model=m"], "asks a model server"),
        (["--verifier", "answer-type", "-o", "base_url=http://localhost:9/v1", "-o", "model=m"], "asks a model server"),
        (["--verifier", "exact", "-o", "x=1"], "no option 'x'"),
        (["--verifier", "exact", "--host", "0.0.0.0"], "--token-env NAME"),
        (["--verifier", "exact", "--token-env", "NO_SUCH_VARIABLE"], "must hold a token"),
        (["--verifier", "exact", "--undecided", "nan"], "is not a valid reward"),
        (["--verifier", "exact", "--host", "no.such.host.invalid"], "is not available"),
    ],
)
def test_impossible_requests_show_an_error(
    call: Call, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    if "no.such.host.invalid" in arguments:
        monkeypatch.setenv("TOKEN", "0123456789abcdef")
        arguments = [*arguments, "--token-env", "TOKEN"]
    code, out, error = call("reward-server", *arguments)
    assert (code, out) == (2, "")
    assert message in error


def test_a_project_s_verifier_needs_trust_no_more_than_in_a_run(tmp_path: Path) -> None:
    make_project(tmp_path).close()
    (tmp_path / "workbench.toml").write_text('[verifiers.mine]\nkind = "last-number"\n')
    with launched(tmp_path, tmp_path / "p.db", "--verifier", "mine") as server:
        answer = asyncio.run(post_reward(server.port, b'{"reference": "7", "completion": "so 7"}'))
        assert answer.document["verdict"] == "correct"
        assert "mine was never probed here" in server.log.read_text()


def test_sigterm_answers_accepted_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_plugin(tmp_path, monkeypatch)
    with launched(tmp_path, "--verifier", "staged", "-o", "ms=400", "--workers", "1") as server:
        server.until_ready()

        async def ask() -> object:
            waiting = asyncio.create_task(post_reward(server.port, LATER))
            while not (await asyncio.to_thread(server.health))["waiting"] and not waiting.done():
                await asyncio.sleep(0.01)
            server.process.send_signal(signal.SIGTERM)
            return (await waiting).document["id"]

        assert asyncio.run(ask()) == 7
        assert server.process.wait(PATIENCE_S) == 0


@pytest.mark.soak
def test_sigterm_works_while_tests_are_parsed(tmp_path: Path) -> None:
    need_a_sandbox()
    tests = "\n".join(f"assert double({number}) == {2 * number}" for number in range(3000))
    body = json.dumps({"reference": tests, "completion": "def double(x): return 2 * x"}).encode()
    with launched(tmp_path, "--verifier", "execution", "--processes", 1) as server:
        server.until_ready()

        async def ask() -> object:
            waiting = asyncio.create_task(post_reward(server.port, body))
            while not (await asyncio.to_thread(server.health))["waiting"] and not waiting.done():
                await asyncio.sleep(0.01)
            assert not waiting.done()
            server.process.send_signal(signal.SIGTERM)
            return (await waiting).document["tests"]

        assert asyncio.run(ask()) == {"passed": 3000, "total": 3000, "forgeable": 0}
        assert server.process.wait(PATIENCE_S) == 0


@pytest.mark.soak
def test_a_killed_server_leaves_nothing_and_the_next_one_answers_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_plugin(tmp_path, monkeypatch)
    told = []
    port = 0
    for _ in range(2):
        with launched(tmp_path, "--verifier", "staged", "-o", "ms=1", "--port", port) as server:
            server.until_ready()
            port = server.port
            assert asyncio.run(post_reward(port, LONG)).document["reason"] == "quick"
            document = asyncio.run(post_reward(port, LATER)).document
            document.pop("ms")
            told.append(document)
            processes = psutil.Process(server.process.pid).children(recursive=True)
            assert len(processes) >= 3
            server.process.kill()
            until(partial(_are_gone, processes))
    assert told[0] == told[1]


def _are_gone(processes: list[psutil.Process]) -> bool:
    return not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes)
