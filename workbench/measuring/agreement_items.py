"""The items behind a cell of the pair matrix: what two people said of each."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from msgspec import Struct

from workbench.core.errors import UsageError
from workbench.core.label import Task
from workbench.core.project import Project
from workbench.data.records.browse import BrowseQuery, BrowseRow
from workbench.labelling.agreement.labels import counted
from workbench.measuring.browsing import ItemTable


class LabelledRow(Struct, frozen=True, kw_only=True):
    """An item with what each of the two said of it; on the type task, the completion that shows the question."""

    item: BrowseRow
    a: str
    b: str


class PairItems:
    """The items two people have both labelled.

    Attributes:
        differing: Row ids of completions on which they differ, in the order of import.
        same: Those on which they agree.
    """

    def __init__(self, project: Project, said: dict[int, tuple[str, str]]) -> None:
        self._table = ItemTable(project, BrowseQuery())
        self._said = said
        self.differing = array("q", [item for item, (a, b) in said.items() if a != b])
        self.same = array("q", [item for item, (a, b) in said.items() if a == b])

    def rows(self, ids: Sequence[int]) -> list[LabelledRow]:
        """Rows by id, in the order asked for."""
        found = []
        for item in self._table.rows(ids):
            a, b = self._said[item.id]
            found.append(LabelledRow(item=item, a=a, b=b))
        return found


def pair_items(project: Project, task: Task, a: str, b: str, *, coarse: bool = False) -> PairItems:
    """The items that agreement between two people is counted from.

    Args:
        coarse: Take answer types by their letter.

    Raises:
        UsageError: One of them has no label here.
    """
    found = counted(project, task, coarse=coarse)
    for name in (a, b):
        if name not in found.people:
            raise UsageError(
                f"{name!r} has no label here.", f"People with labels: {', '.join(found.people) or 'nobody'}."
            )
    ratings, said = found.ratings, {}
    by_person = []
    for name in (a, b):
        own = ratings.annotator == found.people.index(name)
        by_person.append(dict(zip(ratings.item[own].tolist(), ratings.value[own].tolist(), strict=True)))
    for item in sorted(by_person[0].keys() & by_person[1].keys()):
        first, second = (found.categories[labels[item]] for labels in by_person)
        said[found.known[item].completion] = first, second
    return PairItems(project, said)
