"""Custom prompts: each request is the file with its fields, byte for byte, and part of the digest."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Call, in_process
from tests.evolving import own_project
from tests.evolving_served import answering, own_tests
from tests.servers.scripted import ScriptedServer, scripted
from tests.servers.wire import Received
from tests.unit.app.cli.test_code_evolution import opened
from workbench.coding import problems as coding_problems
from workbench.coding.evolution.replies import called_by, parse_rewritten
from workbench.coding.templates import own_prompts, read_prompt
from workbench.core.errors import UsageError
from workbench.core.project import open_project

ODD = "  Ünlike {this} or {{that}}, {question-ish}\r\n\tkeep <|im_end|> me\n"
"""What is no placeholder stays, and so do blanks, ends of lines and control tokens."""


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    monkeypatch.setattr(coding_problems, "opened_sandbox", opened)
    return in_process(monkeypatch, capfd)


def written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def sent(server: ScriptedServer) -> list[str]:
    for body in server.bodies:
        assert [message["role"] for message in body["messages"]] == ["user"]
    return [body["messages"][0]["content"] for body in server.bodies]


def imported(call: Call, folder: Path, rows: list[dict[str, Any]]) -> Path:
    database, paths = folder / "own.db", []
    for key in ("prompt", "solution_id"):
        if of_it := [row for row in rows if key in row]:
            paths.append(folder / f"{key}.jsonl")
            paths[-1].write_text("".join(f"{json.dumps(row)}\n" for row in of_it))
    assert call("import", database, *paths)[0] == 0
    return database


HOSTILE = "def f(x):\n    '''{solution} {count} <think> <|im_end|> \\1 \\g<0> {question}'''\n"
"""A problem whose text holds placeholders and tokens: what is put in is never looked at again."""
PROBLEMS: list[dict[str, Any]] = [
    {"task_id": "a", "entry_point": "f", "prompt": HOSTILE, "tests": ["assert f(1) == 1"]},
    {"task_id": "b", "entry_point": "g", "prompt": "def g(x):\n", "tests": ["assert g(1) == 1"]},
]
SOLUTIONS: list[dict[str, Any]] = [
    {"task_id": "a", "solution_id": "0", "code": "def f(x):\n    return '{question}'\n"},
    {"task_id": "b", "solution_id": "0", "code": "def g(x):\n    return x\n"},
]


@pytest.mark.parametrize("name", ["question", "input", "instruction"])
def test_requests_for_tests_equal_the_file_byte_for_byte(call: Call, tmp_path: Path, name: str) -> None:
    text = f"{ODD}Write {{count}} for\n{{{name}}}\nTest Cases:\n"
    file = written(tmp_path / "p.txt", text)
    database = imported(call, tmp_path, PROBLEMS)
    with scripted(lambda received: "<assertion>assert f(1) == 1</assertion>") as server:
        words = ["code", "write-tests", database, "--model", "m", "-o", f"base_url={server.url}", "--n", 15]
        assert call(*words, "--suite", "own", "--template", file)[0] == 0
        expected = [text.replace("{count}", "15").replace(f"{{{name}}}", row["prompt"]) for row in PROBLEMS]
        assert sorted(sent(server)) == sorted(expected)
        # Another file is another suite; the same one is gone on with.
        assert call(*words, "--suite", "own", "--template", f"tests={file}")[0] == 0
        assert len(server.received) == 2
        code, _, said = call(*words, "--suite", "own")
        assert (code, "other settings: prompt_sha256" in said) == (2, True)
    project = open_project(database)
    (about,) = project.database.reader().execute("SELECT about FROM suites WHERE name = 'own'").fetchone()
    project.close()
    assert json.loads(about)["made"]["prompt_sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_a_solution_is_put_in_where_it_is_shown(call: Call, tmp_path: Path) -> None:
    text = "Question: {input}\nSolution:\n{code}\nTest Cases:"
    file = written(tmp_path / "p.txt", text)
    database = imported(call, tmp_path, [*PROBLEMS, *SOLUTIONS])
    with scripted(lambda received: "<assertion>assert f(1) == 1</assertion>") as server:
        words = ["code", "write-tests", database, "--model", "m", "-o", f"base_url={server.url}", "--template", file]
        code, _, said = call(*words, "--suite", "own")
        assert (code, "The prompt shows a solution" in said, server.received) == (2, True, [])
        assert call(*words, "--suite", "own", "--with-solution")[0] == 0
        assert sorted(sent(server)) == sorted(
            f"Question: {row['prompt']}\nSolution:\n{solution['code']}\nTest Cases:"
            for row, solution in zip(PROBLEMS, SOLUTIONS, strict=True)
        )


def test_requests_for_solutions_and_pools_use_the_file(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = written(tmp_path / "right.txt", "Right, please.\nQuestion: {question}\n\nAnswer:\n")
    wrong = written(tmp_path / "wrong.txt", "Somewhat incorrect.\nQuestion: <<question>>\nAnswer:\n")
    database = imported(call, tmp_path, [*PROBLEMS, *SOLUTIONS])
    with scripted(lambda received: "```python\ndef f(x):\n    return 1\n```") as server:
        asking = ["--model", "m", "-o", f"base_url={server.url}"]
        words = ["code", "write-solutions", database, "--name", "new", "--rounds", 1, *asking]
        code, _, said = call(*words, "--template", right)
        assert (code, "the task of the prompt file is missing" in said, server.received) == (2, True, [])
        assert call(*words, "--template", f"correct={right}", "--template", f"incorrect={wrong}")[0] == 0
        expected = [f"Right, please.\nQuestion: {row['prompt']}\n\nAnswer:\n" for row in PROBLEMS]
        poor = [f"Somewhat incorrect.\nQuestion: {row['prompt']}\nAnswer:\n" for row in PROBLEMS]
        assert sorted(sent(server)) == sorted([*expected, *poor])
        server.received.clear()
        pooled = ["code", "pool", database, "--samples", 1, "--name", "p", *asking]
        assert call(*pooled, "-o", "seed=3", "--template", right)[0] == 0
        assert sorted(sent(server)) == sorted(expected)
        code, _, said = call(*pooled, "-o", "seed=3")
        assert code == 2


def test_requests_of_a_round_use_its_files_and_released_lists(call: Call, tmp_path: Path) -> None:
    project = own_project(tmp_path, 2)
    programs = [text for (text,) in project.database.reader().execute("SELECT text FROM completion_text")]
    project.close()
    database = tmp_path / "p.db"
    parts = ["{question}", *(f"{{program{number}}}" for number in range(1, 6)), "{tests}", "{eval_tests}"]
    text = "system:\nFail the best.\n" + "\n~~~\n".join(parts)
    hard = written(tmp_path / "hard.txt", text)
    split = written(tmp_path / "split.txt", f"It hardly tells them apart, write {{count}}.\n{text}")
    with scripted(answering(own_tests(2))) as server:
        words = ["code", "evolve", database, "--model", "m", "-o", f"base_url={server.url}", "--rounds", 1]
        own = ["--template", f"adversarial={hard}", "--template", f"discriminative={split}"]
        assert call(*words, "--name", "own", *own)[0] == 0
        asked = sent(server)
        assert len(asked) == 4
        for request in asked:
            head, *shown = request.split("\n~~~\n")
            assert head.startswith(("system:\nFail the best.\nWrite clip", "It hardly tells them apart, write 20.\n"))
            assert all(not program or program in programs for program in shown[:5])
            assert re.fullmatch(r"\[\n(    assert .*,\n)+\]", shown[5])
            assert re.fullmatch(r"\[\n(    \[(True|False)(, (True|False))*\],\n)+\]", shown[6])
            assert len(shown[6].splitlines()) - 2 == sum(map(bool, shown[:5]))
        # Other words are another evolution.
        code, _, said = call(*words, "--name", "own")
        assert code == 2
        assert "prompts" in said


def test_a_long_test_is_shown_whole(call: Call, tmp_path: Path) -> None:
    project = own_project(tmp_path, 1)
    long = f"assert candidate(1) == 1, {'x' * 3_000!r}"
    with project.database.write() as connection:
        connection.execute("UPDATE tests SET source = ? WHERE position = 0", (long,))
    project.close()
    with scripted(answering(own_tests(1))) as server:
        base = f"base_url={server.url}"
        call("code", "evolve", tmp_path / "p.db", "--model", "m", "-o", base, "--rounds", 1, "--name", "e")
        shown = [body["messages"][-1]["content"] for body in server.bodies]
    assert any(long in one for one in shown)
    assert not any("x …" in one for one in shown)


REFINABLE: list[dict[str, Any]] = [
    {
        "task_id": name,
        "prompt": f"Task {name}. Read numbers, print their sum.",
        "canonical_solution": code,
        "tests": [{"input": "1 2\n", "output": "3\n"}],
    }
    for name, code in (("known", "print(sum(map(int, input().split())))\n"), ("bare", ""))
]


def refined(call: Call, folder: Path, answer: Callable[[Received], str], *more: object) -> tuple[list[str], list[Any]]:
    database = imported(call, folder, REFINABLE)
    with scripted(answer) as server:
        base, output = f"base_url={server.url}", folder / "new.jsonl"
        call("code", "refine", database, "--model", "m", "-o", base, "--output", output, *more)
        asked = [body["messages"][-1]["content"] for body in server.bodies]
    return asked, [json.loads(line) for line in output.read_text().splitlines()]


def test_rewriting_a_problem_uses_two_files_and_no_solution(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = written(tmp_path / "both.txt", 'Q: {instruction}\nP: {program}\n{"question": ..., "tests": [...]}')
    alone = written(tmp_path / "alone.txt", "Original Question: <<instruction>>")
    reply = json.dumps(
        {
            "question": "def total(xs): the sum",
            "tests": [*(f"assert total([{n}]) == {n}" for n in range(6)), "assert sorted([]) == []"],
        }
    )
    given = ["--template", f"with-reference={both}", "--template", f"without-reference={alone}"]
    asked, lines = refined(call, tmp_path, lambda received: f"```json\n{reply}\n```", *given)
    known, bare = REFINABLE
    assert sorted(asked) == sorted(
        [
            f'Q: {known["prompt"]}\nP: {known["canonical_solution"]}\n{{"question": ..., "tests": [...]}}',
            f"Original Question: {bare['prompt']}",
        ]
    )
    assert [one["task_id"] for one in lines] == ["known", "bare"]
    for line in lines:
        assert (line["entry_point"], line["canonical_solution"], len(line["tests"])) == ("total", "", 6)
    # The output is a file of problems.
    assert call("import", tmp_path / "q.db", tmp_path / "new.jsonl")[0] == 0


def test_without_a_reference_our_own_words_show_none(call: Call, tmp_path: Path) -> None:
    asked, lines = refined(call, tmp_path, lambda received: "no")
    assert lines == []
    known = next(one for one in asked if "Task known" in one)
    bare = next(one for one in asked if "Task bare" in one)
    assert "a program that solves" in known
    assert "program:" not in bare
    assert "a program that solves" not in bare


@pytest.mark.parametrize(
    ("tests", "called"),
    [
        (["assert f(1) == 1", "assert f(g(2)) == 1", "assert sorted(f(3)) == [1]"], "f"),
        (["assert g(f(1))", "assert f(2)", "assert f(3)"], "f"),
        (["assert Solution().go(1) == 2"], "Solution"),
        (["assert 1", "no python ("], ""),
        ([], ""),
    ],
)
def test_the_function_is_the_one_called_by_the_tests(tests: list[str], called: str) -> None:
    assert called_by(tests) == called
    reply = json.dumps({"question": "Q", "tests": tests})
    found = parse_rewritten(reply, bare=True)
    assert (found.entry_point if found else "") == called
    assert parse_rewritten(reply) is None


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"no place for it", "{question} is missing from it"),
        (b"ok {question}\n\xff", ":2:"),
        (b"{question}" + b"x" * 300_000, "256 KiB"),
    ],
)
def test_an_unusable_prompt_file_is_reported(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "p.txt"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=re.escape(told)):
        read_prompt(path, "tests")
    with pytest.raises(UsageError, match="no such file"):
        read_prompt(tmp_path / "none.txt", "tests")


def test_each_kind_has_one_prompt_file(tmp_path: Path) -> None:
    path = written(tmp_path / "p.txt", "{question}")
    with pytest.raises(UsageError, match="two files are prompts for correct"):
        own_prompts([f"correct={path}", f"correct={path}"], ("correct", "incorrect"))
    (tmp_path / "a=b.txt").write_text("{question}")
    assert own_prompts([str(tmp_path / "a=b.txt")], ("tests",))["tests"].text == "{question}"
