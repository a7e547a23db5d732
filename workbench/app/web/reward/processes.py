"""Runs one server in several processes: all listen on one port (SO_REUSEPORT), and each reports the state of all."""

from __future__ import annotations

import mmap
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec import Struct, structs

from workbench.app.web.listening import listen
from workbench.app.web.serve.addresses import Address
from workbench.core.errors import VerifierError, WorkbenchError
from workbench.training.records import Readiness

_SLOT_BYTES: Final = 1 << 17
_HEAD: Final = struct.Struct("<QI")
_BYTES: Final = struct.Struct("<Q")
_PAUSE_S: Final = 0.2
"""Seconds before a process is replaced: one that keeps dying must not use all the time."""
_SAME: Final = ("workbench_reward_info", "workbench_reward_ready")
"""Metrics that are not sums: each process reports its own."""


class ProcessState(Struct, frozen=True, kw_only=True):
    """The state that a process publishes.

    Attributes:
        figures: Metrics for Prometheus.
        waiting: Number of waiting items.
    """

    figures: str
    state: Readiness
    trouble: str | None
    waiting: int


class Board:
    """Shared memory with the states of all processes; a replacement process uses the slot of the one that ended.

    Args:
        processes: Number of processes.
    """

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self._shared = mmap.mmap(-1, processes * _SLOT_BYTES)
        self._in_flight = mmap.mmap(-1, processes * _BYTES.size)

    def put(self, process: int, told: ProcessState) -> None:
        data, at = msgspec.msgpack.encode(told), process * _SLOT_BYTES
        if len(data) > _SLOT_BYTES - _HEAD.size:
            data = msgspec.msgpack.encode(structs.replace(told, figures="", trouble=None))
        version, _ = _HEAD.unpack_from(self._shared, at)
        # Odd while it is written.
        _HEAD.pack_into(self._shared, at, version + 1, 0)
        self._shared[at + _HEAD.size : at + _HEAD.size + len(data)] = data
        _HEAD.pack_into(self._shared, at, version + 2, len(data))

    def all(self) -> list[ProcessState]:
        """Return the states of all processes that have published one."""
        return [told for process in range(self.processes) if (told := self._read(process)) is not None]

    def hold(self, process: int, size: int) -> None:
        _BYTES.pack_into(self._in_flight, process * _BYTES.size, size)

    def held(self) -> int:
        return sum(size for (size,) in _BYTES.iter_unpack(self._in_flight[:]))

    def _read(self, process: int) -> ProcessState | None:
        at = process * _SLOT_BYTES
        for _ in range(1_000):
            version, size = _HEAD.unpack_from(self._shared, at)
            data = self._shared[at + _HEAD.size : at + _HEAD.size + size]
            if version % 2 == 0 and _HEAD.unpack_from(self._shared, at)[0] == version:
                return msgspec.msgpack.decode(data, type=ProcessState) if data else None
        return None


class ProcessMember:
    """One of several processes, which reports the state of all of them.

    Args:
        number: Its number.
    """

    def __init__(self, board: Board, number: int) -> None:
        self._board, self._number = board, number
        self._own = 0
        self.hold(0)

    @property
    def processes(self) -> int:
        return self._board.processes

    def tell(self, own: ProcessState) -> list[ProcessState]:
        self._board.put(self._number, own)
        return self._board.all()

    def hold(self, size: int) -> None:
        self._own = size
        self._board.hold(self._number, size)

    @property
    def held_by_others(self) -> int:
        return self._board.held() - self._own


_WORST_FIRST: Final[tuple[Readiness, ...]] = ("stopping", "failed", "waiting", "starting", "ready")


def state_of(told: Sequence[ProcessState], processes: int) -> Readiness:
    """Combine the readiness of several processes: the least ready one counts."""
    states: set[Readiness] = {one.state for one in told}
    if len(told) < processes:
        states.add("starting")
    return next(state for state in _WORST_FIRST if state in states)


