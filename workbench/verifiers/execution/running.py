"""A child in progress: its input, its reports and its deadlines."""

from __future__ import annotations

import os
import select
import signal
import time
from typing import Final

from workbench.verifiers.execution.box import Child
from workbench.verifiers.execution.case import Batch, SolutionProgress, describe_exit
from workbench.verifiers.execution.compare import MalformedOutputError
from workbench.verifiers.execution.inside.frames import START
from workbench.verifiers.execution.suite import OutcomeFrame, Results
from workbench.verifiers.meter import Meter, describe_timeout

POLL_S: Final = 0.01
"""Interval of the checks of a child. Its output isn't read in between, so that quick tests wake no process."""

_STARTS: Final = frozenset("pfes")
_CUT_OFF: Final = "it wrote more than it may, or nothing that makes sense"


class RunningBatch:
    """One child with its batch of a solution's tests.

    Attributes:
        child: The process and its pipes.
        next_look: Monotonic time at which `raise_if_cancelled` is due at the latest.
        awaits_end: Whether the way the process ends decides its test's outcome.
    """

    def __init__(self, case: SolutionProgress, batch: Batch, child: Child) -> None:
        self.child = child
        self.next_look = 0.0
        self.awaits_end = batch.kind == "stdio"
        self._case = case
        self._batch = batch
        self._results = Results(child.results, case.most_bytes(batch), case.longest(batch))
        self._unsent = memoryview(batch.job)
        self._started = batch.kind == "stdio"
        # Tests that begin after the decision only provide messages, which are wanted.
        self._stops = not case.decided
        self._done = 0
        self._began = time.monotonic()
        self._meter: Meter | None = None
        self._new = False
        self._own = self._cpu = 0.0
        self._send()

    @property
    def watched(self) -> list[tuple[int, int]]:
        """Return its descriptors, and the events of `select.poll` to wait for; the end of one is always reported."""
        results = [(self.child.results, 0)]
        return [*results, (self.child.job, select.POLLOUT)] if self._unsent else results

    def raise_if_cancelled(self) -> bool:
        """Send input, process reports, and check deadlines; return whether the process has to end."""
        self._send()
        try:
            self._results.read()
            over = self._batch.kind != "stdio" and self._process_frames()
        except MalformedOutputError:
            self._end_remaining_tests("x", _CUT_OFF)
            return True
        if over:
            return True
        if self._results.ended:
            self.awaits_end = True
            return True
        return self._is_late()

    def stop(self) -> None:
        if self._meter is None:
            self._cpu = time.monotonic() - self._began
            return
        spent = self._meter.spent()
        self._own, self._cpu = self._own + spent.own, self._cpu + spent.cpu
        self._case.charge(self._own)
        self._meter.close()

    def ended(self, status: int) -> None:
        if self._done == len(self._batch.places):
            return
        if self._batch.kind == "stdio":
            self._case.take_output(self._batch.places[0], self._results.output(), status, int(1e6 * self._cpu))
        elif status & 0x7F == signal.SIGXCPU:
            # The kernel was quicker than this check.
            self._end_remaining_tests("t", describe_timeout("cpu", self._case.program.seconds))
        else:
            self._end_remaining_tests("x", describe_exit(status))

    def _send(self) -> None:
        if not self._unsent:
            return
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self.child.job, self._unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent = self._unsent[:0]
        self.child.close_job()

    def _process_frames(self) -> bool:
        """Process frames; return whether the results of the batch are complete.

        Raises:
            MalformedOutputError: The frames can't come from an honest child.
        """
        for frame in self._results.frames():
            self._new = True
            if not self._started:
                self._process_start_frame(frame)
            else:
                self._process_outcome(frame)
            if self._done == len(self._batch.places) or (self._stops and self._case.decided):
                return True
        return False

    def _process_start_frame(self, frame: OutcomeFrame) -> None:
        if frame.number != START or frame.letter not in _STARTS:
            raise MalformedOutputError
        self._started = True
        if frame.letter != "p":
            self._case.start_failed(self._batch.places, frame)
            self._done = len(self._batch.places)

    def _process_outcome(self, frame: OutcomeFrame) -> None:
        place = self._batch.places[self._done]
        if frame.number != place:
            raise MalformedOutputError
        self._case.take(place, frame)
        self._done += 1

    def _is_late(self) -> bool:
        if self._meter is None:
            self._meter = Meter(self.child.pid_here)
        spent = self._meter.spent()
        if self._new:
            self._own, self._cpu = self._own + spent.own, self._cpu + spent.cpu
            self._meter.restart()
            self._new, spent = False, self._meter.spent()
        if why := self._case.late(spent, self._own):
            self._end_remaining_tests("t", why)
            self.awaits_end = False
            return True
        self.next_look = time.monotonic() + POLL_S
        return False

    def _end_remaining_tests(self, letter: str, message: str) -> None:
        places = self._batch.places[self._done :]
        for place in places if not self._started else places[:1]:
            self._case.set_outcome(place, letter, message=message)
        self._done = len(self._batch.places)
