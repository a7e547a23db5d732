"""Measures inter-annotator agreement on the project's labels, or on ratings from a file."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, structs

from workbench.core.errors import FormatError, UsageError, opt
from workbench.core.item import Refusal
from workbench.core.label import Task
from workbench.core.project import Project, at_one_moment
from workbench.core.selection import Selection, is_usable_number
from workbench.data.formats.documents import documents
from workbench.data.formats.lines import RefusedError, explain_document, make_refusal
from workbench.data.formats.source import open_once
from workbench.labelling.agreement.labels import (
    FirstPassLabels,
    Outcomes,
    annotator_rows,
    confounded,
    first_pass_labels,
    gold_made,
    overall_share,
    pair_rows,
    shared_groups,
)
from workbench.labelling.store import agreement as store
from workbench.labelling.store.agreement import GROUPS
from workbench.statistics.records.agreement import AgreementReport, Ceiling, GroupFigures, Level

if TYPE_CHECKING:
    from workbench.statistics.agreement.figures import Rated
    from workbench.statistics.confusion import BoolArray

__all__ = ["GROUPS", "agreement", "agreement_of_file", "ceilings"]


# -- Ratings of anything by anyone: JSON Lines with ``item``, ``annotator`` and ``value``; other keys are ignored.


FORM = 'A line is {"item": …, "annotator": …, "value": …}.'
Given = str | int | float | bool
"""A value as in the file."""


class RatingColumns(Struct, frozen=True, kw_only=True):
    """The ratings of a file, in its order; each annotator rates an item at most once.

    Attributes:
        item: The item of each rating, numbered from 0 in order of appearance.
        annotator: The annotator of each rating, as a position in ``annotators``.
        value: The value of each rating, as a position in ``values``.
        values: The categories, ordered by ``order``, else by number or name.
        numbers: Numeric values of the categories: the numbers themselves, else ranks.
        annotators: The annotators' names in alphabetical order.
        items: Number of items.
        refused: Rejected lines.
    """

    item: array[int]
    annotator: array[int]
    value: array[int]
    values: list[str]
    numbers: list[float]
    annotators: list[str]
    items: int
    refused: list[Refusal]


class _RatingLine(Struct, gc=False):
    item: str | int
    annotator: str | int
    value: Given


_DECODER = msgspec.json.Decoder(_RatingLine)
_TYPES = {"item": str | int, "annotator": str | int, "value": Given}


def read(path: Path | None, level: Level, order: Sequence[str] = ()) -> RatingColumns:
    """Read a file, gzipped or not, or for None standard input.

    A number and a string with the same text name the same item, annotator or category. An annotator's second rating of
    an item is rejected; the first one counts.

    Args:
        level: ``nominal`` accepts any values; ``interval`` and ``ratio`` accept numbers; ``ordinal`` accepts numbers or
            the names in ``order``.
        order: The categories of the ordinal level, lowest first.

    Raises:
        FormatError: The file can't be opened.
        UsageError: ``order`` is given at another level, or names a category twice.
    """
    if order and level != "ordinal":
        raise UsageError(f"{opt.order} is for {opt.level:ordinal}, not {level}.")
    if len(set(order)) < len(order):
        raise UsageError(f"{opt.order} names a category twice.")
    gathered = _RatingCollector(_value_parser(level, order))
    with open_once(path) as stream:
        for row in documents(stream, "jsonl", path or Path("-")):
            if isinstance(row, Refusal):
                gathered.refused.append(row)
            else:
                gathered.add(row.line, row.raw)
    values: list[Any] = list(order) or sorted(set(gathered.value))
    place = {value: number for number, value in enumerate(values)}
    names = sorted(gathered.people)
    number_of = {gathered.people[name]: number for number, name in enumerate(names)}
    return RatingColumns(
        item=gathered.item,
        annotator=array("q", [number_of[person] for person in gathered.annotator]),
        value=array("q", [place[value] for value in gathered.value]),
        values=[_category_name(value) for value in values],
        numbers=values if level in ("interval", "ratio") else [float(rank) for rank in range(len(values))],
        annotators=names,
        items=len(gathered.items),
        refused=gathered.refused,
    )


class _RatingCollector:
    def __init__(self, take: Callable[[Given], Any]) -> None:
        self._take = take
        self._lines: dict[int, int] = {}
        self.items: dict[str, int] = {}
        self.people: dict[str, int] = {}
        self.item, self.annotator = array("q"), array("q")
        self.value: list[Any] = []
        self.refused: list[Refusal] = []

    def add(self, number: int, raw: bytes) -> None:
        try:
            line = _DECODER.decode(raw)
            for field in _TYPES:
                if getattr(line, field) == "":
                    raise RefusedError("missing_field", field, f"{field} is empty. Write one, or drop the line.")
            value = self._take(line.value)
            item = self.items.setdefault(str(line.item), len(self.items))
            person = self.people.setdefault(str(line.annotator), len(self.people))
            before = self._lines.setdefault(item << 32 | person, number)
            if before != number:
                raise _duplicate_error(before)
        except (RefusedError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            self.refused.append(_rejected_line(number, raw, error))
            return
        self.item.append(item)
        self.annotator.append(person)
        self.value.append(value)


def _value_parser(level: Level, order: Sequence[str]) -> Callable[[Given], str | float]:
    if level == "nominal":
        return _category_name
    if not order:
        return _parse_number if level != "ratio" else _parse_ratio
    known = frozenset(order)

    def ordered(value: Given) -> str:
        word = _category_name(value)
        if word not in known:
            raise RefusedError("wrong_type", "value", f"value is {word[:100]!r}, which {opt.order} doesn't name.")
        return word

    return ordered


def _category_name(value: Given) -> str:
    """Return a value as a category's name: 1, 1.0 and "1" are the same category."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if value == int(value) else repr(value)


