"""One item: its texts, labels and verdicts; the look is recorded as a reveal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Footer, Static

from workbench.model.browse import ItemDetail
from workbench.model.taxonomy import UNTYPED, type_display
from workbench.services import browsing
from workbench.tui.actions import Action
from workbench.tui.screen import BREAKPOINTS, WorkbenchScreen
from workbench.tui.widgets import reader_messages
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.item_panes import PANES, ReadyItem, View, readings, ready
from workbench.tui.widgets.item_source import OUTCOME_MARKS
from workbench.tui.widgets.prompt_bar import PromptBar
from workbench.tui.widgets.reader import Reader
from workbench.tui.widgets.title_bar import TitleBar


class ItemScreen(WorkbenchScreen):
    """Question, reference, completion and evidence in four panes.

    On a narrow terminal they stand one above the other and the one in focus is tall.

    Args:
        completion: Row id of the item.
        neighbours: Row ids of the items ``[`` and ``]`` go to, in order.

    Attributes:
        completion: Row id of the item now shown.
    """

    CSS_PATH = "item.tcss"
    TITLE_TEXT = "Item"
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("item.previous", "left_square_bracket", "go(-1)", "Previous", "Open the item before in the table."),
        Action("item.next", "right_square_bracket", "go(1)", "Next", "Open the next item of the table."),
        Action("item.pane", "tab", "app.focus_next", "Pane", "Go to the next pane."),
        Action("item.answer", "f", "answer", "Answer", "Show the final answer of the reference and the completion."),
        Action("item.find", "slash", "find", "Find", "Find a text in the pane in focus."),
        Action("item.find-next", "n", "find_next(1)", "Next hit", "Go to the next hit.", footer=False),
        Action("item.find-previous", "N", "find_next(-1)", "Previous hit", "Go to the previous hit.", footer=False),
        Action("item.raw", "r", "raw", "Raw", "Show the stored text itself, and back."),
        Action("item.think", "t", "think", "Think", "Open or fold <think> blocks.", footer=False),
        Action(
            "item.reading", "e", "reading", "Evidence", "Mark the answer as the next verifier read it.", footer=False
        ),
        Action("item.write", "w", "write", "Write", "Write the item to a JSON file beside the database.", footer=False),
        Action("item.back", "escape", "back", "Back", "Go back to the screen before."),
    )

    def __init__(self, completion: int, neighbours: Sequence[int] = ()) -> None:
        super().__init__()
        self.completion = completion
        self._neighbours = neighbours
        self._index: int | None = None
        self._view = View()
        self._shown: ReadyItem | None = None
        self._ahead: ReadyItem | None = None

    def compose(self) -> ComposeResult:
        """The frame; the item comes later."""
        yield TitleBar("Item", "…")
        yield Static(markup=False, id="item-facts")
        with Container(id="item-panes"):
            for name in PANES:
                yield Reader(title=name.capitalize(), id=f"item-{name}")
        yield PromptBar()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Read the item once the panes have their widths."""
        self._pane("completion").focus()
        self.call_after_refresh(self._open_first)

    def _pane(self, name: str) -> Reader:
        return self.query_one(f"#item-{name}", Reader)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Where panes are stacked, the one last in focus is tall; the others go back to their answers."""
        if not isinstance(event.widget, Reader) or event.widget.has_class("tall"):
            return
        for pane in self.query(Reader):
            if pane.has_class("tall") and self.has_class("-narrow"):
                self.call_after_refresh(pane.jump, "answer")
            pane.set_class(pane is event.widget, "tall")

    # -- which item --------------------------------------------------------------------------------

    def _open_first(self) -> None:
        read = self._reader_of(self.completion, revealing=True)
        place = partial(_index_of, self._neighbours, self.completion)
        self.in_background(lambda: (place(), read()), self._show_first, group="item-open")

    def _show_first(self, found: tuple[int | None, ReadyItem]) -> None:
        self._index, item = found
        self._show(item)

    def _open(self, completion: int) -> None:
        ahead, self.completion = self._ahead, completion
        if ahead is not None and ahead.item.id == completion and ahead.view == self._view:
            self.in_background(
                partial(browsing.reveal, self.project, completion, self.workbench.working_as),
                lambda _: None,
                group="reveal",
                exclusive=False,
            )
            self._show(ahead)
            return
        self.in_background(self._reader_of(completion, revealing=True), self._show, group="item-open")

    def _reader_of(self, completion: int, *, revealing: bool) -> partial[ReadyItem]:
        widths = {name: self._pane(name).wrap_width for name in PANES}
        return partial(self._read, completion, self._view, widths, revealing)

    def _read(self, completion: int, view: View, widths: dict[str, int], revealing: bool) -> ReadyItem:
        """Runs in a thread."""
        if revealing:
            item = browsing.detail(self.project, completion, self.workbench.working_as)
        else:
            item = browsing.read(self.project, completion)
        return ready(item, view, widths)

    def _show(self, found: ReadyItem) -> None:
        if found.item.id != self.completion:
            return
        self._shown = found
        self._tell(found.item)
        for name, pane in found.panes.items():
            reader = self._pane(name)
            reader.set_title(pane.title)
            reader.border_subtitle = ""
            reader.show(pane.text)
        self.action_answer()
        self._read_ahead(1)

    def _read_ahead(self, step: int) -> None:
        """Make the next item ready before it is asked for."""
        beside = self._beside(step)
        if beside is not None and (self._ahead is None or self._ahead.item.id != beside):
            self.in_background(self._reader_of(beside, revealing=False), self._keep, group="item-ahead")

    def _keep(self, found: ReadyItem) -> None:
        self._ahead = found

    def _beside(self, step: int) -> int | None:
        if self._index is None or not 0 <= self._index + step < len(self._neighbours):
            return None
        return self._neighbours[self._index + step]

    def action_go(self, step: int) -> None:
        """Open a neighbour."""
        beside = self._beside(step)
        if beside is None:
            self.notify("There is no item further on." if step > 0 else "This is the first item.", markup=False)
            return
        self._index = (self._index or 0) + step
        self._view = self._view._replace(reading=0)
        self._open(beside)

    def _tell(self, item: ItemDetail) -> None:
        place = [item.completion_id, item.dataset, f"question {item.question_id}"]
        if self._index is not None:
            place.insert(0, f"{self._index + 1:,} of {len(self._neighbours):,}")
        self.query_one(TitleBar).say(printable(" · ".join(place)))
        gold = f"gold {OUTCOME_MARKS[item.gold][0]} {item.gold}" + (f" ({item.gold_from})" if item.gold_from else "")
        kind = item.subtype if item.subtype == UNTYPED else type_display(item.subtype)
        facts = [kind, item.state, gold, item.model, item.source]
        self.query_one("#item-facts", Static).update(Content(printable(" · ".join(filter(None, facts)))))

    # -- how it is shown ---------------------------------------------------------------------------

    def _change_view(self, view: View) -> None:
        self._view = view
        if self._shown is not None:
            widths = {name: self._pane(name).wrap_width for name in PANES}
            self.in_background(partial(ready, self._shown.item, view, widths), self._show, group="item-open")

    def action_raw(self) -> None:
        """Rendered or stored texts."""
        self._change_view(self._view._replace(raw=not self._view.raw))

    def action_think(self) -> None:
        """Open or fold thoughts."""
        self._change_view(self._view._replace(fold=not self._view.fold))

    def action_reading(self) -> None:
        """Mark the answer as the next verifier read it."""
        if self._shown is None:
            return
        count = len(readings(self._shown.item))
        if count < 2:
            self.notify("No verifier says where it found the answer.", markup=False)
            return
        self._change_view(self._view._replace(reading=(self._view.reading + 1) % count))

    def action_answer(self) -> None:
        """Scroll to the final answers; a completion without one ends at its end."""
        self._pane("reference").jump("answer")
        if not self._pane("completion").jump("answer"):
            self._pane("completion").action_bottom()

    # -- find, write, leave ------------------------------------------------------------------------

    def _focused_pane(self) -> Reader:
        return self.focused if isinstance(self.focused, Reader) else self._pane("completion")

    def action_find(self) -> None:
        """Ask for a text to find in the pane in focus."""
        pane = self._focused_pane().id or "item-completion"
        self.query_one(PromptBar).ask(pane, f"/ {pane.removeprefix('item-')}", hint="text to find")

    @on(PromptBar.Submitted)
    def _find(self, event: PromptBar.Submitted) -> None:
        pane = self.query_one(f"#{event.asked}", Reader)
        if pane.find(event.text) or not event.text:
            self._close_prompt(pane)
        else:
            self.query_one(PromptBar).complain("Not found.")

    @on(Reader.SearchChanged)
    def _hit(self, event: reader_messages.SearchChanged) -> None:
        event.reader.border_subtitle = f"hit {event.number} of {event.total}" if event.total else ""

    def action_find_next(self, step: int) -> None:
        """Go to another hit."""
        self._focused_pane().find_next(step)

    def _close_prompt(self, pane: Reader) -> None:
        self.query_one(PromptBar).close()
        pane.focus()

    def action_write(self) -> None:
        """Write the item to a file."""
        if self._shown is not None:
            item = self._shown.item
            self.in_background(lambda: browsing.write_item(self.project, item), self._written, group="item-write")

    def _written(self, path: Path) -> None:
        self.notify(str(path), title="Written", markup=False)

    def action_back(self) -> None:
        """Close the line, else leave."""
        prompt = self.query_one(PromptBar)
        if prompt.asking:
            self._close_prompt(self.query_one(f"#{prompt.asking}", Reader))
        else:
            self.workbench.action_go_back()


def _index_of(ids: Sequence[int], wanted: int) -> int | None:
    try:
        return ids.index(wanted)
    except ValueError:
        return None
