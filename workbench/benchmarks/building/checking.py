"""Whether frozen sets are what they were, and whether labels still say what they said then."""

from __future__ import annotations

from workbench.benchmarks.store import building
from workbench.core.database import sets
from workbench.core.health import Finding
from workbench.core.project import Project


def sets_finding(project: Project) -> Finding:
    """Every set's members against its digest; of its newest version gold and types against those of now."""
    with project.database.reading() as reader:
        found = sets.every(reader)
        newest = {one.name: one.version for one in found}
        wrong = []
        for one in found:
            if sets.digest(reader, sets.items(reader, one.id), sets.questions(reader, one.id)).hex() != one.digest:
                wrong.append(f"{one.full_name} is not what was frozen: its members or their texts have changed")
            changed = building.changed(reader, one.id, one.gold)
            if newest[one.name] == one.version and one.gold is not None:
                wrong += _changed(one.full_name, changed)
    return Finding(name="frozen sets", ok=not wrong, message="; ".join(wrong) or f"{len(found)} as they were frozen")


def _changed(name: str, changed: building.SetChanges) -> list[str]:
    told = {"gold": changed.gold, "the answer type": changed.subtype}
    return [
        f"{what} of {count:,} item{'s' if count > 1 else ''} differs from the frozen set {name}"
        for what, count in told.items()
        if count
    ]
