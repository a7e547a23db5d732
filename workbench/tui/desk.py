"""A person's session together with what it has claimed, shared by a screen and its threads."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from workbench.errors import AnnotationError, StoreError
from workbench.services.labelling.annotating import AnnotationItem, AnnotationSession, Answer
from workbench.services.project import Project
from workbench.tui.widgets.card_texts import CardTexts, card_texts

LOG = logging.getLogger("workbench.tui")

HISTORY = 500
"""How many of a person's own labels ``older`` and ``newer`` walk through."""


class ItemFeed:
    """Items come ready to be shown; every method may be called in a thread.

    Attributes:
        paused: What a paused person is told, as of the last look for an item or refusal; empty for anybody else.

    Raises (on creation):
        UsageError: There is no such annotator.
    """

    def __init__(self, project: Project, name: str, *, sighted: bool) -> None:
        self.session = AnnotationSession(project, name, sighted=sighted)
        self.paused = ""
        self._claimed: set[int] = set()
        self._left = False
        self._lock = threading.Lock()

    def next(self, beside: tuple[int, ...] = ()) -> CardTexts | None:
        """The next item to label beside those that are open; None when nothing is left."""
        with self._lock:
            if self._left:
                return None
            item = self.session.next(beside)
            self.paused = self.session.paused()
            if item is None or self.paused:
                return None
            self._claimed.add(item.completion)
        return card_texts(item)

    def open(self, completion: int) -> CardTexts:
        """One of the person's own items."""
        return card_texts(self.session.open(completion))

    def submit(self, item: AnnotationItem, answer: Answer) -> list[str]:
        """Store an answer; see `AnnotationSession.submit`."""
        with self._noting_pause():
            stored = self.session.submit(item, answer)
        if answer.verdict is not None:
            self._claimed.discard(item.completion)
        return stored

    @contextmanager
    def _noting_pause(self) -> Iterator[None]:
        try:
            yield
        except AnnotationError:
            self.paused = self.session.paused()
            raise

    def undo(self) -> CardTexts | None:
        """Take the newest label back and open its item; None when there is none."""
        with self._noting_pause():
            item = self.session.undo()
        if item is None:
            return None
        if item.verdict is None:
            self._claimed.add(item.completion)
        return card_texts(item)

    def step(self, completion: int | None, older: bool) -> CardTexts | None:
        """The own label before or after one in time; from None, the newest. None beyond either end."""
        trail = [entry.completion for entry in self.session.history(HISTORY)]
        at = trail.index(completion) if completion in trail else -1
        at += 1 if older else -1
        return self.open(trail[at]) if 0 <= at < len(trail) else None

    def leave(self) -> None:
        """Give back what was claimed and not labelled, and close the session."""
        with self._lock:
            self._left = True
            try:
                self.session.release(*self._claimed)
            except StoreError as error:
                LOG.warning("claimed items were not given back; their leases run out: %s", error)
            self._claimed.clear()
            self.session.close()
