"""Screens that follow the database: they read again, in a thread, when something has changed."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, TypeVar

from textual.worker import Worker, WorkerState

from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.choices import Choice, ChoiceMenu
from workbench.app.tui.screen import WorkbenchScreen
from workbench.core.label import EXCLUSION_REASONS
from workbench.labelling import coordinating
from workbench.measuring.browsing import coordinator_name
from workbench.measuring.suggesting import data_version

_GROUP = "live"


class LiveScreen(WorkbenchScreen):
    """Reads once when it opens, and again when other connections have written.

    There is one read at a time, and after each one at least as long a pause as it took, so that following a
    large database costs at most half a core. A screen that lies below another one rests.

    Attributes:
        LOOK_S: Seconds between two looks at the database's change counter.
    """

    LOOK_S: ClassVar[float] = 1.0

    def __init__(self) -> None:
        super().__init__()
        self._reading = False
        self._began = self._rest_until = 0.0
        self._version: int | None = None
        self._told = ""

    @abstractmethod
    def read(self) -> Any:
        """Read what the screen shows; runs in a thread."""

    @abstractmethod
    def show(self, data: Any) -> None:
        """Show what was read."""

    def must_read(self) -> bool:
        """Whether to read again although nothing was written."""
        return False

    def on_mount(self) -> None:
        """Read, and begin to follow."""
        self.read_again()
        self.set_interval(self.LOOK_S, self._look)

    def on_screen_resume(self) -> None:
        """Look at once when the screen comes back into sight."""
        if self._version is not None:
            self._look()

    def read_again(self) -> None:
        """Read now; an older read that still goes on is given up."""
        self._version = data_version(self.project)
        self._reading, self._began = True, time.monotonic()
        self.in_background(self.read, self._arrived, group=_GROUP, stops=True)

    def _look(self) -> None:
        if self._reading or not self.is_active or time.monotonic() < self._rest_until:
            return
        if self.must_read() or data_version(self.project) != self._version:
            self.read_again()

    def _arrived(self, data: Any) -> None:
        self._ended()
        self._told = ""
        self.show(data)

    def _ended(self) -> None:
        now = time.monotonic()
        self._reading, self._rest_until = False, now + (now - self._began)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A read that failed is over; the next change starts another."""
        if event.worker.group == _GROUP and event.state is WorkerState.ERROR:
            self._ended()

    def trouble(self, error: BaseException | None) -> None:
        """A notice, once for as long as the trouble stays the same."""
        if str(error) != self._told:
            self._told = str(error)
            super().trouble(error)


class InSight(WorkbenchScreen):
    """Shows one item after another; a key is for the one that was in sight when it was pressed."""

    def __init__(self) -> None:
        super().__init__()
        self._coming = 0
        self._seen_at: float | None = None

    def comes(self) -> None:
        """Another item is put on the screen: a key pressed until then was for the one before."""
        self._coming += 1
        self._seen_at = None
        self.call_after_refresh(self._painted, self._coming)

    def _painted(self, coming: int) -> None:
        if coming == self._coming:
            self._seen_at = self.workbench.at_work.now()

    @property
    def in_sight(self) -> bool:
        """Whether the last key can have been meant for what is on the screen."""
        acted_at = self.workbench.at_work.acted_at
        return self._seen_at is not None and (acted_at is None or acted_at >= self._seen_at)


# -- What the coordinator decides of the item on the screen: a new round of labels, out of every table, or in again.


Result = TypeVar("Result")
_TAKE_IN = "take in"
_WHY_ANEW = "Why is it labelled anew?"
_WHY_UNSUITABLE = "Why is it unsuitable?"


def coordinating_actions(screen: str) -> tuple[Action, ...]:
    """The coordinator's actions of a screen that shows an item."""
    return (
        Action(f"{screen}.reopen", "a", "reopen", "Reopen", "Have the item labelled anew; asks why.", footer=False),
        Action(
            f"{screen}.exclude", "x", "exclude", "Exclude", "Out of every table, or in again; asks why.", footer=False
        ),
    )


class Coordinating(WorkbenchScreen):
    """A screen that shows the coordinator one item at a time."""

    @abstractmethod
    def decided_on(self) -> tuple[int, bool] | None:
        """Row id of the item that decisions are about, and whether it is excluded; None while there is none."""

    @abstractmethod
    def after_decision(self, completion: int) -> None:
        """Show what has become of the item."""

    def action_reopen(self) -> None:
        """Ask why, then begin a new round."""
        if (found := self.decided_on()) is not None:
            self.ask_line(_WHY_ANEW, found[0], partial(self._reopen, found[0]))

    def _reopen(self, completion: int, reason: str | None) -> None:
        if reason:
            work = partial(
                coordinating.reopen, self.project, [completion], reason=reason, by=coordinator_name(), task="both"
            )
            self._decide(completion, work, lambda done: "Reopened." if done.reopened else "Nobody has labelled it yet.")

    def action_exclude(self) -> None:
        """Ask why, then take the item out; one that is out may be taken in again."""
        if (found := self.decided_on()) is None:
            return
        completion, excluded = found
        choices = [Choice(code, text) for code, text in EXCLUSION_REASONS.items()]
        if excluded:
            choices.append(Choice(_TAKE_IN, "nothing: take it in again"))
        menu = ChoiceMenu("Why is it unsuitable?", choices)
        self.app.push_screen(menu, partial(self._exclude, completion))

    def _exclude(self, completion: int, reason: str | None) -> None:
        if reason == _TAKE_IN:
            work = partial(coordinating.lift, self.project, [completion], by=coordinator_name())
            said = "People have excluded it: reopen it instead."
            self._decide(completion, work, lambda done: "It is in again." if done.lifted else said)
        elif reason == "other":
            self.ask_line(_WHY_UNSUITABLE, completion, partial(self._take_out, completion, reason))
        elif reason is not None:
            self._take_out(completion, reason, "")

    def _take_out(self, completion: int, reason: str, note: str | None) -> None:
        if note is not None:
            work = partial(
                coordinating.exclude, self.project, [completion], reason=reason, note=note, by=coordinator_name()
            )
            self._decide(completion, work, lambda _: "Excluded.")

    def _decide(self, completion: int, work: Callable[[], Result], say: Callable[[Result], str]) -> None:
        def told(done: Result) -> None:
            self.line_stored(_WHY_ANEW, completion)
            self.line_stored(_WHY_UNSUITABLE, completion)
            self.notify(say(done), markup=False)
            self.after_decision(completion)

        self.in_background(work, told, group="coordinating", exclusive=False)
