"""The pool, source by source: what came in, what went out and why, what has a type, what was drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from workbench.benchmarks.curating.pool import pool
from workbench.benchmarks.curating.typing import origin, type_in_force
from workbench.core.breakdown import NAMELESS
from workbench.core.project import Project
from workbench.measuring.records.curation import PoolQuestion, PoolStatus, Scope, SourceStatus
from workbench.measuring.store import curation


def pool_status(project: Project, scope: Scope) -> PoolStatus:
    """Count the questions in scope by source; sources in the order of their names.

    Raises:
        UsageError: There are no questions in scope.
    """
    questions = pool(project, scope)
    reader = project.database.reader()
    drawn: dict[str, dict[str, int]] = {}
    for name, source, count in curation.drawn(reader):
        drawn.setdefault(source or NAMELESS, {})[name] = count
    by_source: dict[str, list[PoolQuestion]] = {}
    for question in questions:
        by_source.setdefault(question.source or NAMELESS, []).append(question)
    everywhere: Counter[str] = Counter()
    for name in by_source:
        everywhere.update(drawn.get(name, {}))
    return PoolStatus(
        questions=len(questions),
        stale=curation.stale(reader),
        total=_counted("all", questions, everywhere, licensed=False),
        sources=tuple(_counted(name, found, drawn.get(name, {})) for name, found in sorted(by_source.items())),
    )


def _counted(
    name: str, questions: Sequence[PoolQuestion], drawn: Mapping[str, int], *, licensed: bool = True
) -> SourceStatus:
    inside = [one for one in questions if one.out is None]
    types = Counter("none" if (typed := type_in_force(one)) is None else typed.letter for one in inside)
    return SourceStatus(
        source=name,
        domain=questions[0].domain if licensed else None,
        licence=questions[0].licence if licensed else None,
        questions=len(questions),
        excluded=dict(sorted(Counter(one.out for one in questions if one.out is not None).items())),
        left=len(inside),
        types=dict(sorted(types.items())),
        origins=dict(sorted(Counter(map(origin, inside)).items())),
        drawn=dict(drawn),
    )
