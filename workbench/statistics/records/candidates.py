"""Solutions of code problems that a set for scoring and ranking is selected from, as they are read and reported.

Source: Scoring Verifiers (arXiv 2502.13820), section 2, and what its authors released.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

Id = str | int
"""A solution's or a problem's id, as its file spells it."""

Rules = Literal["released", "paper"]
"""Whose rules of selection: those of the released code, or those the paper states, read literally."""

Filter = Literal["exception", "stderr"]
"""What counts as failing by no assertion: the exception's type, or what the released code saw on standard error."""

GroundTruthFrom = Literal["file", "flag", "canonical", "stand_in"]
"""How a ground truth is known: by rank 1 in a file, a flag on the solution, the canonical solution's own text, or as
the fastest perfect solution, which stands in for one."""

Dropped = Literal["no_result", "no_ground_truth", "only_errors", "same_score", "not_chosen"]
"""Why a solution was not selected."""

DROPPED: Final[dict[Dropped, str]] = {
    "no_result": "not run against all tests",
    "no_ground_truth": "the problem has no ground truth to rank them below",
    "only_errors": "failed every test by another error than an assertion",
    "same_score": "another solution has the same score",
    "not_chosen": "other scores lie nearer to the targets",
}
"""The same in words."""

Shortfall = Literal["no_solutions", "no_ground_truth", "few_scores", "one_twice"]
"""Why a problem has fewer than k solutions selected."""

SHORTFALLS: Final[dict[Shortfall, str]] = {
    "no_solutions": "no solution has a score",
    "no_ground_truth": "no solution is marked as the ground truth, equals the canonical one or passes all tests",
    "few_scores": "there are fewer distinct scores",
    "one_twice": "the paper's rule takes the lowest solution twice",
}
"""The same in words."""

RULES_VERSION: Final = "1"
"""Changes whenever the same input would be selected from differently."""


class Candidate(Struct, frozen=True, kw_only=True):
    """A solution that may be selected.

    Attributes:
        score: Passed tests of all, 0 to 1.
        seconds: Mean time of a test; of equal scores the fastest is kept. Any unit.
        ground_truth: It is the problem's ground truth.
        only_errors: It failed every test by another error than an assertion, which takes it out.
    """

    id: Id
    score: float
    seconds: float
    ground_truth: bool = False
    only_errors: bool = False


class Ranked(Struct, frozen=True, kw_only=True):
    """A selected solution; ``rank`` counts from 1, the best score first, the ground truth or not."""

    id: Id
    score: float
    rank: int
    seconds: float
    ground_truth: bool


class Picked(Struct, frozen=True, kw_only=True):
    """What selection makes of one problem.

    Attributes:
        ranked: The selected solutions, best first.
        dropped: The others, by why.
        shortfall: Why there are fewer than k; None where there are k.
    """

    ranked: tuple[Ranked, ...]
    dropped: dict[Dropped, list[Id]]
    shortfall: Shortfall | None


class SelectedLine(Struct, frozen=True, kw_only=True):
    """One line of ``workbench code select``.

    Attributes:
        selected: Ids in rank order.
        scores: Their scores.
        ranks: Their ranks, from 1.
        ground_truth: The ground truth's id; None where the problem has none.
        ground_truth_from: How it is known.
        reason: Why fewer than k are selected (see `SHORTFALLS`); None where there are k.
        dropped: Ids of the others, by why (see `DROPPED`).
        k: How many were asked for, the ground truth included.
        exact: Distances were compared as decimal fractions, not as floats.
        rules_version: Version of the rules.
        dataset: The data set; None from a file.
    """

    task_id: Id
    selected: list[Id]
    scores: list[float]
    ranks: list[int]
    ground_truth: Id | None
    ground_truth_from: GroundTruthFrom | None
    reason: Shortfall | None
    dropped: dict[Dropped, list[Id]]
    k: int
    rules: Rules
    rules_version: str
    filter: Filter
    exact: bool
    dataset: str | None = None


class CandidateRow(Struct, frozen=True, kw_only=True):
    """A candidate as a file for ``workbench code select --from`` spells it.

    Attributes:
        id: In a list ``all_solutions`` it may be left out: it is the place in the list then, from 0.
        average_test_score: Passed tests of all, 0 to 1.
        average_time_taken: Mean time of a test, in any unit.
        rank: 1 for the ground truth; other numbers only count the input.
        ground_truth: Says it where rank 1 does not: where any candidate has it, ranks say nothing.
        unit_test_stderrs: What each test wrote to standard error, for ``--filter stderr``.
        outcomes: One letter a test, for ``--filter exception``.
    """

    id: Id | None = None
    average_test_score: float
    average_time_taken: float
    rank: int | None = None
    ground_truth: bool | None = None
    unit_test_stderrs: list[str] | None = None
    outcomes: str | None = None


class ProblemCandidates(Struct, frozen=True, kw_only=True):
    """One line of a file for ``workbench code select --from``; the candidates stand under one of three names.

    Attributes:
        task_id: It may be left out where lines stand under names.
        all_solutions: As in the released sets.
        input: As in worked examples.
    """

    task_id: Id | None = None
    candidates: list[CandidateRow] | None = None
    all_solutions: list[CandidateRow] | None = None
    input: list[CandidateRow] | None = None


class SetSolution(Struct, frozen=True, kw_only=True):
    """A solution of a set as it is written; see `Ranked`."""

    id: Id
    rank: int
    average_test_score: float
    average_time_taken: float
    ground_truth: bool
    solution: str


class SetRules(Struct, frozen=True, kw_only=True):
    """By which rules a problem's solutions were selected; see `SelectedLine`.

    Attributes:
        suites: Suites whose tests are counted, and the run of each; empty from a file.
    """

    rules: Rules
    rules_version: str
    k: int
    filter: Filter
    exact: bool
    ground_truth_from: GroundTruthFrom | None
    reason: Shortfall | None
    suites: dict[str, int]


class SetLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a set as ``workbench code select DB --write`` writes it, in the shape of the released HE-R sets.

    Attributes:
        canonical_solution: The reference solution where it goes on from the prompt, without the prompt.
        code: The reference solution where it is a program of its own.
    """

    dataset: str
    task_id: str
    prompt: str
    entry_point: str | None
    all_solutions: list[SetSolution]
    selection: SetRules
    canonical_solution: str | None = None
    code: str | None = None
