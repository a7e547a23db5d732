"""What differs between two sets: items that only one has, other gold, other answer types, other texts."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from workbench.model.selection import Condition
from workbench.model.set_views import SetDiff
from workbench.services.building.comparing import set_diff
from workbench.tui.actions import Action
from workbench.tui.table_screen import TableScreen
from workbench.tui.widgets import set_view as view
from workbench.tui.widgets.cells import printable


class SetDiffScreen(TableScreen):
    """A row for each item that differs.

    Args:
        old, new: Names of sets with their versions.

    Attributes:
        found: What differs; None until it has come.
    """

    CSS_PATH = "set_diff.tcss"
    TITLE_TEXT = "What differs"
    PREFIX, ABOVE = "diff", ("caption",)
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("set-diff.open", "i,enter", "open_row", "Items", "Show the row's item, or its question's, in Browse."),
    )

    def __init__(self, old: str, new: str) -> None:
        super().__init__()
        self._old, self._new = old, new
        self.found: SetDiff | None = None

    def heading(self) -> tuple[str, str]:
        """What is compared."""
        return self.TITLE_TEXT, printable(f"{self._old} → {self._new}")

    def on_mount(self) -> None:
        """Compare."""
        self.put("caption", "reading …")
        work = partial(set_diff, self.project, self._old, self._new)
        self.in_background(work, self._show, group="set-diff", stops=True)

    def _show(self, found: SetDiff) -> None:
        self.found = found
        self.put("caption", view.diff_caption(found))
        self.table.show_rows(view.DIFF_COLUMNS, list(view.diff_rows(found)))

    def opened(self, row: int) -> None:
        """Show the item in Browse."""
        from workbench.tui.screens.browse import BrowseScreen

        if self.found is None:
            return
        _, one = view.differing(self.found)[row]
        found = [Condition("dataset", "=", one.dataset), Condition("question_id", "=", one.question_id)]
        if one.completion_id is not None:
            found.append(Condition("completion_id", "=", one.completion_id))
        self.app.push_screen(BrowseScreen(*found))
