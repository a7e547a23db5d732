"""Scores that verifiers don't give: who is left out for having judged too little, and what a refusal counts.

A problem that is measured is measured for every verifier. So a verifier that refuses must not take the problem away,
and one that has been run on a few solutions only must not take all the others away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, structs

from workbench.coding.ranking.scored import Rater, ranks_of
from workbench.statistics.records.ranking import Missing, PartialVerifier, ScoredProblem, ScoredSolution

TRUTH: Final = "truth"

MOST_UNJUDGED: Final = 0.1
"""Share of the problems with a solution that it has no verdict of, above which a verifier is partial."""


class Covered(Struct, frozen=True, kw_only=True):
    """What is measured.

    Attributes:
        problems: Those in which every solution has a true score and one of each verifier.
        raters: The verifiers.
        partial: Verifiers that are left out, since they have judged too little.
        coverage: Share of the solutions with true scores that a verifier itself gives a score, by name and data set.
        filled: Scores that were missing and count as the lowest, by verifier.
        left_out: Problems that are not measured.
        lacking: The same by verifier, and by ``truth``.
    """

    problems: list[ScoredProblem]
    raters: list[Rater]
    partial: list[PartialVerifier]
    coverage: dict[tuple[str, str], float]
    filled: dict[str, int]
    left_out: int
    lacking: dict[str, int]


def covered(
    problems: Sequence[ScoredProblem],
    raters: Sequence[Rater],
    missing: Missing,
    *,
    named: bool,
    unitless: Sequence[str],
) -> Covered:
    """Settle who is measured, on what.

    Args:
        missing: What a score counts that a verifier refused to give: the lowest (``zero``), or nothing, so that the
            problem is measured for nobody (``drop``). Where it was not asked or failed, it is always the latter.
        named: The verifiers were asked for by name, and none is left out.
        unitless: Those whose scores are no shares, so that 0 is not the lowest.
    """
    known = [problem for problem in problems if all(one.score is not None for one in problem.solutions)]
    partial = [] if named else _partial(known, raters)
    if len(partial) == len(raters):
        partial = []
    out = {one.verifier for one in partial}
    kept = [rater for rater in raters if rater.name not in out]
    names = [rater.name for rater in kept]
    filled: Counter[str] = Counter()
    whole = list(problems)
    if missing == "zero":
        lowest = {name: _lowest(known, name) if name in unitless else 0.0 for name in names}
        whole = [_filled(problem, lowest, filled) for problem in problems]
    lacking = [_lacking(problem, names) for problem in whole]
    every = Counter(name for lack in lacking for name in lack)
    return Covered(
        problems=[problem for problem, lack in zip(whole, lacking, strict=True) if not lack],
        raters=kept,
        partial=partial,
        coverage=_coverage(known, names),
        filled=dict(filled),
        left_out=sum(map(bool, lacking)),
        lacking=dict(every),
    )


def _partial(known: Sequence[ScoredProblem], raters: Sequence[Rater]) -> list[PartialVerifier]:
    found = []
    total = sum(len(problem.solutions) for problem in known)
    for rater in raters:
        unjudged = [problem for problem in known if any(rater.name in one.unjudged for one in problem.solutions)]
        if known and len(unjudged) / len(known) > MOST_UNJUDGED:
            judged = sum(rater.name not in one.unjudged for problem in known for one in problem.solutions)
            found.append(PartialVerifier(verifier=rater.name, judged=judged, solutions=total))
    return found


def _lowest(known: Sequence[ScoredProblem], name: str) -> float:
    scores = (one.scores.get(name) for problem in known for one in problem.solutions)
    return min((score for score in scores if score is not None), default=0.0)


def _filled(problem: ScoredProblem, lowest: Mapping[str, float], filled: Counter[str]) -> ScoredProblem:
    """The problem with the lowest score in place of each that was refused."""

    def scores(one: ScoredSolution) -> dict[str, float | None]:
        refused = [name for name in lowest if one.scores.get(name) is None and name not in one.unjudged]
        filled.update(refused)
        return one.scores | {name: lowest[name] for name in refused}

    found = [structs.replace(one, scores=scores(one)) for one in problem.solutions]
    ranks = {name: ranks_of([one.scores.get(name) for one in found]) for name in lowest}
    solutions = (
        structs.replace(one, ranks=one.ranks | {name: values[place] for name, values in ranks.items()})
        for place, one in enumerate(found)
    )
    return structs.replace(problem, solutions=tuple(solutions))


def _lacking(problem: ScoredProblem, names: Sequence[str]) -> list[str]:
    """Who has no score for some solution of a problem."""
    without = [TRUTH] if any(one.score is None for one in problem.solutions) else []
    return without + [name for name in names if any(one.scores.get(name) is None for one in problem.solutions)]


def _coverage(known: Sequence[ScoredProblem], names: Sequence[str]) -> dict[tuple[str, str], float]:
    given: Counter[tuple[str, str]] = Counter()
    total: Counter[str] = Counter()
    for problem in known:
        total[problem.dataset] += len(problem.solutions)
        for name in names:
            given[name, problem.dataset] += sum(one.scores.get(name) is not None for one in problem.solutions)
    return {(name, dataset): given[name, dataset] / total[dataset] for dataset in total for name in names}
