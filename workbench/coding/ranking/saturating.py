"""How many tests are enough to rank the solutions of a database's problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from workbench.coding.ranking.truth import ProblemOutcomes, Truth, outcomes_by_problem
from workbench.coding.records.figures import SaturationReport, SaturationRow
from workbench.core.code import BROKEN, PASS
from workbench.core.project import Project
from workbench.core.selection import Selection

if TYPE_CHECKING:
    from workbench.statistics.arrays import FloatArray

TARGET: Final = 0.90
"""Tests are enough where the interval lies at or above it (Scoring Verifiers, appendix B)."""

LEAST_TESTS: Final = 15
"""Problems with fewer tests are left out: k of them would be nearly all."""

SIZES: Final = tuple(range(1, 11))
"""The k of the paper's table."""

DEFINITION: Final = "workbench-1"
"""Name of our definition (`analysis.ranking.saturation`): the paper leaves the drawing open."""


def saturation(
    project: Project,
    truth: Truth,
    *,
    selection: Selection | None = None,
    sizes: Sequence[int] = SIZES,
    resamples: int = 100,
    seed: int = 0,
) -> SaturationReport:
    """Spearman's coefficient between scores on k tests and on all tests, for each k.

    Args:
        truth: Whose outcomes; all its suites together.
        selection: Only these solutions.
        sizes: The k, ascending, each from 1 to `LEAST_TESTS`.
        resamples: How often tests are drawn, at least twice.

    Raises:
        UsageError: The selection names something unknown.
    """
    found: list[FloatArray] = []
    left_out: Counter[str] = Counter()
    for problem in outcomes_by_problem(project, truth, selection):
        run = _counting([one.outcomes for one in problem.solutions if one.complete])
        why = _useless(run)
        if why is None:
            found.append(_correlations(problem, run, sizes, resamples, seed))
        else:
            left_out[why] += 1
    rows = _rows(found, sizes)
    return SaturationReport(
        definition=DEFINITION,
        problems=len(found),
        few_tests=left_out["few_tests"],
        one_score=left_out["one_score"],
        least_tests=LEAST_TESTS,
        target=TARGET,
        enough=next((row.k for row in rows if row.ci[0] >= TARGET), None),
        rows=rows,
        suites=list(truth.suites),
        truth=truth.name,
        truth_runs=truth.runs,
        resamples=resamples,
        seed=seed,
    )


def _counting(run: Sequence[str]) -> list[str]:
    """Outcomes without tests that are broken."""
    kept = [place for place, letters in enumerate(zip(*run, strict=True)) if BROKEN not in letters]
    return ["".join(outcomes[place] for place in kept) for outcomes in run]


def _useless(run: Sequence[str]) -> str | None:
    """Why a problem with these outcomes tells nothing, by the name of its count; None where it does."""
    if not run or len(run[0]) < LEAST_TESTS:
        return "few_tests"
    return "one_score" if len({outcomes.count(PASS) for outcomes in run}) < 2 else None


def _correlations(
    problem: ProblemOutcomes, run: Sequence[str], sizes: Sequence[int], resamples: int, seed: int
) -> FloatArray:
    import numpy as np

    from workbench.statistics.saturation import correlations

    passes = np.array([[letter == PASS for letter in outcomes] for outcomes in run], dtype=np.bool_)
    name = f"{problem.dataset}\0{problem.task_id}"
    return correlations(passes, sizes, resamples=resamples, seed=seed, name=name)


def _rows(found: Sequence[FloatArray], sizes: Sequence[int]) -> list[SaturationRow]:
    import numpy as np

    from workbench.statistics.saturation import saturation as of_size

    if not found:
        return []
    every = np.stack(found)
    return [SaturationRow(k=k, **of_size(every[:, :, place])._asdict()) for place, k in enumerate(sizes)]
