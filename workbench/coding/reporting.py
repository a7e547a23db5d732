"""The report's sections on code besides test outcomes: rankings, pass@k, saturation, rounds.

Each metric is computed as its command does with its default options; a section without data is omitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from workbench.coding.evolution import evolved
from workbench.coding.evolution.evolving import evolution_names
from workbench.coding.evolution.tables import evolution_group
from workbench.coding.ranking.measuring import compare_verifiers
from workbench.coding.ranking.passing import pass_report, passes_by_tests, saturation, with_models
from workbench.coding.ranking.scores import RECORDED, Truth, truth_of
from workbench.coding.ranking.tables import passes_tables, ranking_table, saturation_table
from workbench.core.errors import UsageError
from workbench.core.project import Project, at_one_moment
from workbench.core.selection import Selection
from workbench.tables.document import Block, Section

SIZES: Final = (1, 4, 8)
"""The default k of ``code passk``."""


@at_one_moment
def code_sections(project: Project, selection: Selection | None = None) -> list[Section]:
    """Return the sections on code that have data.

    Args:
        selection: Use only these solutions; evolutions always use all their solutions.

    Raises:
        UsageError: The selection names something unknown.
    """
    wanted = selection or Selection()
    parts: dict[tuple[str, str], list[Block]] = {}
    truth = _truth_or_none(project)
    if truth is not None:
        parts["ranking", "Verifiers that rank solutions"] = _ranking_blocks(project, truth, wanted)
    if truth is not None and truth.name != RECORDED:
        parts["passk", "pass@k"] = _pass_at_k_blocks(project, truth, wanted)
        enough = saturation(project, truth, selection=wanted)
        parts["saturation", "How many tests are enough"] = [saturation_table(enough)] if enough.rows else []
    parts["evolutions", "Tests that evolved"] = list(_evolution_blocks(project))
    return [Section(key, title, tuple(blocks)) for (key, title), blocks in parts.items() if blocks]


def _truth_or_none(project: Project) -> Truth | None:
    try:
        return truth_of(project)
    except UsageError:
        return None


def _ranking_blocks(project: Project, truth: Truth, selection: Selection) -> list[Block]:
    try:
        report = compare_verifiers(project, truth, selection=selection).report
    except UsageError:
        # No verifier has scores of these solutions.
        return []
    return [ranking_table(report)] if report.rows else []


def _pass_at_k_blocks(project: Project, truth: Truth, selection: Selection) -> list[Block]:
    passes = passes_by_tests(project, truth, selection)
    report = pass_report(passes, SIZES)
    return list(passes_tables(with_models(project, passes, report, SIZES))) if report.rows else []


def _evolution_blocks(project: Project) -> Iterator[Block]:
    for name in evolution_names(project):
        report = evolved.report(project, evolved.evolution(project, name.name, name.dataset))
        if report.finished:
            yield evolution_group(report)
