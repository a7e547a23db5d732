"""A reward server in several processes: one port, one set of figures, and no process outlives the one that began it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import time
from pathlib import Path

import httpx
import psutil
import pytest

from tests.background import PATIENCE_S
from tests.commands import run
from tests.helpers import make_project
from tests.rewarding import Launched, asked, launched
from workbench.app.web.reward.gate import RequestRules
from workbench.app.web.reward.processes import Board, merged
from workbench.app.web.reward.server import serve
from workbench.app.web.serve.addresses import Address
from workbench.core.errors import UsageError
from workbench.training.choosing import Scale, chosen


def serving(server: Launched) -> list[psutil.Process]:
    """The processes that the one which was started has begun to serve."""
    return [child for child in psutil.Process(server.process.pid).children() if child.is_running()]


def counted(server: Launched) -> int:
    text = httpx.get(f"{server.url}/metrics", headers={"Host": "localhost"}).text
    return int(float(re.findall(r'items_total\{verdict="correct"\} (\S+)', text)[0]))


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
            answers = await asyncio.gather(*(asked(server.port, wanted) for _ in range(64)))
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


def _answers(server: Launched, body: bytes) -> bool:
    return asyncio.run(asked(server.port, body)).status == 200


def test_no_process_outlives_the_one_that_began_it(tmp_path: Path) -> None:
    with launched(tmp_path, "--verifier", "exact", "--processes", 3) as server:
        server.until_ready()
        pids = [one.pid for one in serving(server)]
        assert len(pids) == 3
        os.kill(server.process.pid, signal.SIGKILL)
        until(lambda: not any(psutil.pid_exists(pid) for pid in pids))


def test_figures_of_several_are_sums() -> None:
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


def test_a_board_is_read_whole() -> None:
    board = Board(2)
    assert board.all() == []
    board.put(1, "x" * 1_000)
    board.put(1, "ü")
    assert board.all() == ["ü"]
    pid = os.fork()
    if not pid:
        board.put(0, "of a child")
        os._exit(0)
    os.waitpid(pid, 0)
    assert board.all() == ["of a child", "ü"]


def test_what_writes_a_database_has_one_process(tmp_path: Path) -> None:
    make_project(tmp_path).close()
    options = {"base_url": "http://localhost:9/v1", "model": "m"}
    judge = chosen("llm-judge", options, tmp_path / "p.db", trust=True, asking=True)
    rules = RequestRules(address=Address("127.0.0.1", 0), token=None)
    with pytest.raises(UsageError, match="one process alone writes"):
        serve(judge, Scale(), rules, None, None, None, lambda address: None, 2)


def test_what_is_audited_has_one_process(tmp_path: Path) -> None:
    audited = ("--audit", tmp_path / "audit.db", "--port", 0, "--processes", 2)
    found = run("reward-server", "--verifier", "exact", *audited)
    assert found.returncode == 2
    assert "one process alone writes its database" in found.stderr
    assert not (tmp_path / "audit.db").exists()