def merged(texts: Sequence[str]) -> str:
    """Merge the metrics of several processes into those of one server: sums, in the original order of series."""
    if len(texts) == 1:
        return texts[0]
    values: dict[str, float | None] = {}
    for text in texts:
        # Labels are arbitrary text: other line separators may occur within a line here.
        for line in text.removesuffix("\n").split("\n"):
            series, _, value = line.rpartition(" ")
            if line.startswith("#"):
                values.setdefault(line, None)
            elif series.startswith(_SAME):
                values[series] = min(float(value), values.get(series) or 1.0)
            else:
                values[series] = (values.get(series) or 0.0) + float(value)
    heads = [line.split(" ")[2] for line in values if line.startswith("# TYPE")]
    lines = [line if value is None else f"{line} {value:.12g}" for line, value in values.items()]
    # A series that only another process has is placed with its metric, as the format requires.
    return "\n".join(sorted(lines, key=lambda line: _metric_position(line, heads))) + "\n"


def _metric_position(line: str, heads: list[str]) -> int:
    name = line.split(" ")[2] if line.startswith("#") else line.partition("{")[0].partition(" ")[0]
    found = [place for place, head in enumerate(heads) if name == head or name.startswith(f"{head}_")]
    return max(found, default=len(heads))


class Crowd:
    """The processes of a server, as seen by their parent.

    Args:
        run: Serves in a process of its own until SIGTERM; gets the address, its number, a callback for when it listens,
            and a file descriptor that closes when the parent ends.

    Raises:
        UsageError: The port is not available.
    """

    def __init__(
        self, address: Address, processes: int, run: Callable[[Address, int, Callable[[], None], int], None]
    ) -> None:
        self._processes, self._run = processes, run
        # Of those that share a port, a second server's processes would silently take their part.
        listen(address).close()
        family, *_, place = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        # Bound and never listening: it keeps the port.
        self._kept = socket.socket(family, socket.SOCK_STREAM)
        self._kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._kept.bind(place[:2])
        self.address = structs.replace(address, port=self._kept.getsockname()[1])
        self._alive: dict[int, int] = {}
        self._life = os.pipe()
        self._told_by: int | None
        self._heard, self._told_by = os.pipe()
        self._stopping = False

    def serve(self, on_ready: Callable[[Address], None]) -> None:
        """Serve until SIGINT or SIGTERM; a process that ends by itself is replaced.

        Raises:
            VerifierError: A process could not start.
        """
        for number in range(self._processes):
            self._start(number)
        before = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            assert self._told_by is not None
            os.close(self._told_by)
            self._told_by = None
            begun = b""
            while len(begun) < self._processes and (part := os.read(self._heard, self._processes)):
                begun += part
            if len(begun) < self._processes and not self._stopping:
                self._stop()
                raise VerifierError("The server's processes can't start; the log says why.")
            if not self._stopping:
                on_ready(self.address)
            self._replace_ended()
        finally:
            while self._alive:
                self._alive.pop(_wait_for_child(), None)
            for number, handler in before.items():
                signal.signal(number, handler)
            self._kept.close()

    def _replace_ended(self) -> None:
        while self._alive:
            number = self._alive.pop(_wait_for_child(), None)
            if number is not None and not self._stopping:
                time.sleep(_PAUSE_S)
                self._start(number)

    def _start(self, number: int) -> None:
        pid = os.fork()
        if pid:
            self._alive[pid] = number
            return
        status = 1
        try:
            # A Ctrl-C is for the one that started it, which tells it.
            os.setpgrp()
            for known in (signal.SIGINT, signal.SIGTERM):
                signal.signal(known, signal.SIG_DFL)
            os.close(self._life[1])
            self._run(self.address, number, self._notify_ready, self._life[0])
            status = 0
        except WorkbenchError as error:
            sys.stderr.write(f"{error}\n")
        finally:
            sys.stderr.flush()
            os._exit(status)

    def _notify_ready(self) -> None:
        if self._told_by is not None:
            os.write(self._told_by, b"r")
            os.close(self._told_by)

    def _stop(self, *_: object) -> None:
        self._stopping = True
        for pid in list(self._alive):
            os.kill(pid, signal.SIGTERM)


def _wait_for_child() -> int:
    while True:
        pid, status = os.waitpid(-1, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            return pid
        os.kill(pid, signal.SIGKILL)
