"""Problems by contest date (LiveCodeBench), and prompts from another field of their row (BigCodeBench)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Call, in_process
from tests.servers.scripted import ScriptedServer, scripted

DAYS = {"a": "2024-07-31T23:59:59", "b": "2024-08-01T00:00:00", "c": "2025-02-01", "d": "2025-02-02", "e": "soon"}
CASES = json.dumps([{"input": "1", "output": "1", "testtype": "stdin"}])
"""Contest days by the problem's name; f has none."""


def contest(name: str) -> dict[str, Any]:
    return {
        "question_id": name,
        "question_content": f"Problem {name}: print what you read.",
        "starter_code": "",
        "public_test_cases": CASES,
        "private_test_cases": CASES,
        "metadata": "{}",
        **({"contest_date": DAYS[name]} if name in DAYS else {"platform": "own"}),
    }


def big(number: int, **more: object) -> dict[str, Any]:
    return {
        "task_id": f"BigCodeBench/{number}",
        "complete_prompt": 'import math\ndef task_func(x):\n    """The square root."""\n',
        "canonical_solution": "    return math.sqrt(x)\n",
        "code_prompt": "import math\ndef task_func(x):\n",
        "test": (
            "import unittest\nclass TestCases(unittest.TestCase):\n"
            "    def test_case_1(self):\n        self.assertEqual(task_func(4), 2)\n"
        ),
        "entry_point": "task_func",
        "libs": "['math']",
        **more,
    }


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


def imported(call: Call, folder: Path, rows: list[dict[str, Any]]) -> str:
    file = folder / "problems.jsonl"
    file.write_text("".join(f"{json.dumps(one)}\n" for one in rows))
    database = os.fspath(folder / "p.db")
    code, _, err = call("import", database, file)
    assert code == 0, err
    return database


def pool(call: Call, database: str, server: ScriptedServer, *more: str) -> tuple[int, str, str]:
    given = ("--model", "m", "--samples", "1", "-o", f"base_url={server.url}")
    return call("code", "pool", database, *given, *more)


def requested_problems(server: ScriptedServer) -> set[str]:
    said = [one.body["messages"][-1]["content"] for one in server.received]
    return {name for name in (*DAYS, "f") if any(f"Problem {name}:" in words for words in said)}


@pytest.mark.parametrize(
    ("days", "meant"),
    [
        (("--since", "2024-08-01", "--until", "2025-02-01"), {"b", "c"}),
        (("--since", "2025-02-01"), {"c", "d"}),
        (("--until", "2024-07-31"), {"a"}),
        ((), {*DAYS, "f"}),
        (("--since", "2030-01-01"), set()),
    ],
)
def test_problems_within_a_date_window_are_requested_inclusively(
    call: Call, tmp_path: Path, days: tuple[str, ...], meant: set[str]
) -> None:
    database = imported(call, tmp_path, [contest(name) for name in (*DAYS, "f")])
    with scripted(lambda _: "```python\nprint(input())\n```") as server:
        code, out, err = pool(call, database, server, *days)
        assert code == 0, err
        assert requested_problems(server) == meant
    if days:
        assert "2 problems left out: no day of a contest" in out
        assert f"{4 - len(meant)} problem" in out


@pytest.mark.parametrize(
    ("days", "says"),
    [
        (("--since", "2024-13-01"), "2025-01-31"),
        (("--until", "yesterday"), "2025-01-31"),
        (("--since", "2025-02-01", "--until", "2025-01-31"), "Swap them"),
    ],
)
def test_days_that_are_none_are_rejected(call: Call, tmp_path: Path, days: tuple[str, ...], says: str) -> None:
    database = imported(call, tmp_path, [contest("a")])
    with scripted(lambda _: "x") as server:
        code, out, err = pool(call, database, server, *days)
        assert (code, out, server.received) == (2, "", [])
    assert says in err


def test_the_prompt_comes_from_the_chosen_field(call: Call, tmp_path: Path) -> None:
    rows = [big(0, instruct_prompt="Write task_func(x) that gives the root."), big(1), big(2, instruct_prompt=7)]
    database = imported(call, tmp_path, rows)
    with scripted(lambda _: "```python\nimport math\ntask_func = math.sqrt\n```") as server:
        code, out, err = pool(call, database, server, "--ask-by", "instruct_prompt")
        assert code == 0, err
        (body,) = (one.body for one in server.received)
        assert "that gives the root." in json.dumps(body)
        assert "The square root." not in json.dumps(body)
        assert "2 problems left out: the field to ask by is missing or no text" in out
        # The same name with the problem's own text would be a pool of two kinds.
        assert pool(call, database, server)[0] == 2
        assert pool(call, database, server, "--name", "complete")[0] == 0
        assert "The square root." in json.dumps(server.received[-1].body)


@pytest.mark.parametrize("name", ['x"]', "", "$", "'; DROP TABLE questions; --", "instruct_prompt"])
def test_a_field_that_nothing_has_leaves_all_out(call: Call, tmp_path: Path, name: str) -> None:
    database = imported(call, tmp_path, [big(0)])
    with scripted(lambda _: "x") as server:
        code, out, err = pool(call, database, server, "--ask-by", name)
        assert (code, server.received) == (0, []), err
    assert "1 problem left out" in out
