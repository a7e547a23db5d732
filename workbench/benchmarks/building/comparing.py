"""Two sets, or two versions of one: what is only in one of them, and what is another in both."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from workbench.benchmarks.building.differing import changed_settings
from workbench.benchmarks.set_views import DiffRow, SetDiff
from workbench.benchmarks.store import building
from workbench.benchmarks.store.building import SetMember
from workbench.core.database import sets
from workbench.core.project import Project
from workbench.core.sets import SetName, StoredSet

_GOLD = {True: "correct", False: "incorrect", None: "none"}


def set_diff(project: Project, old: str, new: str) -> SetDiff:
    """What differs between two sets.

    Members are the same that have the same data set and ids; those left over that have the same ids in different data
    sets, such as two versions of a file, are the same too.

    Raises:
        UsageError: There is no such set.
    """
    with project.database.reading() as reader:
        before, after = (sets.require(reader, SetName.parse(name)) for name in (old, new))
        pairs, only_old, only_new = _matched(building.members(reader, before.id), building.members(reader, after.id))
    differing = [pair for pair in pairs if _content(pair[0]) != _content(pair[1])]
    return SetDiff(
        old=before.full_name,
        new=after.full_name,
        same=len(pairs) - len(differing),
        settings=_settings(before, after),
        only_old=tuple(map(_row, only_old)),
        only_new=tuple(map(_row, only_new)),
        gold=_differing(differing, lambda one: _GOLD[one.gold]),
        subtypes=_differing(differing, lambda one: one.subtype),
        texts=tuple(_row(two) for one, two in differing if one.hashes != two.hashes),
    )


def _content(member: SetMember) -> tuple[object, ...]:
    return member.hashes, member.gold, member.subtype


def _matched(
    old: Iterable[SetMember], new: Iterable[SetMember]
) -> tuple[list[tuple[SetMember, SetMember]], list[SetMember], list[SetMember]]:
    """Members of both, those of the old one alone, those of the new one alone; each by their ids."""
    left, right = sorted(old, key=_ids), sorted(new, key=_ids)
    pairs = []
    for key in (_with_dataset, _without_dataset):
        known = {key(one): one for one in right}
        found = [(one, known.pop(key(one))) for one in left if key(one) in known]
        pairs += found
        gone = {id(one) for pair in found for one in pair}
        left, right = ([one for one in some if id(one) not in gone] for some in (left, right))
    return sorted(pairs, key=lambda pair: _ids(pair[0])), left, right


def _with_dataset(member: SetMember) -> tuple[str | None, ...]:
    return member.dataset, member.question, member.completion


def _without_dataset(member: SetMember) -> tuple[str | None, ...]:
    return member.question, member.completion


def _ids(member: SetMember) -> tuple[str, str, str]:
    return member.dataset, member.question, member.completion or ""


def _settings(old: StoredSet, new: StoredSet) -> dict[str, tuple[Any, Any]]:
    seed = {} if old.seed == new.seed else {"seed": (old.seed, new.seed)}
    return {**seed, **changed_settings(old.config, new.config)}


def _differing(
    pairs: Iterable[tuple[SetMember, SetMember]], value: Callable[[SetMember], str | None]
) -> tuple[DiffRow, ...]:
    return tuple(_row(new, value(old), value(new)) for old, new in pairs if value(old) != value(new))


def _row(member: SetMember, before: str | None = None, after: str | None = None) -> DiffRow:
    return DiffRow(
        dataset=member.dataset,
        question_id=member.question,
        completion_id=member.completion,
        before=before,
        after=after,
    )
