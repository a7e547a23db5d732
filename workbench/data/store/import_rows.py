"""Rows of one import, whatever its files hold: items, questions, code problems and solutions."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from workbench.core.code_record import ProblemRecord, Record, SolutionRecord
from workbench.core.item import ItemRecord, QuestionRecord
from workbench.data.store.item_rows import ItemInserter, Matched
from workbench.data.store.problems import ProblemRows
from workbench.data.store.question_rows import QuestionRows


class ImportRows:
    """Compares records with what is stored, inserts the new ones; see `ItemInserter`, `QuestionRows`, `ProblemRows`.

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
        self._items = ItemInserter(connection, dataset_id, indexed=indexed, dry=dry)
        self._questions = QuestionRows(self._items, connection)
        self._problems = ProblemRows(self._items, connection, dataset_id, dry=dry)

    @property
    def first_ids(self) -> tuple[int, int]:
        """The least row ids that this file's new completions and questions can have."""
        return self._items.first_completion_id, self._items.first_question_id

    def begin_file(self) -> None:
        """What was added so far is stored, as seen by the next file."""
        self._items.begin_file()

    def add(self, records: Sequence[Record]) -> Matched:
        """Insert the new ones of a batch, all of one kind of file, in the caller's transaction."""
        code = [record for record in records if isinstance(record, ProblemRecord | SolutionRecord)]
        if code:
            return self._problems.add(code)
        questions = [record for record in records if isinstance(record, QuestionRecord)]
        if questions:
            return self._questions.add(questions)
        return self._items.add(record for record in records if isinstance(record, ItemRecord))

    def complete(self, connection: sqlite3.Connection) -> None:
        """Write what was held back until now, in the transaction that shows the import."""
        self._items.complete(connection)
        self._questions.complete(connection)
        self._problems.complete(connection)
