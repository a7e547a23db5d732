"""History: a person's own labels and decisions in force, newest first; each can be opened and corrected."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.matrix import fit
from workbench.app.tui.kit.title_bar import label_line, stored_words
from workbench.app.tui.person import PersonScreen, person_action
from workbench.core.text.figures import time_to_minute
from workbench.labelling.adjudicating import AdjudicationSession, OwnDecision
from workbench.labelling.annotating import AnnotationSession, OwnEntry
from workbench.labelling.rulings import Role

SHOWN = 500
"""Maximum number of entries in the list; Annotate also opens older labels."""

Entry = OwnEntry | OwnDecision


class HistoryScreen(PersonScreen):
    """A list of labels and decisions; a correction is a new event that supersedes the old one."""

    CSS_PATH = "history.tcss"
    TITLE_TEXT = "History"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("history.open", "enter", "open", "Correct", "Open the item to correct the label or decision."),
        Action("history.annotate", "a", "app.open_screen('annotate')", "Annotate", "Continue labelling."),
        Action(
            "history.adjudicate", "L", "app.open_screen('adjudicate')", "Adjudicate", "Continue resolving conflicts."
        ),
        Action("history.reload", "r", "reload", "Reload", "Read the list again."),
        person_action("history"),
    )
    ROLE: ClassVar[Role] = "own"
    _person = ""
    _entries: Sequence[Entry] = ()

    def content(self) -> ComposeResult:
        yield OptionList(markup=False, id="history-list")
        annotate, adjudicate = key_of("history.annotate"), key_of("history.adjudicate")
        empty = f"There are no labels or decisions yet: {annotate} opens Annotate, {adjudicate} Adjudicate."
        yield Static(empty, id="history-empty", markup=False)

    def begin(self, name: str) -> None:
        self._person = name
        self.action_reload()

    def show_no_work(self) -> None:
        self._show([])

    def on_screen_resume(self) -> None:
        if self._person:
            self.action_reload()

    def action_reload(self) -> None:
        self.in_background(partial(self._read_entries, self._person), self._show, group="history")

    def _read_entries(self, name: str) -> list[Entry]:
        with closing(AnnotationSession(self.project, name)) as session:
            labels = session.history(SHOWN)
        found: list[Entry] = [*labels, *AdjudicationSession(self.project, name).history(SHOWN)]
        return sorted(found, key=lambda entry: entry.created_at, reverse=True)[:SHOWN]

    def _show(self, entries: list[Entry]) -> None:
        listing = self.query_one(OptionList)
        at = listing.highlighted or 0
        self._entries = entries
        listing.clear_options()
        listing.add_options([Option(_entry_line(entry)) for entry in entries])
        self.set_class(not entries, "empty")
        if entries:
            listing.highlighted = min(at, len(entries) - 1)
            listing.focus()
        shown = f"the newest {SHOWN}" if len(entries) == SHOWN else f"{len(entries)}"
        name = f"{self.shown_name(self._person)} · " if self._person else ""
        self.say(f"{name}{shown} labels and decisions, newest first")

    @on(OptionList.OptionSelected)
    def _entry_selected(self, event: OptionList.OptionSelected) -> None:
        self._open_entry(event.option_index)

    def action_open(self) -> None:
        highlighted = self.query_one(OptionList).highlighted
        if highlighted is not None:
            self._open_entry(highlighted)

    def _open_entry(self, number: int) -> None:
        entry = self._entries[number]
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


def _entry_line(entry: Entry) -> Content:
    when = time_to_minute(entry.created_at)
    question = ("\n", ""), (f"    {fit(entry.question, 110).rstrip()}", "$text-muted")
    if isinstance(entry, OwnDecision):
        past = "" if entry.stands else "  no longer in force"
        said = Content.assemble("decided  ", stored_words(entry.ruling), (past, "$text-warning"))
        return Content.assemble((f"{when}  ", "$text-muted"), said, *question)
    return Content.assemble((f"{when}  ", "$text-muted"), label_line(entry), *question)
