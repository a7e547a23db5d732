"""Sources of code for reinforcement learning, as released, and exports of evolutions read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Call, in_process
from tests.evolving import own_project
from tests.evolving_served import answering, own_tests
from tests.servers.scripted import scripted
from tests.unit.app.cli.test_code_evolution import opened
from tests.unit.data.formats.code.documented_rows import EXAMPLES, problem, read, refused, suites
from workbench.coding import problems as coding_problems
from workbench.core.code import SolutionRecord
from workbench.core.project import opened_project
from workbench.data.formats.kinds import detect_rows


@pytest.mark.parametrize("name", ["code-contests", "codeforces", "synthetic", "evolved", "apps", "taco"])
def test_a_released_row_is_known_by_its_keys(name: str) -> None:
    assert detect_rows(EXAMPLES[name].keys(), []) == name


def test_code_contests_imports_python_3_and_incorrect_solutions() -> None:
    solutions = [one for one in read("code-contests", EXAMPLES["code-contests"]) if isinstance(one, SolutionRecord)]
    assert [(one.code, one.gold) for one in solutions] == [
        ("print(sum(map(int, input().split())))", True),
        ("print(3)", False),
    ]
    found = problem("code-contests").problem
    assert (found.canonical, found.seconds) == (solutions[0].code, 2.5)
    listed = [{"input": "1 2\n", "output": "3\n"}]
    assert suites(problem("code-contests", public_tests=listed))["public"] == [("stdio", "1 2\n")]
    assert refused("code-contests", public_tests={"input": ["a"], "output": []}).field == "public_tests"
    assert problem("code-contests", solutions={"language": [2], "solution": ["int"]}).problem.canonical == ""


@pytest.mark.parametrize(
    "changed", [{"generated_checker": "import sys"}, {"interaction_format": "Ask."}, {"input_mode": "file"}]
)
def test_codeforces_has_tests_where_texts_decide(changed: dict[str, Any]) -> None:
    assert problem("codeforces", **changed).problem.suites == {}
    whole = problem("codeforces").problem
    assert whole.prompt.index("Input\nOne number.") < whole.prompt.index("Output\n") < whole.prompt.index("Example\n")
    assert set(suites(problem("codeforces", official_tests=[]))["base"]) == {("stdio", "2\n")}


STDIN = {"test_cases": [{"type": "stdin_stdout", "input": "1\n", "output": "2\n"}], "language": "Python"}
APPS = {"inputs": [[1, 2]], "outputs": [[3]], "fn_name": "add"}


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        (json.dumps(STDIN), [("stdio", "1\n")]),
        (repr(STDIN), [("stdio", "1\n")]),
        (STDIN, [("stdio", "1\n")]),
        (json.dumps({"ground_truth": json.dumps(APPS)}), [("expression", "assert candidate(1, 2) == 3")]),
        ({"ground_truth": APPS}, [("expression", "assert candidate(1, 2) == 3")]),
        (APPS, [("expression", "assert candidate(1, 2) == 3")]),
    ],
)
def test_how_a_reply_is_verified_is_read_in_every_spelling(info: Any, expected: list[tuple[str, str]]) -> None:
    found = problem("synthetic", verification_info=info)
    assert suites(found)["base"] == expected
    assert found.problem.language == "python"


@pytest.mark.parametrize(
    ("info", "code"),
    [
        ("__import__('os').system('true')", "bad_json"),
        ("{'a': open('x')}", "bad_json"),
        ("[" * 100_000, "bad_json"),
        (json.dumps({"ground_truth": "42"}), "unsupported"),
        (json.dumps({"ground_truth": "the answer"}), "unsupported"),
        (json.dumps({"answer": 1}), "unsupported"),
        (json.dumps({"test_cases": [1]}), "wrong_type"),
        (
            json.dumps({"test_cases": [{"type": "function_call", "fn_name": "f", "input": [], "output": 1}, STDIN]}),
            "unsupported",
        ),
        (json.dumps({"inputs": [[1]], "outputs": [1], "fn_name": "os.system"}), "wrong_type"),
    ],
)
def test_what_is_no_code_or_no_literal_is_rejected_and_never_run(info: str, code: str) -> None:
    assert refused("synthetic", verification_info=info).code == code


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    monkeypatch.setattr(coding_problems, "opened_sandbox", opened)
    return in_process(monkeypatch, capfd)


def stored_tests(database: Path, suite: str) -> list[tuple[object, ...]]:
    with opened_project(database) as project:
        return (
            project.database.reader()
            .execute(
                "SELECT q.key, t.position, t.form, t.source FROM tests AS t JOIN suites AS s ON s.id = t.suite_id "
                "JOIN questions AS q ON q.id = t.question_id WHERE s.name = ? ORDER BY 1, 2",
                (suite,),
            )
            .fetchall()
        )


def test_an_export_is_imported_with_the_same_suites(call: Call, tmp_path: Path) -> None:
    own_project(tmp_path, 2).close()
    lines, other = tmp_path / "hard.jsonl", tmp_path / "q.db"
    with scripted(answering(own_tests(2))) as server:
        words = ["--name", "hard", "--model", "m", "-o", f"base_url={server.url}", "--rounds", "2"]
        assert call("code", "evolve", tmp_path / "p.db", *words, "--export", lines)[0] == 0
    code, out, err = call("import", other, lines)
    assert code == 0, out + err
    exported = stored_tests(tmp_path / "p.db", "hard")
    assert len(exported) > 10
    assert stored_tests(other, "hard") == exported == stored_tests(other, "base")
