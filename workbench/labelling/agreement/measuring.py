"""How far people agree: on the project's labels, or on ratings from a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import structs

from workbench.core.errors import FormatError, UsageError
from workbench.core.item import Refusal
from workbench.core.label import Task
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.data.formats.lines import DEFAULT_MAX_LINE
from workbench.labelling.agreement import ratings as files
from workbench.labelling.agreement.labels import FirstPassLabels, Outcomes, counted
from workbench.labelling.agreement.rows import annotator_rows, confounded, of_all, pair_rows, shared_groups
from workbench.labelling.store import agreement as store
from workbench.labelling.store.agreement import GROUPS
from workbench.statistics.records.agreement import AgreementReport, Ceiling, GroupFigures, Level
from workbench.tables.files import write_beside

if TYPE_CHECKING:
    from workbench.statistics.agreement.figures import Rated
    from workbench.statistics.arrays import BoolArray

__all__ = ["GROUPS", "SAMPLES", "Agreement", "agreement", "agreement_of_file", "ceilings", "save_agreement"]

SAMPLES = 1_000
"""Bootstrap samples behind an interval."""

SEED = 0

_BLOCK, _BLOCKS = 25, 8
"""Items a block of time has at least, and how many blocks there are at most."""


class ItemGroup(NamedTuple):
    """Some of the items, with their figures."""

    rated: Rated
    figures: GroupFigures

    def with_intervals(self, samples: int, seed: int) -> GroupFigures:
        """The figures with the bootstrap's intervals."""
        from workbench.statistics.agreement.figures import with_intervals

        return with_intervals(self.rated, self.figures, samples, seed)


class Agreement:
    """Ratings and their figures; those of the bootstrap come when they are asked for.

    Attributes:
        report: All that has a closed form.
    """

    def __init__(
        self,
        rated: Rated,
        report: AgreementReport,
        groups: Sequence[ItemGroup] = (),
        over_time: Sequence[ItemGroup] = (),
    ) -> None:
        self._rated, self._groups, self._over_time = rated, groups, over_time
        self.report = structs.replace(
            report, groups=[part.figures for part in groups], over_time=[part.figures for part in over_time]
        )

    def with_intervals(self, samples: int = SAMPLES, seed: int = SEED) -> AgreementReport:
        """The report with the bootstrap's intervals, for all items, each group and each block of time."""
        from workbench.statistics.agreement.figures import with_intervals

        if not samples:
            return self.report
        return structs.replace(
            with_intervals(self._rated, self.report, samples, seed),
            groups=[part.with_intervals(samples, seed) for part in self._groups],
            over_time=[part.with_intervals(samples, seed) for part in self._over_time],
            bootstrap=samples,
            seed=seed,
        )


def ceilings(project: Project) -> list[Ceiling]:
    """How high the noise of correctness labels lets a verifier be measured; nothing where nobody has labelled."""
    return agreement(project).report.ceiling if store.are_labels(project.database.reader(), "correctness") else []


def agreement(
    project: Project,
    task: Task = "correctness",
    *,
    by: str | None = None,
    coarse: bool = False,
    selection: Selection | None = None,
) -> Agreement:
    """Agreement on the labels of a project: first-pass, blind, in force.

    ``unsuitable`` is a category like the verdicts. The bootstrap draws questions on the correctness task, so that
    completions of one question count as what they are: alike.

    Args:
        by: One of `GROUPS`.
        coarse: Compare answer types by their letter; the type task only.
        selection: Only labels of these items, or of their questions; answers to checks and repeats count all the same.

    Raises:
        UsageError: The selection names something unknown; an unknown group, or ``coarse`` on the correctness task.
    """
    import numpy as np

    from workbench.statistics.agreement.figures import Rated, ceilings, figures

    if by is not None and by not in GROUPS:
        raise UsageError(f"Agreement can't be broken down by {by!r}.", f"Use one of: {', '.join(GROUPS)}.")
    if coarse and task != "type":
        raise UsageError("Only answer types have a coarse form.", "Say --task type.")
    found = counted(project, task, by=by, coarse=coarse, selection=selection)
    rated = Rated(
        ratings=found.ratings,
        names=found.categories,
        values=np.arange(len(found.categories), dtype=float),
        level="nominal",
        cluster=np.array([known.question for known in found.known], dtype=np.int64),
    )
    closed = figures(rated)
    shared_by, shared = shared_groups(found)
    pairs = pair_rows(found.ratings, found.people, shared)
    report = AgreementReport(
        **structs.asdict(closed),
        task=task,
        level="nominal",
        coarse=coarse,
        annotators=len(np.unique(found.ratings.annotator)),
        unblinded=sum(found.unblinded),
        surplus=found.surplus,
        cohen_kappa=pairs,
        shared_by=shared_by,
        confounded=confounded(pairs),
        per_annotator=annotator_rows(found.ratings, found.people, found.categories, found),
        by=by,
        ceiling=ceilings(closed, of_all(found.checks)) if task == "correctness" else [],
        repeats=of_all(found.repeats),
        interval_by="question" if task == "correctness" else "item",
    )
    return Agreement(rated, report, _by_group(rated, found) if by else (), _over_time(rated, found))


