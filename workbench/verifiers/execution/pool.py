"""A pool of sandboxes that run solutions against tests."""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Final, TypeVar

from workbench.core.closing import Closing
from workbench.core.code import Execution, Level, Program, Provenance
from workbench.core.errors import VerifierError
from workbench.verifiers.execution.box import FLAGS, Box, BoxLostError
from workbench.verifiers.execution.case import SolutionProgress
from workbench.verifiers.execution.interpreter import interpreter, packages_hash
from workbench.verifiers.execution.launching import LaunchedProgram
from workbench.verifiers.execution.running import RunningBatch
from workbench.verifiers.execution.settings import DEFAULTS, PoolSettings, require_scratch

# -- A slot of the pool: a box, its solution, and the deadlines, which are enforced outside.


_ANSWER_S: Final = 120.0
"""Seconds for the server to fork a child, including its own start."""
_START_UP_DEATHS: Final = 3


class Slot:
    """A place in the pool: a box, which is replaced when it dies, and at most one solution at a time.

    Raises:
        VerifierError: This machine lacks a requirement of the level.
    """

    def __init__(self, level: Level, settings: PoolSettings) -> None:
        self._level: Level = level
        self._settings = settings
        self._magic = interpreter(settings.python).magic
        self._deaths = 0
        self._case: SolutionProgress | None = None
        self._running: RunningBatch | None = None
        self._retired: RunningBatch | None = None
        self._launched: LaunchedProgram | None = None
        self._begun = self._spent = False
        self._answers = time.monotonic() + _ANSWER_S
        self._new = False
        self.box = Box(level, settings)

    @property
    def busy(self) -> bool:
        return self._case is not None

    @property
    def next_look(self) -> float:
        """Return the monotonic time at which `look` is due at the latest."""
        if self._launched:
            return self._launched.next_look
        if self._new:
            return 0.0
        return self._running.next_look if self._running else self._answers

    @property
    def watched(self) -> list[tuple[int, int]]:
        """Return descriptors and the events of `select.poll` to wait for; the end of a process is always reported."""
        own = [(self.box.control.fileno(), select.POLLIN)]
        return own + self._running.watched if self._running else own

    def start(self, program: Program) -> None:
        """Start a solution in this free slot.

        Raises:
            VerifierError: The language can't be run here.
        """
        if program.language != "python":
            self._launched = LaunchedProgram(program, self._level, self._settings)
            return
        self._case = SolutionProgress(program, self._level, self._settings, self._magic)
        self._begun, self._new = False, True
        self._answers = time.monotonic() + _ANSWER_S

    def look(self) -> Execution | None:
        """Process events, and continue; return the solution's result once known.

        Raises:
            VerifierError: Repeated starts of the box fail.
        """
        if self._launched:
            execution = self._launched.look()
            if execution is not None:
                self._launched = None
            return execution
        self._new = False
        try:
            for end in self.box.news():
                self._deaths = 0
                if self._retired and self._retired.child.pid == end.pid:
                    self._retired.ended(end.status)
                    self._retired = None
            if self._running and self._running.raise_if_cancelled():
                self._stop(self._running)
            return self._continue()
        except BoxLostError as error:
            return self._replace_box(str(error))

    def abandon(self) -> None:
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
        """Ask the box to end with all its processes; `close` waits for that."""
        self._close_child()
        self.box.dismiss()

    def close(self) -> None:
        self._close_child()
        self.box.close()

    def _continue(self) -> Execution | None:
        if self._case is None or self._running or self._retired:
            self._require_answer(waits=self._retired is not None)
            return None
        if self._case.done:
            execution, self._case = self._case.execution(), None
            return execution
        if self._spent:
            self._renew_box()
        if not self.box.ready or (self._level == "L1" and self.box.ordered):
            self._require_answer(waits=True)
            return None
        self._begun = True
        batch = self._case.batch()
        self._running = RunningBatch(self._case, batch, self.box.ready.popleft())
        self._spent = self._settings.scratch_bytes > 0
        return None

    def _require_answer(self, *, waits: bool) -> None:
        if waits and time.monotonic() > self._answers:
            raise BoxLostError("It doesn't answer.")

    def _stop(self, running: RunningBatch) -> None:
        running.stop()
        self._running = None
        self._answers = time.monotonic() + _ANSWER_S
        if running.awaits_end:
            self._retired = running
        self.box.retire(running.child)

    def _replace_box(self, reason: str) -> Execution | None:
        self._close_child()
        self._deaths += not self.box.started
        if self._deaths >= _START_UP_DEATHS:
            raise VerifierError(f"The sandbox of level {self._level} can't be started: {reason or 'it ends at once'}")
        self._renew_box()
        if self._case is None or not self._begun:
            return None
        self._case.lose()
        execution, self._case = self._case.execution(), None
        return execution

    def _renew_box(self) -> None:
        self.box.close()
        self.box = Box(self._level, self._settings)
        self._spent = False
        self._answers = time.monotonic() + _ANSWER_S

    def _close_child(self) -> None:
        if self._running:
            self._running.stop()
            self._running.child.close()
        self._running = self._retired = None


