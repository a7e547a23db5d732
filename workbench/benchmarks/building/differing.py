"""What is different between a frozen set and one that is to be frozen, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from workbench.benchmarks.store import building
from workbench.core.database import sets
from workbench.core.sets import NewSet, StoredSet


def differences(connection: building.Connection, found: StoredSet, new: NewSet) -> list[str]:
    """Why they are not one and the same set; nothing if they are."""
    told = [f"kind {found.kind}, now {new.kind}"] if found.kind != new.kind else []
    if found.seed != new.seed:
        told.append(f"seed {found.seed}, now {new.seed}")
    for key, (before, now) in changed_settings(found.config, new.config).items():
        told.append(f"{key} {_said(before)}, now {_said(now)}")
    if sets.digest(connection, new.items, new.questions).hex() != found.digest:
        told += _members(connection, found, new)
    return told


def changed_settings(old: str, new: str) -> dict[str, tuple[Any, Any]]:
    """Settings that differ between two sets, as both have them.

    Args:
        old, new: What `StoredSet.config` is.
    """
    before, after = msgspec.json.decode(old), msgspec.json.decode(new)
    keys = sorted(before.keys() | after.keys())
    return {key: (before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)}


def _said(value: Any) -> str:
    return "none" if value is None else msgspec.json.encode(value).decode().replace('"', "")


def _members(connection: building.Connection, found: StoredSet, new: NewSet) -> Iterator[str]:
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
