"""An input line that opens a screen by its name or letter, or an item by the end of its id."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from workbench.app.tui.destinations import Destination
from workbench.app.tui.keymap import key_of
from workbench.app.tui.kit.prompt_bar import CompletingInput
from workbench.app.tui.screen import WorkbenchScreen
from workbench.measuring.browsing import find_existing


def matching(typed: str, places: Sequence[Destination]) -> list[Destination]:
    """Return the screens that may be meant: those with the typed letter, then those with a word that begins so."""
    said = typed.strip().casefold()
    by_letter = [place for place in places if place.letter == typed.strip()]
    by_title = [place for place in places if place.title.casefold().startswith(said)]
    by_word = [place for place in places if f" {said}" in place.title.casefold()]
    return list(dict.fromkeys((*by_letter, *by_title, *by_word)))


def like(typed: str, places: Sequence[Destination]) -> list[Destination]:
    """Return the screens whose names are similar to the typed text."""
    by_title = {place.title.casefold(): place for place in places}
    return [by_title[title] for title in get_close_matches(typed.strip().casefold(), by_title)]


_QUIT: Final = "q"
"""What leaves the app, as in an editor; no screen has this letter."""


class GoToScreen(ModalScreen[str | list[int] | None]):
    """Lists the screens that the typed text may mean; returns a screen's name, or the row ids of items.

    Args:
        below: The screen from which Go to was opened.
        places: The screens that the person may open.
        items: Whether they may open items.

    Attributes:
        listed: The matching screens, the likeliest first.
    """

    CSS_PATH = "go_to.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
    ]

    def __init__(self, below: WorkbenchScreen, places: Sequence[Destination], *, items: bool) -> None:
        super().__init__()
        self._below = below
        self._places = places
        self._items = items
        self.listed: list[Destination] = []

    def compose(self) -> ComposeResult:
        titles = SuggestFromList([place.title for place in self._places], case_sensitive=False)
        beside = "a screen, or the end of an item's id" if self._items else "a screen"
        with Vertical() as box:
            box.border_title = Content("Go to")
            box.border_subtitle = Content(f"{key_of('prompt.complete')} completes · enter opens · escape closes")
            with Horizontal():
                yield Static(f"{key_of('app.go')} ", markup=False)
                yield CompletingInput(placeholder=beside, suggester=titles, compact=True)
            yield Static(id="go-to-beside", markup=False)
            yield OptionList(markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self.set_focus(self.query_one(CompletingInput))
        self._list_matches("")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._list_matches(event.value)

    def _list_matches(self, typed: str) -> None:
        found = matching(typed, self._places)
        self.listed = found or like(typed, self._places)
        listing = self.query_one(OptionList)
        lines = (((one.keys, "bold"), f"  {one.title.ljust(22)} ", one.text) for one in self.listed)
        listing.set_options([Option(Content.assemble(*line)) for line in lines])
        listing.highlighted = 0 if self.listed else None
        self._show_message("" if found else "Did you mean" if self.listed else self._no_match_text())

    def _no_match_text(self) -> str:
        if not self._items:
            return "There is no screen of this name."
        return f"There is no screen of this name; enter looks for an item. Commands: esc, then {key_of('app.palette')}."

    def _show_message(self, text: str) -> None:
        beside = self.query_one("#go-to-beside", Static)
        beside.update(text)
        beside.display = bool(text)

    def action_move(self, step: int) -> None:
        listing = self.query_one(OptionList)
        if listing.highlighted is not None:
            listing.highlighted = min(max(listing.highlighted + step, 0), len(self.listed) - 1)

    @on(Input.Submitted)
    async def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip() == _QUIT:
            await self.app.run_action("app.quit")
            return
        at = self.query_one(OptionList).highlighted
        if at is not None:
            self.dismiss(self.listed[at].name)
        elif self._items:
            said = event.value.strip().removeprefix("#")
            # The screen below reports an unknown id; the line stays open.
            self._below.in_background(
                partial(find_existing, self._below.project, said), self._return_items, group="go-to"
            )

    def _return_items(self, items: list[int]) -> None:
        if self.is_attached:
            self.dismiss(items)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self.listed[event.option_index].name)
