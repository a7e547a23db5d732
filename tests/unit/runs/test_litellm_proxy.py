"""A real litellm proxy with a mock reply works as a server; skipped where it is not installed."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.background import runner_ends, until
from tests.helpers import make_project, numbered
from tests.servers.ports import free_ports
from workbench.runs.previewing import check_servers
from workbench.runs.run_status import wait
from workbench.runs.verifying import start

VARIABLE = "WORKBENCH_LITELLM"
CACHED = Path(__file__).resolve().parents[3] / "bench" / ".peers" / "litellm" / "bin" / "litellm"
MASTER = "sk-mock-master"
SETTINGS = """
model_list:
  - model_name: mock-judge
    litellm_params: {model: openai/mock, api_key: none, mock_response: "They agree. Final Judgment: Yes"}
"""


def executable() -> str:
    found = os.environ.get(VARIABLE) or (str(CACHED) if CACHED.is_file() else "")
    if not found:
        pytest.skip(
            f"no litellm proxy: name one in {VARIABLE} (pip install 'litellm[proxy]', in an environment of its own)"
        )
    return found


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "litellm.yaml").write_text(SETTINGS)
    (port,) = free_ports(1)
    command = [executable(), "--config", str(tmp_path / "litellm.yaml"), "--host", "127.0.0.1", "--port", str(port)]
    environment = os.environ | {"LITELLM_MASTER_KEY": MASTER, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    log = tmp_path / "litellm.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(command, env=environment, stdout=stream, stderr=stream, cwd=tmp_path)

    def ready() -> bool:
        if process.poll() is not None:
            pytest.skip(f"the litellm proxy doesn't start: {log.read_text().splitlines()[-1:]}")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    try:
        until(ready)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()


def test_the_proxy_passes_the_check_and_judges(tmp_path: Path, proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_KEY", MASTER)
    options = {"base_url": proxy, "model": "mock-judge", "api_key_env": "MOCK_KEY"}
    with runner_ends(make_project(tmp_path, numbered(20))) as project:
        (checked,) = check_servers(project, "llm-judge", options)
        assert {finding.level for finding in checked.findings} == {"note", "good"}
        run = wait(project, start(project, "llm-judge", options).run)
        assert (run.state, run.verdicts) == ("complete", {"correct": 20, "incorrect": 0, "abstain": 0, "error": 0})
