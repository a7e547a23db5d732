"""Worker processes for verifiers that may hang, crash or use all memory.

The pool belongs to a single-threaded loop: it never waits for a worker except in `WorkerPool.wait`.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import time

import msgspec
from msgspec import structs

from workbench.core.closing import Closing
from workbench.core.errors import VerifierError
from workbench.core.verdict import Outcome, Verdict
from workbench.verifiers.base import Pending
from workbench.verifiers.judging import CPU_SLACK_S, Allowance, HeavyVerifier, peak_of_process
from workbench.verifiers.meter import Cause, Meter, describe_timeout
from workbench.verifiers.registry import Registry
from workbench.verifiers.wire import Channel, Hello, Loaded, Setup, WorkerAnswer, WorkerTask

Answers = list[tuple[WorkerTask, list[Verdict | Pending]]]
_START_UP_DEATHS = 3
_STOP_S = 2.0
_FULL_SHARE = 0.95
"""Share of its memory at which a worker counts as full: the rest is too fragmented."""

_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1])['path']; import msgspec; from workbench.verifiers import "
    "wire, worker; worker.serve(msgspec.json.decode(sys.argv[1], type=wire.Setup))"
)


class _Worker:
    """One process and its task, if any.

    Attributes:
        pid: The process id, once reported.
        ready: Whether it has loaded the verifier.
        allowed: Seconds of processor time that its task or its start may take.
        started: Monotonic time at which it got its task, or was started.
        next_look: Monotonic time at which its time may be up.
        meter: Measures the usage since ``started``; None until the process id is known.
    """

    def __init__(self, sock: socket.socket, start_s: float) -> None:
        self.channel = Channel(sock)
        self.pid: int | None = None
        self.ready = False
        self.task: WorkerTask | None = None
        self.meter: Meter | None = None
        self.begin(start_s)

    @property
    def pending(self) -> bool:
        return not self.ready or self.task is not None

    def begin(self, seconds: float) -> None:
        self.allowed = seconds
        self.started = time.monotonic()
        self.next_look = self.started + seconds
        if self.meter is not None:
            self.meter.restart()

    def kill(self) -> None:
        if self.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)


class WorkerPool(Closing):
    """A fixed number of workers for one verifier.

    A worker that misses an item's deadline is killed, one that dies is replaced; both items get an abstention
    (``timeout`` with the rule ``timeout.cpu`` or ``timeout.wall``, ``worker_died``). The deadline is in processor time,
    so that it doesn't depend on the machine's load; an answer after it is discarded. An item may take ten times as much
    wall time.

    Args:
        spec: The verifier's registered kind and its options.
        workers: Number of worker processes.
        deadline: Seconds of processor time an item may take, including the time to send it; by default the verifier's
            allowance.
        memory_bytes: Resident memory a worker may use once it has loaded; by default the verifier's allowance.

    Raises:
        UsageError: No such kind or option exists.
        VerifierError: The kind can't be used.
    """

    def __init__(
        self,
        spec: tuple[str, dict[str, str]],
        workers: int,
        deadline: float | None = None,
        memory_bytes: int | None = None,
    ) -> None:
        self._kind, options = spec
        self._selector = selectors.DefaultSelector()
        self._workers: set[_Worker] = set()
        self._start_up_deaths = 0
        registry = Registry()
        verifier = registry.load(self._kind, options)
        allowance = verifier.allowance if isinstance(verifier, HeavyVerifier) else Allowance()
        self._start_s = allowance.start_s
        self._deadline = allowance.deadline_s if deadline is None else deadline
        self._memory_bytes = allowance.memory_bytes if memory_bytes is None else memory_bytes
        self._control, theirs = socket.socketpair()
        with theirs:
            setup = Setup(
                path=sys.path,
                control=theirs.fileno(),
                kind=self._kind,
                target=registry.entry_point(self._kind).value,
                options=options,
                preload=getattr(verifier, "preload", ()),
                deadline=self._deadline,
                memory_bytes=self._memory_bytes,
            )
            try:
                self._server = _start_server(setup)
            except OSError as error:
                self._selector.close()
                self._control.close()
                raise VerifierError(f"A process for {self._kind!r} can't start: {error.strerror}.") from error
        for _ in range(workers):
            self._start()

    @property
    def free(self) -> int:
        """Return how many tasks can be submitted now; workers that are still loading don't count."""
        return sum(_is_free(worker) for worker in self._workers)

    @property
    def pids(self) -> list[int]:
        """Return the process ids of the server and, as far as known, of the workers."""
        return [self._server.pid, *sorted(worker.pid for worker in self._workers if worker.pid)]

    def submit(self, task: WorkerTask) -> None:
        """Give a task to a free worker; `wait` will return its answers.

        Raises:
            RuntimeError: No worker is free.
        """
        worker = next(filter(_is_free, self._workers), None)
        if worker is None:
            raise RuntimeError("no worker is free")
        worker.task = task
        worker.begin(self._deadline * len(task.items))
        worker.channel.send(task)
        self._update_events(worker)

    def wait(self, timeout: float) -> Answers:
        """Wait until a task is answered, a worker becomes free, or the time is up.

        Args:
            timeout: The longest wait in seconds.

        Returns:
            Tasks with the answer to each item; no answers if the worker of a first stage has ended.

        Raises:
            VerifierError: Workers can't start.
        """
        end = time.monotonic() + timeout
        while True:
            free = self.free
            results = self._step(end)
            if results or self.free > free or time.monotonic() >= end:
                return results

    def close(self) -> None:
        """End all workers and the server at once; unfinished items are lost."""
        for worker in list(self._workers):
            worker.kill()
            self._remove(worker)
        self._selector.close()
        self._control.close()
        try:
            self._server.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()

    def _step(self, end: float) -> Answers:
        looks = [worker.next_look for worker in self._workers if worker.pending]
        pause = max(0.0, min([end, *looks]) - time.monotonic())
        results = []
        for key, events in self._selector.select(pause):
            worker: _Worker = key.data
            if events & selectors.EVENT_WRITE:
                worker.channel.flush()
                self._update_events(worker)
            if events & selectors.EVENT_READ:
                results += self._receive(worker)
        now = time.monotonic()
        for worker in [worker for worker in self._workers if worker.pending and worker.next_look <= now]:
            results += self._check_time(worker, now)
        return results

    def _check_time(self, worker: _Worker, now: float) -> Answers:
        seconds = worker.allowed
        if worker.meter is None:
            late: Cause | None = "wall"
        else:
            spent = worker.meter.spent(live=True)
            # Loading is limited by wall time: it doesn't take minutes of computing.
            late = spent.over(seconds) if worker.ready else "wall" if spent.wall >= seconds else None
            worker.next_look = now + spent.left(seconds)
        if late is None:
            return []
        ended = _DIED if self._is_full(worker) else _timeout_verdict(late, seconds)
        worker.kill()
        return self._replace(worker, ended)

    def _is_full(self, worker: _Worker) -> bool:
        return worker.pid is not None and peak_of_process(worker.pid) > _FULL_SHARE * self._memory_bytes

    def _verdict_on_death(self, worker: _Worker) -> Verdict:
        long = time.monotonic() - worker.started >= worker.allowed + CPU_SLACK_S
        return _timeout_verdict("cpu", worker.allowed) if long and worker.ready else _DIED

    def _receive(self, worker: _Worker) -> Answers:
        try:
            body = worker.channel.receive()
            if body is None:
                return []
            if worker.ready:
                return self._process_answer(worker, msgspec.msgpack.decode(body, type=WorkerAnswer))
            self._process_startup(worker, body)
        except (EOFError, msgspec.MsgspecError):
            worker.kill()
            return self._replace(worker, self._verdict_on_death(worker))
        return self._receive(worker)

    def _process_startup(self, worker: _Worker, body: bytes) -> None:
        if worker.pid is None:
            worker.pid = msgspec.msgpack.decode(body, type=Hello).pid
            worker.meter = Meter(worker.pid)
            return
        failure = msgspec.msgpack.decode(body, type=Loaded).failure
        if failure is not None:
            raise VerifierError(f"The verifier {self._kind!r} can't start: {failure}")
        worker.ready = True
        self._start_up_deaths = 0

    def _process_answer(self, worker: _Worker, answer: WorkerAnswer) -> Answers:
        task, found = worker.task, answer.found
        if task is None or len(found) != len(task.items):
            raise EOFError
        worker.task = None
        if not task.first and worker.meter is not None and worker.meter.spent().cpu >= worker.allowed:
            ms = (time.monotonic() - worker.started) * 1000
            found = [structs.replace(_timeout_verdict("cpu", worker.allowed), ms=ms)]
        if answer.last:
            self._replace(worker, _DIED)
        return [(task, found)]

    def _replace(self, worker: _Worker, ended: Verdict) -> Answers:
        if not worker.ready:
            self._start_up_deaths += 1
        if self._start_up_deaths >= _START_UP_DEATHS:
            raise VerifierError(
                f"The verifier {self._kind!r} can't start: {_START_UP_DEATHS} worker processes in a row "
                "ended or hung while they loaded it."
            )
        self._remove(worker)
        self._start()
        if worker.task is None:
            return []
        ms = (time.monotonic() - worker.started) * 1000
        return [(worker.task, [] if worker.task.first else [structs.replace(ended, ms=ms)])]

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [b"\0"], [theirs.fileno()])
            except ConnectionError as error:
                ours.close()
                raise VerifierError(f"The process that starts {self._kind!r} workers has ended.") from error
        worker = _Worker(ours, self._start_s)
        self._workers.add(worker)
        self._selector.register(ours, selectors.EVENT_READ, worker)

    def _update_events(self, worker: _Worker) -> None:
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if worker.channel.unsent else 0)
        self._selector.modify(worker.channel.sock, events, worker)

    def _remove(self, worker: _Worker) -> None:
        self._workers.discard(worker)
        self._selector.unregister(worker.channel.sock)
        worker.channel.close()
        if worker.meter is not None:
            worker.meter.close()


_DIED = Verdict(outcome=Outcome.ABSTAIN, reason="worker_died")


def _timeout_verdict(cause: Cause, seconds: float) -> Verdict:
    return Verdict(
        outcome=Outcome.ABSTAIN, reason="timeout", rule=f"timeout.{cause}", detail=describe_timeout(cause, seconds)
    )


def _is_free(worker: _Worker) -> bool:
    return worker.ready and worker.task is None


def _start_server(setup: Setup) -> subprocess.Popen[bytes]:
    """Start the server in a separate session, so that key presses don't reach it.

    A fixed hash seed makes sympy's choices reproducible; each worker uses one thread.
    """
    fixed = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _BOOT, msgspec.json.encode(setup).decode()],
        pass_fds=[setup.control],
        stdin=subprocess.DEVNULL,
        env=os.environ | fixed,
        start_new_session=True,
    )
