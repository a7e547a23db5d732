"""Rewrite problems of standard input as problems with a function to write (EvolveCoder 2.2).

The paper's model writes the problem and its tests; here it also writes a solution. Like the tests, the solution is not
trusted: it is executed against them and the number of passes is reported, but no test is dropped for a failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from workbench.coding.evolution.replies import (
    PROMPTS,
    ReadTests,
    Rewritten,
    check_tests,
    parse_rewritten,
    request_for_rewriting,
    request_kind,
)
from workbench.coding.options import RefinementOptions
from workbench.coding.problems import Dataset
from workbench.coding.records.figures import RefinedProblem, RefineReport, RefusedProblem
from workbench.coding.templates import OURS, Asked, OwnPrompt, OwnPrompts, digests, own_prompts
from workbench.core.code import BASE, PASS, CodeTest, Problem, Program
from workbench.core.database.hashes import secret
from workbench.core.project import Project, batches
from workbench.data.formats.writing import new_file
from workbench.data.store import problems
from workbench.data.store.problems import Task
from workbench.data.store.tests import problems_of
from workbench.llm.records import Sampling
from workbench.runs.generation import Executor, Writer, WritingRequest
from workbench.verifiers.execution.interpreter import DEFAULT_SECONDS

USUAL: Final = Sampling(temperature=0.6, top_p=0.95, max_tokens=8192)
"""The default sampling, as in EvolveCoder's released code."""

_BATCH_PROBLEMS: Final = 32
_STEP: Final = "problem written anew"


def prompts_of(wish: RefinementOptions) -> dict[Asked, OwnPrompt]:
    """Return the custom prompts; raises as `own_prompts` does."""
    return own_prompts(wish.templates, ("with-reference", "without-reference"))


def reply_settings(wish: RefinementOptions, own: OwnPrompts) -> dict[str, object]:
    return {"asked": wish.asked, "prompts": PROMPTS, **({"own_prompts": digests(own)} if own else {})}


def refine(
    project: Project,
    dataset: Dataset,
    wish: RefinementOptions,
    writer: Writer,
    executor: Executor,
    path: Path,
    *,
    own: OwnPrompts = OURS,
    functions: bool = False,
    limit: int | None = None,
    force: bool = False,
) -> RefineReport:
    """Rewrite problems of standard input into a file that ``workbench import`` reads.

    A problem is shown with its reference solution if it has one. Equal requests get their stored reply, so that the
    same call after a kill writes the same file.

    Args:
        own: Custom prompts that replace the built-in ones.
        functions: Whether to include problems that already have a function to write.
        limit: Maximum number of problems; the first ones are used.
        force: Whether to replace an existing file.

    Raises:
        FormatError: The file exists, or can't be written.
        StoreError: The file is part of the database.
        RunError: No call can succeed now; replies received are stored.
    """
    project.database.require_other(path)
    chosen = [
        one
        for one in problems.tasks(project.database.reader(), dataset.id, BASE)
        if (one.stdio or functions) and one.language == "python"
    ][:limit]
    written = tests = tried = passed = 0
    refused: list[RefusedProblem] = []
    with new_file(path, force=force) as file:
        for some in batches(chosen, _BATCH_PROBLEMS):
            for found in _refine_batch(project, wish, own, writer, executor, some):
                if isinstance(found, RefusedProblem):
                    refused.append(found)
                else:
                    file.write(msgspec.json.encode(found) + b"\n")
                    written += 1
                    tests += len(found.tests)
                    if found.passed_tests is not None:
                        tried += len(found.tests)
                        passed += found.passed_tests
    return RefineReport(
        dataset=dataset.name,
        problems=len(chosen),
        written=written,
        refused=tuple(refused),
        tests=tests,
        tried_tests=tried,
        passed_tests=passed,
        file=str(path),
    )


def _refine_batch(
    project: Project, wish: RefinementOptions, own: OwnPrompts, writer: Writer, executor: Executor, some: Sequence[Task]
) -> Iterator[RefinedProblem | RefusedProblem]:
    key = secret(project.database.reader())
    problems = problems_of(project.database, [one.question for one in some], [])
    shown = [problems[one.question] for one in some]
    replies = writer.ask(
        [
            WritingRequest(messages=request_for_rewriting(one.prompt, one.canonical, wish.asked, key, own), step=_STEP)
            for one in shown
        ]
    )
    read = {
        one.question: parse_rewritten(reply or "", bare=request_kind(problem.canonical) in own)
        for one, problem, reply in zip(some, shown, replies, strict=True)
    }
    taken = {
        question: check_tests(found.tests, [found.entry_point], [])
        for question, found in read.items()
        if found is not None
    }
    outcomes = _run_solutions(executor, problems, read, taken)
    for one in some:
        found = read.get(one.question)
        if found is None:
            yield RefusedProblem(task_id=one.task_id, reason="no_problem", tests=0, passed=0)
        else:
            yield _accept_or_reject(one, wish, found, taken[one.question], outcomes.get(one.question))


def _run_solutions(
    executor: Executor,
    problems: Mapping[int, Problem],
    read: Mapping[int, Rewritten | None],
    taken: Mapping[int, ReadTests],
) -> dict[int, str]:
    jobs = [
        (question, _program(problems[question], found, taken[question].tests))
        for question, found in read.items()
        if found is not None and found.solution and taken[question].tests
    ]
    return {question: execution.outcomes for question, execution in executor.run(jobs) if not execution.harness_killed}


def _program(old: Problem, found: Rewritten, tests: tuple[CodeTest, ...]) -> Program:
    return Program(
        source=found.solution, tests=tests, seconds=old.seconds or DEFAULT_SECONDS, entry_point=found.entry_point
    )


def _accept_or_reject(
    one: Task, wish: RefinementOptions, found: Rewritten, taken: ReadTests, outcomes: str | None
) -> RefinedProblem | RefusedProblem:
    passed = None if outcomes is None else outcomes.count(PASS)
    if len(taken.tests) < wish.fewest:
        return RefusedProblem(task_id=one.task_id, reason="few_tests", tests=len(found.tests), passed=passed or 0)
    return RefinedProblem(
        task_id=one.task_id,
        entry_point=found.entry_point,
        prompt=found.question,
        canonical_solution=found.solution,
        canonical_solution_by="model",
        tests=tuple(test.source for test in taken.tests),
        source=one.source,
        proposed_tests=len(found.tests),
        passed_tests=passed,
    )
