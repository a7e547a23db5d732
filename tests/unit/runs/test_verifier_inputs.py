"""The fields of a row that verifiers get besides its texts, and judges that were bound before a default changed."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from tests.commands import run
from tests.helpers import make_project, numbered
from workbench.core.project import Project, opened_project
from workbench.core.verdict import VerifierInput
from workbench.runs.choosing import construct_verifier, resolve_verifier
from workbench.runs.configuring import bind
from workbench.runs.store.verifier_inputs import inputs
from workbench.verifiers.base import identity

SERVER = {"base_url": "http://localhost:1/v1", "model": "m"}


def seen(project: Project) -> list[VerifierInput]:
    items = [item for (item,) in project.database.reader().execute("SELECT id FROM completions ORDER BY id")]
    return inputs(project.database, items)


def test_text_fields_of_a_row_reach_the_verifier(tmp_path: Path) -> None:
    said = [
        {"language": "go", "difficulty": "interview", "function_name": "add", "reward": "discussion", "example": "1"},
        {"language": 7, "difficulty": None, "example": ["a"]},
        {},
    ]
    rows = [{**row, "extra": json.dumps(extra)} for row, extra in zip(numbered(3), said, strict=True)]
    with closing(make_project(tmp_path, rows)) as project:
        first, *others = seen(project)
    words = (first.language, first.difficulty, first.function_name, first.reward, first.example)
    assert words == ("go", "interview", "add", "discussion", "1")
    for one in others:
        assert {one.language, one.difficulty, one.function_name, one.reward, one.example} == {None}


def test_code_problems_have_language_function_difficulty_and_tests(tmp_path: Path) -> None:
    problems = [
        {"task_id": "a", "prompt": "p", "entry_point": "add", "tests": ["assert add(1) == 2", "assert add(2) == 3"],
         "suites": {"public": ["assert add(1) == 2", {"input": "1\n", "output": "2\n"}]}, "difficulty": "competition"},
        {"task_id": "b", "prompt": "q", "tests": ["assert g()"], "example": "its own", "language": "javascript",
         "suites": {"public": ["assert g()"]}},
        {"task_id": "c", "prompt": "r", "tests": ["assert h()"]},
    ]  # fmt: skip
    solutions = [{"task_id": name, "solution_id": "1", "code": "x = 1"} for name in "abc"]
    for name, rows in (("problems", problems), ("solutions", solutions)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("import", "p.db", "problems.jsonl", "solutions.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with opened_project(tmp_path / "p.db") as project:
        a, b, c = seen(project)
    assert (a.language, a.function_name, a.difficulty) == ("python", "add", "competition")
    assert a.example == "assert add(1) == 2\n\nInput:\n1\n\nOutput:\n2", "public tests alone, never the hidden ones"
    assert (b.language, b.example, b.function_name) == ("javascript", "its own", None)
    assert c.example is None


def test_a_previously_bound_search_keeps_its_settings(tmp_path: Path) -> None:
    with closing(make_project(tmp_path, numbered(1))) as project:
        options = {**SERVER, "strategy": "mcts"}
        before = construct_verifier(
            resolve_verifier(project, "llm-judge", {**options, "reward_tests": "per_rollout", "traj_weight": "node_q"})
        )
        with project.database.write() as connection:
            bind(connection, "old", before, options)
        for found in (resolve_verifier(project, "old", {}), resolve_verifier(project, "llm-judge", options, "old")):
            assert identity(construct_verifier(found)) == identity(before)
        new = construct_verifier(resolve_verifier(project, "llm-judge", options, "new"))
        assert (new.config()["traj_weight"], new.config()["reward_tests"]) == ("terminal", "per_item")
