"""Lists and describes frozen benchmarks, and compares two of them, or two versions of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec

from workbench.benchmarks import store
from workbench.benchmarks.building.candidates import places
from workbench.benchmarks.records import DiffRow, Flip, SetDetail, SetDiff, SetLine
from workbench.benchmarks.store import SetMember
from workbench.core.database import sets
from workbench.core.errors import StoreError
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.sets import NewSet, SetName, SetReport, StoredSet
from workbench.core.verdict import OutcomeCode
from workbench.measuring.columns import Columns, columns
from workbench.measuring.store import figures

if TYPE_CHECKING:
    from workbench.statistics.confusion import IntArray


# -- Descriptions of the differences between a frozen benchmark and one that is to be frozen.


def differences(connection: store.Connection, found: StoredSet, new: NewSet) -> list[str]:
    changes = [f"kind {found.kind}, now {new.kind}"] if found.kind != new.kind else []
    if found.seed != new.seed:
        changes.append(f"seed {found.seed}, now {new.seed}")
    for key, (before, now) in changed_settings(found.config, new.config).items():
        changes.append(f"{key} {_value_text(before)}, now {_value_text(now)}")
    if sets.digest(connection, new.items, new.questions).hex() != found.digest:
        changes += _member_differences(connection, found, new)
    return changes


def changed_settings(old: str, new: str) -> dict[str, tuple[Any, Any]]:
    before, after = msgspec.json.decode(old), msgspec.json.decode(new)
    keys = sorted(before.keys() | after.keys())
    return {key: (before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)}


def _value_text(value: Any) -> str:
    return "none" if value is None else msgspec.json.encode(value).decode().replace('"', "")


def _member_differences(connection: store.Connection, found: StoredSet, new: NewSet) -> Iterator[str]:
    items = {one.item: one for one in sets.items(connection, found.id)}
    now = {one.item: one for one in new.items}
    questions = {one.question for one in sets.questions(connection, found.id)}
    asked = {one.question for one in new.questions}
    both = [(items[item], now[item]) for item in items.keys() & now.keys()]
    counts = {
        "questions only there": len(questions - asked),
        "questions only now": len(asked - questions),
        "items only there": len(items.keys() - now.keys()),
        "items only now": len(now.keys() - items.keys()),
        "other gold": sum((old.gold, old.gold_from) != (one.gold, one.gold_from) for old, one in both),
        "another answer type": sum(old.subtype != one.subtype for old, one in both),
    }
    there = [f"{what}: {count:,}" for what, count in counts.items() if count]
    yield from there or ["other texts or strata"]


_GOLD = {True: "correct", False: "incorrect", None: "none"}


def set_diff(project: Project, old: str, new: str) -> SetDiff:
    """Return the differences between two benchmarks.

    Members are matched by data set and ids. Those left over are matched by ids only, across data sets, as in two
    versions of a file.

    Raises:
        UsageError: A benchmark does not exist.
    """
    with project.database.reading() as reader:
        before, after = (sets.require(reader, SetName.parse(name)) for name in (old, new))
        pairs, only_old, only_new = _match_members(store.members(reader, before.id), store.members(reader, after.id))
    content = attrgetter("hashes", "gold", "subtype")
    differing = [pair for pair in pairs if content(pair[0]) != content(pair[1])]
    seed = {} if before.seed == after.seed else {"seed": (before.seed, after.seed)}
    return SetDiff(
        old=before.full_name,
        new=after.full_name,
        same=len(pairs) - len(differing),
        settings={**seed, **changed_settings(before.config, after.config)},
        only_old=tuple(map(_diff_row, only_old)),
        only_new=tuple(map(_diff_row, only_new)),
        gold=_changed_members(differing, lambda one: _GOLD[one.gold]),
        subtypes=_changed_members(differing, lambda one: one.subtype),
        texts=tuple(_diff_row(two) for one, two in differing if one.hashes != two.hashes),
    )


def _match_members(
    old: Iterable[SetMember], new: Iterable[SetMember]
) -> tuple[list[tuple[SetMember, SetMember]], list[SetMember], list[SetMember]]:
    left, right = sorted(old, key=_ids), sorted(new, key=_ids)
    pairs = []
    for key in (_ids, attrgetter("question", "completion")):
        known = {key(one): one for one in right}
        found = [(one, known.pop(key(one))) for one in left if key(one) in known]
        pairs += found
        gone = {id(one) for pair in found for one in pair}
        left, right = ([one for one in some if id(one) not in gone] for some in (left, right))
    return sorted(pairs, key=lambda pair: _ids(pair[0])), left, right


def _ids(member: SetMember) -> tuple[str, str, str]:
    return member.dataset, member.question, member.completion or ""


def _changed_members(
    pairs: Iterable[tuple[SetMember, SetMember]], value: Callable[[SetMember], str | None]
) -> tuple[DiffRow, ...]:
    return tuple(_diff_row(new, value(old), value(new)) for old, new in pairs if value(old) != value(new))


def _diff_row(member: SetMember, before: str | None = None, after: str | None = None) -> DiffRow:
    return DiffRow(
        dataset=member.dataset, question_id=member.question, completion_id=member.completion, before=before, after=after
    )


# -- The settings of a frozen benchmark, and the report of its building.


def report_of(stored: StoredSet) -> SetReport:
    """Return the report of building a benchmark.

    Raises:
        StoreError: The stored report can't be read.
    """
    try:
        return msgspec.json.decode(stored.report, type=SetReport)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _unreadable_error("report", stored, error) from error


def settings_of(stored: StoredSet) -> dict[str, Any]:
    """Return the settings with which a benchmark was built.

    Raises:
        StoreError: The stored settings can't be read.
    """
    try:
        return msgspec.json.decode(stored.config, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _unreadable_error("settings", stored, error) from error


def _unreadable_error(what: str, stored: StoredSet, error: Exception) -> StoreError:
    return StoreError(f"The {what} of {stored.full_name} can't be read: {error}.", "Build the set again.")


# -- Frozen benchmarks: the list, and the details of one.


def every_set(project: Project) -> list[SetLine]:
    """List all benchmarks in the order in which they were frozen.

    Raises:
        StoreError: The stored report of a benchmark can't be read.
    """
    reader = project.database.reader()
    return [_set_line(reader, one, report_of(one)) for one in sets.all_sets(reader)]


def set_detail(project: Project, name: str) -> SetDetail:
    """Describe one benchmark.

    Raises:
        StoreError: The stored report can't be read.
        UsageError: No benchmark has this name.
    """
    reader = project.database.reader()
    found = sets.require(reader, SetName.parse(name))
    report = report_of(found)
    line = _set_line(reader, found, report)
    return SetDetail(
        set=line,
        config=settings_of(found),
        report=msgspec.structs.replace(report, version=found.version, digest=found.digest),
        flips=flips(project, found),
        changed=line.changed,
    )


def flips(project: Project, found: StoredSet) -> tuple[Flip, ...]:
    reader = project.database.reader()
    items = [one.item for one in sets.items(reader, found.id)]
    if not found.runs or not items:
        return ()
    known = columns(project)
    rows = places(known, items)
    return tuple(
        _flip(known, rows, figures.verifier_of_run(reader, run), run, store.run_since(reader, run))
        for run in found.runs
    )


def _flip(known: Columns, rows: IntArray, judge: str, run: int, later: int | None) -> Flip:
    if later is None:
        return Flip(judge=judge, run=run, later=None, both=0, flipped=0, rate=None)
    before, after = known.outcome(run)[rows], known.outcome(later)[rows]
    both = (before >= 0) & (before < OutcomeCode.ABSTAIN) & (after >= 0) & (after < OutcomeCode.ABSTAIN)
    decided, flipped = int(both.sum()), int((both & (before != after)).sum())
    rate = flipped / decided if decided else None
    return Flip(judge=judge, run=run, later=later, both=decided, flipped=flipped, rate=rate)


def _set_line(reader: store.Connection, found: StoredSet, report: SetReport) -> SetLine:
    return record_from(
        SetLine,
        found,
        tuples=found.items,
        short=len(report.shortfall),
        states=store.states(reader, found.id),
        changed=store.count_changed_labels(reader, found.id, found.gold)._asdict(),
    )
