"""The examples of docs/rewards.md equal the answers of the server and the function."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.rewarding import Client
from tests.unit.app.web.reward.conftest import Serving

DOCUMENT = (Path(__file__).resolve().parents[5] / "docs" / "rewards.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^\$ (curl .*)\n(.*)$", DOCUMENT, re.MULTILINE)


def without_times(document: Any) -> Any:
    if isinstance(document, dict):
        return {name: without_times(value) for name, value in document.items() if name != "ms"}
    return [without_times(one) for one in document] if isinstance(document, list) else document


async def test_every_request_is_answered_as_shown(served: Serving) -> None:
    assert len(SHOWN) == 5
    async with served("rules") as server:
        client = Client(server.address.port)
        for command, expected in SHOWN:
            _, _, url, *_, body = shlex.split(command)
            answer = await client.post(url.removeprefix("localhost:8100"), body.encode())
            assert without_times(answer.document) == without_times(json.loads(expected))
        client.close()


def test_the_first_python_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    example = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)[0]
    exec(compile(example, "rewards.md", "exec"), {})
    assert capsys.readouterr().out == example.rsplit("# ", 1)[1]
