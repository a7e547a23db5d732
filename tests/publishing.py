"""The sample as a frozen set and as a published folder."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from workbench.benchmarks.options import PublishOptions
from workbench.benchmarks.publishing.publishing import publish
from workbench.benchmarks.records import Publication
from workbench.core.database import sets
from workbench.core.database.selection import FROM_ITEMS, GOLD, GOLD_FROM, SUBTYPE
from workbench.core.project import Project, open_project
from workbench.core.sets import ItemMember, NewSet, QuestionMember, SetKind, SetReport, StoredSet
from workbench.interchange.importing import import_files, plan_import
from workbench.labelling.labels import import_labels

SAMPLE = Path(__file__).resolve().parent.parent / "sample_data"


def sample_project(path: Path) -> Project:
    """Create a project with the sample's tuples and labels."""
    project = open_project(path, create=True)
    import_files(project, plan_import([SAMPLE / "tuples.jsonl"]), dataset="sample")
    import_labels(project, SAMPLE / "labels.jsonl")
    return project


def copy_of(path: Path, folder: Path) -> Project:
    """Copy a closed database into the test's folder."""
    shutil.copy(path, folder / "p.db")
    return open_project(folder / "p.db")


def freeze(
    project: Project,
    name: str = "small",
    *,
    kind: SetKind = "balanced",
    members: Sequence[ItemMember] | None = None,
    questions: Sequence[QuestionMember] = (),
    runs: tuple[int, ...] = (),
    report: SetReport | None = None,
    config: str = "{}",
) -> StoredSet:
    """Freeze these items, or all items with gold, in their current state."""
    items = tuple(with_gold(project) if members is None else members)
    made = report or SetReport(
        name=name, version=None, kind=kind, questions=0, tuples=0, strata=(), shortfall=(), excluded={}, seed=7
    )
    new = NewSet(
        name=name,
        kind=kind,
        seed=7,
        config=config,
        report=msgspec.json.encode(made).decode(),
        gold="final",
        guideline="1",
        items=items,
        questions=tuple(questions),
        runs=runs,
    )
    with project.database.write() as connection:
        return sets.put(connection, new)


def with_gold(project: Project) -> list[ItemMember]:
    """Return every item with gold, in its current state."""
    rows = project.database.reader().execute(
        f"SELECT c.id, {GOLD}, {GOLD_FROM}, {SUBTYPE} FROM {FROM_ITEMS} WHERE ({GOLD}) IS NOT NULL ORDER BY c.id"
    )
    return [
        ItemMember(item=item, stratum=subtype or "", gold=bool(gold), gold_from=origin, subtype=subtype)
        for item, gold, origin, subtype in rows
    ]


HOSTILE = "A ](http://x) --- : { [no] #title 'é' \u2028 \x1b[31m"
"""A title that breaks every format that does not escape it."""


def publish_sample(folder: Path) -> Publication:
    """Publish two sets of the sample as one folder, next to the database."""
    project = sample_project(folder.with_name(f"{folder.name}.db"))
    freeze(project)
    freeze(
        project, "people/only", kind="hard", members=[one for one in with_gold(project) if one.gold_from != "imported"]
    )
    options = PublishOptions(
        sets=("small", "people/only"),
        folder=folder,
        title=HOSTILE,
        licence="My Own ](x) 1.0",
        languages=("en", "no"),
    )
    found = publish(project, options)
    project.close()
    return found


if __name__ == "__main__":
    publish_sample(Path(sys.argv[1]))
