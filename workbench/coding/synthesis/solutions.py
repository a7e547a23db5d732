"""Write solutions of a problem until they have enough different scores.

Source: Scoring Verifiers, 2.1 and 2.2: solutions are generated and filtered until the desired number of solutions with
different scores is reached; other problems are supplemented by hand or discarded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

import msgspec
from msgspec import Struct

from workbench.coding.options import SolutionOptions, Targets
from workbench.coding.problems import EVERY_PROBLEM, code_dataset, problems_for
from workbench.coding.ranking.scores import as_scored, only_errors
from workbench.coding.records.figures import ProblemSolutions, SolutionKind, SolutionsWritten
from workbench.coding.synthesis.asking import KINDS, PROMPTS, add_solutions, request_for_solution
from workbench.coding.templates import OwnPrompts, digests, own_prompts
from workbench.core.code import BROKEN, PASS, CodeTest, Problem, Program, Provenance, SolutionRecord, counted
from workbench.core.code_tests.assertion import parsed
from workbench.core.database.hashes import secret
from workbench.core.errors import UsageError
from workbench.core.options import record_from
from workbench.core.project import Project, batches
from workbench.core.selection import Selection
from workbench.data.store import tests
from workbench.data.store.tests import problems_of
from workbench.llm.records import Sampling
from workbench.runs.generation import Executor, Models, ServerGeneration, Watch, WritingRequest, generating
from workbench.runs.store import runs as stored_provenance
from workbench.verifiers.execution.interpreter import EXTRACTORS, code_of, program_with


class ScoreCollector:
    """Collects the scores of one problem's solutions, and counts replies.

    Args:
        k: Desired number of distinct scores, including the reference's.

    Attributes:
        scores: The distinct scores so far, rounded to two decimals.
        rounds: Number of requested rounds.
        written: Number of new solutions.
        repeated: Number of replies with the code of another solution.
        empty: Number of replies without Python in them.
        failed: Number of calls without a reply.
        killed: Number of new solutions that crashed the harness; the next call runs them again.
    """

    def __init__(self, k: int) -> None:
        self.scores: set[float] = set()
        self.rounds = self.written = self.repeated = self.empty = self.failed = self.killed = 0
        self._k = k
        self._known: set[str] = set()

    @property
    def reached(self) -> bool:
        return len(self.scores) >= self._k

    def know(self, code: str) -> None:
        self._known.add(code.strip())

    def takes(self, code: str) -> bool:
        if not code.strip() or parsed(code) is None:
            self.empty += 1
            return False
        if code.strip() in self._known:
            self.repeated += 1
            return False
        self.know(code)
        self.written += 1
        return True

    def ran(self, outcomes: str) -> float | None:
        """Count the score of a solution by its outcome letters; return None if all tests failed by errors only."""
        if not counted(outcomes) or only_errors(outcomes):
            return None
        score = as_scored(outcomes.count(PASS) / counted(outcomes), "released")
        self.scores.add(score)
        return score


# -- Solutions written by models, correct and incorrect ones, until each problem has enough different scores.


USUAL: Final = Sampling(temperature=1.0)
"""The default sampling: solutions should differ."""
_BATCH_PROBLEMS: Final = 32
"""Problems in progress at a time; their solutions are stored together."""
_CODE: Final = "fence"


def kinds_of(text: str) -> tuple[SolutionKind, ...]:
    """Parse kinds separated by commas.

    Raises:
        UsageError: There is no such kind.
    """
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in KINDS:
            raise UsageError(f"There is no kind of solution {word!r}.", f"There are: {', '.join(KINDS)}.")
    return tuple(kind for kind in KINDS if kind in words)


def run_name(name: str) -> str:
    return f"solutions/{name}"


def write_solutions(
    project: Project,
    name: str,
    wish: SolutionOptions,
    models: Models,
    executor: Executor,
    *,
    provenance: Provenance | None = None,
    targets: Targets = EVERY_PROBLEM,
    trust: bool = False,
    watch: Watch | None = None,
) -> SolutionsWritten:
    """Have models write solutions of problems until each has enough different scores, and add them to the data set.

    Written solutions are executed and scored by the problem's tests; existing solutions count. A problem without a
    ground truth among its solutions gets its reference as one (Scoring Verifiers, 2.2). After a kill the same call
    continues, repeats no request, and produces the same solutions with the same ids.

    Args:
        name: The name of the solutions: their ids begin with it.
        models: The models; all are called in every round.
        executor: Runs solutions.
        provenance: What its outcomes depend on; stored with the calls.
        targets: The problems.
        trust: Whether the user approves servers that ``workbench.toml`` names.
        watch: Called with the progress of the calls.

    Raises:
        UsageError: A kind is unknown, the name is used for something else, or the problems are ambiguous.
        NotTrustedError: The user has not approved the servers.
        RunError: No call can succeed now, or another process has locked the database; replies received are stored.
    """
    kinds = kinds_of(wish.kinds)
    own = own_prompts(wish.templates, kinds)
    words = {**PROMPTS, **digests(own)}
    about = {
        "kinds": list(kinds),
        "prompts_sha256": {kind: words[kind] for kind in kinds},
        "extractor": str(EXTRACTORS[_CODE]),
    }
    dataset = code_dataset(project, targets.dataset)
    chosen, skipped = problems_for(project, dataset, targets, needs_calls=False)
    done: list[ProblemSolutions] = []
    imported = 0
    with generating(project, run_name(name), models, about, trust=trust, watch=watch) as writer:
        if provenance is not None:
            with project.database.write() as connection:
                stored_provenance.note(connection, writer.run, provenance)
        for some in batches(chosen, _BATCH_PROBLEMS):
            writing = _SolutionWriting(project, name, wish, own, models, writer, executor, some)
            writing.write()
            imported += add_solutions(project, dataset, f"solutions/{name}", writing.records())
            done += writing.report()
            skipped["no_tests"] = skipped.get("no_tests", 0) + writing.untested
    return SolutionsWritten(
        dataset=dataset.name,
        run=writer.run,
        k=wish.k,
        suites=wish.suites,
        imported=imported,
        problems=tuple(done),
        skipped={code: count for code, count in skipped.items() if count},
    )


class _RepliedSolution(Struct, frozen=True):
    """The code in a reply.

    Attributes:
        score: Score by the problem's tests, rounded; None if all failed by errors only.
        passed: Whether it passes every test.
    """

    model: str
    kind: SolutionKind
    sample: int
    code: str
    score: float | None
    passed: bool


class _ProblemInProgress(Struct):
    """A problem in progress.

    Attributes:
        reference: Whether the reference, which becomes the ground truth, passes every test; None if the data set has a
            ground truth already, or the problem has no reference.
    """

    problem: Problem
    tests: tuple[CodeTest, ...]
    gathering: ScoreCollector
    solutions: list[_RepliedSolution] = []
    reference: bool | None = None

    def program(self, code: str) -> Program:
        return program_with(self.problem, code, self.tests)


class _SolutionWriting:
    """Writes solutions for one batch of problems.

    Attributes:
        untested: Number of problems without tests.
    """

    def __init__(
        self,
        project: Project,
        name: str,
        wish: SolutionOptions,
        own: OwnPrompts,
        models: Models,
        writer: ServerGeneration,
        executor: Executor,
        questions: Sequence[int],
    ) -> None:
        self._project, self._name, self._wish, self._models = project, name, wish, models
        self._kinds, self._own = kinds_of(wish.kinds), own
        self._writer, self._executor = writer, executor
        self._secret = secret(project.database.reader())
        found = problems_of(project.database, questions, wish.suites)
        self._at_work = {
            question: _ProblemInProgress(problem, tests, ScoreCollector(wish.k))
            for question, problem in found.items()
            if (tests := tuple(test for suite in wish.suites for test in problem.suites.get(suite, ())))
        }
        self.untested = len(questions) - len(self._at_work)

    def write(self) -> None:
        self._score_stored()
        for number in range(self._wish.rounds):
            short = {question: one for question, one in self._at_work.items() if not one.gathering.reached}
            if not short:
                break
            self._request_round(number, short)

    def records(self) -> list[SolutionRecord]:
        references = [
            _reference_record(self._name, one.problem, passes=one.reference)
            for one in self._at_work.values()
            if one.reference is not None
        ]
        written = [
            _solution_record(self._name, self._wish.suites, self._models, one.problem, solution)
            for one in self._at_work.values()
            for solution in one.solutions
        ]
        return [*references, *written]

    def report(self) -> Iterator[ProblemSolutions]:
        for one in self._at_work.values():
            found = one.gathering
            yield record_from(
                ProblemSolutions,
                found,
                task_id=one.problem.task_id,
                scores=tuple(sorted(found.scores, reverse=True)),
            )

    def _score_stored(self) -> None:
        reader = self._project.database.reader()
        rows = tests.solutions_by_problem(reader, Selection(), list(self._at_work))
        texts = tests.texts(reader, [row.item for row in rows])
        jobs = [
            ((question, 0), one.program(one.problem.oracle))
            for question, one in self._at_work.items()
            if one.problem.oracle
        ]
        for row in rows:
            one, found = self._at_work[row.question], texts[row.item]
            jobs.append(((row.question, row.item), one.program(code_of(one.problem, found.text, found.form).source)))
        for (question, _), program in jobs:
            self._at_work[question].gathering.know(program.source)
        true = tests.ground_truths(reader, [row.item for row in rows])
        have = {row.question for row in rows if row.item in true}
        for (question, item), execution in self._executor.run(jobs):
            one = self._at_work[question]
            if execution.harness_killed:
                continue
            one.gathering.ran(execution.outcomes)
            if not item and question not in have:
                one.reference = _is_passing(execution.outcomes)

    def _request_round(self, number: int, short: dict[int, _ProblemInProgress]) -> None:
        wanted = list(product(short, self._models.models, self._kinds))
        replies = self._writer.ask(
            [
                WritingRequest(
                    messages=request_for_solution(short[question].problem, kind, self._secret, self._own),
                    sample=number,
                    step=f"round {number + 1}",
                    model=model,
                )
                for question, model, kind in wanted
            ]
        )
        jobs = []
        for place, ((question, _, _), reply) in enumerate(zip(wanted, replies, strict=True)):
            one = short[question]
            if reply is None:
                one.gathering.failed += 1
            elif one.gathering.takes(code := code_of(one.problem, reply, "reply", _CODE).source):
                jobs.append((place, one.program(code)))
        outcomes = dict(self._executor.run(jobs))
        for place, program in jobs:
            question, model, kind = wanted[place]
            one, execution = short[question], outcomes[place]
            if execution.harness_killed:
                one.gathering.killed += 1
                continue
            found = execution.outcomes
            score = one.gathering.ran(found)
            one.solutions.append(_RepliedSolution(model, kind, number, program.source, score, _is_passing(found)))
        for one in short.values():
            one.gathering.rounds = number + 1


def _is_passing(outcomes: str) -> bool:
    return set(outcomes) - {BROKEN} == {PASS}


def _reference_record(name: str, problem: Problem, *, passes: bool) -> SolutionRecord:
    return SolutionRecord(
        task_id=problem.task_id, solution_id=f"{name}-reference", code=problem.oracle, gold=passes, ground_truth=True
    )


def _solution_record(
    name: str, suites: tuple[str, ...], models: Models, problem: Problem, solution: _RepliedSolution
) -> SolutionRecord:
    parts = [name, *([solution.model] if len(models.models) > 1 else []), solution.kind, str(solution.sample + 1)]
    about = {"kind": solution.kind, "sample": solution.sample, "score": solution.score, "suites": suites}
    return SolutionRecord(
        task_id=problem.task_id,
        solution_id="-".join(parts),
        code=solution.code,
        gold=solution.passed,
        model=models.models[solution.model].server.model,
        extra=msgspec.json.encode(about).decode(),
    )
