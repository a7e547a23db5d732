"""A slot of the pool: a box, the solution that is in it, and the deadlines, which are kept out here."""

from __future__ import annotations

import select
import time
from typing import Final

from workbench.core.code import Execution, Level, Program
from workbench.core.errors import VerifierError
from workbench.verifiers.execution.box import Box, BoxLostError
from workbench.verifiers.execution.case import SolutionProgress
from workbench.verifiers.execution.interpreter import interpreter
from workbench.verifiers.execution.launching import Launched
from workbench.verifiers.execution.running import RunningBatch
from workbench.verifiers.execution.settings import PoolSettings

_ANSWER_S: Final = 120.0
"""Time the server has to fork a child, its own start included."""

_START_UP_DEATHS: Final = 3


class Slot:
    """One box at a time, replaced when it dies, and at most one solution.

    Raises:
        VerifierError: This machine hasn't what the level takes.
    """

    def __init__(self, level: Level, settings: PoolSettings) -> None:
        self._level: Level = level
        self._settings = settings
        self._magic = interpreter(settings.python).magic
        self._deaths = 0
        self._case: SolutionProgress | None = None
        self._running: RunningBatch | None = None
        self._retired: RunningBatch | None = None
        self._launched: Launched | None = None
        self._begun = False
        self._answers = time.monotonic() + _ANSWER_S
        self._new = False
        self.box = Box(level, settings)

    @property
    def busy(self) -> bool:
        """Whether it has a solution."""
        return self._case is not None

    @property
    def next_look(self) -> float:
        """Monotonic time at which `look` is due, whatever happens."""
        if self._launched:
            return self._launched.next_look
        if self._new:
            return 0.0
        return self._running.next_look if self._running else self._answers

    @property
    def watched(self) -> list[tuple[int, int]]:
        """Descriptors, and the events of `select.poll` to wait for; the end of one is always heard."""
        own = [(self.box.control.fileno(), select.POLLIN)]
        return own + self._running.watched if self._running else own

    def start(self, program: Program) -> None:
        """Take a solution; this slot has none.

        Raises:
            VerifierError: It is in a language whose programs can't be run here.
        """
        if program.language != "python":
            self._launched = Launched(program, self._level, self._settings)
            return
        self._case = SolutionProgress(program, self._level, self._settings, self._magic)
        self._begun, self._new = False, True
        self._answers = time.monotonic() + _ANSWER_S

    def look(self) -> Execution | None:
        """Take in what has happened, and go on; returns what came of the solution once that is known.

        Raises:
            VerifierError: The box can't be started, time after time.
        """
        if self._launched:
            return self._look_at_launched(self._launched)
        self._new = False
        try:
            for end in self.box.news():
                self._deaths = 0
                if self._retired and self._retired.child.pid == end.pid:
                    self._retired.ended(end.status)
                    self._retired = None
            if self._running and self._running.heed():
                self._stop(self._running)
            return self._go_on()
        except BoxLostError as error:
            return self._replace_box(str(error))

    def abandon(self) -> None:
        """Let the solution go, whatever it is doing."""
        if self._launched:
            self._launched.end()
        self._case = self._launched = None
        try:
            if self._running:
                self._stop(self._running)
        except BoxLostError as error:
            self._replace_box(str(error))
        self._retired = None

    def dismiss(self) -> None:
        """Have the box end, and all in it; `close` waits for that."""
        self._forget()
        self.box.dismiss()

    def close(self) -> None:
        """End the box and all in it."""
        self._forget()
        self.box.close()

    def _look_at_launched(self, launched: Launched) -> Execution | None:
        """A program of another language has walls of its own; this slot's box waits meanwhile."""
        execution = launched.look()
        if execution is not None:
            self._launched = None
        return execution

    def _go_on(self) -> Execution | None:
        """Start the next child of the solution, or say what came of it."""
        if self._case is None or self._running or self._retired:
            self._check_answer(waits=self._retired is not None)
            return None
        if self._case.done:
            execution, self._case = self._case.execution(), None
            return execution
        if not self.box.ready or (self._level == "L1" and self.box.ordered):
            self._check_answer(waits=True)
            return None
        self._begun = True
        batch = self._case.batch()
        self._running = RunningBatch(self._case, batch, self.box.ready.popleft())
        return None

    def _check_answer(self, *, waits: bool) -> None:
        if waits and time.monotonic() > self._answers:
            raise BoxLostError("It doesn't answer.")

    def _stop(self, running: RunningBatch) -> None:
        """End the child; where its end tells more than its words, wait for that."""
        running.stop()
        self._running = None
        self._answers = time.monotonic() + _ANSWER_S
        if running.awaits_end:
            self._retired = running
        self.box.retire(running.child)

    def _replace_box(self, reason: str) -> Execution | None:
        """Start another box; a solution that was in the old one has no outcomes."""
        self._forget()
        self._deaths += not self.box.started
        self.box.close()
        if self._deaths >= _START_UP_DEATHS:
            raise VerifierError(f"The sandbox of level {self._level} can't be started: {reason or 'it just ends'}")
        self.box = Box(self._level, self._settings)
        self._answers = time.monotonic() + _ANSWER_S
        if self._case is None or not self._begun:
            return None
        self._case.lose()
        execution, self._case = self._case.execution(), None
        return execution

    def _forget(self) -> None:
        if self._running:
            self._running.stop()
            self._running.child.close()
        self._running = self._retired = None
