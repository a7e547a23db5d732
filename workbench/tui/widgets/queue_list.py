"""All queues, one a line; a click chooses one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual import events
from textual.message import Message
from textual.widgets import Static

from workbench.model.review import Queue
from workbench.tui.queue_reading import Count
from workbench.tui.widgets import queue_view as view


class QueueList(Static):
    """The queues with their counts, the present one marked."""

    class Chosen(Message):
        """A queue was clicked."""

        def __init__(self, queue: Queue) -> None:
            super().__init__()
            self.queue = queue

    queues: Sequence[Queue] = ()

    def show(self, present: Queue, counts: Mapping[Queue, Count]) -> None:
        """List them."""
        self.queues = tuple(counts)
        self.update(view.listing(present, counts))

    def on_click(self, event: events.Click) -> None:
        """The line that was clicked is the queue."""
        place = event.get_content_offset(self)
        if place is not None and 0 <= place.y < len(self.queues):
            self.post_message(self.Chosen(self.queues[place.y]))
