"""Rows of one import, whatever its files hold: items, code problems and solutions."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from workbench.model.code_record import Record
from workbench.model.item import ItemRecord
from workbench.store.item_rows import ItemRows, Matched
from workbench.store.problems import ProblemRows


class ImportRows:
    """Compares records with what is stored, and inserts the new ones; see `ItemRows` and `ProblemRows`.

    Args:
        connection: Where the records go; None when nothing is stored (a dry run).
        dataset_id: Row id of the data set; None when it is not there yet (a dry run).
        indexed: Stored completions can be found by their key: not while a first import fills the tables.
        dry: Compare and count only.
    """

    def __init__(
        self,
        connection: sqlite3.Connection | None,
        dataset_id: int | None,
        *,
        indexed: bool = True,
        dry: bool = False,
    ) -> None:
        self._items = ItemRows(connection, dataset_id, indexed=indexed, dry=dry)
        self._problems = ProblemRows(self._items, connection, dataset_id, dry=dry)

    @property
    def first_ids(self) -> tuple[int, int]:
        """The least row ids that this file's new completions and questions can have."""
        return self._items.first_completion_id, self._items.first_question_id

    def begin_file(self) -> None:
        """What was added so far is stored, as seen by the next file."""
        self._items.begin_file()

    def add(self, records: Sequence[Record]) -> Matched:
        """Insert the new ones of a batch, which is all items or all code, in the caller's transaction."""
        code = [record for record in records if not isinstance(record, ItemRecord)]
        if code:
            return self._problems.add(code)
        return self._items.add(record for record in records if isinstance(record, ItemRecord))

    def complete(self, connection: sqlite3.Connection) -> None:
        """Write what was held back until now, in the transaction that shows the import."""
        self._problems.complete(connection)
