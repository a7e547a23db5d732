"""BigCodeBench problems whose solutions write files: run with a scratch folder if requested."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands import in_process
from tests.unit.data.formats.code.documented_rows import read
from tests.unit.verifiers.execution.conftest import missing
from workbench.core.code import ProblemRecord
from workbench.verifiers.execution.interpreter import program_of
from workbench.verifiers.execution.pool import SandboxPool
from workbench.verifiers.execution.settings import PoolSettings


def task(number: int, imports: str, signature: str, body: str, wrong: str, test: str) -> tuple[dict[str, Any], str]:
    """A row as released, and a wrong solution."""
    head = f"{imports}\ndef {signature}:\n"
    row = {
        "task_id": f"BigCodeBench/{9000 + number}",
        "complete_prompt": f'{head}    """Own problem {number}."""\n',
        "instruct_prompt": f"Write {signature}.",
        "canonical_solution": body,
        "code_prompt": head,
        "test": f"import unittest\n{test}",
        "entry_point": "task_func",
        "libs": "[]",
    }
    return row, head + wrong


TASKS = (
    task(
        1,
        "import csv",
        "task_func(rows, path)",
        "    with open(path, 'w', newline='') as file:\n        csv.writer(file).writerows(rows)\n    return path\n",
        "    open(path, 'w').close()\n    return path\n",
        "import os\nclass TestCases(unittest.TestCase):\n    def setUp(self):\n        self.path = 'rows.csv'\n"
        "    def tearDown(self):\n        os.remove(self.path)\n    def test_case_1(self):\n"
        "        self.assertEqual(task_func([[1, 2]], self.path), self.path)\n    def test_case_2(self):\n"
        "        task_func([[1, 2], [3, 4]], self.path)\n        with open(self.path) as file:\n"
        "            self.assertEqual(file.read().split(), ['1,2', '3,4'])\n",
    ),
    task(
        2,
        "import os, shutil, zipfile",
        "task_func(folder, ending)",
        "    os.makedirs(os.path.join(folder, 'kept'), exist_ok=True)\n"
        "    path = os.path.join(folder, 'kept', 'all.zip')\n    with zipfile.ZipFile(path, 'w') as archive:\n"
        "        for name in sorted(os.listdir(folder)):\n            if name.endswith(ending):\n"
        "                archive.write(os.path.join(folder, name), name)\n"
        "                shutil.move(os.path.join(folder, name), os.path.join(folder, 'kept', name))\n"
        "    return path\n",
        "    path = os.path.join(folder, 'all.zip')\n    zipfile.ZipFile(path, 'w').close()\n    return path\n",
        "import tempfile\nclass TestCases(unittest.TestCase):\n    def setUp(self):\n"
        "        self.folder = tempfile.mkdtemp()\n        for name in ('a.txt', 'b.txt', 'c.log'):\n"
        "            with open(os.path.join(self.folder, name), 'w') as file:\n                file.write(name)\n"
        "    def tearDown(self):\n        shutil.rmtree(self.folder)\n    def test_case_1(self):\n"
        "        with zipfile.ZipFile(task_func(self.folder, '.txt')) as archive:\n"
        "            self.assertEqual(archive.namelist(), ['a.txt', 'b.txt'])\n    def test_case_2(self):\n"
        "        task_func(self.folder, '.log')\n"
        "        self.assertEqual(sorted(os.listdir(self.folder)), ['a.txt', 'b.txt', 'kept'])\n",
    ),
    task(
        3,
        "import sqlite3",
        "task_func(path, names)",
        "    with sqlite3.connect(path) as base:\n        base.execute('CREATE TABLE people (name TEXT)')\n"
        "        base.executemany('INSERT INTO people VALUES (?)', [(name,) for name in names])\n"
        "    return base.execute('SELECT count(*) FROM people').fetchone()[0]\n",
        "    return len(set(names))\n",
        "import os\nclass TestCases(unittest.TestCase):\n    path = '/tmp/people.db'\n    def tearDown(self):\n"
        "        if os.path.exists(self.path):\n            os.remove(self.path)\n    def test_case_1(self):\n"
        "        self.assertEqual(task_func(self.path, ['a', 'a']), 2)\n    def test_case_2(self):\n"
        "        task_func(self.path, ['a', 'b'])\n        with sqlite3.connect(self.path) as base:\n"
        "            self.assertEqual(base.execute('SELECT max(name) FROM people').fetchone(), ('b',))\n",
    ),
    task(
        4,
        "import json, logging, os, tempfile",
        "task_func(record)",
        "    with tempfile.NamedTemporaryFile('w', suffix='.json', delete=False) as file:\n"
        "        json.dump(record, file)\n    log = logging.getLogger('own')\n"
        "    handler = logging.FileHandler(file.name + '.log')\n    log.addHandler(handler)\n"
        "    log.warning('%d keys', len(record))\n    log.removeHandler(handler)\n    handler.close()\n"
        "    return file.name\n",
        "    return os.path.join(tempfile.gettempdir(), 'nothing.json')\n",
        "class TestCases(unittest.TestCase):\n    def test_case_1(self):\n"
        "        with open(task_func({'a': 1})) as file:\n"
        "            self.assertEqual(json.load(file), {'a': 1})\n    def test_case_2(self):\n"
        "        with open(task_func({'a': 1, 'b': 2}) + '.log') as file:\n"
        "            self.assertEqual(file.read(), '2 keys\\n')\n",
    ),
)
WRONG = ("pf", "ff", "fe", "ee")


@pytest.fixture(scope="module", autouse=True)
def _needs_namespaces() -> None:
    if why := missing("L3"):
        pytest.skip(why)


def outcomes(settings: PoolSettings, codes: list[tuple[ProblemRecord, str]]) -> list[dict[str, str]]:
    jobs = [
        ((place, suite), program_of(record.problem, suite, code, "program"))
        for place, (record, code) in enumerate(codes)
        for suite in record.problem.suites
    ]
    with SandboxPool("L3", 2, settings=settings) as pool:
        found = {key: execution.outcomes for key, execution in pool.run(jobs)}
    return [{suite: found[place, suite] for suite in record.problem.suites} for place, (record, _) in enumerate(codes)]


def test_references_pass_with_a_folder_and_fail_without() -> None:
    records = [one for one in read("bigcodebench", *(row for row, _ in TASKS)) if isinstance(one, ProblemRecord)]
    assert len(records) == len(TASKS)
    references = [(record, record.problem.canonical) for record in records]
    wrong = [(record, code) for record, (_, code) in zip(records, TASKS, strict=True)]
    folder = PoolSettings(scratch_bytes=2 << 20)
    assert outcomes(folder, references) == [{"base": "pp", "whole": "p"}] * 4
    assert [found["base"] for found in outcomes(folder, wrong)] == list(WRONG)
    assert all("p" not in "".join(found.values()) for found in outcomes(PoolSettings(), references))


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    return in_process(monkeypatch, capfd)


def test_from_the_file_to_a_verdict_by_commands(tmp_path: Path, call: Callable[..., tuple[int, str, str]]) -> None:
    problems, solutions, path = tmp_path / "p.jsonl", tmp_path / "s.jsonl", tmp_path / "code.db"
    problems.write_text("".join(json.dumps(row) + "\n" for row, _ in TASKS))
    lines = [
        {"task_id": row["task_id"], "solution": code}
        for row, wrong in TASKS
        for code in (row["code_prompt"] + row["canonical_solution"] + "# own\n", wrong)
    ]
    solutions.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for file in (problems, solutions):
        code, _, said = call("import", path, file, "--dataset", "own")
        assert code == 0, said
    for name, options in {"closed": (), "execution": ("-o", "scratch=2MB")}.items():
        code, _, said = call("verify", path, "execution", "--name", name, *options)
        assert code == 0, said
    found = {}
    for name in ("closed", "execution"):
        code, out, said = call("verdicts", path, "--verifier", name)
        assert code == 0, said
        found[name] = [json.loads(line)["verdict"] for line in out.splitlines()]
    assert found == {"closed": ["incorrect"] * 8, "execution": ["correct", "incorrect"] * 4}
    for run, limit in ((1, None), (2, 2 << 20)):
        code, out, said = call("runs", path, "show", run, "--json")
        assert code == 0, said
        assert json.loads(out)["provenance"][0]["limits"].get("scratch_bytes") == limit
    # The reference is run as the solutions were, and so has rank 1.
    code, out, said = call("code", "select", path, "--truth", "execution")
    assert code == 0, said
    ranked = [json.loads(line) for line in out.splitlines()]
    assert [(one["scores"][0], one["ranks"][0]) for one in ranked] == [(1.0, 1)] * 4
    assert {one["ground_truth_from"] for one in ranked} == {"reference"}
