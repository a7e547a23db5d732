"""Sets for ranking: k solutions of each problem, from the outcomes of tests or from a file of candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct, structs

from workbench.coding.formats import CandidateLine, read
from workbench.coding.ranking.scoring import as_scored, letters_of, only_errors, only_stderr, score_of, stderrs_of
from workbench.coding.ranking.selection import select
from workbench.coding.ranking.truth import ProblemOutcomes, SolutionOutcomes, Truth, outcomes_by_problem
from workbench.core.errors import FormatError
from workbench.core.item import Refusal
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.statistics.records.candidates import (
    RULES_VERSION,
    Candidate,
    CandidateRow,
    Dropped,
    Filter,
    GroundTruthFrom,
    Id,
    Picked,
    Rules,
    SelectedLine,
)


class How(Struct, frozen=True, kw_only=True):
    """How to select.

    Attributes:
        k: How many of each problem, the ground truth included.
        exact: Compare distances as decimal fractions.
    """

    k: int = 5
    rules: Rules = "released"
    filter: Filter = "exception"
    exact: bool = False


class SelectedSet(Struct, frozen=True, kw_only=True):
    """What was selected of one problem.

    Attributes:
        line: As ``workbench code select`` prints it.
        picked: The same with times.
        problem: Where the solutions are stored; None from a file.
        source: The line of the file; None from a database.
    """

    line: SelectedLine
    picked: Picked
    problem: ProblemOutcomes | None = None
    source: CandidateLine | None = None


class FileSelection(Struct, frozen=True, kw_only=True):
    """What was selected from a file, and its lines that were not taken."""

    sets: list[SelectedSet]
    refused: list[Refusal]


def select_stored(
    project: Project, how: How, truth: Truth, selection: Selection | None = None
) -> Iterator[SelectedSet]:
    """Select from a database's solutions, problem by problem; a problem without a ground truth has none selected.

    Raises:
        UsageError: The selection names something unknown.
        FormatError: Two solutions of a problem are flagged as its ground truth.
    """
    for problem in outcomes_by_problem(project, truth, selection):
        run = [one for one in problem.solutions if one.score is not None]
        candidates = [_candidate(one, how) for one in run]
        known: dict[Id, GroundTruthFrom] = {
            one.solution_id: problem.known[one.item] for one in run if one.item in problem.known
        }
        perfect: list[Id] = [one.solution_id for one in run if one.passed == one.total]
        not_run: list[Id] = [one.solution_id for one in problem.solutions if one.score is None]
        marked, origin = _with_ground_truth(candidates, known, perfect)
        line, picked = _selected(problem.task_id, marked, origin, how, not_run, dataset=problem.dataset)
        yield SelectedSet(line=line, picked=picked, problem=problem)


def select_from(path: Path, how: How) -> FileSelection:
    """Select from the candidates of a file.

    Raises:
        FormatError: The file can't be read, or there is no line in it.
    """
    found = FileSelection(sets=[], refused=[])
    for line in read(path):
        if isinstance(line, Refusal):
            found.refused.append(line)
        else:
            found.sets.append(_from_line(line, how))
    if not found.sets and not found.refused:
        raise FormatError(f"{path}: there is no line in it.", 'A line has "task_id" and "candidates".')
    return found


def _from_line(line: CandidateLine, how: How) -> SelectedSet:
    candidates = [_from_row(one, how) for one in line.candidates]
    known: dict[Id, GroundTruthFrom] = dict.fromkeys(line.ground_truths, "file")
    perfect = [one.id for one, row in zip(candidates, line.candidates, strict=True) if row.average_test_score == 1]
    marked, origin = _with_ground_truth(candidates, known, perfect)
    selected, picked = _selected(line.task_id, marked, origin, how, [], dataset=None)
    return SelectedSet(line=selected, picked=picked, source=line)


def _candidate(one: SolutionOutcomes, how: How) -> Candidate:
    if how.filter == "stderr":
        wrong = only_stderr([text for run in one.by_suite.values() for text in stderrs_of(run.outcomes, run.failures)])
    else:
        wrong = only_errors(one.outcomes)
    score = score_of(one.passed, one.total, how.rules)
    return Candidate(id=one.solution_id, score=score, seconds=one.ms / 1000, only_errors=wrong)


def _from_row(row: CandidateRow, how: How) -> Candidate:
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
    """The candidates with the ground truth marked, and how it is known.

    What a file or a flag says comes first, then the canonical solution's own text, then the fastest perfect solution;
    of several the first, but all that are flagged are marked, which selection refuses.

    Args:
        perfect: Those that pass all tests; a score rounded to 1 is no proof of it.
    """
    said: list[Id] = [id for id, origin in known.items() if origin in ("file", "flag")]
    canonical = [id for id, origin in known.items() if origin == "canonical"]
    fastest = sorted((one for one in candidates if one.id in perfect), key=lambda one: one.seconds)
    if said:
        truths, origin = said, known[said[0]]
    elif canonical:
        truths, origin = canonical[:1], "canonical"
    elif fastest:
        truths, origin = [fastest[0].id], "stand_in"
    else:
        return list(candidates), None
    return [structs.replace(one, ground_truth=one.id in truths) for one in candidates], origin


def _selected(
    task_id: Id,
    candidates: Sequence[Candidate],
    origin: GroundTruthFrom | None,
    how: How,
    not_run: list[Id],
    dataset: str | None,
) -> tuple[SelectedLine, Picked]:
    dropped: dict[Dropped, list[Id]] = {"no_result": not_run} if not_run else {}
    if candidates and origin is None:
        picked = Picked(
            ranked=(), dropped={"no_ground_truth": [one.id for one in candidates]}, shortfall="no_ground_truth"
        )
    else:
        picked = select(candidates, how.k, rules=how.rules, exact=how.exact, place=str(task_id))
    line = SelectedLine(
        task_id=task_id,
        selected=[one.id for one in picked.ranked],
        scores=[one.score for one in picked.ranked],
        ranks=[one.rank for one in picked.ranked],
        ground_truth=next((one.id for one in candidates if one.ground_truth), None),
        ground_truth_from=origin,
        reason=picked.shortfall,
        dropped=dropped | picked.dropped,
        k=how.k,
        rules=how.rules,
        rules_version=RULES_VERSION,
        filter=how.filter,
        exact=how.exact,
        dataset=dataset,
    )
    return line, picked
