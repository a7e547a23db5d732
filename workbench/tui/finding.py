"""Screens with one reader, in which a text can be found."""

from __future__ import annotations

from textual import on

from workbench.tui.actions import Action
from workbench.tui.screen import WorkbenchScreen
from workbench.tui.widgets import reader_messages
from workbench.tui.widgets.prompt_bar import PromptBar
from workbench.tui.widgets.reader import Reader

_FIND = "find"


def finding_actions(screen: str) -> tuple[Action, ...]:
    """The actions that find, under a screen's own ids."""
    return (
        Action(f"{screen}.find", "slash", "find", "Find", "Find a text."),
        Action(f"{screen}.find-next", "n", "find_next(1)", "Next hit", "Go to the next hit.", False),
        Action(f"{screen}.find-previous", "N", "find_next(-1)", "Previous hit", "Go to the previous hit.", False),
        Action(f"{screen}.back", "escape", "back", "Back", "Close the line, else go back to the screen before."),
    )


class FindingScreen(WorkbenchScreen):
    """Has one `Reader` and one `PromptBar`."""

    @property
    def reader(self) -> Reader:
        """The one reader."""
        return self.query_one(Reader)

    def action_find(self) -> None:
        """Ask for a text to find."""
        self.query_one(PromptBar).ask(_FIND, "/", hint="text to find")

    @on(PromptBar.Typed)
    def _typed(self, event: PromptBar.Typed) -> None:
        """Every letter goes to the hit; enter only closes the line."""
        if event.asked == _FIND:
            self.reader.find(event.text)

    @on(PromptBar.Submitted)
    def _submitted(self, event: PromptBar.Submitted) -> None:
        if event.asked != _FIND:
            self.answered(event.asked, event.text)
        elif self.reader.hits or not event.text:
            self.close_prompt()
        else:
            self.query_one(PromptBar).complain("Not found.")

    def answered(self, asked: str, text: str) -> None:
        """Take what was typed for anything else that was asked."""

    @on(Reader.SearchChanged)
    def _hit(self, event: reader_messages.SearchChanged) -> None:
        event.reader.border_subtitle = f"hit {event.number} of {event.total}" if event.total else ""

    def action_find_next(self, step: int) -> None:
        """Go to another hit."""
        self.reader.find_next(step)

    def close_prompt(self) -> None:
        """Hide the line; the text takes the focus."""
        self.query_one(PromptBar).close()
        self.reader.focus()

    def action_back(self) -> None:
        """Close the line, else leave."""
        if self.query_one(PromptBar).asking:
            self.close_prompt()
        else:
            self.workbench.action_go_back()
