"""The items of an annotator: the current one, the next one, and those they have labelled before."""

from __future__ import annotations

import logging
import threading
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import ClassVar

from msgspec import Struct, structs
from textual.content import Content
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from workbench.app.tui.judging import FOLLOW_S, JudgingScreen
from workbench.app.tui.keymap import key_of
from workbench.app.tui.kit.card_texts import CardTexts, card_texts
from workbench.app.tui.kit.matrix import printable
from workbench.app.tui.pace import Pace
from workbench.core.errors import AnnotationError, AnsweredElsewhereError, StoreError
from workbench.core.project import Project
from workbench.labelling.annotating import AnnotationItem, AnnotationSession, Answer, OwnAnswer, Progress
from workbench.labelling.people import GuidelineReadings
from workbench.labelling.rulings import Role

LOG = logging.getLogger("workbench.tui")

HISTORY = 500
"""Number of a person's newest labels that the actions ``older`` and ``newer`` step through."""


class ItemFeed:
    """Prepares items for display; every method may be called in a thread.

    Attributes:
        paused: Message that the annotator's work is paused, from the last request; "" if it isn't.

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
        """Return the next item to label, other than those in ``beside`` (row ids); None when nothing is left."""
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
        return card_texts(self.session.open(completion))

    def submit(self, item: AnnotationItem, answer: Answer) -> list[str]:
        with self._update_pause_on_error():
            stored = self.session.submit(item, answer)
        if answer.verdict is not None:
            self._claimed.discard(item.completion)
        return stored

    @contextmanager
    def _update_pause_on_error(self) -> Iterator[None]:
        try:
            yield
        except AnnotationError:
            self.paused = self.session.paused()
            raise

    def undo(self) -> CardTexts | None:
        """Retract the person's newest label and return its item; None if there is no label."""
        with self._update_pause_on_error():
            item = self.session.undo()
        if item is None:
            return None
        if item.verdict is None:
            self._claimed.add(item.completion)
        return card_texts(item)

    def step(self, completion: int | None, older: bool) -> CardTexts | None:
        """Return the item labelled before or after another one; None beyond either end.

        With ``completion`` None, the older one is the item with the newest label.
        """
        trail = [entry.completion for entry in self.session.history(HISTORY)]
        at = trail.index(completion) if completion in trail else -1
        at += 1 if older else -1
        return self.open(trail[at]) if 0 <= at < len(trail) else None

    def leave(self) -> None:
        """Release reserved items without a label, and close the session."""
        with self._lock:
            self._left = True
            try:
                self.session.release(*self._claimed)
            except StoreError as error:
                LOG.warning("reserved items were not released; their leases will expire: %s", error)
            self._claimed.clear()
            self.session.close()


HEARTBEAT_S = 60.0
LOOK_AGAIN_S = 10.0
AHEAD_S = 0.15
"""Seconds from showing an item to preparing the next one: less than anybody needs to read it."""

_NEXT = "items-next"
_SOON_S = 0.05

_NOTHING_LEFT = """\
Nothing is left for {name} to label.

New items appear here by themselves{assign}.

{leave}

{older} goes back to your own labels, {undo} retracts the last one.
"""
_BUNDLE = "If you work on a bundle, send the file back: the coordinator merges its labels."
_ASSIGN = " once you open label slots with the command Assign ({palette})"
_OPENED = " as soon as the coordinator opens some"
_PAUSED = """\
{sentence}

Your labels are kept. Items appear here by themselves as soon as you can continue.
"""
_NOBODY = """\
There is nothing to label. The command Assign ({palette}) opens label slots for annotators.
"""


class Marks(Struct, frozen=True):
    """Marks stored with a verdict; until there is one, the screen keeps them. See `LabelEvent`."""

    unsure: bool = False
    tags: tuple[str, ...] = ()
    partial: float | None = None

    @staticmethod
    def of(item: AnnotationItem) -> Marks:
        return Marks(item.unsure, item.tags, item.partial)


