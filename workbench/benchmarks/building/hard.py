"""Hard sets: what judges are split on, labelled by people, without what they call unsuitable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from workbench.benchmarks.building.composition import Composition, composition, places
from workbench.benchmarks.building.described import report_of, settings_of
from workbench.benchmarks.building.freezing import conditions, encoded, settle
from workbench.benchmarks.building.labelled import WAITING, Labels, guideline, labels, left_out
from workbench.benchmarks.building.queueing import (
    ANNOTATE,
    MINORITY,
    SplitItems,
    build_queue,
    drawn_by,
    judges_with_runs,
    settings,
    short_of,
    types_of,
)
from workbench.benchmarks.store import building
from workbench.benchmarks.stratifying import sample, strata
from workbench.core.database import sets
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection, parse_condition
from workbench.core.sets import FinalGold, ItemMember, NewSet, SetName, SetReport, StoredSet
from workbench.measuring.columns import Columns, columns

FINAL = 1_000
"""Tuples of VerifyBench-Hard."""


class HardSetOptions(Struct, frozen=True, kw_only=True):
    """What is asked of a hard set; None for what its queue was frozen with, else for the paper's number.

    Attributes:
        judges: Verifiers that vote.
        runs: Verifier -> the run whose verdicts count; for others the newest complete one.
        minority: Judges on the weaker side.
        annotate: Items for people.
        final: Tuples of the set.
        selection: Which items.
        seed: Of both draws.
        gold: Whose labels count.
        partial: Go on with what is labelled, though some items wait.
    """

    judges: tuple[str, ...] = ()
    runs: dict[str, int] = {}
    minority: int | None = None
    annotate: int | None = None
    final: int = FINAL
    selection: Selection | None = None
    seed: int | None = None
    gold: FinalGold = "people"
    partial: bool = False


def queue_name(name: str) -> str:
    """What the queue of a hard set is called."""
    return f"{name}-queue"


def build_hard(
    project: Project, asked: HardSetOptions, *, name: str = "hard", dry_run: bool = False, new_version: bool = False
) -> SetReport:
    """Go as far with a hard set as its labels allow (VerifyBench, section 3.2).

    The first call freezes the queue that people are to label. Once all of it is decided, the same call freezes the
    set: what people call unsuitable is out, and where more is left than wanted it is drawn again by domain and source.
    A queue stays as it is while the same is asked for, whatever becomes of the data.

    Returns:
        The report of the queue, or of the set. Its version is None while items still wait.

    Raises:
        UsageError: See `queueing.build_queue`; or a set of that name differs.
    """
    queue = sets.find(project.database.reader(), SetName(queue_name(name)))
    before = {} if queue is None else settings_of(queue)
    split, seed = _split(project, asked, before), _first(asked.seed, None if queue is None else queue.seed, 0)
    if queue is None or (settings(project, split), seed) != (before, queue.seed):
        return build_queue(project, split, queue_name(name), seed=seed, dry_run=dry_run, new_version=new_version)
    return _finish(project, asked, queue, name, dry_run=dry_run, new_version=new_version)


def _split(project: Project, asked: HardSetOptions, before: Mapping[str, Any]) -> SplitItems:
    """What the queue is to be: what is asked for, else what it was frozen with, else as in the paper."""
    known: dict[str, int] = before.get("judges", {})
    if not asked.judges and not known:
        raise UsageError("No judge is named.", "Name an odd number of them: --judge A --judge B --judge C")
    names = asked.judges or tuple(known)
    same = set(names) == set(known)
    where = before.get("where", []) if asked.selection is None else conditions(project, asked.selection)
    return SplitItems(
        judges=judges_with_runs(project, names, {**(known if same else {}), **asked.runs}),
        minority=_first(asked.minority, before.get("minority"), MINORITY),
        annotate=_first(asked.annotate, before.get("annotate"), ANNOTATE),
        selection=Selection(tuple(map(parse_condition, where))),
    )


def _first(*values: int | None) -> int:
    return next(value for value in values if value is not None)


def _finish(
    project: Project, asked: HardSetOptions, queue: StoredSet, name: str, *, dry_run: bool, new_version: bool
) -> SetReport:
    """The set from its queue's labels; only told where items still wait and that is not to be passed over."""
    known = columns(project)
    queued = list(sets.items(project.database.reader(), queue.id))
    label = labels(project, known, places(known, [one.item for one in queued]), asked.gold)
    able: dict[str, list[int]] = {}
    for one, said in zip(queued, label.said.tolist(), strict=True):
        if said >= 0:
            able.setdefault(one.stratum, []).append(one.item)
    members = tuple(_members(project, known, able, label, asked.final, queue.seed))
    report = _report(project, asked, queue, name, label, able, composition(known, members))
    waiting = any(why in label.out for why in WAITING) and not asked.partial
    new = NewSet(
        name=name,
        kind="hard",
        seed=queue.seed,
        config=encoded({"queue": queue.full_name, "final": asked.final, "gold": asked.gold}),
        report="",
        gold=asked.gold,
        guideline=guideline(project, asked.gold),
        items=members,
        runs=queue.runs,
    )
    return settle(project, new, report, dry_run=dry_run or waiting, new_version=new_version)


def _members(
    project: Project, known: Columns, able: dict[str, list[int]], label: Labels, count: int, seed: int
) -> Iterator[ItemMember]:
    def members(stratum: str) -> Iterator[building.Key]:
        return building.keys(project.database.reader(), able[stratum])

    sizes = {name: len(items) for name, items in able.items()}
    for name, keys in sample(sizes, count, members, seed, drawn_by).items():
        items = [key.item for key in keys]
        for item, typed in zip(items, types_of(known, items), strict=True):
            gold, origin = label.of[item]
            yield ItemMember(item=item, stratum=name, gold=gold, gold_from=origin, subtype=typed)


def _report(
    project: Project,
    asked: HardSetOptions,
    queue: StoredSet,
    name: str,
    label: Labels,
    able: dict[str, list[int]],
    made_of: Composition,
) -> SetReport:
    before = report_of(queue)
    waiting = {why: label.out[why] for why in WAITING if why in label.out}
    available = sum(map(len, able.values()))
    decided = len(label.said) - sum(waiting.values())
    of_queue = Selection((Condition("set", "=", queue.full_name),))
    return SetReport(
        name=name,
        version=None,
        kind="hard",
        seed=queue.seed,
        gold=asked.gold,
        strata=strata({name: len(items) for name, items in able.items()}, asked.final),
        shortfall=short_of(asked.final, available, made_of["tuples"], _why(queue, waiting, decided - available)),
        excluded=label.out,
        stages={**before.stages, "annotated": decided, "suitable": available, "final": made_of["tuples"]},
        judges=before.judges,
        splits=before.splits,
        left_out=left_out(project, of_queue),
        next=_next(queue, name, waiting, passed_over=asked.partial),
        **made_of,
    )


def _why(queue: StoredSet, waiting: Mapping[str, int], unsuitable: int) -> str:
    counts = {"unsuitable": unsuitable, "waiting for labels": sum(waiting.values())}
    told = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    return f"of {queue.items:,} queued {told}" if told else f"no more than {queue.items:,} were queued"


def _next(queue: StoredSet, name: str, waiting: Mapping[str, int], *, passed_over: bool) -> str:
    if not waiting or passed_over:
        return f"workbench publish DB {name} FOLDER"
    if waiting.keys() == {"conflict"}:
        return "workbench conflicts DB list --as NAME"
    return f"workbench assign DB --where set={queue.name} --annotators A,B"
