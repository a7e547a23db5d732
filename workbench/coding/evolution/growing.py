"""One step of a round (EvolveCoder 2.3): which solutions and tests the model is shown, and which of its tests are kept.

Each step shows all tests that exist by then; the second step of a round includes those of the first, since the paper
alternates the steps.
(In the released functions both steps begin with the tests of the previous round.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from msgspec import structs

from workbench.coding.evolution.replies import ReadTests, ShownProblem, executable_tests, request_for_step
from workbench.coding.evolution.representatives import choose_adversarial, choose_discriminative
from workbench.coding.records.evolution import (
    EvolutionSettings,
    Evolved,
    FinalStep,
    GrowthStep,
    Mode,
    Snapshot,
    vector_of,
)
from workbench.coding.templates import OURS, OwnPrompts
from workbench.core.code import BROKEN, PASS, Problem
from workbench.core.code_tests.broken import bound_names
from workbench.core.options import grouped
from workbench.data.alike import random_generator
from workbench.llm.records import PromptMessage

# -- Which tests are shown, and which are kept (EvolveCoder 2.3, and the functions its authors released).


def columns(vectors: Sequence[str]) -> list[str]:
    """Return the columns of a pass matrix of which ``vectors`` are the rows."""
    return ["".join(column) for column in zip(*vectors, strict=True)]


def rate(column: str) -> float:
    return column.count("1") / len(column)


def is_split(column: str) -> bool:
    return "1" in column and "0" in column


def adversarial_tests(tests: Sequence[str], settings: EvolutionSettings) -> list[int]:
    """Return positions of the tests that an adversarial step shows.

    Tests that fewer than a tenth of the solutions pass are omitted, as in the released code. Tests that nearly all pass
    are omitted, as in the paper, if the settings have a threshold for that and other tests remain.
    """
    likely = [place for place, column in enumerate(tests) if rate(column) >= settings.least]
    if settings.easiest is None:
        return likely
    return [place for place in likely if rate(tests[place]) < settings.easiest] or likely


def discriminative_tests(tests: Sequence[str], settings: EvolutionSettings, draw: Random) -> list[int]:
    return sorted(draw.choice(group) for group in _equivalent_tests(tests, settings.least))


def snapshot_after(round: int, vectors: Sequence[str], settings: EvolutionSettings, draw: Random) -> Snapshot:
    """Return which of a problem's tests are kept after a round, and whether the problem is kept.

    Args:
        vectors: One pass vector for each solution, over all tests up to the round.
        draw: Draws which tests are kept if too many are passed by the same solutions.
    """
    tests = columns(vectors)
    groups = _equivalent_tests(tests, settings.least)
    kept = sorted(
        place
        for group in groups
        for place in (group if len(group) <= settings.most_alike else draw.sample(group, settings.most_alike))
    )
    eligible = sum(map(len, groups))
    return Snapshot(
        round=round,
        kept=tuple(kept),
        below=len(tests) - eligible,
        alike=eligible - len(kept),
        left_out=_exclusion_reason(kept, vectors, settings),
    )


def shares_passed(vectors: Sequence[str], kept: Sequence[int]) -> list[float]:
    return [sum(vector[place] == "1" for place in kept) / len(kept) for vector in vectors]


def count_perfect(vectors: Sequence[str], kept: Sequence[int]) -> int:
    return sum(all(vector[place] == "1" for place in kept) for vector in vectors)


def _exclusion_reason(kept: Sequence[int], vectors: Sequence[str], settings: EvolutionSettings) -> str | None:
    if len(kept) < settings.fewest:
        return "few_tests"
    return "too_easy" if count_perfect(vectors, kept) / len(vectors) > settings.most_perfect else None


def _equivalent_tests(tests: Sequence[str], least: float) -> list[list[int]]:
    return list(grouped((column, place) for place, column in enumerate(tests) if rate(column) >= least).values())


NO_TESTS: Final = "no_tests"
"""No test can be shown: fewer than a tenth of the solutions pass each."""


def plan_step(evolved: Evolved, settings: EvolutionSettings, round: int, mode: Mode) -> GrowthStep:
    """Return a step that is ready to be requested, still without a reply."""
    vectors = evolved.vectors
    chance = random_generator(settings.seed, evolved.task_id, round, mode)
    tests = columns(vectors)
    view = (
        adversarial_tests(tests, settings) if mode == "adversarial" else discriminative_tests(tests, settings, chance)
    )
    seen = ["".join(vector[place] for place in view) for vector in vectors]
    shown = (
        choose_adversarial(seen, chance, settings.objective)
        if mode == "adversarial"
        else choose_discriminative(seen, chance)
    )
    if not view:
        return GrowthStep(round=round, mode=mode, skipped=NO_TESTS)
    return GrowthStep(round=round, mode=mode, shown=tuple(shown), view=tuple(view))


def request(
    plan: GrowthStep,
    evolved: Evolved,
    problem: Problem,
    programs: Mapping[int, str],
    settings: EvolutionSettings,
    secret: bytes,
    own: OwnPrompts = OURS,
) -> tuple[PromptMessage, ...]:
    """Return the request to the model.

    Args:
        programs: The shown solutions' code by position.
        secret: The database's secret, for the delimiters around texts.
        own: Custom prompts that replace the built-in ones.
    """
    vectors, tests = evolved.vectors, evolved.tests
    shown = ShownProblem(
        question=problem.prompt,
        entry_point=problem.entry_point,
        programs=[programs[place] for place in plan.shown],
        tests=[tests[place] for place in plan.view],
        vectors=["".join(vectors[solution][place] for place in plan.view) for solution in plan.shown],
    )
    return request_for_step(plan.mode, shown, settings.asked, secret, own)


def read(reply: str | None, evolved: Evolved, problem: Problem) -> ReadTests:
    names = [problem.entry_point, *bound_names(problem.setup)] if problem.entry_point else []
    present = (test.source for test in evolved.tests)
    return executable_tests(reply or "", [name for name in names if name], present)


def finish_step(
    plan: GrowthStep,
    taken: ReadTests,
    outcomes: Sequence[str],
    reference: str | None,
    settings: EvolutionSettings,
    *,
    replied: bool,
) -> GrowthStep:
    """Return the finished step, given the outcomes of its tests.

    A test that the reference solution fails is rejected, unless the settings accept it or a model wrote the reference.
    (The paper has no reference solutions and accepts every test; the final filter removes those that almost no solution
    passes.) A test of a discriminative step has to split the solutions.

    Args:
        outcomes: One string for each solution, with one letter for each executed test.
        reference: The outcomes of the reference solution; None without one written by humans.
    """
    rejected = Counter(taken.rejected)
    kept = []
    for place in range(len(taken.tests)):
        fault = _rejection_code(place, plan.mode, outcomes, reference, settings)
        if fault is None:
            kept.append(place)
        else:
            rejected[fault] += 1
    return structs.replace(
        plan,
        replied=replied,
        proposed=taken.proposed,
        rejected=dict(sorted(rejected.items())),
        tests=tuple(taken.tests[place] for place in kept),
        outcomes=tuple("".join(each[place] for place in kept) for each in outcomes),
    )


def final_step(evolved: Evolved, settings: EvolutionSettings) -> FinalStep:
    return FinalStep(
        snapshots=tuple(
            snapshot_after(
                round,
                evolved.vectors_after(round),
                settings,
                random_generator(settings.seed, evolved.task_id, round, "final"),
            )
            for round in range(settings.rounds + 1)
        )
    )


def _rejection_code(
    place: int, mode: Mode, outcomes: Sequence[str], reference: str | None, settings: EvolutionSettings
) -> str | None:
    if any(each[place] == BROKEN for each in outcomes):
        return "broken"
    if reference is not None and reference[place] != PASS and not settings.keep_unverified:
        return "wrong"
    if mode == "discriminative" and not is_split("".join(vector_of(each[place]) for each in outcomes)):
        return "no_split"
    return None
