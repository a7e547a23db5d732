"""Select benchmarks for ranking: k solutions of each problem, from test outcomes or from a file of candidates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import Struct, structs

from workbench.coding.formats import CandidateLine, read
from workbench.coding.ranking.scores import (
    ProblemOutcomes,
    SolutionOutcomes,
    Truth,
    as_scored,
    letters_of,
    only_errors,
    only_stderr,
    outcomes_by_problem,
    stderrs_of,
)
from workbench.core.code import WHOLE, CodeTest, Execution, Problem, StdioTest, TestLine
from workbench.core.errors import FormatError
from workbench.core.item import Refusal
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.data.formats.writing import write_lines
from workbench.data.store import problems as stored_problems
from workbench.data.store.tests import problems_of
from workbench.data.store.tests import texts as solution_texts
from workbench.statistics.records.ranking import (
    RULES_VERSION,
    Candidate,
    CandidateRow,
    Dropped,
    Filter,
    GroundTruthFrom,
    Id,
    Picked,
    Ranked,
    RankingSetLine,
    Rules,
    SelectedLine,
    SetRules,
    SetSolution,
    Shortfall,
)
from workbench.verifiers.execution.interpreter import code_of

# -- Which k solutions of a problem are selected: spread over the scores.


REFERENCE: Final = "reference"
"""The id of a reference solution among the solutions of its problem."""
NO_ITEM: Final = 0
"""The row id of a solution that is not stored."""
LOW: Final = Fraction(1, 10)
"""A positive score below this replaces the lowest score."""
Number = float | Fraction


def select(
    candidates: Sequence[Candidate], k: int, *, rules: Rules, exact: bool, place: str, first: bool = False
) -> Picked:
    """Select from the candidates of one problem: drop errors, keep one of each score, choose k, and rank them.

    Args:
        candidates: The candidates in input order, with scores rounded as the rules require (see `scored.as_scored`).
        k: Number of solutions, including the ground truth.
        exact: Whether to compare distances as decimal fractions. With floats, which the released code uses, 0.25 - 0.1
            is
            less than 0.4 - 0.25, so that the lower score wins what should be a tie.
        place: The problem's name, for messages.
        first: Whether the ground truth has rank 1 regardless of its score. In the released code a better solution
            precedes it.

    Raises:
        FormatError: Two candidates are the ground truth.
    """
    if sum(one.ground_truth for one in candidates) > 1:
        raise FormatError(f"{place}: two solutions are the ground truth.", "Only one solution can have rank 1.")
    kept = [one for one in candidates if one.ground_truth or not one.only_errors]
    distinct = one_of_each_score(kept)
    chosen = (_select_as_released if rules == "released" else _select_by_formula)(distinct, k, exact=exact)
    ordered = sorted(chosen, key=lambda one: (not (first and one.ground_truth), -one.score))
    return Picked(
        ranked=tuple(record_from(Ranked, one, rank=rank) for rank, one in enumerate(ordered, 1)),
        dropped=_dropped_by_step(candidates, kept, distinct, chosen),
        shortfall=None if len(chosen) >= k else _shortfall(candidates, distinct, chosen),
    )


def one_of_each_score(candidates: Sequence[Candidate]) -> list[Candidate]:
    best: dict[float, Candidate] = {}
    for one in candidates:
        held = best.get(one.score)
        if held is None or _preference_key(one) < _preference_key(held):
            best[one.score] = one
    return sorted(best.values(), key=lambda one: -one.score)


def _preference_key(one: Candidate) -> tuple[bool, float]:
    return not one.ground_truth, one.seconds


def _select_as_released(distinct: Sequence[Candidate], k: int, *, exact: bool) -> list[Candidate]:
    """Return the ground truth and k - 1 other candidates: the lowest, then the nearest to each target.

    With m the least score in (0, 0.1), else the least: T_i = 1 - i / (k - 1) (1 - m), i = 1 ... k - 2. In a tie the
    higher score is chosen. If there are at most k - 1 others, all are kept.
    """
    truth = [one for one in distinct if one.ground_truth]
    others = [one for one in distinct if not one.ground_truth]
    wanted = k - len(truth)
    if wanted >= len(others):
        return [*truth, *others]
    if wanted < 1:
        return truth
    scores = [_to_number(one.score, exact=exact) for one in others]
    low = _lowest_position(scores)
    taken = [low]
    for target in _target_scores(scores[low], wanted, exact=exact):
        taken.append(_nearest_position(scores, target, taken))
    return [*truth, *(others[place] for place in taken)]


def _select_by_formula(distinct: Sequence[Candidate], k: int, *, exact: bool) -> list[Candidate]:
    """Return the candidates nearest to each target, and the lowest one; the ground truth is a candidate like any other.

    k' = min(n, k); T_i = 1 - i / k' (1 - m), i = 1 ... k' - 1. The ground truth may be dropped.
    """
    if not distinct:
        return []
    scores = [_to_number(one.score, exact=exact) for one in distinct]
    low = _lowest_position(scores)
    taken: list[int] = []
    for target in _target_scores(scores[low], min(len(scores), k), exact=exact):
        taken.append(_nearest_position(scores, target, taken))
    return [distinct[place] for place in dict.fromkeys([*taken, low])]


def _to_number(score: float, *, exact: bool) -> Number:
    return Fraction(repr(score)) if exact else score


def _lowest_position(scores: Sequence[Number]) -> int:
    """Return the position of the least score in (0, 0.1), else of the least score; ``scores`` must descend."""
    low = [place for place, score in enumerate(scores) if 0 < score < LOW]
    return low[-1] if low else len(scores) - 1


def _target_scores(low: Number, count: int, *, exact: bool) -> list[Number]:
    """Return ``count - 1`` targets between 1 and the lowest score, as floats in the order of the released code."""
    if exact:
        return [1 - Fraction(step, count) * (1 - Fraction(low)) for step in range(1, count)]
    return [1.0 - step / count * (1.0 - float(low)) for step in range(1, count)]


def _nearest_position(scores: Sequence[Number], target: Number, taken: Sequence[int]) -> int:
    free = (place for place in range(len(scores)) if place not in taken)
    return min(free, key=lambda place: _distance(scores[place], target))


def _distance(score: Number, target: Number) -> Number:
    return score - target if score > target else target - score


def _dropped_by_step(
    candidates: Sequence[Candidate],
    kept: Sequence[Candidate],
    distinct: Sequence[Candidate],
    chosen: Sequence[Candidate],
) -> dict[Dropped, list[Id]]:
    steps: list[tuple[Dropped, Sequence[Candidate], Sequence[Candidate]]] = [
        ("only_errors", candidates, kept),
        ("same_score", kept, distinct),
        ("not_chosen", distinct, chosen),
    ]
    found: dict[Dropped, list[Id]] = {}
    for why, before, after in steps:
        left = {id(one) for one in after}
        if out := [one.id for one in before if id(one) not in left]:
            found[why] = out
    return found


def _shortfall(
    candidates: Sequence[Candidate], distinct: Sequence[Candidate], chosen: Sequence[Candidate]
) -> Shortfall:
    if not candidates:
        return "no_solutions"
    return "few_scores" if len(chosen) == len(distinct) else "one_twice"


class RankingSelectionRules(Struct, frozen=True, kw_only=True):
    """The selection rules.

    Attributes:
        k: Number of solutions of each problem, including the ground truth.
        exact: Whether to compare distances as decimal fractions.
    """

    k: int = 5
    rules: Rules = "released"
    filter: Filter = "exception"
    exact: bool = False


class SelectedSet(Struct, frozen=True, kw_only=True):
    """The selection from one problem.

    Attributes:
        line: The line that ``workbench code select`` prints.
        picked: The selected candidates, ranked, with their times.
        problem: The stored problem; None from a file.
        source: The line of the file; None from a database.
    """

    line: SelectedLine
    picked: Picked
    problem: ProblemOutcomes | None = None
    source: CandidateLine | None = None


def select_stored(
    project: Project,
    how: RankingSelectionRules,
    truth: Truth,
    selection: Selection | None = None,
    references: Mapping[int, dict[str, Execution]] = MappingProxyType({}),
) -> Iterator[SelectedSet]:
    """Select from a database's solutions by problem; problems without a ground truth have no selection.

    Args:
        references: Outcomes of the reference solutions of problems without a known ground truth
            (`truth.outcomes_of_references`): the reference then has rank 1, like any known ground truth.

    Raises:
        UsageError: The selection names something unknown.
        FormatError: Two solutions of a problem are flagged as its ground truth.
    """
    for problem in outcomes_by_problem(project, truth, selection):
        if problem.question in references:
            problem = _with_reference(problem, references[problem.question])
        run = [one for one in problem.solutions if one.score is not None]
        candidates = [_candidate_from_outcomes(one, how) for one in run]
        known: dict[Id, GroundTruthFrom] = {
            one.solution_id: problem.known[one.item] for one in run if one.item in problem.known
        }
        perfect: list[Id] = [one.solution_id for one in run if one.score == 1]
        not_run: list[Id] = [one.solution_id for one in problem.solutions if one.score is None]
        marked, origin = _with_ground_truth(candidates, known, perfect)
        line, picked = _selection_line(
            problem.task_id, marked, origin, how, not_run, dataset=problem.dataset, first=origin != "stand_in"
        )
        yield SelectedSet(line=line, picked=picked, problem=problem)


def _with_reference(problem: ProblemOutcomes, by_suite: dict[str, Execution]) -> ProblemOutcomes:
    taken = {one.solution_id for one in problem.solutions}
    name = next(name for number in count() if (name := f"{REFERENCE}{number or ''}") not in taken)
    complete = any(one.counted for one in by_suite.values())
    solution = SolutionOutcomes(item=NO_ITEM, solution_id=name, by_suite=by_suite, complete=complete)
    return structs.replace(problem, solutions=(solution, *problem.solutions), known={NO_ITEM: "reference"})


def select_from(path: Path, how: RankingSelectionRules) -> tuple[list[SelectedSet], list[Refusal]]:
    """Select from the candidates of a file; also return its rejected lines.

    Raises:
        FormatError: The file can't be read, or has no valid line.
    """
    lines = list(read(path))
    if not lines:
        raise FormatError(f"{path}: the file has no lines.", 'A line has "task_id" and "candidates".')
    sets = [_select_from_line(line, how) for line in lines if isinstance(line, CandidateLine)]
    return sets, [line for line in lines if isinstance(line, Refusal)]


def _select_from_line(line: CandidateLine, how: RankingSelectionRules) -> SelectedSet:
    candidates = [_candidate_from_row(one, how) for one in line.candidates]
    known: dict[Id, GroundTruthFrom] = dict.fromkeys(line.ground_truths, "file")
    perfect = [one.id for one, row in zip(candidates, line.candidates, strict=True) if row.average_test_score == 1]
    marked, origin = _with_ground_truth(candidates, known, perfect)
    selected, picked = _selection_line(line.task_id, marked, origin, how, [], dataset=None)
    return SelectedSet(line=selected, picked=picked, source=line)


def _candidate_from_outcomes(one: SolutionOutcomes, how: RankingSelectionRules) -> Candidate:
    if how.filter == "stderr":
        wrong = only_stderr([text for run in one.by_suite.values() for text in stderrs_of(run.outcomes, run.failures)])
    else:
        wrong = only_errors(one.outcomes)
    assert one.score is not None, "only solutions with a score are candidates"
    score = as_scored(one.score, how.rules)
    return Candidate(id=one.solution_id, score=score, seconds=one.ms / 1000, only_errors=wrong)


def _candidate_from_row(row: CandidateRow, how: RankingSelectionRules) -> Candidate:
    stderrs, outcomes = row.unit_test_stderrs, row.outcomes
    if how.filter == "stderr":
        wrong = only_stderr(stderrs_of(outcomes or "", ()) if stderrs is None else stderrs)
    else:
        wrong = only_errors(letters_of(stderrs or []) if outcomes is None else outcomes)
    assert row.id is not None, "the reader gives every candidate an id"
    score = as_scored(row.average_test_score, how.rules)
    return Candidate(id=row.id, score=score, seconds=row.average_time_taken, only_errors=wrong)


def _with_ground_truth(
    candidates: Sequence[Candidate], known: dict[Id, GroundTruthFrom], perfect: Sequence[Id]
) -> tuple[list[Candidate], GroundTruthFrom | None]:
    """Return the candidates with the ground truth marked, and how it is known.

    In order of precedence, it is the candidate labelled in a file or flagged, the one with the canonical solution's
    text, or the fastest perfect one.
    If several candidates qualify, only the first is marked; but all flagged ones are, and the selection rejects these.

    Args:
        perfect: Candidates that pass all tests; a score rounded to 1 doesn't prove that.
    """
    labelled: list[Id] = [id for id, origin in known.items() if origin in ("file", "flag", "reference")]
    canonical = [id for id, origin in known.items() if origin == "canonical"]
    fastest = sorted((one for one in candidates if one.id in perfect), key=lambda one: one.seconds)
    if labelled:
        truths, origin = labelled, known[labelled[0]]
    elif canonical:
        truths, origin = canonical[:1], "canonical"
    elif fastest:
        truths, origin = [fastest[0].id], "stand_in"
    else:
        return list(candidates), None
    return [structs.replace(one, ground_truth=one.id in truths) for one in candidates], origin


def _selection_line(
    task_id: Id,
    candidates: Sequence[Candidate],
    origin: GroundTruthFrom | None,
    how: RankingSelectionRules,
    not_run: list[Id],
    dataset: str | None,
    first: bool = False,
) -> tuple[SelectedLine, Picked]:
    dropped: dict[Dropped, list[Id]] = {"no_result": not_run} if not_run else {}
    if candidates and origin is None:
        picked = Picked(
            ranked=(), dropped={"no_ground_truth": [one.id for one in candidates]}, shortfall="no_ground_truth"
        )
    else:
        picked = select(candidates, how.k, rules=how.rules, exact=how.exact, place=str(task_id), first=first)
    line = record_from(
        SelectedLine,
        how,
        task_id=task_id,
        selected=[one.id for one in picked.ranked],
        scores=[one.score for one in picked.ranked],
        ranks=[one.rank for one in picked.ranked],
        ground_truth=next((one.id for one in candidates if one.ground_truth), None),
        ground_truth_from=origin,
        reason=picked.shortfall,
        dropped=dropped | picked.dropped,
        rules_version=RULES_VERSION,
        dataset=dataset,
    )
    return line, picked


# -- Selected solutions as a benchmark for scoring and ranking: JSON lines in the format of the released HE-R and
# MBPP-R.


def write_stored(project: Project, truth: Truth, sets: Iterable[SelectedSet], path: Path, *, force: bool) -> int:
    """Write the selection from a database, without problems that have no selection.

    Returns:
        Number of written problems.

    Raises:
        StoreError: The file is part of the database.
        FormatError: The file exists and ``force`` is not set, or can't be written.
    """
    project.database.require_other(path)
    return write_lines(path, _stored_lines(project, truth, sets), force=force)


def write_rows(sets: Iterable[SelectedSet], path: Path, *, force: bool) -> int:
    """Write the selection from a file: its lines with the selected candidates and their new ranks.

    Raises:
        FormatError: The file exists and ``force`` is not set, or can't be written.
    """
    return write_lines(path, filter(None, map(_selected_row, sets)), force=force)


def _stored_lines(project: Project, truth: Truth, sets: Iterable[SelectedSet]) -> Iterator[RankingSetLine]:
    for one in sets:
        if one.problem is not None and one.picked.ranked:
            yield _stored_line(project, truth, one, one.problem)


def _stored_line(project: Project, truth: Truth, one: SelectedSet, stored: ProblemOutcomes) -> RankingSetLine:
    reader = project.database.reader()
    (row,) = stored_problems.rows(reader, [stored.question], None)
    problem = problems_of(project.database, [stored.question], list(row.tests))[stored.question]
    items: dict[str | int, int] = {solution.solution_id: solution.item for solution in stored.solutions}
    goes_on = problem.canonical.startswith(problem.prompt)
    texts = solution_texts(reader, [item for item in items.values() if item != NO_ITEM])
    programs = {NO_ITEM: problem.canonical} | {
        item: code_of(problem, found.text, found.form).source for item, found in texts.items()
    }
    return record_from(
        RankingSetLine,
        problem,
        dataset=stored.dataset,
        canonical_solution=problem.canonical.removeprefix(problem.prompt) if goes_on else None,
        code=None if goes_on else problem.canonical,
        all_solutions=[
            SetSolution(**_ranked_fields(each), solution=programs[items[each.id]]) for each in one.picked.ranked
        ],
        selection=record_from(SetRules, one.line, suites=truth.runs),
        whole_test=next((test.source for test in problem.suites.get(WHOLE, ()) if test.form == "program"), None),
        suites={name: lines for name, some in problem.suites.items() if (lines := _test_lines(problem, name, some))},
    )


def _test_lines(problem: Problem, suite: str, some: Sequence[CodeTest]) -> list[TestLine]:
    if suite in problem.written or any(test.form == "program" for test in some):
        return []
    return [
        StdioTest(input=test.source, output=test.expected or "") if test.form == "stdio" else test.source
        for test in some
    ]


def _ranked_fields(one: Ranked) -> dict[str, Any]:
    return {
        "id": one.id,
        "rank": one.rank,
        "average_test_score": one.score,
        "average_time_taken": one.seconds,
        "ground_truth": one.ground_truth,
    }


def _selected_row(one: SelectedSet) -> dict[str, Any] | None:
    if one.source is None or not one.picked.ranked:
        return None
    line: dict[str, Any] = msgspec.json.decode(one.source.json)
    given = dict(zip((row.id for row in one.source.candidates), line.pop(one.source.key), strict=True))
    return {
        "task_id": one.line.task_id,
        **line,
        "all_solutions": [{**given[each.id], **_ranked_fields(each)} for each in one.picked.ranked],
        "selection": record_from(SetRules, one.line, suites={}),
    }
