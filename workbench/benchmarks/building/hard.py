"""Builds hard benchmarks: items on which judges are split, which annotators have labelled, without unsuitable items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from workbench.benchmarks import store
from workbench.benchmarks.building.candidates import (
    WAITING,
    chosen,
    composition,
    guideline,
    judging_run,
    labels,
    left_out,
    places,
    type_code,
)
from workbench.benchmarks.building.comparing import report_of, settings_of
from workbench.benchmarks.building.freezing import conditions, encoded, freeze_with_report
from workbench.benchmarks.options import HardOptions
from workbench.benchmarks.quotas import sample, strata
from workbench.core.database import sets
from workbench.core.errors import Command, UsageError, opt
from workbench.core.options import grouped, record_from
from workbench.core.project import Project
from workbench.core.selection import NAMELESS, Condition, Selection, selection_of
from workbench.core.sets import ItemMember, NewSet, SetName, SetReport, Shortfall, StoredSet, Strata
from workbench.measuring.columns import Columns, columns

if TYPE_CHECKING:
    from workbench.statistics.confusion import IntArray


# -- The queue of a hard benchmark: items on which judges are split, a number from each domain and source.


_STEP: Final = "hard"
_MIN_JUDGES: Final = 3
MINORITY, ANNOTATE = 2, 2_000
"""As in VerifyBench-Hard: two judges against three, and 2000 items for annotators."""


class SplitItems(Struct, frozen=True, kw_only=True):
    """A request for items on which judges are split.

    Attributes:
        judges: Verifier -> the run that provides its verdicts.
        minority: Number of judges in the minority.
        annotate: Number of items for annotators.
        selection: The items to choose from.
        strata: How the items for annotators, and later those of the benchmark, are divided among domains and sources.
    """

    judges: dict[str, int]
    minority: int
    annotate: int
    selection: Selection = Selection()
    strata: Strata = "proportional"


def judges_with_runs(project: Project, names: tuple[str, ...], runs: Mapping[str, int]) -> dict[str, int]:
    """Return each judge's run: the given one, else its newest complete one.

    Raises:
        UsageError: A judge is named twice or has no such run, or a run is given for a judge that is not named.
    """
    if unnamed := sorted(runs.keys() - set(names)):
        raise UsageError(
            f"A run is given for a verifier that is not named as a judge: {', '.join(unnamed)}.",
            f"Name it with {opt.judge}, too.",
        )
    if len(set(names)) < len(names):
        raise UsageError("A judge is named twice.", "Name each judge once: each has one vote.")
    return {name: judging_run(project, name, runs.get(name)) for name in names}


def build_queue(
    project: Project, split: SplitItems, name: str, *, seed: int = 0, dry_run: bool = False, new_version: bool = False
) -> SetReport:
    """Freeze the items that annotators are to label (VerifyBench, section 3.2).

    Only items on which every judge has a decided verdict count: an abstention, an error or a missing verdict is not a
    vote. From the
    items with the requested split, ``annotate`` are drawn, divided among domains and sources by largest remainders, or
    evenly.

    Raises:
        UsageError: The number of judges is even or below three, no such minority is possible, the selection names
            something unknown, no item is split so, or a benchmark of this name exists and differs.
    """
    import numpy as np

    from workbench.statistics.disagreement import splits

    many = len(split.judges)
    if many < _MIN_JUDGES or many % 2 == 0:
        raise UsageError(
            f"A hard set needs an odd number of judges, {_MIN_JUDGES} or more, not {many}.",
            f"Name them: {opt.judge:A} {opt.judge:B} {opt.judge:C}",
        )
    if not 1 <= split.minority <= many // 2:
        raise UsageError(f"{split.minority} of {many} judges are not a minority.", f"Use 1 to {many // 2}.")
    known = columns(project)
    among = chosen(project, known, split.selection)
    votes = [known.outcome(run)[among.rows] for run in split.judges.values()]
    found = splits(votes, len(among.rows), split.minority)
    # Reading in the order of import is fastest.
    rows = np.sort(among.rows[found.ranking.place])
    by_stratum = _items_by_stratum(known, rows)
    drawn = _draw(project, known, by_stratum, split.annotate, seed, split.strata)
    new = NewSet(
        name=name,
        kind="queue",
        seed=seed,
        config=encoded(settings(project, split)),
        items=tuple(ItemMember(item=item, stratum=stratum, subtype=typed) for stratum, item, typed in drawn),
        runs=tuple(split.judges.values()),
    )
    there = len(found.ranking.place)
    report = record_from(
        SetReport,
        new,
        version=None,
        strata=strata(_sizes(by_stratum), split.annotate, split.strata),
        shortfall=short_of(split.annotate, there, len(new.items), "no more items have this split"),
        excluded=among.out,
        stages={
            "candidates": len(among.rows),
            "fully_voted": len(among.rows) - found.unvoted,
            "split": there,
            "sampled": len(new.items),
        },
        judges=split.judges,
        splits={
            **{f"{many - fewer}:{fewer}": number for fewer, number in enumerate(found.sizes)},
            "not_fully_voted": found.unvoted,
        },
        next=Command("assign DB", where=f"set={new.name}", annotators="A,B").shell(),
        **composition(known, new.items),
    )
    return freeze_with_report(
        project, new, report, dry_run=dry_run, new_version=new_version, judges=tuple(split.judges)
    )


def settings(project: Project, split: SplitItems) -> dict[str, Any]:
    return {
        "where": conditions(project, split.selection),
        "judges": split.judges,
        "minority": split.minority,
        "annotate": split.annotate,
        # Queues that were frozen before this option existed are proportional.
        **({} if split.strata == "proportional" else {"strata": split.strata}),
    }


def _items_by_stratum(known: Columns, rows: IntArray) -> dict[str, list[int]]:
    groups = known.groups("domain,source")
    code = groups.code[rows]
    found = {}
    for place in sorted(set(code.tolist())):
        domain, source = groups.parts[place]
        # A source's name mostly begins with its domain.
        name = source if source.startswith(f"{domain}/") else f"{domain or NAMELESS}/{source or NAMELESS}"
        found[name] = known.item[rows[code == place]].tolist()
    return found


def _draw(
    project: Project, known: Columns, items: Mapping[str, list[int]], count: int, seed: int, how: Strata
) -> Iterator[tuple[str, int, str | None]]:
    """Yield stratum, item and answer type of the items drawn of each stratum."""

    def members(stratum: str) -> Iterator[store.Key]:
        return store.keys(project.database.reader(), items[stratum])

    for name, keys in sample(_sizes(items), count, members, seed, drawn_by, how).items():
        drawn = [key.item for key in keys]
        yield from zip(repeat(name), drawn, types_of(known, drawn), strict=False)


def _sizes(items: Mapping[str, list[int]]) -> dict[str, int]:
    return {name: len(some) for name, some in items.items()}


def drawn_by(key: store.Key) -> tuple[str, str, str, str]:
    return _STEP, key.dataset, key.question, key.completion


def types_of(known: Columns, items: list[int]) -> list[str | None]:
    rows = places(known, items)
    subtype, type_ = known.groups("subtype"), known.groups("type")
    codes = zip(subtype.code[rows].tolist(), type_.code[rows].tolist(), strict=True)
    return [type_code(subtype.names[one], type_.names[other]) for one, other in codes]


def short_of(wanted: int, available: int, taken: int, why: str) -> tuple[Shortfall, ...]:
    if taken >= wanted:
        return ()
    return (Shortfall(stratum=None, of="tuples", wanted=wanted, available=available, taken=taken, why=why),)


def queue_name(name: str) -> str:
    return f"{name}-queue"


def build_hard(project: Project, options: HardOptions) -> SetReport:
    """Build a hard benchmark as far as its labels allow (VerifyBench, section 3.2).

    The first call freezes the queue for annotators. Once the whole queue is resolved, the same call freezes the
    benchmark: unsuitable items are dropped, and if more are left than requested, they are drawn by domain and source.
        A queue does not change while the options stay the same, even if the data changes.

    Returns:
        The report of the queue, or of the benchmark. Its version is None while items of the queue are unresolved.

    Raises:
        UsageError: See `build_queue`; or a benchmark of this name exists and differs.
    """
    how = {"dry_run": options.dry_run, "new_version": options.new_version}
    name = queue_name(options.name)
    queue = sets.find(project.database.reader(), SetName(name))
    before = {} if queue is None else settings_of(queue)
    split, seed = (
        _merge_options(project, options, before),
        _first_set(options.seed, None if queue is None else queue.seed, 0),
    )
    if queue is None or (settings(project, split), seed) != (before, queue.seed):
        return build_queue(project, split, name, seed=seed, **how)
    return _freeze_labelled(project, options, queue)


def _merge_options(project: Project, options: HardOptions, before: Mapping[str, Any]) -> SplitItems:
    known: dict[str, int] = before.get("judges", {})
    if not options.judges and not known:
        raise UsageError("No judge is named.", f"Name an odd number of them: {opt.judge:A} {opt.judge:B} {opt.judge:C}")
    names = options.judges or tuple(known)
    same = set(names) == set(known)
    where = before.get("where", []) if not options.where else conditions(project, selection_of(options.where))
    return SplitItems(
        judges=judges_with_runs(project, names, {**(known if same else {}), **options.runs}),
        minority=_first_set(options.minority, before.get("minority"), MINORITY),
        annotate=_first_set(options.annotate, before.get("annotate"), ANNOTATE),
        selection=selection_of(where),
        strata=options.strata or before.get("strata", "proportional"),
    )


def _first_set(*values: int | None) -> int:
    return next(value for value in values if value is not None)


def _freeze_labelled(project: Project, options: HardOptions, queue: StoredSet) -> SetReport:
    known = columns(project)
    queued = list(sets.items(project.database.reader(), queue.id))
    label = labels(project, known, places(known, [one.item for one in queued]), options.gold)
    pairs = zip(queued, label.said.tolist(), strict=True)
    able = grouped((one.stratum, one.item) for one, gold in pairs if gold >= 0)
    how: Strata = settings_of(queue).get("strata", "proportional")
    members = tuple(
        ItemMember(item=item, stratum=stratum, gold=label.of[item][0], gold_from=label.of[item][1], subtype=typed)
        for stratum, item, typed in _draw(project, known, able, options.final, queue.seed, how)
    )
    before = report_of(queue)
    waiting = {why: label.out[why] for why in WAITING if why in label.out}
    available, decided = sum(map(len, able.values())), len(label.said) - sum(waiting.values())
    counts = {"unsuitable": (decided - available), "waiting for labels": sum(waiting.values())}
    text = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    why = f"of {queue.items:,} queued {text}" if text else f"no more than {queue.items:,} were queued"
    new = NewSet(
        name=options.name,
        kind="hard",
        seed=queue.seed,
        config=encoded({"queue": queue.full_name, "final": options.final, "gold": options.gold}),
        gold=options.gold,
        guideline=guideline(project, options.gold),
        items=members,
        runs=queue.runs,
    )
    report = record_from(
        SetReport,
        new,
        version=None,
        strata=strata(_sizes(able), options.final, how),
        shortfall=short_of(options.final, available, len(members), why),
        excluded=label.out,
        stages={**before.stages, "annotated": decided, "suitable": available, "final": len(members)},
        judges=before.judges,
        splits=before.splits,
        left_out=left_out(project, Selection((Condition("set", "=", queue.full_name),))),
        next=_next_command(queue, options.name, waiting, passed_over=options.partial),
        **composition(known, members),
    )
    dry_run = options.dry_run or (bool(waiting) and not options.partial)
    return freeze_with_report(project, new, report, dry_run=dry_run, new_version=options.new_version)


def _next_command(queue: StoredSet, name: str, waiting: Mapping[str, int], *, passed_over: bool) -> str:
    if not waiting or passed_over:
        return Command(f"publish DB {name} FOLDER").shell()
    if waiting.keys() == {"conflict"}:
        return Command("conflicts DB list", as_="NAME").shell()
    return Command("assign DB", where=f"set={queue.name}", annotators="A,B").shell()
