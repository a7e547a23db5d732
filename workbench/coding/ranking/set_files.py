"""Selected solutions as a set for scoring and ranking: JSON lines in the shape of the released HE-R and MBPP-R sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from workbench.coding.ranking.selecting import SelectedSet
from workbench.coding.ranking.truth import ProblemOutcomes, Truth
from workbench.core.project import Project
from workbench.data.formats.writing import write_lines
from workbench.data.store import browsing
from workbench.data.store.tests import problems_of
from workbench.statistics.records.candidates import Ranked, SelectedLine, SetLine, SetRules, SetSolution


def write_stored(project: Project, truth: Truth, sets: Iterable[SelectedSet], path: Path, *, force: bool) -> int:
    """Write what was selected from a database; problems with nothing selected are left out.

    Returns:
        How many problems were written.

    Raises:
        StoreError: The file is the database's own.
        FormatError: The file exists and ``force`` is not set, or can't be written.
    """
    project.database.require_other(path)
    return write_lines(path, _stored_lines(project, truth, sets), force=force)


def write_rows(sets: Iterable[SelectedSet], path: Path, *, force: bool) -> int:
    """Write what was selected from a file: its lines with the selected candidates and their new ranks.

    Raises:
        FormatError: The file exists and ``force`` is not set, or can't be written.
    """
    return write_lines(path, filter(None, map(_row, sets)), force=force)


def _stored_lines(project: Project, truth: Truth, sets: Iterable[SelectedSet]) -> Iterator[SetLine]:
    for one in sets:
        if one.problem is not None and one.picked.ranked:
            yield _line(project, truth, one, one.problem)


def _line(project: Project, truth: Truth, one: SelectedSet, stored: ProblemOutcomes) -> SetLine:
    problem = problems_of(project.database, [stored.question], ())[stored.question]
    items: dict[str | int, int] = {solution.solution_id: solution.item for solution in stored.solutions}
    goes_on = problem.canonical.startswith(problem.prompt)
    return SetLine(
        dataset=stored.dataset,
        task_id=problem.task_id,
        prompt=problem.prompt,
        entry_point=problem.entry_point,
        canonical_solution=problem.canonical.removeprefix(problem.prompt) if goes_on else None,
        code=None if goes_on else problem.canonical,
        all_solutions=[
            SetSolution(**_ranked(each), solution=browsing.detail(project.database.reader(), items[each.id]).completion)
            for each in one.picked.ranked
        ],
        selection=_rules(one.line, truth.runs),
    )


def _ranked(one: Ranked) -> dict[str, Any]:
    return {
        "id": one.id,
        "rank": one.rank,
        "average_test_score": one.score,
        "average_time_taken": one.seconds,
        "ground_truth": one.ground_truth,
    }


def _row(one: SelectedSet) -> dict[str, Any] | None:
    """The file's own line with the selected candidates alone; what else it says of them stays."""
    if one.source is None or not one.picked.ranked:
        return None
    line: dict[str, Any] = msgspec.json.decode(one.source.json)
    given = dict(zip((row.id for row in one.source.candidates), line.pop(one.source.key), strict=True))
    return {
        "task_id": one.line.task_id,
        **line,
        "all_solutions": [{**given[each.id], **_ranked(each)} for each in one.picked.ranked],
        "selection": _rules(one.line, {}),
    }


def _rules(line: SelectedLine, suites: dict[str, int]) -> SetRules:
    """What a set was selected by, so that it can be made again."""
    said = {name: getattr(line, name) for name in SetRules.__struct_fields__ if name != "suites"}
    return SetRules(**said, suites=suites)
