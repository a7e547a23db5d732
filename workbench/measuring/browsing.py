"""Queries for the screen Browse: ids and pages of items for a table, and the details of one item."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from workbench.core.database import people, states
from workbench.core.database.connection import cancellable
from workbench.core.database.selection import compile_selection, extra_columns, grouping_columns, has_code
from workbench.core.errors import StoreError, UsageError, did_you_mean, nearest
from workbench.core.files import require_own, whole_file
from workbench.core.final_answer import HOW, FinalAnswer
from workbench.core.final_answer.card import card_completion, card_reference
from workbench.core.label import Task, coordinator_name
from workbench.core.progress import is_cancelled
from workbench.core.project import Project
from workbench.core.selection import COLUMN, GROUPS, TOLD, Condition, Selection, parse_condition, words_of
from workbench.data.paging import QueryTable
from workbench.data.records import BrowseQuery, BrowseRow, ItemDetail
from workbench.data.searching import search_with_index
from workbench.data.store import browsing
from workbench.labelling import ledger
from workbench.labelling.agreement.labels import first_pass_labels

if TYPE_CHECKING:
    import sqlite3


class ItemTable(QueryTable[BrowseRow]):
    """The items of one query.

    Attributes:
        verifiers: Names of the verdict columns: verifiers with a complete run.
    """

    def __init__(self, project: Project, query: BrowseQuery) -> None:
        super().__init__(project.database)
        self.query = query
        self._runs = browsing.newest_runs(self._database.reader())
        self.verifiers = tuple(self._runs.values())

    def read_ids(self, reader: sqlite3.Connection) -> array[int]:
        return search_with_index(
            self._database, self.query.search, lambda index: browsing.ids(reader, self.query, index)
        )

    def read_first(self, reader: sqlite3.Connection, limit: int) -> Sequence[int]:
        return search_with_index(
            self._database, self.query.search, lambda index: browsing.first_ids(reader, self.query, limit, index=index)
        )

    def tally(self, column: str) -> list[tuple[str, str, int]] | None:
        if self.query.search:
            return None
        reader = self._database.reader()
        with cancellable(reader, is_cancelled):
            return browsing.tally(reader, Selection(self.query.conditions), column)

    def rows(self, ids: Sequence[int]) -> list[BrowseRow]:
        return browsing.rows(self._database.reader(), ids, self._runs, self.query.search)


def field_values(project: Project) -> dict[str, list[str]]:
    """Map each filter field to its values; verifiers are under ``verdict:``.

    Additional columns of an imported file are under ``column:NAME``, with the values of their first rows.
    """
    reader = project.database.reader()
    kept = {COLUMN + name: values for name, values in extra_columns(reader).items()}
    return {**browsing.names(reader), "verdict:": list(browsing.newest_runs(reader).values()), **kept}


def breakdowns(project: Project) -> tuple[str, ...]:
    """List the properties by which metrics can be grouped: `GROUPS`, then additional columns of imported files in
    whose first rows values repeat.

    Properties in `TOLD` are included only if the project has code problems.
    """
    reader = project.database.reader()
    groups = (by for by in GROUPS if by not in TOLD or has_code(reader))
    return (*groups, *(COLUMN + name for name in grouping_columns(reader)))


def read_conditions(text: str, verifiers: Sequence[str]) -> tuple[Condition, ...]:
    """Parse a line of several conditions, such as ``type=A state!=final model="a b"``; the option ``--where`` takes
    one condition.

    Args:
        verifiers: Names of the verifiers that have a complete run.

    Raises:
        UsageError: A condition is malformed, or names an unknown field, value or verifier.
    """
    asked = Selection(tuple(map(parse_condition, words_of(text))))
    conditions = (asked.judged_by(verifiers) if len(verifiers) == 1 else asked).conditions
    compile_selection(Selection(conditions))
    for condition in conditions:
        kind, _, name = condition.field.partition(":")
        if kind == "verdict" and name not in verifiers:
            raise UsageError(
                f"No verifier {name!r} has a complete run.", nearest(name, verifiers, "Verifiers that have")
            )
    return conditions


def find(project: Project, key: str) -> list[int]:
    """Return row ids of the completions whose completion id or question id equals or ends with ``key``."""
    return browsing.find_meant_completions(project.database.reader(), key)


def find_existing(project: Project, said: str) -> list[int]:
    """Call `find`, and raise an error without a match.

    Raises:
        UsageError: No completion matches; the hint names a similar id.
    """
    reader = project.database.reader()
    if found := browsing.find_meant_completions(reader, said):
        return found
    near = did_you_mean(said, browsing.similar_keys(reader, said), "Name a completion's id, a question's, or its end.")
    raise UsageError(f"There is no item {said!r}.", near)


def read(project: Project, completion: int) -> ItemDetail:
    """Read everything about one item without recording that it was viewed; callers that show it call ``reveal``.

    Raises:
        UsageError: The item does not exist.
    """
    return browsing.detail(project.database.reader(), completion)


def detail(project: Project, completion: int, also: Collection[str] = ()) -> ItemDetail:
    """Read everything about one item for the coordinator, and record the view as a reveal.

    A later label by the same person on the item is marked unblinded.

    Args:
        also: Names of other annotators as whom the coordinator works in this app.

    Raises:
        UsageError: The item does not exist.
    """
    found = read(project, completion)
    reveal(project, completion, also)
    return found


def final_answers(item: ItemDetail) -> tuple[FinalAnswer, FinalAnswer]:
    return card_reference(item.reference, item.subtype), card_completion(item.completion)


def origin(answer: FinalAnswer) -> str:
    return f"a guess: {HOW[answer.how]}" if answer.found and not answer.marked else HOW[answer.how]


def write_item(project: Project, item: ItemDetail) -> Path:
    """Write an item as JSON next to the database; an earlier file of the same item is replaced.

    Raises:
        StoreError: The folder can't be written to.
    """
    path = project.path.with_name(f"{project.path.stem}-item-{item.id}.json")
    try:
        require_own(path)
        with whole_file(path) as file:
            file.write(msgspec.json.format(msgspec.json.encode(item), indent=2) + b"\n")
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}.", "Is the folder of the database writable?") from error
    return path


def reveal(project: Project, completion: int, also: Collection[str] = ()) -> None:
    """Record that the coordinator has seen an item's gold, verdicts or labels, unless that is already recorded; see
    ``detail``."""
    reveal_each(project, [completion], also)


def reveal_each(project: Project, completions: Sequence[int], also: Collection[str] = ()) -> None:
    with project.database.write("normal") as connection:
        looking = [people.add(connection, coordinator_name(), "coordinator")]
        looking += [people.add(connection, name) for name in also]
        questions = dict.fromkeys(states.question_of(connection, completion)[0] for completion in completions)
        subjects: list[tuple[Task, int]] = [("correctness", completion) for completion in completions]
        subjects += [("type", question) for question in questions]
        for person, (task, subject) in product(looking, subjects):
            ledger.reveal(connection, person, task, subject, "detail")


def reveal_examples(project: Project, kind: str, options: Mapping[str, str], also: Collection[str] = ()) -> None:
    """Call `reveal` for the adjudicated items that a verifier's prompts show as examples.

    Args:
        kind: A kind of verifier, or the name of a configured verifier.
        options: Option values, which override those of the named verifier.
    """
    from workbench.runs.choosing import resolve_verifier
    from workbench.runs.store.settled import shown_by

    if items := shown_by(project.database.reader(), resolve_verifier(project, kind, options).options):
        reveal_each(project, items, also)


def reveal_shown_to(project: Project, verifier: str, also: Collection[str] = ()) -> None:
    from workbench.runs.store.settled import shown_items

    if items := shown_items(project.database.reader()).get(verifier):
        reveal_each(project, items, also)


# -- The items behind a cell of the pair matrix: the labels of two annotators.


class LabelledRow(Struct, frozen=True, kw_only=True):
    """An item with the labels of both annotators. On the type task, whose labels are on questions, it is the
    completion with which the question is shown."""

    item: BrowseRow
    a: str
    b: str


class PairItems:
    """The items that two annotators have both labelled.

    Attributes:
        differing: Row ids of completions with different labels, in the order of import.
        same: Row ids of completions with equal labels.
    """

    def __init__(self, project: Project, said: dict[int, tuple[str, str]]) -> None:
        self._table = ItemTable(project, BrowseQuery())
        self._said = said
        self.differing = array("q", [item for item, (a, b) in said.items() if a != b])
        self.same = array("q", [item for item, (a, b) in said.items() if a == b])

    def rows(self, ids: Sequence[int]) -> list[LabelledRow]:
        found = []
        for item in self._table.rows(ids):
            a, b = self._said[item.id]
            found.append(LabelledRow(item=item, a=a, b=b))
        return found


def pair_items(
    project: Project, task: Task, a: str, b: str, *, coarse: bool = False, latest: bool = False
) -> PairItems:
    """Return the items behind the agreement of two annotators.

    Args:
        coarse: Compare answer types by their letter.
        latest: Use labels of the current round instead of the first.

    Raises:
        UsageError: One of them has no label in this project.
    """
    found = first_pass_labels(project, task, coarse=coarse, latest=latest)
    for name in (a, b):
        if name not in found.people:
            raise UsageError(f"{name!r} has no label here.", f"With labels: {', '.join(found.people) or 'nobody'}.")
    ratings, verdicts = found.ratings, {}
    by_person = []
    for name in (a, b):
        own = ratings.annotator == found.people.index(name)
        by_person.append(dict(zip(ratings.item[own].tolist(), ratings.value[own].tolist(), strict=True)))
    for item in sorted(by_person[0].keys() & by_person[1].keys()):
        first, second = (found.categories[labels[item]] for labels in by_person)
        verdicts[found.known[item].completion] = first, second
    return PairItems(project, verdicts)
