"""Run docs/tutorial.md from its first command to its last: the final sets, the folder, and the reward."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import ExitStack
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.background import PATIENCE_S
from tests.commands import in_process
from tests.documents import ROOT, in_background, on_free_ports, shown_commands

TUTORIAL = "docs/tutorial.md"


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_tutorial_ends_with_two_sets_and_a_reward(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    monkeypatch.chdir(tmp_path)
    call = in_process(monkeypatch, capfd)
    commands = on_free_ports(shown_commands(TUTORIAL), tmp_path / "sample_data" / "pool_plan.toml")
    with ExitStack() as servers:
        for command in commands:
            if command[-1] == "&":
                servers.enter_context(in_background(command[1:-1], tmp_path))
                continue
            code, _, shown_response = call(*command[1:])
            assert code == 0, f"{command}: {shown_response}"
        sent, shown = shown_request()
        answered = reward(commands[-1][-2], sent)
    assert {key: answered[key] for key in shown} == shown

    sets = {one["name"]: one for one in json.loads(call("sets", "tiny.db", "list", "--json")[1])}
    assert (sets["balanced"]["questions"], sets["balanced"]["tuples"]) == (12, 24)
    assert (sets["hard"]["tuples"], sets["hard-queue"]["tuples"]) == (10, 20)
    lines = (tmp_path / "tiny-verifybench" / "verifybench" / "balanced.jsonl").read_text(encoding="utf-8").splitlines()
    gold = [json.loads(line)["gold_correct"] for line in lines]
    assert (gold.count(True), gold.count(False)) == (12, 12)
    assert (tmp_path / "sft.jsonl").stat().st_size > 0


def shown_request() -> tuple[str, dict[str, object]]:
    """Return the document's request to the reward server, and the response it shows."""
    text = (ROOT / TUTORIAL).read_text(encoding="utf-8")
    sent = re.search(r"-d '(\{.*\})'", text)
    shown = re.search(r"```json\n(.*)\n```", text)
    assert sent is not None
    assert shown is not None
    return sent[1], json.loads(shown[1])


def reward(port: str, body: str) -> dict[str, object]:
    request = Request(
        f"http://127.0.0.1:{port}/reward", data=body.encode(), headers={"Content-Type": "application/json"}
    )
    with urlopen(request, timeout=PATIENCE_S) as response:
        found: dict[str, object] = json.load(response)
    return found
