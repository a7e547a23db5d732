"""A pool of sandboxes that run solutions against tests."""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from types import TracebackType
from typing import Final, Self, TypeVar

from workbench.core.code import Execution, Level, Program, Provenance
from workbench.verifiers.execution.box import FLAGS
from workbench.verifiers.execution.interpreter import interpreter, packages_hash
from workbench.verifiers.execution.settings import DEFAULTS, PoolSettings
from workbench.verifiers.execution.slot import Slot

K = TypeVar("K")

_HEED_S: Final = 0.1


class SandboxPool:
    """A fixed number of sandboxes, each with one solution at a time.

    It is used from the thread that made it: when that ends, the kernel ends the sandboxes.

    Args:
        level: How solutions are kept in.
        workers: How many run at a time.
        settings: What they get.

    Raises:
        VerifierError: This machine hasn't what the level takes, or the interpreter doesn't start.
    """

    def __init__(self, level: Level, workers: int, *, settings: PoolSettings = DEFAULTS) -> None:
        self._level: Level = level
        self._settings = settings
        self._slots: list[Slot] = []
        try:
            for _ in range(workers):
                self._slots.append(Slot(level, settings))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pids(self) -> list[int]:
        """Process ids of the sandboxes, as this process sees them."""
        return [slot.box.pid for slot in self._slots]

    def run(
        self, jobs: Iterable[tuple[K, Program]], heed: Callable[[], None] | None = None
    ) -> Generator[tuple[K, Execution], None, None]:
        """Run each program against its tests.

        Args:
            jobs: Taken one by one, as sandboxes get free.
            heed: Called again and again while there is nothing to give, each tenth of a second at least.

        Yields:
            Each job's key and what came of it, in the order they end.

        Raises:
            VerifierError: The sandboxes can't be started.
        """
        source = iter(jobs)
        keys: dict[Slot, K] = {}
        try:
            self._fill(source, keys)
            while keys:
                ended = [(keys.pop(slot), execution) for slot, execution in self._wait(list(keys))]
                self._fill(source, keys)
                yield from ended
                if heed and not ended:
                    heed()
        finally:
            for slot in keys:
                slot.abandon()

    def provenance(self) -> Provenance:
        """What the outcomes depend on besides the texts; how code is taken from a reply isn't known here."""
        settings, known = self._settings, interpreter(self._settings.python)
        return Provenance(
            interpreter=known.name,
            flags=FLAGS,
            packages=packages_hash(known.packages if settings.python else ()),
            hash_seed=settings.hash_seed,
            level=self._level,
            limits={
                "memory_bytes": settings.memory_bytes,
                "output_bytes": settings.output_bytes,
                "seconds_total": settings.seconds_total,
                "stop_early": float(settings.stop_early),
                "fresh_namespace": float(settings.fresh_namespace),
                "fresh_per_test": float(settings.fresh_per_test),
            },
            extractor="",
        )

    def close(self) -> None:
        """End the sandboxes and all in them; returns when nothing of it lives."""
        for slot in self._slots:
            slot.dismiss()
        for slot in self._slots:
            slot.close()
        self._slots.clear()

    def _fill(self, source: Iterator[tuple[K, Program]], keys: dict[Slot, K]) -> None:
        """Give every free slot a solution, as long as there are any."""
        for slot in self._slots:
            if slot not in keys:
                job = next(source, None)
                if job is None:
                    return
                keys[slot], program = job
                slot.start(program)

    def _wait(self, keys: Collection[Slot]) -> list[tuple[Slot, Execution]]:
        """Wait for something to happen in these slots, for a tenth of a second at most, and see to it."""
        touched = self._poll(keys)
        now = time.monotonic()
        ended = []
        for slot in keys:
            if (slot in touched or slot.next_look <= now) and (execution := slot.look()) is not None:
                ended.append((slot, execution))
        return ended

    def _poll(self, keys: Collection[Slot]) -> set[Slot]:
        """The slots in which something happened before the next look at one is due."""
        poller, owners = select.poll(), {}
        for slot in keys:
            for descriptor, events in slot.watched:
                poller.register(descriptor, events)
                owners[descriptor] = slot
        pause = min(slot.next_look for slot in keys) - time.monotonic()
        # One millisecond more than the whole ones, so that a look isn't early.
        found = poller.poll(max(0.0, min(pause, _HEED_S)) * 1000 + (pause > 0))
        return {owners[descriptor] for descriptor, _ in found}