def _by_group(rated: Rated, found: FirstPassLabels) -> list[ItemGroup]:
    import numpy as np

    from workbench.statistics.accuracy import group_order

    names = np.array([known.group for known in found.known], dtype=np.str_)
    return [_part(rated, names == name, name) for name in sorted(set(names.tolist()), key=group_order)]


def _over_time(rated: Rated, found: FirstPassLabels) -> list[ItemGroup]:
    """Blocks of the items that have two labels or more, by the day their last one came."""
    import numpy as np

    from workbench.statistics.agreement.figures import blocks

    paired = np.flatnonzero(np.bincount(rated.ratings.item, minlength=rated.ratings.items) > 1)
    completed = [found.completed[item] for item in paired.tolist()]
    parts = []
    for block in blocks(completed, _BLOCK, _BLOCKS):
        days = [completed[place][:10] for place in (block[0], block[-1])]
        kept = np.zeros(rated.ratings.items, dtype=bool)
        kept[paired[block]] = True
        parts.append(_part(rated, kept, _stretch(*days)))
    return parts


def _stretch(first: str, last: str) -> str:
    """Two days as one name: ``2025-03-01``, ``2025-03-01…03-04``, ``2024-12-30…2025-01-02``."""
    if first == last:
        return first
    return f"{first}…{last[5:] if first[:4] == last[:4] else last}"


def _part(rated: Rated, kept: BoolArray, name: str) -> ItemGroup:
    from workbench.statistics.agreement.figures import figures

    some = rated.of(kept)
    return ItemGroup(some, GroupFigures(**structs.asdict(figures(some)), group=name))


def agreement_of_file(path: Path | None, level: Level, *, order: Sequence[str] = ()) -> tuple[Agreement, list[Refusal]]:
    """Agreement on ratings of anything: JSON lines of ``item``, ``annotator`` and ``value``.

    Args:
        path: The file, gzip or not; None for standard input.
        order: The categories of the ordinal level, lowest first, where they are no numbers.

    Returns:
        The agreement, and the lines that were refused.

    Raises:
        FormatError: It can't be read, or there is no rating in it.
        UsageError: See `formats.ratings.read`; or too many distinct values for the ratio level.
    """
    from workbench.statistics.agreement.coefficients import MOST_RATIOS
    from workbench.statistics.agreement.figures import ceilings, figures

    columns = files.read(path, DEFAULT_MAX_LINE, level, order)
    if not columns.item:
        first = columns.refused[0] if columns.refused else None
        why = f"Line {first.line}: {first.message}" if first else files.FORM
        raise FormatError(f"{path or 'standard input'}: there is no rating in it.", why)
    if level == "ratio" and len(columns.values) > MOST_RATIOS:
        raise UsageError(
            f"The ratio level takes {MOST_RATIOS:,} distinct values at most; there are {len(columns.values):,}.",
            "Round them, or take --level interval.",
        )
    rated = _rated(columns, level)
    closed = figures(rated)
    nothing = of_all(Outcomes([], []))
    report = AgreementReport(
        **structs.asdict(closed),
        task=None,
        level=level,
        annotators=len(columns.annotators),
        cohen_kappa=pair_rows(rated.ratings, columns.annotators, {}),
        per_annotator=annotator_rows(rated.ratings, columns.annotators, columns.values, None),
        ceiling=ceilings(closed, nothing) if len(columns.values) == 2 and level == "nominal" else [],
        repeats=nothing,
        interval_by="item",
        refused=len(columns.refused),
    )
    return Agreement(rated, report), columns.refused


def _rated(columns: files.RatingColumns, level: Level) -> Rated:
    import numpy as np

    from workbench.statistics.agreement.figures import Rated
    from workbench.statistics.agreement.ratings import Ratings

    ratings = Ratings(
        item=np.asarray(columns.item, dtype=np.int64),
        annotator=np.asarray(columns.annotator, dtype=np.int64),
        value=np.asarray(columns.value, dtype=np.int64),
        items=columns.items,
        annotators=len(columns.annotators),
        categories=len(columns.values),
    )
    values = np.asarray(columns.numbers, dtype=float)
    return Rated(ratings=ratings, names=columns.values, values=values, level=level, cluster=np.arange(columns.items))


def save_agreement(report: AgreementReport, database: Path) -> Path:
    """Write the report as JSON beside the database, to a file that was not there before.

    Raises:
        StoreError: The file can't be written.
    """
    text = msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"
    return write_beside(database, f"{database.stem}-agreement-{report.task}", ".json", text)
