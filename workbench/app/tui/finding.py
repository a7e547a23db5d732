"""Screens with one reader, in which a text can be found."""

from __future__ import annotations

from textual import on

from workbench.app.tui.actions import Action
from workbench.app.tui.kit import reader_messages
from workbench.app.tui.kit.prompt_bar import PromptBar
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.screen import PromptScreen
from workbench.core.errors import UsageError

_FIND = "find"


def finding_actions(screen: str) -> tuple[Action, ...]:
    """The actions that find, under a screen's own ids."""
    return (
        Action(f"{screen}.find", "slash", "find", "Find", "Find a text."),
        Action(f"{screen}.find-next", "n", "find_next(1)", "Next hit", "Go to the next hit.", False),
        Action(f"{screen}.find-previous", "N", "find_next(-1)", "Previous hit", "Go to the previous hit.", False),
        Action(f"{screen}.back", "escape", "back", "Back", "Close the line, else go back to the screen before."),
    )


class FindingScreen(PromptScreen):
    """Has one `Reader` and one `PromptBar`."""

    RESTING = Reader

    @property
    def reader(self) -> Reader:
        """The one reader."""
        return self.query_one(Reader)

    def action_find(self) -> None:
        """Ask for a text to find."""
        self.ask(_FIND, "/", hint="text to find")

    @on(PromptBar.Typed)
    def _typed(self, event: PromptBar.Typed) -> None:
        """Every letter goes to the hit; enter only closes the line."""
        if event.asked == _FIND:
            self.reader.find(event.text)

    def answered(self, asked: str, text: str) -> bool:
        """Stay at the hit."""
        if text and not self.reader.hits:
            raise UsageError("Not found.")
        return True

    @on(Reader.SearchChanged)
    def _hit(self, event: reader_messages.SearchChanged) -> None:
        event.reader.border_subtitle = f"hit {event.number} of {event.total}" if event.total else ""

    def action_find_next(self, step: int) -> None:
        """Go to another hit."""
        self.reader.find_next(step)
