"""Freezes benchmarks: the same content is stored only once, different content only as a new version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from workbench.benchmarks import store
from workbench.benchmarks.building.comparing import differences
from workbench.core.database import sets
from workbench.core.errors import UsageError, opt
from workbench.core.health import Finding
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.sets import NewSet, SetName, SetReport, StoredSet
from workbench.measuring.store import figures

R = TypeVar("R", bound=SetReport)
_MAX_DIFFERENCES = 5


class Frozen(Struct, frozen=True):
    """A benchmark in the database.

    Attributes:
        set: The stored benchmark.
        fresh: Whether this call froze it; False if it already existed.
    """

    set: StoredSet
    fresh: bool


def freeze(project: Project, new: NewSet, *, new_version: bool = False, judges: Sequence[str] = ()) -> Frozen:
    """Freeze a benchmark in one transaction.

    Args:
        new_version: Whether to freeze it as a new version if a benchmark of the same name differs.
        judges: Verifiers whose verdicts chose its items; every table marks them from now on.

    Raises:
        UsageError: A benchmark of this name has other members, settings or gold and ``new_version`` is not set; or it
            is of another kind.
    """
    with project.database.write() as connection:
        found = sets.find(connection, SetName(new.name))
        if found is not None:
            changes = differences(connection, found, new)
            if not changes:
                return Frozen(found, False)
            _reject_difference(found, new, changes, new_version=new_version)
        stored = sets.put(connection, new)
        for dataset in store.datasets(connection, stored.id):
            figures.add(connection, dataset, judges)
    return Frozen(stored, True)


def _reject_difference(found: StoredSet, new: NewSet, told: Sequence[str], *, new_version: bool) -> None:
    if found.kind != new.kind:
        raise UsageError(
            f"{new.name!r} is already the name of a set of kind {found.kind}.", f"Give another {opt.name}."
        )
    if not new_version:
        more = f"; and {len(told) - _MAX_DIFFERENCES} more" if len(told) > _MAX_DIFFERENCES else ""
        raise UsageError(
            f"{found.full_name} already exists with other contents: {'; '.join(told[:_MAX_DIFFERENCES])}{more}.",
            f"{opt.new_version} freezes the new set as {found.name}@{found.version + 1}; or give another {opt.name}.",
        )


def freeze_with_report(
    project: Project, new: NewSet, report: R, *, dry_run: bool, new_version: bool = False, judges: Sequence[str] = ()
) -> R:
    """Freeze a benchmark with its report, or only return the report in a dry run.

    Args:
        new: The benchmark, without a report.
        dry_run: Whether to write nothing.

    Raises:
        UsageError: The benchmark is empty; or see `freeze`.
    """
    if dry_run:
        return report
    if not new.items and not new.questions:
        out = ", ".join(f"{reason} {count:,}" for reason, count in report.excluded.items()) or "nothing matches"
        raise UsageError(
            f"There are no items for the set {new.name!r}: {out}.", f"See what is left out with {opt.dry_run}."
        )
    stored = msgspec.json.encode(report).decode()
    frozen = freeze(project, msgspec.structs.replace(new, report=stored), new_version=new_version, judges=judges)
    return msgspec.structs.replace(
        report, version=frozen.set.version, digest=frozen.set.digest, unchanged=not frozen.fresh
    )


def encoded(value: Mapping[str, Any]) -> str:
    return msgspec.json.encode(value, order="deterministic").decode()


def conditions(project: Project, selection: Selection) -> list[str]:
    """Return a selection as it is stored in the settings of a benchmark: benchmarks that it names are given with their
    version.

    Raises:
        UsageError: The selection names a benchmark that does not exist.
    """
    reader = project.database.reader()
    found = []
    for one in selection.conditions:
        if one.field == "set":
            stored = sets.require(reader, SetName.parse(one.value))
            found.append(f"set{one.operator}{stored.full_name}")
        else:
            found.append(str(one))
    return sorted(found)


# -- Whether frozen benchmarks are intact, and whether labels have changed since freezing.


def sets_finding(project: Project) -> Finding:
    """Check that the members of every benchmark match its digest, and whether gold and types of the newest versions
    have changed since freezing."""
    with project.database.reading() as reader:
        found = sets.all_sets(reader)
        newest = {one.name: one.version for one in found}
        wrong = []
        for one in found:
            if sets.digest(reader, sets.items(reader, one.id), sets.questions(reader, one.id)).hex() != one.digest:
                wrong.append(f"{one.full_name} is not what was frozen: its members or their texts have changed")
            changed = store.count_changed_labels(reader, one.id, one.gold)
            if newest[one.name] == one.version and one.gold is not None:
                wrong += _change_sentences(one.full_name, changed)
    return Finding(name="frozen sets", ok=not wrong, message="; ".join(wrong) or f"{len(found)} as they were frozen")


def _change_sentences(name: str, changed: store.SetChanges) -> list[str]:
    changes = {"gold": changed.gold, "the answer type": changed.subtype}
    return [
        f"{what} of {count:,} item{'s' if count > 1 else ''} differs from the frozen set {name}"
        for what, count in changes.items()
        if count
    ]
