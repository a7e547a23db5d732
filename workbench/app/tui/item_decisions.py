"""The coordinator's decisions on the shown item: a new round of labels, exclusion, or inclusion."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.choices import Choice, ChoiceMenu, choose
from workbench.app.tui.screen import WorkbenchScreen
from workbench.core.label import EXCLUSION_REASONS, coordinator_name
from workbench.labelling import coordinating

Result = TypeVar("Result")
_TAKE_IN = "include"
_WHY_ANEW = "Why label it again?"
_WHY_UNSUITABLE = "Why is it unsuitable?"


def coordinating_actions(screen: str) -> tuple[Action, ...]:
    return (
        Action(f"{screen}.reopen", "a", "reopen", "Reopen", "Have the item labelled again; asks why.", False),
        Action(
            f"{screen}.exclude",
            "x",
            "exclude",
            "Exclude",
            "Exclude the item from tables, or include it; asks why.",
            False,
        ),
    )


class Coordinating(WorkbenchScreen):
    """A screen that shows the coordinator one item at a time."""

    @abstractmethod
    def decided_on(self) -> tuple[int, bool] | None:
        """Return the row id of the item to decide on, and whether it is excluded; None without an item."""

    @abstractmethod
    def after_decision(self, completion: int) -> None:
        """Show the item's new state."""

    def action_reopen(self) -> None:
        if (found := self.decided_on()) is not None:
            self.ask_line(_WHY_ANEW, found[0], partial(self._reopen, found[0]))

    def _reopen(self, completion: int, reason: str) -> None:
        by = coordinator_name()
        work = partial(coordinating.reopen, self.project, [completion], reason=reason, by=by, task="both")
        self._store_decision(completion, work, lambda done: "Reopened." if done.reopened else "It has no label yet.")

    def action_exclude(self) -> None:
        if (found := self.decided_on()) is None:
            return
        completion, excluded = found
        choices = [Choice(code, text) for code, text in EXCLUSION_REASONS.items()]
        if excluded:
            choices.append(Choice(_TAKE_IN, "nothing: include it again"))
        choose(self, ChoiceMenu(_WHY_UNSUITABLE, choices), partial(self._exclude, completion))

    def _exclude(self, completion: int, reason: str) -> None:
        if reason == _TAKE_IN:
            work = partial(coordinating.lift, self.project, [completion], by=coordinator_name())
            said = "Annotators have excluded it: reopen it instead."
            self._store_decision(completion, work, lambda done: "It is included again." if done.lifted else said)
        elif reason == "other":
            self.ask_line(_WHY_UNSUITABLE, completion, partial(self._store_exclusion, completion, reason), empty=True)
        else:
            self._store_exclusion(completion, reason, "")

    def _store_exclusion(self, completion: int, reason: str, note: str) -> None:
        by = coordinator_name()
        work = partial(coordinating.exclude, self.project, [completion], reason=reason, note=note, by=by)
        self._store_decision(completion, work, lambda _: "Excluded.")

    def _store_decision(self, completion: int, work: Callable[[], Result], say: Callable[[Result], str]) -> None:
        def decided(done: Result) -> None:
            self.line_stored(_WHY_ANEW, completion)
            self.line_stored(_WHY_UNSUITABLE, completion)
            self.notify(say(done), markup=False)
            self.after_decision(completion)

        self.in_background(work, decided, group="coordinating", exclusive=False)
