"""Small custom code problems for evolving suites, with a simulated model and a simulated sandbox."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tests.scored_code import complete_run
from workbench.core.code import Execution, Program
from workbench.core.project import Project, open_project
from workbench.core.selection import Selection
from workbench.core.verdict import Outcome, Verdict
from workbench.data.store import tests
from workbench.interchange.importing import import_files, plan_import
from workbench.runs.generation import WritingRequest
from workbench.runs.store import verdicts
from workbench.runs.store.verdicts import TestResult
from workbench.verifiers.execution.interpreter import program_of

K = TypeVar("K")
Solve = Callable[[int], int]

VARIANTS: dict[str, Callable[[int], Solve]] = {
    "return max(0, min({top}, x))": lambda top: lambda x: max(0, min(top, x)),
    "return min(max(x, 0), {top})": lambda top: lambda x: min(max(x, 0), top),
    "return min({top}, x)": lambda top: lambda x: min(top, x),
    "return max(0, x)": lambda _: lambda x: max(0, x),
    "return x": lambda _: lambda x: x,
    "return max(0, min({top} - 1, x))": lambda top: lambda x: max(0, min(top - 1, x)),
    "return abs(min({top}, x))": lambda top: lambda x: abs(min(top, x)),
    "return {top}": lambda top: lambda _: top,
    "return max(1, min({top}, x))": lambda top: lambda x: max(1, min(top, x)),
    "return x if x < {top} + 5 else {top}": lambda top: lambda x: x if x < top + 5 else top,
}
"""Variants of a solution of "limit a number to 0 … top", the first of them correct, with the values they return."""

MODELS = ("small", "large")


def code(body: str, top: int) -> str:
    return f"def clip{top}(x):\n    {body.format(top=top)}\n"


def tops(count: int) -> range:
    """Return the limit of each problem, which tells them apart."""
    return range(10, 10 + count)


def own_project(folder: Path, count: int = 3, *, reference: bool = True, **fields: Any) -> Project:
    """Create a project with ``count`` problems, each with a solution for every entry of `VARIANTS`."""
    problems, solutions = folder / "problems.jsonl", folder / "solutions.jsonl"
    problems.write_text("".join(f"{json.dumps({**row(top, reference), **fields})}\n" for top in tops(count)))
    solutions.write_text("".join(f"{json.dumps(one)}\n" for top in tops(count) for one in solution_rows(top)))
    project = open_project(folder / "p.db", create=True)
    import_files(project, plan_import([problems, solutions]), dataset="own")
    return project


def row(top: int, reference: bool) -> dict[str, Any]:
    return {
        "task_id": f"own/{top}",
        "entry_point": f"clip{top}",
        "prompt": f"Write clip{top}(x), which limits a whole number to 0 … {top}.",
        "canonical_solution": code(next(iter(VARIANTS)), top) if reference else "",
        "setup": f"candidate = clip{top}",
        "tests": [f"assert candidate({number}) == {number}" for number in (3, 4, 5, 6, 1)],
    }


def solution_rows(top: int) -> Iterator[dict[str, Any]]:
    for number, body in enumerate(VARIANTS):
        yield {
            "task_id": f"own/{top}",
            "solution_id": str(number),
            "code": code(body, top),
            "recorded_pass": int(number < 2),
            "model": MODELS[number % len(MODELS)],
        }


class ActingSandbox:
    """A sandbox that knows what the programs of `own_project` return; nothing is run."""

    def __init__(self, count: int = 10, before: Callable[[], None] | None = None) -> None:
        self._known = {code(body, top): make(top) for top in tops(count) for body, make in VARIANTS.items()}
        self._before = before

    def run(self, jobs: Iterable[tuple[K, Program]]) -> Iterator[tuple[K, Execution]]:
        # Solutions end in any order.
        for key, program in reversed(list(jobs)):
            if self._before is not None:
                self._before()
            outcomes = "".join(self._outcome(program.source, test.source) for test in program.tests)
            yield key, Execution(outcomes=outcomes, level="L3")

    def _outcome(self, source: str, test: str) -> str:
        solve = self._known.get(source)
        if solve is None:
            return "s"
        statement = ast.parse(test).body[0]
        assert isinstance(statement, ast.Assert)
        match statement.test:
            case ast.Compare(left=ast.Call(args=[argument]), ops=[ast.Eq()], comparators=[expected]):
                return "p" if solve(ast.literal_eval(argument)) == ast.literal_eval(expected) else "f"
        return "e"


class ActingModel:
    """A model that replies by round and step and records its requests."""

    def __init__(self, before: Callable[[], None] | None = None) -> None:
        self.requests: list[WritingRequest] = []
        self._before = before

    def ask(self, requests: Sequence[WritingRequest]) -> list[str | None]:
        if self._before is not None:
            self._before()
        self.requests += requests
        return [reply(one) for one in requests]


def reply(request: WritingRequest) -> str | None:
    """Return good, useless, duplicate, broken, wrong and hostile tests; one request of round three gets no reply."""
    words = request.messages[-1].content
    top = next(top for top in tops(20) if f"Write clip{top}(x)" in words)
    if request.sample == 3 and top == 11:
        return None
    adversarial = "hardly tells" not in words
    numbers = good_numbers(top, request.sample, adversarial=adversarial)
    tests = [f"assert candidate({number}) == {limited(number, top)}" for number in numbers]
    tests += [f"assert  candidate( {numbers[0]} ) == {limited(numbers[0], top)}, 'again'", "assert candidate(3) == 3"]
    tests += ["assert candidate(", "assert False", "x = candidate(3)", "assert 1 == 1", "def f(): ..."]
    tests += ["assert candidate(4) == 5", f"assert candidate({request.sample + 3}) == -7"]
    tests += ["assert __import__('os').system('true') == candidate(0)", "assert (candidate := 3)"]
    tests += ["assert candidate(open('/etc/passwd')) == 1"]
    reply_text = json.dumps({"tests": tests})
    return f"<think>easy</think>```json\n{reply_text}\n```" if adversarial else reply_text[: reply_text.rindex(",")]


def limited(number: int, top: int) -> int:
    return max(0, min(top, number))


def good_numbers(top: int, round: int, *, adversarial: bool) -> list[int]:
    if adversarial:
        return [[2, 7, 8, top - 1, 9], [-3, -1, 2 * top, 5], [-1000, 10**6, 6, 7]][round - 1]
    return [[0, -2, 1, 2], [top, top + 2, top + 5], [top + 4, -top, top + 1]][round - 1]


def executed(project: Project, name: str, *suites: str) -> None:
    """Store the outcomes of `ActingSandbox` for every solution as a complete run of ``execution``."""
    reader = project.database.reader()
    with project.database.write() as connection:
        run = complete_run(connection, name, ",".join(suites))
        for row in tests.solutions_by_problem(reader, Selection()):
            problem = tests.problems_of(project.database, [row.question], suites)[row.question]
            text = tests.texts(reader, [row.item])[row.item].text
            jobs = [(suite, program_of(problem, suite, text, "program")) for suite in suites]
            found = dict(ActingSandbox().run(jobs))
            results = [TestResult(row.item, suite, found[suite]) for suite in suites]
            verdicts.put_outcomes(connection, run, results)
            score = sum(one.passed for one in found.values()) / sum(one.counted for one in found.values())
            outcome = Outcome.CORRECT if score == 1 else Outcome.INCORRECT
            verdicts.put(connection, run, [(row.item, Verdict(outcome=outcome, score=score))])
