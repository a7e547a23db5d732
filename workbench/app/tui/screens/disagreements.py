"""Disagreements: the queues of items worth a look, each item with why, and the way to a decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, get_args

from msgspec import structs
from textual import events, on
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from workbench.app.tui.actions import Action
from workbench.app.tui.kit import queue_view as view
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import Choice, ChoiceMenu, ManyMenu
from workbench.app.tui.kit.queue_view import Count, QueueList, QueueListing, QueueRequest, count_queues, read
from workbench.app.tui.kit.title_bar import RemarkPiece, TitleBar
from workbench.app.tui.review_desk import ReviewDecision, ReviewDesk, taken_back
from workbench.app.tui.switches import following
from workbench.app.tui.table_screen import FilterScreen
from workbench.core.selection import Condition
from workbench.core.verdict import GoldChoice
from workbench.measuring import browsing
from workbench.measuring.judged import everybody
from workbench.measuring.records.review import QUEUES, Disagreement, Queue

if TYPE_CHECKING:
    from workbench.app.tui.screens.review_item import ReviewItemScreen

TALL = 34
"""Terminal lines from which all queues are listed above the table."""

_READ = "queue"
_UNDO = "queue-undo"


class DisagreementsScreen(FilterScreen):
    """One queue in a table, what stands behind the row under the cursor, and how far the queue is reviewed."""

    CSS_PATH = "disagreements.tcss"
    TITLE_TEXT = "Disagreements"
    PREFIX, DETAIL, WIDE = "queue", True, 110
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("disagreements.open", "o,enter", "open_item", "Open", "Open the item with all evidence, and decide."),
        Action("disagreements.queue", "w", "choose_queue", "Queue", "Choose another queue: seven, with their counts."),
        Action("disagreements.split", "s", "next_split", "k", "How many verifiers against the others: the next k."),
        Action("disagreements.verifiers", "v", "choose_verifiers", "Verifiers", "Choose which verifiers take part."),
        Action("disagreements.filter", "f", "filter", "Filter", "Show only items for which conditions hold."),
        Action("disagreements.hide", "h", "hide", "Hide", "Leave out what has been reviewed, or list it again."),
        Action("disagreements.errors", "e", "errors", "Errors", "Count the errors marked, by verifier and kind."),
        Action(
            "disagreements.next", "n", "next_open", "Next", "Go to the next item nobody has reviewed.", footer=False
        ),
        Action(
            "disagreements.gold", "g", "next_gold", "Gold", "Compare with another gold: final, people, imported.", False
        ),
        Action(
            "disagreements.undo",
            "z",
            "take_back",
            "Undo",
            "Take the decision on this item back, or your last one.",
            False,
        ),
        Action("disagreements.again", "r", "again", "Read again", "Read the queue anew.", footer=False),
        Action("disagreements.back", "escape", "back", "Back", "Close the line, else clear the filter, else go back."),
    )

    action_open_item = FilterScreen.action_open_row

    def __init__(self) -> None:
        super().__init__()
        self.wanted = QueueRequest()
        self.found: QueueListing | None = None
        self.counts: dict[Queue, Count] = {}
        self._must_count = True
        self._desk: ReviewDesk | None = None
        self._opened: ReviewItemScreen | None = None
        self._undoing = False

    @property
    def desk(self) -> ReviewDesk:
        """Where decisions are stored."""
        if self._desk is None:
            self._desk = ReviewDesk(self.project, browsing.coordinator_name())
        return self._desk

    def above(self) -> Iterator[Widget]:
        """All queues, and which one this is."""
        yield QueueList(id="queue-list", markup=False)
        yield Static(id="queue-text", markup=False)

    def on_mount(self) -> None:
        """Begin to read."""
        self.watch(self.table, "position", self._tell, init=False)
        self._ask()

    def on_resize(self, event: events.Resize) -> None:
        """All queues are listed where there is room."""
        self.set_class(self.wide and event.size.height >= TALL, "tall")

    def fill(self) -> None:
        """Words where there is room for them, else symbols."""
        if self.found is not None:
            self._list(self.found)
            self._count()

    # -- reading -----------------------------------------------------------------------------------

    def _ask(self, **changes: object) -> None:
        """Read what is wanted now; the counts of the queues go with the settings they share."""
        self.wanted = structs.replace(self.wanted, **changes)
        if changes.keys() - {"queue", "hidden"}:
            self.counts, self._must_count = {}, True
        self.say("reading …")
        self.in_background(partial(read, self.project, self.wanted), self._show, group=_READ, stops=True)

    def _show(self, found: QueueListing) -> None:
        if found.wanted != self.wanted:
            return
        self.found = found
        self.desk.take(found.queue, found.order, found.reviewed)
        self._list(found)
        self.refresh_bindings()
        self._tell()
        self._show_counts(self.counts)
        self._count()

    def _list(self, found: QueueListing) -> None:
        names, wide = found.queue.verifiers, self.wide
        shown = partial(view.row_of, verifiers=names, wide=wide)
        self.list_items(view.columns(names, wide=wide), found.order, found.queue.rows, shown)
        instead = found.instead_of(self.table.selected_id or 0)
        if instead is not None:
            self.table.jump_to_id(instead)
        self._say(found.queue.text)
        if not found.order:
            self._show_detail([])

    def _say(self, text: str) -> None:
        """What the queue is."""
        self.put("text", view.head(self.wanted.queue, text, listed=self.has_class("tall")))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Where there is no such queue, no rows of another one are left behind."""
        if event.state is not WorkerState.ERROR:
            return
        if event.worker.group == _UNDO:
            self._undoing = False
        if event.worker.group == _READ:
            self.found = None
            self.table.show_rows(view.columns((), wide=self.wide), [])
            self._say(str(event.worker.error))
            self._show_detail([])
            self._tell()

    def _count(self) -> None:
        """Count all queues, for the list of them, or for when they are asked for."""
        if self._must_count:
            self._must_count = False
            self._count_then(self._show_counts)

    def _count_then(self, then: Callable[[dict[Queue, Count]], None]) -> None:
        self.in_background(partial(count_queues, self.project, self.wanted), then, group="queue-counts", stops=True)

    def _show_counts(self, counts: dict[Queue, Count]) -> None:
        self.counts = counts
        self.query_one(QueueList).show(self.wanted.queue, counts)

    def on_screen_resume(self) -> None:
        """Go to the item that was read last, and read what has become of the queue."""
        if self._opened is not None:
            self.table.jump_to_id(self._opened.completion)
            self._opened, self._must_count = None, True
            self._ask()

    def action_again(self) -> None:
        """Read the queue anew."""
        self._must_count = True
        self._ask()

    # -- which queue -------------------------------------------------------------------------------

    def action_choose_queue(self) -> None:
        """Ask which, with their counts."""
        if self.counts:
            self._ask_queue(self.counts)
        else:
            self.say("counting …")
            self._count_then(self._ask_queue)

    def _ask_queue(self, counts: dict[Queue, Count]) -> None:
        self._show_counts(counts)
        self._tell()
        choices = [Choice(name, view.choice(name, counts[name])) for name in QUEUES]
        menu = ChoiceMenu("Which disagreements?", choices, chosen=(self.wanted.queue,), wide=True)
        self.app.push_screen(menu, self._queue_chosen)

    def _queue_chosen(self, name: str | None) -> None:
        if name is not None:
            self._ask(queue=name)

    @on(QueueList.Chosen)
    def _queue_clicked(self, event: QueueList.Chosen) -> None:
        if event.queue != self.wanted.queue:
            self._ask(queue=event.queue)

    def action_next_split(self) -> None:
        """The next size of the smaller side."""
        if self.found is not None:
            sizes = tuple(range(1, len(self.found.queue.verifiers) // 2 + 1))
            present = self.wanted.k or sizes[-1]
            self._ask(k=following(present, sizes) if present in sizes else sizes[0])

    def action_next_gold(self) -> None:
        """Compare with the next gold."""
        self._ask(gold=following(self.wanted.gold, get_args(GoldChoice)))

    def action_choose_verifiers(self) -> None:
        """Ask who takes part."""
        self.in_background(partial(everybody, self.project), self._ask_verifiers, group="queue-verifiers")

    def _ask_verifiers(self, names: tuple[str, ...]) -> None:
        present = self.found.queue.verifiers if self.found is not None else self.wanted.verifiers
        self.app.push_screen(ManyMenu("Which verifiers take part?", names, present), self._verifiers_chosen)

    def _verifiers_chosen(self, chosen: tuple[str, ...] | None) -> None:
        if chosen is not None:
            self._ask(verifiers=chosen, k=None)

    def action_hide(self) -> None:
        """Leave out what is reviewed, or list it again."""
        self._ask(hidden=not self.wanted.hidden)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is a k only where verifiers are split."""
        if action == "next_split":
            return self.wanted.queue == "split"
        return super().check_action(action, parameters)

    # -- the filter --------------------------------------------------------------------------------

    def narrow(self, conditions: tuple[Condition, ...]) -> None:
        """List only items for which conditions hold."""
        self._ask(conditions=conditions)

    # -- rows --------------------------------------------------------------------------------------

    def highlighted(self, row: int) -> None:
        """Read what stands behind the row."""
        if self.found is not None:
            self.in_background(partial(self.found.queue.rows, [row]), self._show_detail, group="queue-detail")

    def _show_detail(self, rows: Sequence[Disagreement]) -> None:
        self.put_detail(view.detail(rows[0]) if rows else view.NOTHING)

    def opened(self, row: int) -> None:
        """Open the item with all evidence."""
        from workbench.app.tui.screens.review_item import ReviewItemScreen

        if self.found is not None:
            self._opened = ReviewItemScreen(row, self.desk, self.found.queue)
            self.app.push_screen(self._opened)

    def action_next_open(self) -> None:
        """Go to the next item nobody has reviewed."""
        table = self.table
        place = self.desk.next_open(-1 if table.cursor is None else table.cursor)
        if place is None:
            self.notify("Every item of this queue is reviewed.", markup=False)
        else:
            table.jump_to_row(place + 1)

    def action_errors(self) -> None:
        """Count the errors that have been marked."""
        from workbench.app.tui.screens.error_counts import ErrorCountsScreen

        self.app.push_screen(ErrorCountsScreen())

    def action_take_back(self) -> None:
        """Take the decision on the row back, or the last one."""
        item = self.table.selected_id
        if item is not None and not self._undoing:
            self._undoing = True
            self.in_background(partial(self.desk.take_back, item), self._taken_back, group=_UNDO)

    def _taken_back(self, decision: ReviewDecision | None) -> None:
        self._undoing = False
        self.notify(printable(taken_back(decision)), markup=False)
        if decision is not None:
            self.table.jump_to_id(decision.completion)
            self.action_again()

    def _tell(self) -> None:
        """How far the queue is reviewed, where the cursor is, and what is asked for."""
        wanted, found = self.wanted, self.found
        if found is None:
            self.say(wanted.queue)
            return
        parts = [
            RemarkPiece(view.progress(len(found.reviewed), len(found.queue))),
            RemarkPiece(f"row {self.table.position}", 4),
            RemarkPiece("reviewed hidden" if wanted.hidden else "", 2),
            self.filter_piece,
            RemarkPiece(view.taking_part(wanted.verifiers, found.everybody), 2),
            RemarkPiece(f"gold {wanted.gold}" if wanted.gold != "final" else "", 3),
        ]
        self.query_one(TitleBar).say_parts(parts)
