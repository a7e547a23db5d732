"""Rewritten problems of standard input: checked by execution, rejected with a reason, equal after a kill."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.evolving import K
from workbench.coding.evolution.refining import prompts_of, refine
from workbench.coding.options import RefinementOptions
from workbench.coding.problems import code_dataset
from workbench.coding.records.figures import RefineReport
from workbench.core.code import Execution, Program
from workbench.core.errors import FormatError
from workbench.core.project import Project, open_project
from workbench.interchange.importing import import_files, plan_import
from workbench.runs.generation import WritingRequest

NEW = {
    "question": "Write total(numbers), their sum.",
    "entry_point": "total",
    "solution": "def total(numbers):\n    return sum(numbers)\n",
    "tests": [f"assert total([{number}, 1]) == {number + 1}" for number in range(6)]
    + ["assert total([]) == 9", "assert total([", "assert total([0, 1]) == 1"],
}
REPLIES = {
    "good": json.dumps(NEW),
    "few": json.dumps({**NEW, "tests": NEW["tests"][5:]}),
    "none": "I would rather not.",
    "failed": None,
    "bare": json.dumps(NEW),
}


class Model:
    def __init__(self, every: str | None = None) -> None:
        self.asked: list[WritingRequest] = []
        self._every = every

    def ask(self, asked: Sequence[WritingRequest]) -> list[str | None]:
        self.asked += asked
        if self._every is not None:
            return [self._every] * len(asked)
        return [next(REPLIES[name] for name in REPLIES if f"Task {name}." in one.messages[-1].content) for one in asked]


class Sandbox:
    """A sandbox in which sums come out right."""

    def run(self, jobs: Iterable[tuple[K, Program]]) -> Iterator[tuple[K, Execution]]:
        for key, program in jobs:
            assert program.source == NEW["solution"]
            outcomes = "".join("f" if "== 9" in test.source else "p" for test in program.tests)
            yield key, Execution(outcomes=outcomes, level="L3")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    rows = [
        {
            "task_id": name,
            "prompt": f"Task {name}. Read numbers, print their sum.",
            "canonical_solution": "" if name == "bare" else "print(sum(map(int, input().split())))",
            "tests": [{"input": "1 2\n", "output": "3\n"}],
        }
        for name in REPLIES
    ]
    path = tmp_path / "problems.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    made = open_project(tmp_path / "p.db", create=True)
    import_files(made, plan_import([path]), dataset="taco")
    yield made
    made.close()


def refined(project: Project, path: Path, model: Model | None = None, *, force: bool = False) -> RefineReport:
    dataset = code_dataset(project, None)
    return refine(project, dataset, RefinementOptions(), model or Model(), Sandbox(), path, force=force)


def test_no_test_is_dropped_because_the_models_own_solution_fails_it(project: Project, tmp_path: Path) -> None:
    model = Model()
    report = refined(project, tmp_path / "new.jsonl", model)
    assert (report.problems, report.written, report.tests) == (5, 2, 14)
    assert (report.tried_tests, report.passed_tests) == (14, 12)
    assert [(one.task_id, one.reason, one.tests, one.passed) for one in report.refused] == [
        ("few", "few_tests", 4, 2),
        ("none", "no_problem", 0, 0),
        ("failed", "no_problem", 0, 0),
    ]
    line, bare = map(json.loads, (tmp_path / "new.jsonl").read_text().splitlines())
    assert bare == {**line, "task_id": "bare"}
    assert line["entry_point"] == "total"
    assert line["tests"] == NEW["tests"][:7]
    assert (line["proposed_tests"], line["passed_tests"], line["canonical_solution_by"]) == (9, 6, "model")
    assert "print(sum(" in model.asked[0].messages[-1].content


def test_tests_without_a_solution_are_not_failures(project: Project, tmp_path: Path) -> None:
    """The paper's own prompts ask for none."""
    kinds = ("with-reference", "without-reference")
    for kind, text in zip(kinds, ("{instruction} {program}", "{instruction}"), strict=True):
        (tmp_path / kind).write_text(text)
    wish = RefinementOptions(templates=tuple(f"{kind}={tmp_path / kind}" for kind in kinds))
    bare = json.dumps({"question": NEW["question"], "tests": NEW["tests"]})
    dataset, model = code_dataset(project, None), Model(bare)
    report = refine(project, dataset, wish, model, Sandbox(), tmp_path / "new.jsonl", own=prompts_of(wish))
    assert (report.written, report.tests, report.tried_tests, report.passed_tests) == (5, 35, 0, 0)
    lines = [json.loads(line) for line in (tmp_path / "new.jsonl").read_text().splitlines()]
    assert {line["passed_tests"] for line in lines} == {None}


def test_a_solution_the_sandbox_died_over_passes_no_unknown_number_of_tests(project: Project, tmp_path: Path) -> None:
    class Dying(Sandbox):
        def run(self, jobs: Iterable[tuple[K, Program]]) -> Iterator[tuple[K, Execution]]:
            for key, execution in super().run(jobs):
                yield key, Execution(outcomes="n" * len(execution.outcomes), level="L3", harness_killed=True)

    dataset = code_dataset(project, None)
    report = refine(project, dataset, RefinementOptions(), Model(), Dying(), tmp_path / "new.jsonl")
    assert (report.written, report.tried_tests, report.passed_tests) == (2, 0, 0)
    lines = [json.loads(line) for line in (tmp_path / "new.jsonl").read_text().splitlines()]
    assert {line["passed_tests"] for line in lines} == {None}


def test_the_output_can_be_imported(project: Project, tmp_path: Path) -> None:
    refined(project, tmp_path / "new.jsonl")
    import_files(project, plan_import([tmp_path / "new.jsonl"]), dataset="refined")
    rows = (
        project.database.reader().execute("SELECT entry_point, reference_by FROM code_problems ORDER BY 1").fetchall()
    )
    assert (rows[0], rows[-1]) == ((None, "human"), ("total", "model"))


def test_a_second_call_writes_the_same_file_without_overwriting(project: Project, tmp_path: Path) -> None:
    refined(project, tmp_path / "new.jsonl")
    before = (tmp_path / "new.jsonl").read_bytes()
    with pytest.raises(FormatError, match="exists"):
        refined(project, tmp_path / "new.jsonl")
    refined(project, tmp_path / "new.jsonl", force=True)
    assert (tmp_path / "new.jsonl").read_bytes() == before