class ItemFlow(JudgingScreen):
    """Loads one item after another; the subclass shows them and stores labels."""

    ROLE: ClassVar[Role] = "annotator"

    def __init__(self, completion: int | None = None) -> None:
        super().__init__()
        self._wanted = completion
        self._desk: ItemFeed | None = None
        self._is_seated = False
        self._left = False
        self._current: CardTexts | None = None
        self._waiting: list[CardTexts] = []
        self._revisiting = False
        self._fetching = False
        self._marks = Marks()
        self._answers: list[OwnAnswer] = []
        self._progress: Progress | None = None
        self._left_at: float | None = None
        self._wait_ms: int | None = None
        self._types: dict[int, str | None] = {}

    @abstractmethod
    def ask_type(self) -> None:
        """Ask for the answer type of the item on the screen."""

    @abstractmethod
    def stop_asking(self) -> None:
        """Discard the open question about an item that is no longer shown."""

    @property
    def pace(self) -> Pace:
        return self.workbench.paces[self._person]

    @property
    def has_item(self) -> bool:
        return self._current is not None

    # -- coming and going --------------------------------------------------------------------------

    def begin(self, name: str) -> None:
        self._person = name
        self.store(partial(self._open_session, name, self._wanted), self._show_first, "opening …")
        self.set_interval(HEARTBEAT_S, self._heartbeat)
        self.set_interval(LOOK_AGAIN_S, self._retry_if_empty)

    def _open_session(self, name: str, wanted: int | None) -> CardTexts | None:
        desk = self._desk or ItemFeed(self.project, name, sighted=self.workbench.annotator is None)
        if self._left:
            desk.leave()
        else:
            self._desk = desk
        return desk.open(wanted) if wanted is not None else desk.next()

    def _show_first(self, texts: CardTexts | None) -> None:
        self._is_seated = True
        if texts is None:
            self._show_empty()
        elif self._wanted is not None:
            self._show(texts, revisiting=True)
        else:
            self._show_next(texts)
        self._read_progress()
        self.follow_guidelines()
        self._read_answers()
        self.set_interval(FOLLOW_S, self._read_answers)

    def show_no_work(self) -> None:
        self._show_placeholder(_NOBODY.format(palette=key_of("app.palette")))

    def open_item(self, completion: int) -> None:
        if self._desk is None or self._busy:
            self.set_timer(_SOON_S, partial(self.open_item, completion))
        else:
            self.leave()
            self.store(partial(self._desk.open, completion), self._revisit, "opening …")

    def on_unmount(self) -> None:
        self._left = True
        if self._desk is not None:
            self._desk.leave()

    def _heartbeat(self) -> None:
        if self._desk is not None:
            self.in_background(
                self._desk.session.heartbeat, lambda _: self._read_progress(), group="annotate-heartbeat"
            )

    def _read_progress(self) -> None:
        if self._desk is not None:
            self.in_background(self._desk.session.progress, self._show_progress, group="annotate-progress")

    def _show_progress(self, progress: Progress) -> None:
        self._progress = progress
        self.draw_line()

    @property
    def acquainted(self) -> GuidelineReadings | None:
        return None if self._desk is None else self._desk.session.guidelines

    def _read_answers(self) -> None:
        if self._desk is not None:
            self.in_background(self._desk.session.answers, self._resolve_selected, group="annotate-answers")

    def _resolve_selected(self, answers: list[OwnAnswer]) -> None:
        told = {answer.uuid for answer in self._answers}
        new = [answer for answer in answers if answer.uuid not in told and not answer.heard]
        self._answers = answers
        newest = {answer.completion: answer for answer in answers if answer.stands}
        if self._current is not None and self._current.item.flagged:
            item = self._current.item
            answered = structs.replace(item, answer=newest.get(item.completion, item.answer))
            self._current = self._current._replace(item=answered)
        if new:
            words = f"The coordinator answered your flag: {key_of('annotate.answers')} shows it."
            self.notify(words, title="An answer", timeout=8, markup=False)
        self.draw_line()

    # -- failures ----------------------------------------------------------------------------------

    def store_failed(self, error: BaseException | None) -> None:
        self.stop_asking()
        if not self._is_seated:
            # The session could not be opened: no label was lost.
            self._said = ""
        if self._desk is not None and self._desk.paused:
            self._waiting.clear()
            self._show_empty()
        elif self._current is None:
            self._show_empty(error)
        elif isinstance(error, AnsweredElsewhereError):
            completion, self._current = self._current.item.completion, None
            self.open_item(completion)
        elif isinstance(error, AnnotationError):
            self._advance()

    def shows_errors_of(self, group: str) -> bool:
        return group != _NEXT or self._current is None

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.worker.group == _NEXT and event.state is WorkerState.ERROR:
            self._fetching = False
            if self._current is None and isinstance(event.worker.error, StoreError):
                self._show_empty(event.worker.error)

    # -- which item --------------------------------------------------------------------------------

    def _show(self, texts: CardTexts, *, revisiting: bool = False) -> None:
        self._current, self._revisiting = texts, revisiting
        self._marks, self._note = Marks.of(texts.item), texts.item.note
        self.set_empty(False)
        self.card.show(texts)
        self._stopwatch.start()
        self.draw_line()
        self._wait_ms = None
        self.mark_shown(self.card)
        # Rendering the next item now would slow the painting of this one.
        self.set_timer(AHEAD_S, self._fetch_next)

    def leave(self, pressed_at: float | None = None) -> None:
        """Record that the person is done with the item on the screen and waits for the next one.

        Args:
            pressed_at: Time of the key press that ended the work on the item; None for the last key press.
        """
        self._left_at = pressed_at or self.workbench.at_work.acted_at

    def _record_painted(self, coming: int) -> None:
        super()._record_painted(coming)
        if self._seen_at is not None and self._left_at is not None:
            self._wait_ms, self._left_at = round(1000 * (self._seen_at - self._left_at)), None

    def _show_next(self, texts: CardTexts) -> None:
        self._show(texts)
        if texts.item.verdict is not None:
            self.ask_type()

    def _revisit(self, texts: CardTexts) -> None:
        self._put_back_current()
        self._show(texts, revisiting=True)

    def _put_back_current(self) -> None:
        if self._current is not None and not self._revisiting and not self._complete(self._current):
            item = structs.replace(self._current.item, note=self._note, **structs.asdict(self._marks))
            self._waiting.insert(0, self._current._replace(item=item))

    def _advance(self) -> None:
        if self._waiting:
            self._show_next(self._waiting.pop(0))
            return
        self._current, self._revisiting = None, False
        self.card.show(None)
        self._fetch_next()

    def _fetch_next(self) -> None:
        if self._desk is None or self._fetching or self._waiting:
            return
        self._fetching = True
        beside = () if self._current is None else (self._current.item.completion,)
        self.in_background(partial(self._desk.next, beside), self._receive_item, group=_NEXT, exclusive=False)

    def _receive_item(self, texts: CardTexts | None) -> None:
        self._fetching = False
        is_paused = self._desk is not None and self._desk.paused
        texts = None if is_paused else self._with_known_type(texts)
        open_ones = {one.item.completion for one in (self._current, *self._waiting) if one is not None}
        if texts is not None and texts.item.completion not in open_ones:
            self._waiting.append(texts)
        if self._current is None and not self._busy:
            if self._waiting:
                self._advance()
                self._read_progress()
            else:
                self._show_empty()

    def set_known_type(self, question: int, subtype: str | None) -> None:
        """Apply an answer type that was just chosen or retracted to the items prepared before."""
        self._types[question] = subtype
        self._waiting = [one for one in map(self._with_known_type, self._waiting) if one is not None]

    def _with_known_type(self, texts: CardTexts | None) -> CardTexts | None:
        if texts is None or texts.item.question not in self._types:
            return texts
        return texts._replace(item=structs.replace(texts.item, subtype=self._types[texts.item.question]))

    def _retry_if_empty(self) -> None:
        if self._current is not None or self._busy:
            return
        if self._is_seated:
            self._fetch_next()
        elif self._person:
            self.store(partial(self._open_session, self._person, self._wanted), self._show_first, "opening …")

    def _show_empty(self, error: BaseException | None = None) -> None:
        if isinstance(error, StoreError):
            self._show_placeholder(self.no_item_text(error))
        elif self._desk is not None and self._desk.paused:
            self._show_placeholder(_PAUSED.format(sentence=self._desk.paused))
        else:
            keys = {verb: key_of(f"annotate.{verb}") for verb in ("older", "undo")}
            assign = _ASSIGN.format(palette=key_of("app.palette")) if self.workbench.annotator is None else _OPENED
            self._show_placeholder(
                _NOTHING_LEFT.format(name=printable(self._person), assign=assign, leave=_BUNDLE, **keys)
            )

    def _show_placeholder(self, text: str) -> None:
        self._current = self._left_at = None
        self.query_one("#annotate-empty", Static).update(Content(text))
        self.set_empty(True)
        self.draw_line()

    @staticmethod
    def _complete(texts: CardTexts) -> bool:
        item = texts.item
        return item.verdict is not None and (item.verdict == "unsuitable" or not item.wants_type)

    # -- going back and on -------------------------------------------------------------------------

    def action_undo(self) -> None:
        if self._desk is not None and self.is_ready:
            self.leave()
            self.store(self._desk.undo, self._show_undone, "undoing …")

    def _show_undone(self, texts: CardTexts | None) -> None:
        if texts is None:
            self.notify("You have no label to retract.", markup=False)
            return
        completion = texts.item.completion
        self.set_known_type(texts.item.question, texts.item.subtype)
        if texts.item.verdict is None:
            self.pace.take_back(completion)
        if self._current is not None and self._current.item.completion != completion:
            self._put_back_current()
        self._waiting = [one for one in self._waiting if one.item.completion != completion]
        self._show(texts, revisiting=self._complete(texts))
        self._said = "retracted ✓"
        self._read_progress()

    def action_skip(self) -> None:
        if self._current is None or self._desk is None or not self.is_ready:
            return
        self.leave()
        if self._revisiting:
            self._advance()
            return
        self.store(partial(self._desk.session.skip, self._current.item), lambda _: self._finish_skip(), "skipping …")

    def _finish_skip(self) -> None:
        self._said = "skipped"
        self._advance()

    def action_older(self) -> None:
        self._step(older=True)

    def action_newer(self) -> None:
        if self._current is not None and not self._revisiting and not self._complete(self._current):
            self.notify(f"Label it first, or skip it with {key_of('annotate.skip')}.", markup=False)
        else:
            self._step(older=False)

    def _step(self, *, older: bool) -> None:
        if self._desk is None or not self.is_ready:
            return
        self.leave()
        at = self._current.item.completion if self._current is not None and self._current.item.verdict else None
        self.store(partial(self._desk.step, at, older), partial(self._show_step, older), "…")

    def _show_step(self, older: bool, texts: CardTexts | None) -> None:
        if texts is not None:
            self._revisit(texts)
        elif older:
            self.notify("You labelled no item before this one.", markup=False)
        else:
            self._advance()
