"""A menu that opens a screen by its name or letter, or an item by the end of its id."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Final

from workbench.app.tui.destinations import Destination
from workbench.app.tui.keymap import key_of
from workbench.app.tui.kit.choices import Choice, PickMenu
from workbench.app.tui.screen import WorkbenchScreen
from workbench.measuring.browsing import find_existing

_QUIT: Final = "q"
"""What leaves the app, as in an editor; no screen has this letter."""


class GoToScreen(PickMenu[str]):
    """Lists the screens that the typed text may mean; returns a screen's name.

    Args:
        below: The screen from which Go to was opened.
        places: The screens that the person may open.
        open_items: Opens items by their row ids; None if the person may not.
    """

    def __init__(
        self,
        below: WorkbenchScreen,
        places: Sequence[Destination],
        open_items: Callable[[list[int]], None] | None,
    ) -> None:
        self._below, self._places, self._open_items = below, places, open_items
        beside = "a screen, or the end of an item's id" if open_items else "a screen"
        super().__init__("Go to", self._lines(places), typed=beside)

    def _lines(self, places: Sequence[Destination]) -> list[Choice[str]]:
        return [Choice(one.name, f"{one.keys}  {one.title:<22} {one.text}") for one in places]

    def matching(self, typed: str) -> list[Choice[str]]:
        """Return the screens with this letter, those with a word that begins so, else those with a similar name."""
        said = typed.casefold()
        by_letter = [place for place in self._places if place.letter == typed]
        by_word = [place for place in self._places if f" {said}" in f" {place.title.casefold()}"]
        found = [*dict.fromkeys((*by_letter, *by_word))]
        titles = {place.title.casefold(): place for place in self._places}
        similar = [] if found else [titles[title] for title in get_close_matches(said, titles, cutoff=0.7)]
        lost = f"There is no screen of this name; enter looks for an item. Commands: esc, then {key_of('app.palette')}."
        self._about = "" if found else "Did you mean" if similar else lost if self._open_items else ""
        return self._lines(found or similar)

    def entered(self, typed: str) -> None:
        if typed == _QUIT:
            self.app.call_later(self.app.action_quit)
        elif self.listed or self._open_items is None:
            super().entered(typed)
        else:
            # The screen below reports an unknown id; the menu stays open.
            work = partial(find_existing, self._below.project, typed.removeprefix("#"))
            self._below.in_background(work, self._return_items, group="go-to")

    def _return_items(self, items: list[int]) -> None:
        if self.is_attached and self._open_items is not None:
            self.dismiss(None)
            self._open_items(items)
