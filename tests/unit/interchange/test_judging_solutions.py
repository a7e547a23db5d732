"""Judging solutions in files against the tests of their rows: the rewards, whatever they do or die of."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import workbench
from tests.evolving_served import need_a_sandbox
from tests.unit.interchange.test_judging_files import lines, read, watch_held_rows
from workbench.app.cli import root
from workbench.core.code import Execution
from workbench.core.errors import FormatError, UsageError
from workbench.core.run import ClusterUse
from workbench.interchange import judging_files
from workbench.interchange.judging_files import JudgedFiles, judge_files
from workbench.verifiers.execution.pool import SandboxPool

SUITE = ["assert double(1) == 2", "assert double(3) == 6", "assert double(-1) == -2"]
FORGED = "assert double(1) == 2\nassert True"
"""What is decided inside the sandbox."""
BODIES = ["return 2 * x", "return 2", "raise ValueError(x)", "return 2 * x if x > 0 else 1"]
HOSTILE = [
    "import os\nos._exit(0)",
    "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)",
    "import sys\nsys.stdout.write('pp\\n' * 10**6)\ndef double(x): return 0",
    "raise SystemExit",
    "while True: pass",
    "def double(x):\n    class Equal(int):\n        def __eq__(self, other): return True\n    return Equal()",
    "import os\nwhile True: os.fork()",
    "x = 'a' * 10**10",
    "open('/tmp/escaped', 'w').write('x')",
]
NEW = ("verdict", "score", "reason", "outcomes", "forgeable", "isolation")


@pytest.fixture(autouse=True)
def sandbox() -> None:
    need_a_sandbox()


def solution(number: int) -> str:
    return f"Here:\n```python\ndef double(x):\n    {BODIES[number % 4]}\n# {number}\n```"


def rows(count: int) -> list[dict[str, Any]]:
    """Solutions of which a quarter is right."""
    return [
        {"prompt": "Double.", "completion": solution(n), "tests": SUITE, "entry_point": "double", "n": n}
        for n in range(count)
    ]


def judge(source: Path, target: Path, **said: Any) -> JudgedFiles:
    said = {"workers": 2, **said}
    return judge_files(source, target, "execution", said.pop("options", {"timeout": "0.5"}), **said)


def write(path: Path, some: Sequence[Any]) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(some)), path, row_group_size=16)
        return path
    return lines(path, some)


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_the_verdicts_are_those_of_a_reward(tmp_path: Path, ending: str) -> None:
    some, target = rows(30), tmp_path / f"out{ending}"
    report = judge(write(tmp_path / f"in{ending}", some), target)
    found = read(target)
    assert [{name: one[name] for name in one if name not in NEW} for one in found] == some
    assert [*found[0]] == [*some[0], *NEW]
    with closing(workbench.Judge("execution", options={"timeout": "0.5"})) as made:
        batch = made({name: [one[name] for one in some] for name in some[0]})
    for name in ("verdict", "score", "reason"):
        assert [one[name] for one in found] == batch[name]
    assert [one["outcomes"] for one in found[:4]] == ["ppp", "pff", "eee", "ppf"]
    assert {one["isolation"] for one in found} == {report.isolation}
    assert (report.rows, report.forgeable, report.errors) == (30, 0, {})
    assert report.verdicts == {"correct": 8, "incorrect": 22}
    assert report.provenance is not None
    assert report.provenance.level == report.isolation


def test_every_form_of_tests_is_read_as_rewards_read_it(tmp_path: Path) -> None:
    truth = json.dumps({"tests": SUITE, "entry_point": "double"})
    calls = {"fn_name": "double", "inputs": [[1], [-2]], "outputs": [2, -4]}
    right, reads = solution(0), "print(2 * int(input()))"
    chat = [{"role": "user", "content": "?"}, {"role": "assistant", "content": right}]
    some: list[tuple[dict[str, Any], str]] = [
        ({"completion": right, "ground_truth": truth}, "ppp"),
        ({"completion": right, "reward_model": {"style": "rule", "ground_truth": truth}}, "ppp"),
        ({"completion": right, "input_output": json.dumps(calls)}, "pp"),
        ({"completion": right, "test_list": SUITE}, "ppp"),
        ({"completion": right, "tests": "\n".join(SUITE)}, "ppp"),
        ({"completion": reads, "tests": [{"input": "1\n", "output": "2\n"}]}, "p"),
        ({"completion": chat, "tests": SUITE}, "ppp"),
    ]
    for number, (row, outcomes) in enumerate(some):
        judge(lines(tmp_path / f"{number}.jsonl", [row]), tmp_path / f"{number}.out.jsonl")
        assert [one["outcomes"] for one in read(tmp_path / f"{number}.out.jsonl")] == [outcomes], row
    deep = {"said": [{"text": right}], "about": {"unit": SUITE}}
    columns = {"completion": "said[0].text", "reference": "about.unit"}
    judge(lines(tmp_path / "deep.jsonl", [deep]), tmp_path / "deep.out.jsonl", columns=columns)
    assert read(tmp_path / "deep.out.jsonl")[0]["outcomes"] == "ppp"


def test_outcomes_of_several_suites_are_concatenated(tmp_path: Path) -> None:
    row = {**rows(1)[0], "plus_tests": ["assert double(0) == 1", SUITE[0]], "whole_test": "assert double(4) == 8"}
    source = lines(tmp_path / "in.jsonl", [row, {**rows(1)[0], "plus_tests": [], "whole_test": None}])
    judge(source, tmp_path / "out.jsonl", options={"suite": "base,plus,whole"})
    found = read(tmp_path / "out.jsonl")
    assert [one["outcomes"] for one in found] == ["ppp fp p", "ppp"]
    assert [one["forgeable"] for one in found] == [1, 0]
    judge(source, tmp_path / "seeds.jsonl", options={"suite": "base", "hash_seeds": "3"})
    assert [one["outcomes"] for one in read(tmp_path / "seeds.jsonl")] == ["ppp", "ppp"]
    report = judge(source, tmp_path / "none.jsonl", options={"suite": "plus"})
    assert report.verdicts == {"incorrect": 1, "abstain": 1}
    assert [read(tmp_path / "none.jsonl")[1][name] for name in NEW] == ["abstain", None, "no_tests", None, None, None]


BAD: list[tuple[object, str | None, str]] = [
    ("no json", None, "bad_json"),
    ('["a list"]', None, "wrong_type"),
    ({"tests": SUITE}, "completion", "missing_field"),
    ({"completion": None, "tests": SUITE}, "completion", "missing_field"),
    ({"completion": {"a": 1}, "tests": SUITE}, "completion", "wrong_type"),
    ({"completion": "x"}, "tests", "missing_field"),
    ({"completion": "x", "tests": None}, "tests", "missing_field"),
    ({"completion": "x", "tests": []}, "tests", "wrong_type"),
    ({"completion": "x", "tests": "{not json"}, "tests", "wrong_type"),
    ({"completion": "x", "tests": [1]}, "tests", "wrong_type"),
    ({"completion": "x", "tests": True}, "tests", "wrong_type"),
    ({"completion": "x", "tests": {"inputs": ["1"], "outputs": []}}, "tests", "wrong_type"),
    ({"completion": "x", "tests": SUITE, "seconds": -1}, "tests", "wrong_type"),
    ({"completion": "x", "tests": SUITE, "suites": 7}, "tests", "wrong_type"),
    ('{"completion": "\\ud800", "tests": ["assert 1"]}', None, "bad_utf8"),
    ('{"completion": "x", "tests": ' + "[" * 5000 + "]" * 5000 + "}", None, "bad_json"),
]


def test_bad_rows_are_listed_separately_and_affect_no_other(tmp_path: Path) -> None:
    good = rows(len(BAD) + 1)
    mixed: list[object] = [good[0]]
    for (bad, _, _), one in zip(BAD, good[1:], strict=True):
        mixed += [bad, one]
    source = lines(tmp_path / "in.jsonl", mixed)
    done = CliRunner().invoke(root, ["judge-file", str(source), str(tmp_path / "out.jsonl"), "--verifier", "execution"])
    assert done.exit_code == 3, done.output
    assert f"{len(BAD)} rows could not be judged" in done.output
    assert [one["n"] for one in read(tmp_path / "out.jsonl")] == [one["n"] for one in good]
    refused = read(tmp_path / "_out.jsonl.refused.jsonl")
    assert [(one["file"], one["line"], one["field"], one["code"]) for one in refused] == [
        (str(source), 2 + 2 * number, field, code) for number, (_, field, code) in enumerate(BAD)
    ]
    assert [one["message"] for one in refused if one["message"][-1] != "." or "[0] must" in one["message"]] == []


def test_hostile_solutions_harm_neither_their_neighbours_nor_the_file(tmp_path: Path) -> None:
    some = []
    for number, (one, hostile) in enumerate(zip(rows(len(HOSTILE)), HOSTILE, strict=True)):
        some += [one, {**one, "completion": hostile, "n": -number}]
    before = {*psutil.Process().children(recursive=True)}
    report = judge(lines(tmp_path / "in.jsonl", some), tmp_path / "out.jsonl")
    found = read(tmp_path / "out.jsonl")
    assert [one["n"] for one in found] == [one["n"] for one in some]
    assert [one["verdict"] for one in found[::2]] == [("incorrect", "correct")[n % 4 == 0] for n in range(len(HOSTILE))]
    assert "correct" not in {one["verdict"] for one in found[1::2]}
    assert report.refused == 0
    assert not Path("/tmp/escaped").exists()
    assert {*psutil.Process().children(recursive=True)} <= before


def test_forgeable_passes_and_unrun_solutions_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where they were judged before."""
    some = [{**one, "tests": [*SUITE, FORGED] if one["n"] < 12 else SUITE} for one in rows(24)]
    some[20] |= {"language": "cobol", "tests": [{"input": "1", "output": "2"}]}
    run = SandboxPool.turn

    def turn(self: Any, jobs: Any) -> list[Any]:
        return [(key, lost(one) if key[0].item.item in (5, 17) else one) for key, one in run(self, jobs)]

    def lost(one: Execution) -> Execution:
        return Execution(outcomes="n" * len(one.outcomes), level=one.level, harness_killed=True)

    monkeypatch.setattr(SandboxPool, "turn", turn)
    source, target = lines(tmp_path / "in.jsonl", some), tmp_path / "out.jsonl"
    report = judge(source, target)
    assert report.rows == 24
    assert report.forgeable == 3
    assert report.errors == {"harness_killed": 2, "no_runner": 1}
    assert report.verdicts["error"] == 3
    assert [one["n"] for one in read(target) if one["verdict"] == "correct" and one["forgeable"]] == [0, 4, 8]
    done = CliRunner().invoke(
        root, ["judge-file", str(source), str(target), "--verifier", "execution", "--force", "--workers", "2"]
    )
    assert done.exit_code == 0, done.output
    assert f"isolated at level {report.isolation} (" in done.output
    assert "of the correct ones 3 with passes that could be forged (forgeable > 0)" in done.output
    assert "not run: 2 harness_killed and 1 no_runner" in done.output


