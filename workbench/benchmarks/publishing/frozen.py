"""Reads a benchmark as it was frozen: its items, to be published, and its columns, to be counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct, structs

from workbench.benchmarks import store
from workbench.benchmarks.card.contents import title_of
from workbench.benchmarks.records import PUBLISHABLE
from workbench.benchmarks.store import Source
from workbench.core.database import sets
from workbench.core.errors import Command, StoreError, UsageError
from workbench.core.item import StoredItem
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection
from workbench.core.sets import ItemMember, SetKind, SetName, StoredSet
from workbench.core.taxonomy import UNTYPED, type_display
from workbench.data.store import reading
from workbench.data.store.columns import ORIGINS
from workbench.measuring.columns import Columns, columns

_INSTEAD: dict[SetKind, tuple[str, Command]] = {
    "draw": ("Its questions need labelled completions. Write some", Command("complete DB")),
    "picks": ("Its items are there to be labelled. Build a set of the labelled ones", Command("build DB balanced")),
    "queue": ("Its items are there to be labelled. Build a set of the labelled ones", Command("build DB hard")),
}


class FrozenSet(Struct, frozen=True, kw_only=True, eq=False):
    """A benchmark that can be published.

    Attributes:
        members: The benchmark's items as they were at freezing, in the order of import.
        types: Item without a subtype -> its answer type.
        sources: Name -> source, for every source.
        qualified: Whether data sets of the benchmark share ids, so that ids are written with their data set as a
            prefix.
    """

    stored: StoredSet
    members: tuple[ItemMember, ...]
    types: dict[int, str]
    sources: Mapping[str, Source]
    qualified: bool

    @property
    def name(self) -> SetName:
        return SetName(self.stored.name, self.stored.version)

    @property
    def title(self) -> str:
        return title_of(self.stored)

    @property
    def selection(self) -> Selection:
        return selection_of(self.stored)

    def id_of(self, dataset: str, key: str) -> str:
        return f"{dataset}/{key}" if self.qualified else key


class FrozenItem(NamedTuple):
    row: int
    item: StoredItem
    source: Source | None


def selection_of(stored: StoredSet) -> Selection:
    return Selection((Condition("set", "=", str(SetName(stored.name, stored.version))),))


def frozen_set(project: Project, name: SetName) -> FrozenSet:
    """Return a benchmark that can be published.

    Raises:
        StoreError: Its items are not those that were frozen.
        UsageError: The benchmark does not exist, or is not finished.
    """
    reader = project.database.reader()
    stored = sets.require(reader, name)
    place = stored.full_name
    if stored.kind not in PUBLISHABLE:
        raise UsageError(f"{place} is a set of kind {stored.kind!r}, not a finished one.", *_INSTEAD[stored.kind])
    members = tuple(sets.items(reader, stored.id))
    if not members:
        raise UsageError(f"{place} has no items.", "See why in its report", Command("sets DB show"))
    if without := sum(member.gold is None for member in members):
        raise UsageError(
            f"{without:,} of {len(members):,} items of {place} had no gold when it was frozen.",
            "Have them labelled, and build the set again.",
        )
    hint = f"Check the database, and take a backup of it: {Command('doctor DB')}"
    if gone := store.count_missing(reader, stored.id):
        raise StoreError(f"{gone:,} of {len(members):,} items of {place} have lost their texts.", hint)
    if sets.digest(reader, members, sets.questions(reader, stored.id)).hex() != stored.digest:
        raise StoreError(f"The items of {place} are not those that were frozen: their digest differs.", hint)
    return FrozenSet(
        stored=stored,
        members=members,
        types=store.imported_types(reader, stored.id),
        sources=store.sources(reader),
        qualified=store.ids_collide(reader, stored.id),
    )


def frozen_items(project: Project, frozen: FrozenSet) -> Iterator[FrozenItem]:
    found = reading.stream_items(project.database.reader(), frozen.selection, "imported")
    for member, item in zip(frozen.members, found, strict=True):
        yield FrozenItem(member.item, _restore_frozen(frozen, member, item), frozen.sources.get(item.source or ""))


def _restore_frozen(frozen: FrozenSet, member: ItemMember, item: StoredItem) -> StoredItem:
    renamed = structs.replace(
        item,
        question_key=frozen.id_of(item.dataset, item.question_key),
        completion_key=frozen.id_of(item.dataset, item.completion_key),
        gold=member.gold,
        gold_from=member.gold_from,
    )
    if member.subtype in (item.subtype or item.type, None):
        return renamed
    kind, subtype = member.subtype[:1], _subtype_of(member)
    return structs.replace(
        renamed,
        type=kind,
        subtype=subtype,
        type_text=item.type_text if kind == item.type else type_display(kind),
        subtype_text=None if subtype is None else type_display(subtype),
    )


def _subtype_of(member: ItemMember) -> str | None:
    return member.subtype if member.subtype and len(member.subtype) > 1 else None


def frozen_columns(project: Project, frozen: FrozenSet) -> Columns:
    import numpy as np

    everything = columns(project)
    place = np.searchsorted(everything.item, [member.item for member in frozen.members])
    gold = everything.gold("final").copy()
    gold[place] = [int(bool(member.gold)) for member in frozen.members]
    origin = everything.origin.copy()
    origin[place] = [ORIGINS.index(member.gold_from or "none") for member in frozen.members]
    columned = {"final": gold, "origin": origin}
    names: dict[str, tuple[str, ...]] = {}
    fields = {
        "type": [_type_of(frozen, member) for member in frozen.members],
        "subtype": [_subtype_of(member) or UNTYPED for member in frozen.members],
    }
    for field, words in fields.items():
        groups = everything.groups(field)
        known = {name: code for code, name in enumerate(groups.names)}
        code = groups.code.copy()
        code[place] = [known.setdefault(word, len(known)) for word in words]
        columned[field], names[field] = code, tuple(known)
    return everything.replaced(columned, names)


def _type_of(frozen: FrozenSet, member: ItemMember) -> str:
    return member.subtype[:1] if member.subtype else frozen.types.get(member.item, UNTYPED)
