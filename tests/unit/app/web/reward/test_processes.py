"""A reward server with several processes: one port, shared metrics, and no process outlives its parent."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import time
from collections.abc import Coroutine
from pathlib import Path

import httpx
import psutil
import pytest

from tests.background import PATIENCE_S
from tests.commands import run
from tests.helpers import make_project
from tests.rewarding import Launched, launched, post_reward
from workbench.app.web.reward import server as server_module
from workbench.app.web.reward.gate import RequestRules
from workbench.app.web.reward.processes import Board, ProcessMember, ProcessState, merged, state_of
from workbench.app.web.reward.server import serve
from workbench.app.web.serve.addresses import Address
from workbench.core.errors import UsageError
from workbench.training.choosing import Scale, load_reward_verifier
from workbench.training.records import Readiness


def serving(server: Launched) -> list[psutil.Process]:
    """The processes that the one which was started has begun to serve."""
    return [child for child in psutil.Process(server.process.pid).children() if child.is_running()]


def counted(server: Launched) -> int:
    text = httpx.get(f"{server.url}/metrics", headers={"Host": "localhost"}, timeout=PATIENCE_S).text
    return int(float(re.findall(r'items_total\{verdict="correct"\} (\S+)', text)[0]))


def in_flight(server: Launched) -> int:
    text = httpx.get(f"{server.url}/metrics", headers={"Host": "localhost"}, timeout=PATIENCE_S).text
    return int(float(re.findall(r"^workbench_reward_in_flight_bytes (\S+)$", text, re.MULTILINE)[0]))


def until(what: object) -> None:
    end = time.monotonic() + PATIENCE_S
    while not what():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.05)


def test_both_serve_and_both_are_counted(tmp_path: Path) -> None:
    with launched(tmp_path, "--verifier", "exact", "--processes", 2) as server:
        server.until_ready()
        assert len(serving(server)) == 2
        wanted = json.dumps({"reference": "a", "completion": "a"}).encode()

        async def ask() -> None:
            answers = await asyncio.gather(*(post_reward(server.port, wanted) for _ in range(64)))
            assert [answer.document["reward"] for answer in answers] == [1.0] * 64

        asyncio.run(ask())
        until(lambda: counted(server) == 64)
        victim = serving(server)[0]
        victim.send_signal(signal.SIGKILL)
        until(lambda: victim.pid not in [one.pid for one in serving(server)] and len(serving(server)) == 2)
        server.until_ready()
        until(lambda: _answers(server, wanted))
        pids = [one.pid for one in serving(server)]
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE_S) == 0
        assert not any(psutil.pid_exists(pid) for pid in pids)
        assert "Traceback" not in server.log.read_text()


@pytest.mark.soak
def test_a_stopped_process_is_replaced(tmp_path: Path) -> None:
    """The kernel still gives it its share of connections, which would never be answered."""
    with launched(tmp_path, "--verifier", "exact", "--processes", 2) as server:
        server.until_ready()
        victim = serving(server)[0]
        victim.send_signal(signal.SIGSTOP)
        until(lambda: victim.pid not in [one.pid for one in serving(server)] and len(serving(server)) == 2)
        server.until_ready()
        wanted = json.dumps({"reference": "a", "completion": "a"}).encode()

        async def ask() -> None:
            answers = await asyncio.gather(*(post_reward(server.port, wanted) for _ in range(32)))
            assert [answer.status for answer in answers] == [200] * 32

        asyncio.run(ask())
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE_S) == 0


def _answers(server: Launched, body: bytes) -> bool:
    return asyncio.run(post_reward(server.port, body)).status == 200


def test_no_process_outlives_the_one_that_began_it(tmp_path: Path) -> None:
    with launched(tmp_path, "--verifier", "exact", "--processes", 3) as server:
        server.until_ready()
        pids = [one.pid for one in serving(server)]
        assert len(pids) == 3
        os.kill(server.process.pid, signal.SIGKILL)
        until(lambda: not any(psutil.pid_exists(pid) for pid in pids))


def test_metrics_of_several_processes_are_summed() -> None:
    one = '# HELP a A.\n# TYPE a counter\na{x="1"} 2\n# TYPE workbench_reward_ready gauge\nworkbench_reward_ready 1\n'
    two = one.replace("2\n", '3\na{x="2"} 1\n').replace("ready 1", "ready 0")
    found = merged([one, two])
    assert found.splitlines() == [
        "# HELP a A.",
        "# TYPE a counter",
        'a{x="1"} 5',
        'a{x="2"} 1',
        "# TYPE workbench_reward_ready gauge",
        "workbench_reward_ready 0",
    ]


def process_state(figures: str, state: Readiness = "ready", waiting: int = 0) -> ProcessState:
    return ProcessState(figures=figures, state=state, trouble=None, waiting=waiting)


def test_a_board_is_read_whole() -> None:
    board = Board(2)
    assert board.all() == []
    board.put(1, process_state("x" * 1_000))
    board.put(1, process_state("ü"))
    assert board.all() == [process_state("ü")]
    pid = os.fork()
    if not pid:
        try:
            board.put(0, process_state("of a child"))
            board.hold(0, 7)
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    assert board.all() == [process_state("of a child"), process_state("ü")]
    board.put(0, process_state("y" * 1_000_000, waiting=3))
    assert board.all()[0] == process_state("", waiting=3)
    assert (board.held(), ProcessMember(board, 1).held_by_others) == (7, 7)
    assert ProcessMember(board, 0).held_by_others == 0
    assert board.held() == 0


def test_several_are_as_ready_as_the_least_of_them() -> None:
    assert state_of([process_state(""), process_state("")], 2) == "ready"
    assert state_of([process_state("")], 2) == "starting"
    assert state_of([process_state("", "failed"), process_state("")], 2) == "failed"
    assert state_of([process_state("", "starting"), process_state("", "waiting")], 2) == "waiting"
    assert state_of([process_state("", "failed"), process_state("", "stopping")], 2) == "stopping"


@pytest.mark.soak
def test_health_is_that_of_all(tmp_path: Path) -> None:
    held = b"POST /reward HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 3000\r\n\r\n"
    with launched(
        tmp_path, "--verifier", "chrf", "--processes", 2, "--max-body", 4_000, "--in-flight", 4_000
    ) as server:
        server.until_ready()
        health = server.health()
        assert (health["processes"], health["state"], health["waiting"]) == (2, "ready", 0)
        with socket.create_connection(("127.0.0.1", server.port)) as busy:
            busy.sendall(held)
            # An earlier request would take the room that it needs.
            until(lambda: in_flight(server) == 3_000)
            # Whichever process has it, there is no room for another one at either.
            asking = json.dumps({"reference": "a", "completion": "b" * 2_000}).encode()
            until(lambda: [asyncio.run(post_reward(server.port, asking)).status for _ in range(16)] == [503] * 16)
        until(lambda: [asyncio.run(post_reward(server.port, asking)).status for _ in range(16)] == [200] * 16)


def test_by_default_a_server_uses_the_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []

    def alone(ran: Coroutine[None, None, None]) -> None:
        ran.close()
        begun.append(1)

    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    monkeypatch.setattr(server_module, "_serve_in_processes", lambda *given: begun.append(given[-1]))
    monkeypatch.setattr(asyncio, "run", alone)
    rules = RequestRules(address=Address("127.0.0.1", 0), token=None)
    for name in ("rules", "execution"):
        serve(load_reward_verifier(name), Scale(), rules, None, None, None, lambda address: None)
    serve(load_reward_verifier("rules"), Scale(), rules, None, None, None, lambda address: None, 1)
    assert begun == [3, 1, 1]


def test_a_server_with_a_database_has_one_process(tmp_path: Path) -> None:
    make_project(tmp_path).close()
    options = {"base_url": "http://localhost:9/v1", "model": "m"}
    judge = load_reward_verifier("llm-judge", options, tmp_path / "p.db", trust=True, asking=True)
    rules = RequestRules(address=Address("127.0.0.1", 0), token=None)
    with pytest.raises(UsageError, match="only one process can write"):
        serve(judge, Scale(), rules, None, None, None, lambda address: None, 2)


def test_a_port_has_one_server(tmp_path: Path) -> None:
    with launched(tmp_path, "--verifier", "exact", "--processes", 2) as server:
        for processes in (1, 2):
            found = run("reward-server", "--verifier", "rules", "--port", server.port, "--processes", processes)
            assert found.returncode == 2
            assert "is not available" in found.stderr