K = TypeVar("K")
_HEED_S: Final = 0.1


class SandboxPool(Closing):
    """A fixed number of sandboxes, each with one solution at a time.

    It must be used from the thread that created it: when that thread ends, the kernel ends the sandboxes.

    Args:
        level: The isolation level.
        workers: Number of sandboxes.
        settings: Settings of the sandboxes.

    Raises:
        VerifierError: This machine lacks a requirement of the level, or the interpreter doesn't start.
    """

    def __init__(self, level: Level, workers: int, *, settings: PoolSettings = DEFAULTS) -> None:
        if settings.scratch_bytes:
            require_scratch(level)
        self._level: Level = level
        self._settings = settings
        self._slots: list[Slot] = []
        self._keys: dict[Slot, Any] = {}
        try:
            for _ in range(workers):
                self._slots.append(Slot(level, settings))
        except BaseException:
            self.close()
            raise

    @property
    def pids(self) -> list[int]:
        return [slot.box.pid for slot in self._slots]

    def run(
        self, jobs: Iterable[tuple[K, Program]], raise_if_cancelled: Callable[[], None] | None = None
    ) -> Generator[tuple[K, Execution], None, None]:
        """Run each program against its tests.

        Args:
            jobs: Jobs, read one by one as sandboxes become free. An iterator that is exhausted while jobs are in
                progress is read again after each of them.
            raise_if_cancelled: Called at least ten times a second while there is no result.

        Yields:
            Each job's key and result, in the order of completion.

        Raises:
            VerifierError: The sandboxes can't be started.
        """
        source = iter(jobs)
        try:
            self._fill_slots(source)
            while self._keys:
                ended = self.turn(source)
                yield from ended
                if raise_if_cancelled:
                    raise_if_cancelled()
                if not self._keys:
                    # There may be more jobs after the results that have arrived.
                    self._fill_slots(source)
        finally:
            self.drop(lambda _: True)

    @property
    def is_ready(self) -> bool:
        return True

    def attend(self) -> None:
        """Do nothing: the sandboxes need no attention while there is no work."""

    @property
    def is_busy(self) -> bool:
        return bool(self._keys)

    def drop(self, is_gone: Callable[[Any], bool]) -> None:
        """Abandon the jobs in progress whose keys are no longer needed."""
        for slot in [slot for slot, key in self._keys.items() if is_gone(key)]:
            del self._keys[slot]
            slot.abandon()

    def turn(self, jobs: Iterator[tuple[K, Program]]) -> list[tuple[K, Execution]]:
        """Wait at most a tenth of a second for a result, and start a job in every free sandbox.

        Args:
            jobs: Jobs; may be empty now and have more at a later call.

        Returns:
            The key of each job that has ended, and its result.

        Raises:
            VerifierError: The sandboxes can't be started.
        """
        ended = [(self._keys.pop(slot), execution) for slot, execution in self._wait()] if self._keys else []
        self._fill_slots(jobs)
        return ended

    def provenance(self) -> Provenance:
        """Return what the outcomes depend on besides the texts; the code extractor isn't known here."""
        settings, known = self._settings, interpreter(self._settings.python)
        return Provenance(
            interpreter=known.name,
            flags=FLAGS,
            packages=packages_hash(known.packages if settings.python else ()),
            hash_seed=settings.hash_seed,
            level=self._level,
            limits={
                "memory_bytes": float(settings.memory_bytes),
                **({"scratch_bytes": float(settings.scratch_bytes)} if settings.scratch_bytes else {}),
                "output_bytes": float(settings.output_bytes),
                "seconds_total": settings.seconds_total,
                "stop_early": float(settings.stop_early),
                "fresh_namespace": float(settings.fresh_namespace),
                "fresh_per_test": float(settings.fresh_per_test),
            },
            extractor="",
        )

    def close(self) -> None:
        """End the sandboxes; return when all their processes are gone."""
        for slot in self._slots:
            slot.dismiss()
        for slot in self._slots:
            slot.close()
        self._slots.clear()

    def _fill_slots(self, source: Iterator[tuple[Any, Program]]) -> None:
        for slot in self._slots:
            if slot not in self._keys:
                job = next(source, None)
                if job is None:
                    return
                self._keys[slot], program = job
                slot.start(program)

    def _wait(self) -> list[tuple[Slot, Execution]]:
        touched = self._poll()
        now = time.monotonic()
        ended = []
        for slot in self._keys:
            if (slot in touched or slot.next_look <= now) and (execution := slot.look()) is not None:
                ended.append((slot, execution))
        return ended

    def _poll(self) -> set[Slot]:
        poller, owners = select.poll(), {}
        for slot in self._keys:
            for descriptor, events in slot.watched:
                poller.register(descriptor, events)
                owners[descriptor] = slot
        pause = min(slot.next_look for slot in self._keys) - time.monotonic()
        # One millisecond more than the whole ones, so that a check isn't early.
        found = poller.poll(max(0.0, min(pause, _HEED_S)) * 1000 + (pause > 0))
        return {owners[descriptor] for descriptor, _ in found}