def command(source: Path, target: Path, *words: str) -> list[str]:
    given = ["--verifier", "execution", *words]
    return [sys.executable, "-m", "workbench", "judge-file", str(source), str(target), *given]


@pytest.mark.soak
@pytest.mark.parametrize("workers", [2, *(pytest.param(workers, marks=pytest.mark.soak) for workers in (1, 3))])
def test_a_slow_row_keeps_no_more_of_the_file_in_memory_than_is_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """All rows behind one that hangs wait for it."""
    some = rows(400)
    some[3]["completion"] = "def double(x):\n    while True: pass\n"
    size = len(json.dumps(some[5]))
    monkeypatch.setattr(judging_files, "_CHUNK_BYTES", 4 * size)
    monkeypatch.setattr(judging_files, "_MAX_HELD_BYTES", 20 * size)
    most = watch_held_rows(monkeypatch)
    report = judge(
        lines(tmp_path / "in.jsonl", some), tmp_path / "out.jsonl", options={"timeout": "1"}, workers=workers
    )
    assert report.rows == len(most) == 400
    assert read(tmp_path / "out.jsonl")[3]["reason"] == "time_limit"
    # At most the queued rows and a chunk.
    assert 20 <= max(most) <= 20 + 7 + 4


def test_a_file_without_rows_is_one(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("")
    none = pa.table({"said": pa.array([], pa.string()), "tests": pa.array([], pa.list_(pa.string()))})
    pq.write_table(none, tmp_path / "b.parquet")
    for name in ("a.jsonl", "b.parquet"):
        assert judge(tmp_path / name, tmp_path / f"out-{name}").rows == 0
    assert (tmp_path / "out-a.jsonl").read_bytes() == b""
    assert pq.read_table(tmp_path / "out-b.parquet").column_names == ["said", "tests", *NEW]


def test_files_without_solutions_or_tests_are_reported(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    for row, said, columns in (
        ({"completion": "x", "answer": "1"}, "no column holds the tests", {}),
        ({"text": "x", "tests": SUITE}, "no column holds the completion", {}),
        ({"completion": "x", "tests": SUITE}, "there is no column 'unit'", {"reference": "unit"}),
        ({"completion": "x", "tests": SUITE}, "'question' is not a field of solutions", {"question": "tests"}),
    ):
        with pytest.raises((FormatError, UsageError), match=said):
            judge(lines(tmp_path / "in.jsonl", [row]), out, columns=columns)
    with pytest.raises(FormatError, match="a file of csv can't be judged without a database"):
        judge(lines(tmp_path / "in.csv", ["completion,tests", "a,b"]), out)
    taken = lines(tmp_path / "in.jsonl", [{**rows(1)[0], "isolation": "L3"}])
    with pytest.raises(UsageError, match="'isolation'"):
        judge(taken, out)
    judge(taken, out, prefix="run_")
    assert read(out)[0]["run_isolation"]
    with pytest.raises(UsageError, match="is not the address of a cluster"):
        judge(taken, tmp_path / "o.jsonl", on=ClusterUse(address="kubernetes"))
