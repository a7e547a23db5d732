"""The benchmarks of MCTS-Judge: HumanEval-X, language and difficulty as fields, random samples of problems."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Call, in_process
from tests.documents import ROOT

X = {
    "task_id": "JavaScript/0",
    "prompt": "/* Add one. */\nconst addOne = (x) => {\n",
    "declaration": "\nconst helper = (x) => x;\nconst addOne = (x) => {\n",
    "canonical_solution": "  return x + 1;\n}\n",
    "test": "const testAddOne = () => {\n  console.assert(addOne(1) === 2)\n}\ntestAddOne()\n",
    "example_test": "const testAddOne = () => {\n  console.assert(addOne(0) === 1)\n}\ntestAddOne()\n",
}
PYTHON = {
    "task_id": "Python/0",
    "prompt": 'def add_one(x):\n    """Add one."""\n',
    "declaration": "def add_one(x):\n",
    "canonical_solution": "    return x + 1\n",
    "test": "def check(add_one):\n    assert add_one(1) == 2\n\ncheck(add_one)\n",
    "example_test": "def check(add_one):\n    assert add_one(0) == 1\ncheck(add_one)\n",
}
CPP = {
    **X,
    "task_id": "CPP/0",
    "declaration": "#include<vector>\nusing namespace std;\nint add_one(vector<int> x){\n",
    "test": "#undef NDEBUG\n#include<assert.h>\nint main(){ assert(add_one({1}) == 2); }\n",
}


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    monkeypatch.chdir(tmp_path)
    return in_process(monkeypatch, capfd)


def written(name: str, *rows: dict[str, Any]) -> str:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return name


def solution(task: str, number: int, code: str, gold: bool) -> dict[str, Any]:
    return {"task_id": task, "solution_id": str(number), "code": code, "passed": gold}


def loaded(call: Call, status: int, *words: str) -> Any:
    done, said, error = call(*words)
    assert done == status, error
    return json.loads(said) if said.startswith(("{", "[")) else said


# HumanEval-X.


def test_humaneval_x_is_read_as_released(call: Call) -> None:
    problems = written("x.jsonl", X, PYTHON, CPP)
    solutions = written(
        "s.jsonl",
        solution("JavaScript/0", 0, "const addOne = (x) => x + 1;", True),
        solution("JavaScript/0", 1, "const addOne = (x) => x;", False),
        solution("Python/0", 0, "def add_one(x):\n    return x + 1\n", True),
        solution("Python/0", 1, "def add_one(x):\n    return x\n", False),
        solution("CPP/0", 0, "int add_one(vector<int> x){ return x[0] + 1; }", True),
    )
    loaded(call, 0, "import", "x.db", problems, solutions)
    from workbench.core.project import opened_project
    from workbench.runs.store.verifier_inputs import inputs

    with opened_project("x.db") as project:
        rows = project.database.reader().execute(
            "SELECT q.key, p.language, p.entry_point FROM code_problems AS p "
            "JOIN questions AS q ON q.id = p.question_id ORDER BY q.id"
        )
        assert rows.fetchall() == [
            ("JavaScript/0", "javascript", "addOne"),
            ("Python/0", "python", "add_one"),
            ("CPP/0", "cpp", "add_one"),
        ]
        (first, *_) = inputs(project.database, [1])
    assert first.reference == X["declaration"] + X["canonical_solution"]
    assert "addOne(0) === 1" in (first.example or ""), "public tests are the judges' example"
    assert "addOne(1)" not in (first.example or ""), "hidden ones never are"


@pytest.mark.soak
def test_humaneval_x_s_tests_decide_where_there_is_a_runner(call: Call) -> None:
    """A failed console.assert, which only writes a line, is a failed test."""

    problems = [PYTHON, X] if shutil.which("node") else [PYTHON]
    right = {"Python/0": "def add_one(x):\n    return x + 1\n", "JavaScript/0": "const addOne = (x) => x + 1;"}
    wrong = {"Python/0": "def add_one(x):\n    return x\n", "JavaScript/0": "const addOne = (x) => x;"}
    rows = [
        solution(problem["task_id"], number, codes[problem["task_id"]], gold)
        for problem in problems
        for number, (codes, gold) in enumerate(((right, True), (wrong, False)))
    ]
    loaded(call, 0, "import", "x.db", written("x.jsonl", *problems), written("s.jsonl", *rows))
    loaded(call, 0, "verify", "x.db", "execution")
    report = loaded(call, 0, "accuracy", "x.db", "--json")
    assert report["rows"][0]["accuracy"] == 1.0


def test_an_id_without_a_language_is_rejected_with_advice(call: Call) -> None:
    _, said, error = call("import", "x.db", written("x.jsonl", {**X, "task_id": "Cobol/0"}))
    assert "Begin it with one of: Python, CPP" in said + error


# Language and difficulty.


def set_up(call: Call) -> None:
    problems = [
        {
            "task_id": f"t{number}",
            "prompt": f"p{number}",
            "tests": ["assert f() == 1"],
            "language": "python" if number % 3 else "go",
            "difficulty": "competition" if number % 2 else "introductory",
        }
        for number in range(24)
    ]
    rows = [solution(f"t{number}", one, f"x = {number}{one}", bool(one)) for number in range(24) for one in range(2)]
    loaded(call, 0, "import", "p.db", written("p.jsonl", *problems), written("s.jsonl", *rows))
    items = [
        {"question": f"q{n}", "reference": "1", "completion": "1", "gold": True, "language": "rust"} for n in range(3)
    ]
    loaded(call, 0, "import", "p.db", written("items.jsonl", *items))


def shown(call: Call, *where: str) -> int:
    conditions = [word for one in where for word in ("--where", one)]
    done, _, error = call("export", "p.db", "out.jsonl", "--format", "jsonl", "--force", *conditions)
    assert done == 0, error
    return len(Path("out.jsonl").read_text().splitlines())


def test_language_and_difficulty_are_fields_of_where(call: Call) -> None:
    set_up(call)
    assert shown(call, "language=go") == 2 * 8
    assert shown(call, "language=rust") == 3, "a row's own field counts where there is no problem"
    assert shown(call, "difficulty=competition") == 2 * 12
    assert shown(call, "difficulty!=competition") == 2 * 12 + 3
    assert shown(call, "difficulty=competition", "language=go") == 2 * 4


@pytest.mark.soak
def test_metrics_are_grouped_by_language_and_difficulty(call: Call) -> None:
    set_up(call)
    loaded(call, 0, "verify", "p.db", "bleu", "-o", "threshold=0.5")
    report = loaded(call, 0, "accuracy", "p.db", "--by", "language", "--json")
    counts = {row["group"]: row["n"] for row in report["rows"] if row["group"] is not None}
    assert counts == {"go": 16, "python": 32, "rust": 3}
    report = loaded(call, 0, "accuracy", "p.db", "--by", "difficulty,language", "--json")
    groups = {row["group"]: row["n"] for row in report["rows"] if row["group"] is not None}
    assert groups["competition · go"] == 8
    assert sum(groups.values()) == 51


# So many problems by chance.


def members(call: Call, *words: str) -> set[str]:
    loaded(call, 0, "build", "p.db", "random", *words)
    name = words[words.index("--name") + 1]
    done, _, error = call("export", "p.db", "set.jsonl", "--format", "jsonl", "--force", "--where", f"set={name}")
    assert done == 0, error
    return {json.loads(line)["question_id"] for line in Path("set.jsonl").read_text().splitlines()}


def test_a_random_sample_of_problems_is_frozen_with_all_their_solutions(call: Call) -> None:
    set_up(call)
    where = ("--where", "difficulty=competition")
    five = members(call, "--n", "5", "--seed", "7", *where, "--name", "five")
    assert len(five) == 5
    assert all(int(name[1:]) % 2 for name in five), "of those that meet the conditions alone"
    assert len(Path("set.jsonl").read_text().splitlines()) == 10
    again = loaded(call, 0, "build", "p.db", "random", "--n", "5", "--seed", "7", *where, "--name", "five", "--json")
    assert again["unchanged"]
    assert five < members(call, "--n", "8", "--seed", "7", *where, "--name", "eight"), "a larger draw begins with it"
    others = [members(call, "--n", "5", "--seed", str(seed), *where, "--name", f"s{seed}") for seed in range(4)]
    assert len({frozenset(one) for one in others}) > 1


def test_a_sample_larger_than_the_pool_is_reported(call: Call) -> None:
    set_up(call)
    report = loaded(call, 0, "build", "p.db", "random", "--n", "500", "--where", "language=go", "--json")
    (short,) = report["shortfall"]
    assert (short["wanted"], short["taken"]) == (500, 8)
    assert "no more than 8" in short["why"]
    done, _, error = call("build", "p.db", "random", "--n", "0")
    assert done == 2, error


# Gold.


def test_test_outcomes_become_gold_as_documented(call: Call, tmp_path: Path) -> None:
    problem = {"task_id": "own/0", "prompt": "def f(x):\n", "entry_point": "f", "tests": ["assert f(1) == 2"]}
    solutions = [
        {"task_id": "own/0", "solution_id": str(number), "code": f"def f(x):\n    return {said}\n"}
        for number, said in enumerate(("x + 1", "x", "2"))
    ]
    loaded(call, 0, "import", "code.db", written("problems.jsonl", problem), written("solutions.jsonl", *solutions))
    loaded(call, 0, "verify", "code.db", "execution")
    section = (ROOT / "docs" / "code.md").read_text(encoding="utf-8").partition("## Tests as gold")[2]
    (command, *_) = re.findall(r"^\$ workbench (labels .+)$", section, re.MULTILINE)
    done, _, error = call(*shlex.split(command))
    assert done == 0, error
    found = loaded(call, 0, "accuracy", "code.db", "--verifier", "execution", "--json")
    (row,) = (row for row in found["rows"] if row["verifier"] == "execution")
    assert (row["n"], row["accuracy"]) == (3, 1.0)
    golds = [item["gold_correct"] for item in map(json.loads, exported(call))]
    assert golds == [True, False, True]


def exported(call: Call) -> list[str]:
    loaded(call, 0, "export", "code.db", "items.jsonl", "--format", "jsonl")
    return Path("items.jsonl").read_text().splitlines()