def _parse_number(value: Given) -> float:
    if isinstance(value, bool | str):
        kind = "text" if isinstance(value, str) else "true or false"
        hint = f"Write a number, or name the categories of {opt.level:ordinal} with {opt.order}."
        raise RefusedError("wrong_type", "value", f"value is {kind}. {hint}")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not is_usable_number(number):
        raise RefusedError("wrong_type", "value", "value is too large a number.")
    return number


def _parse_ratio(value: Given) -> float:
    number = _parse_number(value)
    if number < 0:
        raise RefusedError("wrong_type", "value", "value is negative: the ratio level allows only values from 0.")
    return number


def _duplicate_error(line: int) -> RefusedError:
    message = f"This annotator has rated this item on line {line} already; that rating stays. Remove one of them."
    return RefusedError("duplicate", "annotator", message)


def _rejected_line(number: int, raw: bytes, error: Exception) -> Refusal:
    if isinstance(error, RefusedError):
        return make_refusal(number, raw, error)
    try:
        raw.decode()
        fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return make_refusal(number, raw, explain_document(raw))
    for name, kind in _TYPES.items():
        wanted = "text or a whole number" if name != "value" else "text, a number, true or false"
        if name not in fields:
            return make_refusal(number, raw, RefusedError("missing_field", name, f"{name} is missing. {FORM}"))
        try:
            msgspec.json.decode(fields[name], type=kind)
        except msgspec.MsgspecError:
            hint = " Leave out lines without a rating." if bytes(fields[name]) == b"null" else ""
            return make_refusal(number, raw, RefusedError("wrong_type", name, f"{name} is not {wanted}.{hint}"))
    return make_refusal(number, raw, explain_document(raw))


_MIN_BLOCK_ITEMS, _MAX_BLOCKS = 25, 8
"""Minimum number of items in a period, and maximum number of periods."""


@at_one_moment
def ceilings(project: Project, selection: Selection | None = None) -> list[Ceiling]:
    """Return the ceilings on measured accuracy caused by noise in correctness labels; empty without labels.

    Args:
        selection: Use only the labels and gold of these items.

    Raises:
        UsageError: The selection names something unknown.
    """
    if not store.has_labels(project.database.reader(), "correctness"):
        return []
    found = first_pass_labels(project, "correctness", selection=selection)
    return _ceilings(project, found, _rated_labels(found))


def _ceilings(project: Project, found: FirstPassLabels, rated: Rated) -> list[Ceiling]:
    from workbench.statistics.agreement.ceiling import ceilings

    return ceilings(rated, overall_share(found.checks), gold_made(project, found))


def _rated_labels(found: FirstPassLabels) -> Rated:
    import numpy as np

    from workbench.statistics.agreement.figures import Rated

    return Rated(
        ratings=found.ratings,
        names=found.categories,
        values=np.arange(len(found.categories), dtype=float),
        level="nominal",
        cluster=np.array([known.question for known in found.known], dtype=np.int64),
    )


