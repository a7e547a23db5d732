"""History: a person's own labels and decisions in force, newest first; each can be opened and corrected."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from typing import ClassVar, TypeAlias

from textual.content import Content

from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.title_bar import label_line, stored_words
from workbench.app.tui.person import PersonListScreen, person_action
from workbench.core.text.figures import time_to_minute
from workbench.labelling.adjudicating import AdjudicationSession, OwnDecision
from workbench.labelling.annotating import AnnotationSession, OwnEntry
from workbench.labelling.rulings import Role
from workbench.tables.table import Columns, word

SHOWN = 500
"""Maximum number of entries in the list; Annotate also opens older labels."""

Entry: TypeAlias = OwnEntry | OwnDecision


def _entry_text(entry: Entry) -> str:
    if isinstance(entry, OwnEntry):
        return label_line(entry).plain
    past = "" if entry.stands else "  no longer in force"
    return Content.assemble("decided  ", stored_words(entry.ruling), past).plain


_COLUMNS: Columns[Entry] = (
    word("when", lambda entry: time_to_minute(entry.created_at), room=16, tone="dim"),
    word("label or decision", _entry_text, room=(40, 48), tone="bold"),
    word("question", lambda entry: entry.question, room=(18, 110), tone="dim"),
)


class HistoryScreen(PersonListScreen):
    """A list of labels and decisions; a correction is a new event that supersedes the old one."""

    TITLE_TEXT = "History"
    PREFIX, EMPTY = (
        "history",
        "There are no labels or decisions yet: {annotate} opens Annotate, {adjudicate} Adjudicate.",
    )
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("history.open", "enter", "open_row", "Correct", "Open the item to correct the label or decision."),
        Action("history.annotate", "a", "app.open_screen('annotate')", "Annotate", "Continue labelling."),
        Action("history.adjudicate", "L", "app.open_screen('adjudicate')", "Adjudicate", "Resolve more conflicts."),
        Action("history.reload", "r", "reload", "Reload", "Read the list again."),
        person_action("history"),
    )
    ROLE: ClassVar[Role] = "own"
    records: Sequence[Entry] = ()

    def action_reload(self) -> None:
        self.in_background(partial(self._read_entries, self._person), self.list_rows, group="history")

    def _read_entries(self, name: str) -> list[Entry]:
        with closing(AnnotationSession(self.project, name)) as session:
            labels = session.history(SHOWN)
        found: list[Entry] = [*labels, *AdjudicationSession(self.project, name).history(SHOWN)]
        return sorted(found, key=lambda entry: entry.created_at, reverse=True)[:SHOWN]

    def list_rows(self, entries: list[Entry]) -> None:
        self.list_records(_COLUMNS, entries)
        keys = {name: key_of(f"history.{name}") for name in ("annotate", "adjudicate")}
        self.put("empty", self.EMPTY.format(**keys))
        shown = f"the newest {SHOWN}" if len(entries) == SHOWN else f"{len(entries)}"
        name = f"{self.shown_name(self._person)} · " if self._person else ""
        self.say(f"{name}{shown} labels and decisions, newest first")

    def opened(self, row: int) -> None:
        entry = self.records[row]
        if isinstance(entry, OwnDecision):
            self._set_role_name("adjudicator")
            self.workbench.open_screen("adjudicate", (entry.task, entry.subject))
            return
        from workbench.app.tui.screens.annotate import AnnotateScreen

        self._set_role_name("annotator")
        below = next((screen for screen in self.app.screen_stack if isinstance(screen, AnnotateScreen)), None)
        if below is None or below.person != self._person:
            self.workbench.open_screen("annotate", entry.completion)
        else:
            self.workbench.open_screen("annotate")
            below.open_item(entry.completion)

    def _set_role_name(self, role: Role) -> None:
        if self.workbench.annotator is None:
            self.workbench.working_as[role] = self._person
