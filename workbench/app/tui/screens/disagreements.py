"""Disagreements: queues of items to review, each with the reason; an opened item can be decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import ClassVar

from rich.cells import cell_len
from textual.events import Resize

from workbench.app.tui.figure_screen import FigureScreen
from workbench.app.tui.keymap import Action
from workbench.app.tui.kit import queue_view as view
from workbench.app.tui.kit.cells import fit, printable
from workbench.app.tui.kit.choices import ChoiceMenu, ManyMenu, choose, following
from workbench.app.tui.kit.item_panes import DECIDED, View, against_gold
from workbench.app.tui.kit.queue_view import Count, QueueListing, QueueRequest, count_queues, progress, read
from workbench.app.tui.kit.sources import FixedSource
from workbench.app.tui.kit.title_bar import RemarkPiece, TitleBar
from workbench.app.tui.review_desk import Decision, ReviewDesk, retraction_text
from workbench.app.tui.screens.item import ItemScreen
from workbench.app.tui.table_screen import FilterScreen
from workbench.core.label import coordinator_name
from workbench.core.text.figures import counted
from workbench.data.records import ItemDetail, ItemVerdict
from workbench.measuring.judged import everybody
from workbench.measuring.records.review import QUEUES, Disagreement, Queue
from workbench.measuring.reviewing.queues import ReviewQueue

_FILTER = 32
"""Maximum width, in cells, of the filter text in the title line."""


class DisagreementsScreen(FilterScreen, FigureScreen):
    """One queue as a table that shows enough to judge its rows without opening them, and the review's progress.

    Args:
        asked: The initial queue and its settings; None for the queue of verifiers against gold.
    """

    TITLE_TEXT = "Disagreements"
    WORDS: ClassVar = view.WORDS
    PREFIX, ABOVE, DETAIL, WIDE, ITEMS = "queue", ("text",), True, 110, True
    asked: QueueRequest
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("disagreements.open", "enter", "open_row", "Open", "Open the item with all evidence, and decide."),
        Action("disagreements.queue", "w", "choose_queue", "Queue", "Choose one of seven queues, with their counts."),
        Action("disagreements.triage", "m", "triage", "Triage", "Assign causes to the queue's errors, case by case."),
        Action("disagreements.split", "@", "next_split", "k", "Change k, the number of verifiers against the others."),
        Action("disagreements.verifiers", "v", "choose_verifiers", "Verifiers", "Choose which verifiers take part."),
        Action("disagreements.subject", "V", "choose_against", "Against", "Only where one verifier disagrees.", False),
        Action("disagreements.filter", "f", "filter", "Filter", "Show only items that meet conditions."),
        Action("disagreements.reasons", "d", "reasons", "Why", "Explain the queue and why the item is in it."),
        Action("disagreements.hide", "h", "hide", "Hide", "Hide or show reviewed items."),
        Action("disagreements.errors", "o", "errors", "Errors", "Count the errors marked, by verifier and kind."),
        Action("disagreements.next", "n", "next_open", "Next", "Go to the next unreviewed item.", False),
        Action("disagreements.gold", "g", "next_gold", "Gold", "Choose the gold: final, people or imported.", False),
        Action("disagreements.undo", "z", "take_back", "Undo", "Undo this item's decision, or your last one.", False),
        Action("disagreements.again", "r", "again", "Read again", "Read the queue again.", False),
        Action("disagreements.back", "escape,q", "back", "Back", "Clear the filter, then go back."),
    )

    def __init__(self, asked: QueueRequest | None = None) -> None:
        super().__init__()
        self.asked = asked or QueueRequest()
        self.found: QueueListing | None = None
        self.reasons = False
        self._detailed: Sequence[Disagreement] = ()
        self._opened: ReviewItemScreen | None = None
        self._undoing = False
        self._takes_any = asked is None

    @cached_property
    def desk(self) -> ReviewDesk:
        return ReviewDesk(self.project, coordinator_name())

    def on_mount(self) -> None:
        self.watch(self.table, "position", self._update_title, init=False)

    def on_resize(self, event: Resize) -> None:
        if self._detailed:
            self._show_detail(self._detailed)

    def fill(self) -> None:
        if self.found is not None:
            self._list(self.found)

    # -- reading -----------------------------------------------------------------------------------

    def read(self) -> QueueListing:
        return read(self.project, self.asked)

    def show(self, found: QueueListing) -> None:
        self.found = found
        self.desk.take(found.queue, found.order, found.reviewed)
        self._list(found)
        self.refresh_bindings()
        self._update_title()
        if self._takes_any and not found.order:
            self._count_then(self._open_first_queue)
        self._takes_any = False

    def _open_first_queue(self, counts: dict[Queue, Count]) -> None:
        """Show the first queue with items: the one that the screen opens with has none."""
        if (name := next((name for name, count in counts.items() if count.items), None)) is not None:
            self.change(queue=name)

    def _list(self, found: QueueListing) -> None:
        names, wide = found.queue.verifiers, self.wide
        columns = view.columns(names, wide=wide)
        self.table.set_source(FixedSource(columns, found.order, found.queue.answered_rows, lambda row: row.item.id))
        instead = found.instead_of(self.table.selected_id or 0)
        if instead is not None:
            self.table.jump_to_id(instead)
        self._show_caption()
        if not found.order:
            self._show_detail([])

    def show_failure(self, error: Exception) -> None:
        self.found = None
        self.table.show_records(view.columns((), wide=self.wide), ())
        self.put("text", view.head(self.asked.queue, str(error)))
        self._show_detail([])
        self._update_title()

    def _count_then(self, then: Callable[[dict[Queue, Count]], None]) -> None:
        self.in_background(partial(count_queues, self.project, self.asked), then, group="queue-counts", stops=True)

    def on_screen_resume(self) -> None:
        if self._opened is not None:
            self.table.jump_to_id(self._opened.completion)
            self._opened = None

    action_again = FigureScreen.action_reload

    # -- which queue -------------------------------------------------------------------------------

    def action_choose_queue(self) -> None:
        self.say("counting …")
        self._count_then(self._ask_queue)

    def _ask_queue(self, counts: dict[Queue, Count]) -> None:
        self._update_title()
        choices: dict[Queue, str] = {name: view.queue_line(name, counts[name]) for name in QUEUES}
        menu = ChoiceMenu("Which disagreements?", choices, chosen=(self.asked.queue,), wide=True)
        choose(self, menu, lambda name: self.change(queue=name))

    def action_next_split(self) -> None:
        if self.found is not None:
            sizes = tuple(range(1, len(self.found.queue.verifiers) // 2 + 1))
            present = self.asked.k or sizes[-1]
            self.change(k=following(present, sizes) if present in sizes else sizes[0])

    def action_choose_verifiers(self) -> None:
        self.in_background(partial(everybody, self.project), self._ask_verifiers, group="queue-verifiers")

    def _ask_verifiers(self, names: tuple[str, ...]) -> None:
        present = self.found.queue.verifiers if self.found is not None else self.asked.verifiers

        def chosen(names: tuple[str, ...]) -> None:
            self.change(verifiers=names, k=None, against=self.asked.against if self.asked.against in names else "")

        choose(self, ManyMenu("Which verifiers take part?", names, present), chosen)

    def action_choose_against(self) -> None:
        if self.found is not None:
            choices = {"": "all rows"} | {name: printable(name) for name in self.found.queue.verifiers}
            menu = ChoiceMenu("Only rows where this verifier disagrees", choices, first=0, chosen=(self.asked.against,))
            choose(self, menu, lambda name: self.change(against=name))

    def clear_restriction(self) -> bool:
        if self.asked.against:
            self.change(against="")
            return True
        return super().clear_restriction()

    def action_hide(self) -> None:
        self.change(hidden=not self.asked.hidden)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "next_split":
            return self.asked.queue == "split"
        return super().check_action(action, parameters)

    # -- rows --------------------------------------------------------------------------------------

    def highlighted(self, row: int) -> None:
        if self.found is not None:
            self.in_background(partial(self.found.queue.rows, [row]), self._show_detail, group="queue-detail")

    def _show_detail(self, rows: Sequence[Disagreement]) -> None:
        self._detailed = rows
        names = () if self.found is None else self.found.queue.verifiers
        # The padding and, for a long text, the scroll bar take three cells.
        room = self.size.width - 3
        self.put_detail(view.detail(rows[0], names, reasons=self.reasons, width=room) if rows else view.NOTHING)

    def action_reasons(self) -> None:
        self.reasons = not self.reasons
        self._show_caption()
        self._show_detail(self._detailed)

    def _show_caption(self) -> None:
        if self.found is not None:
            self.put("text", view.head(self.asked.queue, self.found.queue.text if self.reasons else ""))

    def opened(self, row: int) -> None:
        if self.found is not None:
            self._opened = ReviewItemScreen(row, self.desk, self.found.queue)
            self.app.push_screen(self._opened)

    def action_triage(self) -> None:
        from workbench.app.tui.screens.triage import TriageScreen
        from workbench.measuring.reviewing.triage import of_queue

        if (found := self.found) is not None:
            self.app.push_screen(TriageScreen(lambda _: of_queue(found.queue, found.order)))

    def action_next_open(self) -> None:
        table = self.table
        place = self.desk.next_open(-1 if table.cursor is None else table.cursor)
        if place is None:
            self.notify("Every item of this queue is reviewed.")
        else:
            table.jump_to_row(place + 1)

    def action_errors(self) -> None:
        self.workbench.run_verb("review", verb="errors", per="subtype")

    def action_take_back(self) -> None:
        item = self.table.selected_id
        if item is not None and not self._undoing:
            self._undoing = True
            ready = partial(setattr, self, "_undoing", False)
            work = partial(self.desk.take_back, item)
            self.in_background(work, self._show_retraction, failed=lambda _: ready(), group="queue-undo")

    def _show_retraction(self, decision: Decision) -> None:
        self._undoing = False
        self.notify(printable(retraction_text(decision)))
        if decision:
            self.table.jump_to_id(decision[0].completion)
            self.action_again()

    def _update_title(self) -> None:
        wanted, found = self.asked, self.found
        if found is None:
            self.say(wanted.queue)
            return
        participants = f"{len(wanted.verifiers)} of {counted(len(found.everybody), 'verifier')}"
        parts = [
            RemarkPiece(view.progress(len(found.reviewed), len(found.queue))),
            RemarkPiece(f"row {self.table.position}", 4),
            RemarkPiece("reviewed hidden" if wanted.hidden else "", 2),
            RemarkPiece(f"{len(found.order):,} where {printable(wanted.against)} disagrees" if wanted.against else ""),
            RemarkPiece(fit(self.filter_text, min(cell_len(printable(self.filter_text)), _FILTER)), 1),
            RemarkPiece(participants if wanted.verifiers else "", 2),
            RemarkPiece(f"gold {wanted.gold}" if wanted.gold != "final" else "", 3),
        ]
        self.query_one(TitleBar).say_parts(parts)


# -- One item of a queue of disagreements: why it is there, all the evidence, one key for the decision, then the
# next.


class ReviewItemScreen(ItemScreen):
    """The item screen on a queue: a decision opens the next unreviewed item.

    Args:
        completion: Row id of the initial item.
        desk: Stores decisions.
        queue: The queue being reviewed.
    """

    TITLE_TEXT = "Review"

    def __init__(self, completion: int, desk: ReviewDesk, queue: ReviewQueue) -> None:
        super().__init__(completion, desk.order)
        self.desk = desk
        self._queue = queue

    def why(self, completion: int) -> str:
        return next((row.why for row in self._queue.rows([completion])), "")

    def erring(self, item: ItemDetail) -> list[ItemVerdict]:
        asked = (*self._queue.verifiers, self.chosen.verifier if self.chosen is not None else "")
        return [verdict for verdict in against_gold(item) if verdict.verifier in asked]

    def first_of(self, item: ItemDetail) -> Sequence[str]:
        """Return the verifiers whose verdicts contradict gold, those of the queue first; the other verdicts follow."""
        against = [verdict.verifier for verdict in against_gold(item)]
        return sorted(against, key=lambda name: name not in self._queue.verifiers)

    def viewed(self, item: ItemDetail, view: View) -> View:
        """Choose the verdict that contradicts gold if it is the only one: it is why the item is in the queue."""
        against = [verdict.verifier for verdict in against_gold(item) if verdict.verdict in DECIDED]
        against = [name for name in against if name in self._queue.verifiers]
        return view._replace(verifier=against[0]) if view.verifier is None and len(against) == 1 else view

    def title_parts(self, item: ItemDetail) -> list[RemarkPiece]:
        done = progress(len(self.desk.reviewed), len(self._queue))
        return [RemarkPiece(done), RemarkPiece(self._queue.name, 3), *super().title_parts(item)]

    def after_review(self, completion: int) -> None:
        place = self.desk.next_open(-1 if self._index is None else self._index)
        if place is None:
            self.notify("Every item of this queue is reviewed.", title="Done")
            self.after_decision(completion)
        else:
            self._index = place
            self._open_item(self._neighbours[place])