@at_one_moment
def agreement(
    project: Project,
    task: Task = "correctness",
    *,
    by: str | None = None,
    coarse: bool = False,
    selection: Selection | None = None,
    latest: bool = False,
) -> AgreementReport:
    """Measure agreement on a project's labels: first-pass, blind, in force, of each item's first round.

    ``unsuitable`` is a category like the verdicts. Intervals on the correctness task are clustered by question, since
    completions of one question are similar.

    Args:
        by: The grouping of the report: one of `GROUPS`.
        coarse: Whether to compare answer types by their letter only; for the type task.
        selection: Use only labels of these items, or of their questions; all answers to checks and repeats are used.
        latest: Whether to use labels of each item's current round, which a reopening began, instead of its first.

    Raises:
        UsageError: The selection names something unknown; an unknown group, or ``coarse`` on the correctness task.
    """
    import numpy as np

    from workbench.statistics.agreement.figures import figures

    if by is not None and by not in GROUPS:
        raise UsageError(f"Agreement can't be broken down by {by!r}.", f"Use one of: {', '.join(GROUPS)}.")
    if coarse and task != "type":
        raise UsageError("Only answer types can be compared coarsely.", f"Use {opt.task:type}.")
    found = first_pass_labels(project, task, by=by, coarse=coarse, selection=selection, latest=latest)
    rated = _rated_labels(found)
    closed = figures(rated)
    shared_by, shared = shared_groups(found)
    pairs = pair_rows(found.ratings, rated.cluster, found.people, shared)
    return AgreementReport(
        **structs.asdict(closed),
        task=task,
        level="nominal",
        coarse=coarse,
        annotators=len(np.unique(found.ratings.annotator)),
        unblinded=sum(found.unblinded),
        surplus=found.surplus,
        round="latest" if latest else "first",
        reopened=found.reopened,
        cohen_kappa=pairs,
        shared_by=shared_by,
        confounded=confounded(pairs),
        per_annotator=annotator_rows(rated, found.people, found.categories, found),
        by=by,
        groups=_figures_by_group(rated, found) if by else [],
        over_time=_figures_over_time(rated, found),
        ceiling=_ceilings(project, found, rated) if task == "correctness" else [],
        repeats=overall_share(found.repeats),
        interval_by="question" if task == "correctness" else "item",
    )


def _figures_by_group(rated: Rated, found: FirstPassLabels) -> list[GroupFigures]:
    import numpy as np

    from workbench.statistics.accuracy import group_order

    names = np.array([known.group for known in found.known], dtype=np.str_)
    return [_group_figures(rated, names == name, name) for name in sorted(set(names.tolist()), key=group_order)]


def _figures_over_time(rated: Rated, found: FirstPassLabels) -> list[GroupFigures]:
    import numpy as np

    from workbench.statistics.agreement.figures import blocks

    paired = np.flatnonzero(np.bincount(rated.ratings.item, minlength=rated.ratings.items) > 1)
    completed = [found.completed[item] for item in paired.tolist()]
    parts = []
    for block in blocks(completed, _MIN_BLOCK_ITEMS, _MAX_BLOCKS):
        days = [completed[place][:10] for place in (block[0], block[-1])]
        kept = np.zeros(rated.ratings.items, dtype=bool)
        kept[paired[block]] = True
        parts.append(_group_figures(rated, kept, _days_text(*days)))
    return parts


def _days_text(first: str, last: str) -> str:
    """Describe a range of days: ``2025-03-01``, ``2025-03-01…03-04``, ``2024-12-30…2025-01-02``."""
    return first if first == last else f"{first}…{last[5:] if first[:4] == last[:4] else last}"


def _group_figures(rated: Rated, kept: BoolArray, name: str) -> GroupFigures:
    from workbench.statistics.agreement.figures import figures

    return GroupFigures(**structs.asdict(figures(rated.of(kept))), group=name)


def agreement_of_file(
    path: Path | None, level: Level, *, order: Sequence[str] = ()
) -> tuple[AgreementReport, list[Refusal]]:
    """Measure agreement on ratings of anything: JSON lines of ``item``, ``annotator`` and ``value``.

    Args:
        path: The file, gzip or not; None for standard input.
        order: The categories of the ordinal level, lowest first, if they are not numbers.

    Returns:
        The agreement report, and the rejected lines.

    Raises:
        FormatError: The file can't be read, or holds no rating.
        UsageError: See `read`; or there are too many distinct values for the ratio level.
    """
    from workbench.statistics.agreement.ceiling import ceilings
    from workbench.statistics.agreement.coefficients import MOST_RATIOS
    from workbench.statistics.agreement.figures import figures

    columns = read(path, level, order)
    if not columns.item:
        first = columns.refused[0] if columns.refused else None
        why = f"Line {first.line}: {first.message}" if first else FORM
        raise FormatError(f"{path or 'standard input'}: it has no ratings.", why)
    if level == "ratio" and len(columns.values) > MOST_RATIOS:
        raise UsageError(
            f"The ratio level takes {MOST_RATIOS:,} distinct values at most; there are {len(columns.values):,}.",
            f"Round them, or use {opt.level:interval}.",
        )
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
    rated = Rated(ratings=ratings, names=columns.values, values=values, level=level, cluster=np.arange(columns.items))
    closed = figures(rated)
    nothing = overall_share(Outcomes([], [], []))
    report = AgreementReport(
        **structs.asdict(closed),
        task=None,
        level=level,
        annotators=len(columns.annotators),
        cohen_kappa=pair_rows(rated.ratings, rated.cluster, columns.annotators, {}),
        per_annotator=annotator_rows(rated, columns.annotators, columns.values, None),
        ceiling=ceilings(rated, nothing) if len(columns.values) == 2 and level == "nominal" else [],
        repeats=nothing,
        interval_by="item",
        refused=len(columns.refused),
    )
    return report, columns.refused
