"""Quarantine: rows that imports rejected, each with its file and line, the faulty field and what to do."""

from __future__ import annotations

from typing import ClassVar

from textual.content import Content

from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.table_screen import TableScreen
from workbench.core.item import RefusedRow
from workbench.core.text.figures import counted
from workbench.interchange.importing import refused_rows
from workbench.tables.table import Columns, count, word

_COLUMNS: Columns[RefusedRow] = (
    word("file", lambda row: row.file, room=(12, 28)),
    count("line", lambda row: row.line, room=8),
    word("field", lambda row: row.field or "–", room=(8, 14)),
    word("reason", lambda row: row.code, room=(12, 15)),
    word("begins", lambda row: row.text, room=(16, 60)),
)


class QuarantineScreen(TableScreen, LiveScreen):
    """The rejected rows, those of the newest import first; below, the row under the cursor and the reason in full."""

    TITLE_TEXT = "Quarantine"
    PREFIX, DETAIL = "quarantine", True
    EMPTY = "Quarantine is empty: every row of every file was accepted."
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("quarantine.reload", "r", "reload", "Reload", "Read the rows again."),
    )

    def read(self) -> list[RefusedRow]:
        return refused_rows(self.project)

    def show(self, data: list[RefusedRow]) -> None:
        self.list_records(_COLUMNS, data)
        self.say(f"{counted(len(data), 'row')} rejected; a fixed row leaves when its file is imported again")
        self.highlighted(0)

    def highlighted(self, row: int) -> None:
        self.put_detail(Content() if self.record_here is None else _detail_text(self.record_here))


def _detail_text(row: RefusedRow) -> Content:
    where = f"line {row.line:,} of {row.file}, for {row.dataset}"
    return Content("\n").join(
        [
            Content.styled(printable(where), "bold"),
            Content.styled(printable(row.message), "$text-warning"),
            Content.styled(printable(row.text), "$text-muted"),
        ]
    )
