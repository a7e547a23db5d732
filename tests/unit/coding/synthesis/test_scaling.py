"""``code scale``: equal to suites written, run and measured separately, with the models of each."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Call, done, in_process
from tests.evolving_served import need_a_sandbox
from tests.helpers import copy_database
from tests.servers.scripted import scripted
from tests.servers.wire import Received
from workbench.core.project import opened_project

NUMBERS = (0, 1, 2, 3, 4, 5, 6, 7)
RIGHT = {"double": "2 * x", "square": "x * x", "next_one": "x + 1", "minus": "-x"}
CODE = {
    "double": ["2 * x", "x + x if x < 6 else 0", "x + 2", "4", "x ** 2"],
    "square": ["x * x", "x * x if x < 5 else 0", "2 * x", "9", "x + 6"],
    "next_one": ["x + 1", "x + 1 if x > 3 else 0", "x", "5", "2 * x"],
    "minus": ["-x", "-x if x > 2 else 1", "x", "0", "-4"],
}


def function(name: str, value: str) -> str:
    return f"def {name}(x):\n    return {value}\n"


def right(name: str, number: int) -> int:
    return {"double": 2 * number, "square": number**2, "next_one": number + 1, "minus": -number}[name]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    need_a_sandbox()
    return in_process(monkeypatch, capfd)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_a_sandbox()
    folder = tmp_path_factory.mktemp("scaled")
    problems = [
        {
            "task_id": name,
            "entry_point": name,
            "prompt": f"Write {name}(x).",
            "canonical_solution": function(name, value),
            "tests": [f"assert {name}({number}) == {right(name, number)}" for number in NUMBERS],
        }
        for name, value in RIGHT.items()
    ]
    solutions = [
        {"task_id": name, "solution_id": str(place), "code": function(name, value)}
        for name, values in CODE.items()
        for place, value in enumerate(values)
    ]
    for file, rows in (("problems.jsonl", problems), ("solutions.jsonl", solutions)):
        (folder / file).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    database = folder / "p.db"
    done("import", database, folder / "problems.jsonl", folder / "solutions.jsonl")
    with opened_project(database) as project, project.database.write() as connection:
        # The line around texts follows from it: requests of two databases are the same.
        connection.execute("UPDATE secrets SET secret = ?", (bytes(32),))
    done("verify", database, "execution", "--name", "truth")
    return database


@pytest.fixture
def database(made: Path, tmp_path: Path) -> Path:
    return copy_database(made, tmp_path / "p.db")


def answer(received: Received) -> str:
    """As many tests as are asked for; some models write half of them wrong, or of half of the problems none."""
    words, model = received.body["messages"][0]["content"], received.body["model"]
    asked, named = re.search(r"Write (\d+) tests", words), re.search(r"calls (\w+) with values", words)
    assert asked is not None
    assert named is not None
    count, name = int(asked[1]), named[1]
    if model == "shy/half" and name in ("double", "minus"):
        return "I would rather not."
    tests = [f"assert {name}({number}) == {right(name, number)}" for number in range(count)]
    if model == "sloppy":
        tests = [*tests[: count // 2], *(f" assert {name}({number}) ==" for number in range(count // 2, count))]
    return "".join(f"<assertion>{test}</assertion>" for test in tests)


def figures(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("verifier", "run")}


@pytest.mark.soak
def test_scaling_equals_separate_suites(call: Call, made: Path, database: Path, tmp_path: Path) -> None:
    one, other = database, copy_database(made, tmp_path / "by hand.db")
    with scripted(answer) as server:
        asking = ["-o", f"base_url={server.url}"]
        models = [word for model in ("good", "sloppy", "shy/half") for word in ("--model", model)]
        scale = ["code", "scale", one, "--n", "2,8", *models, *asking, "--truth", "truth"]
        code, out, err = call(*scale, "--json")
        assert code == 0, err
        report = json.loads(out)
        asked = len(server.received)
        assert asked == 3 * 2 * 4
        code, out, err = call(*scale)
        assert (code, len(server.received)) == (0, asked), "the same command asks and runs nothing twice"
        assert "tests asked for" in out
        lines = call(*scale, "--format", "csv")[1].splitlines()
        assert len(lines) == 1 + 6
    points = {(point["model"], point["n"]): point for point in report["points"]}
    assert list(points) == [(model, n) for model in ("good", "sloppy", "shy/half") for n in (2, 8)]
    with scripted(answer) as server:
        asking = ["-o", f"base_url={server.url}"]
        for model, n in points:
            suite = f"{model}-{n}"
            words = ["code", "write-tests", other, "--suite", suite, "--n", n, "--model", model, *asking]
            assert call(*words)[0] == 0
            assert call("verify", other, "execution", "--name", suite, "-o", f"suite={suite}")[0] == 0
    measured = json.loads(call("code", "metrics", other, "--truth", "truth", "--json")[1])
    rows = {row["verifier"]: figures(row) for row in measured["rows"]}
    assert rows == {f"{model}-{n}": figures(point["figures"]) for (model, n), point in points.items()}


def test_refusals_and_broken_tests_lower_the_rank_of_a_model(call: Call, database: Path) -> None:
    with scripted(answer) as server:
        models = [word for model in ("good", "sloppy", "shy/half") for word in ("--model", model)]
        words = ["code", "scale", database, "--n", "8", *models, "-o", f"base_url={server.url}", "--json"]
        code, out, err = call(*words, "--truth", "truth")
    assert code == 0, err
    found = {point["model"]: point for point in json.loads(out)["points"]}
    assert json.loads(out)["filled"] == {"scale-shy-half-8": 10}
    assert {point["figures"]["problems"] for point in found.values()} == {4}
    # All tests right: the truth itself. Of two problems without a test all five solutions tie.
    assert (found["good"]["figures"]["top1"], found["good"]["figures"]["mae"]) == (1, 0)
    assert found["shy/half"]["figures"]["top1"] == pytest.approx((1 + 1 + 1 / 5 + 1 / 5) / 4)
    assert found["shy/half"]["figures"]["spearman"] == pytest.approx(found["good"]["figures"]["spearman"] / 2)
    assert (found["good"]["mean_tests"], found["shy/half"]["mean_tests"]) == (8, 4)
    # Half of its tests are no Python: the best solution has half the score, not all of it.
    assert found["sloppy"]["figures"]["mae"] > 0.15
    assert found["sloppy"]["mean_tests"] == 8


def test_a_prompt_that_asks_for_the_same_number_each_time_is_rejected(
    call: Call, database: Path, tmp_path: Path
) -> None:
    (tmp_path / "ten.txt").write_text("Generate 10 tests.\n{question}")
    with scripted(answer) as server:
        words = ["code", "scale", database, "--model", "good", "-o", f"base_url={server.url}", "--truth", "truth"]
        code, _, err = call(*words, "--template", tmp_path / "ten.txt")
        assert (code, "the same number of tests each time" in err, server.received) == (2, True, [])
        (tmp_path / "n.txt").write_text("Generate {count} tests.\n{question}")
    with scripted(lambda received: "<assertion>assert double(1) == 2</assertion>") as server:
        words[-3] = f"base_url={server.url}"
        assert call(*words, "--n", "1,2", "--template", tmp_path / "n.txt")[0] == 0
        asked = sorted(body["messages"][0]["content"].splitlines()[0] for body in server.bodies)
        assert asked == ["Generate 1 tests."] * 4 + ["Generate 2 tests."] * 4


def test_without_a_truth_no_request_is_sent(call: Call, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(json.dumps({"task_id": "a", "prompt": "A", "tests": ["assert a(1) == 1"]}) + "\n")
    call("import", tmp_path / "p.db", tmp_path / "p.jsonl")
    with scripted(answer) as server:
        code, _, err = call("code", "scale", tmp_path / "p.db", "--model", "good", "-o", f"base_url={server.url}")
        assert (code, "Run the tests: workbench verify DB execution" in err, server.received) == (2, True, [])
