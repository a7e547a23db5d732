"""The first stage of judging on this machine: verdicts that a verifier reaches at once, and items deferred to workers.

With many items it runs in the calling process and in helper processes; with long texts, only in helper processes.
Messages have the format of `workbench.verifiers.wire`: a request contains items, and its reply an answer for each. A
helper process ends when its socket closes, so it never outlives the process that started it.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from itertools import islice
from queue import SimpleQueue
from typing import NamedTuple, cast

import msgspec
from msgspec import Struct

from workbench.core.errors import VerifierError
from workbench.core.processes import Closing
from workbench.core.verdict import Verdict, VerifierInput
from workbench.verifiers.base import Pending, StagedVerifier, Verifier
from workbench.verifiers.judging import judge_first_stage, judged
from workbench.verifiers.registry import Registry
from workbench.verifiers.wire import message, pack, read

BATCH_ITEMS = 64
"""Items in one batch."""
NICENESS = 10
"""Niceness of helper processes, which yield the processor to the answering process."""
MIN_ITEMS_FOR_HELPERS = 1_000
"""Number of items that the caller judges before helper processes start."""
_MAX_BATCH_CHARACTERS = 500_000
"""A batch with this many characters takes no further item."""
LONG_ITEM_CHARACTERS = 20_000
"""Minimum characters of a long item."""
_MAX_LONG_ITEMS_PER_PROCESS = 500
"""Number of long items after which a process is replaced, which frees the memory they left behind."""

_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from workbench.runs import first_stage; first_stage.serve(*json.loads(sys.argv[2]))"
)


class LeftToWorker(Struct, frozen=True):
    """An item that the first stage defers to a worker.

    Attributes:
        key: Items with equal keys get the same answer; None if the item needs a separate answer.
        known: The first stage's partial result; None if the worker's verdict is the whole result.
    """

    key: bytes | None
    known: Verdict | None


_WHOLE = LeftToWorker(None, None)


def first_stage(verifier: Verifier, item: VerifierInput) -> Verdict | LeftToWorker:
    """Judge an item with code that can neither hang nor crash, or defer it; if all code may, every item is deferred."""
    if verifier.isolation == "process":
        return _WHOLE
    if verifier.isolation != "staged":
        return judged(verifier, item)
    answer = judge_first_stage(cast("StagedVerifier", verifier), item)
    return LeftToWorker(answer.key, answer.verdict) if isinstance(answer, Pending) else answer


Spec = tuple[str, dict[str, str]]
"""A verifier's kind and options."""
FirstAnswer = Verdict | LeftToWorker
"""The first stage's answer to an item."""


class _FirstStageRequest(Struct, frozen=True):
    items: Sequence[VerifierInput]


class _FirstStageAnswer(Struct, frozen=True):
    verdict: Verdict | None = None
    deferred: LeftToWorker | None = None


class _FirstStageReply(Struct, frozen=True):
    said: list[_FirstStageAnswer]


def serve(kind: str, options: dict[str, str], descriptor: int, niceness: int) -> None:
    """Run as a first-stage process: answer until the socket closes."""
    os.nice(niceness)
    verifier = Registry().local(kind, options)
    with socket.socket(fileno=descriptor) as sock, sock.makefile("rb") as stream:
        while (body := read(stream)) is not None:
            asked = msgspec.msgpack.decode(body, type=_FirstStageRequest)
            sock.sendall(pack(_FirstStageReply([_answer_item(verifier, item) for item in asked.items])))


def _answer_item(verifier: Verifier, item: VerifierInput) -> _FirstStageAnswer:
    answer = first_stage(verifier, item)
    return _FirstStageAnswer(deferred=answer) if isinstance(answer, LeftToWorker) else _FirstStageAnswer(answer)


_ENDED = "A process that reads texts has ended."


def _decode_answers(body: bytes, count: int) -> list[FirstAnswer]:
    """Decode ``count`` answers from a message.

    Raises:
        VerifierError: The message is malformed.
    """
    try:
        said = msgspec.msgpack.decode(body, type=_FirstStageReply).said
    except msgspec.MsgspecError as error:
        raise VerifierError(_ENDED) from error
    answers = [answer for one in said if (answer := one.deferred or one.verdict) is not None]
    if len(answers) != count:
        raise VerifierError(_ENDED)
    return answers


class FirstStageProcess:
    """A process that runs the first stage of one verifier.

    Raises:
        VerifierError: The process can't start.
    """

    def __init__(self, spec: Spec) -> None:
        self._sock, self._process = _start_process(spec, 0)
        self._stream = self._sock.makefile("rb")

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, items: Sequence[VerifierInput]) -> list[FirstAnswer]:
        """Return the answer to each item; only one thread at a time may call this.

        Raises:
            VerifierError: The process has ended.
        """
        try:
            self._sock.sendall(pack(_FirstStageRequest(items)))
            body = read(self._stream)
        except (OSError, ValueError) as error:
            raise VerifierError(_ENDED) from error
        return _decode_answers(body or b"", len(items))

    def end(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the process and close its socket; no call may be in progress."""
        self.end()
        self._stream.close()
        self._sock.close()


def _start_process(spec: Spec, niceness: int) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    with ExitStack() as opened:
        try:
            ours, theirs = map(opened.enter_context, socket.socketpair())
            asked = json.dumps([*spec, theirs.fileno(), niceness])
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", _BOOT, json.dumps(sys.path), asked],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                # A separate session: key presses don't reach it, so that it can finish accepted work.
                start_new_session=True,
            )
        except OSError as error:
            raise VerifierError(f"A first-stage worker process can't start: {error.strerror}.") from error
        opened.pop_all()
        theirs.close()
        return ours, process


# -- Helper processes for many items.


def _next_batch(left: Iterator[VerifierInput]) -> list[VerifierInput]:
    items, characters = list[VerifierInput](), 0
    for item in islice(left, BATCH_ITEMS):
        items.append(item)
        characters += item.characters
        if characters > _MAX_BATCH_CHARACTERS:
            break
    return items


_Done = SimpleQueue["tuple[_SharedBatch, list[FirstAnswer] | None]"]


class _SharedBatch(NamedTuple):
    items: list[VerifierInput]
    done: _Done


class FirstStagePool(Closing):
    """The first-stage worker pool: processes that help the caller with the first stage of one verifier.

    They start once the caller has judged `MIN_ITEMS_FOR_HELPERS` items and has more than one further batch. If a
    process ends, the caller judges its batch.

    Args:
        processes: Number of processes; with 0, or without a first stage, the caller judges all items itself.
    """

    def __init__(self, verifier: Verifier, spec: Spec, processes: int) -> None:
        self._verifier, self._spec = verifier, spec
        self._wanted = processes if verifier.isolation == "staged" else 0
        self._batches = deque[_SharedBatch]()
        self._changed = threading.Condition()
        self._helpers: list[threading.Thread] = []
        self._processes: list[FirstStageProcess] = []
        self._lock = threading.Lock()
        self._closed = False
        self._receive = 0

    @property
    def pids(self) -> list[int]:
        with self._lock:
            return [process.pid for process in self._processes]

    def answers(self, items: Iterable[VerifierInput]) -> Iterator[tuple[VerifierInput, FirstAnswer]]:
        """Yield each item with `first_stage`'s answer, in no particular order; for one caller at a time."""
        left = iter(items)
        done: _Done = SimpleQueue()
        given = 0
        own: Iterable[VerifierInput]
        while True:
            before = self._receive
            # Without helpers the caller requests an item only when it has answered the one before.
            own = (
                _next_batch(left)
                if self._wanted and self._receive >= MIN_ITEMS_FOR_HELPERS
                else islice(left, BATCH_ITEMS)
            )
            while own and self._wants_batch() and (batch := _next_batch(left)):
                while len(self._helpers) < self._wanted:
                    helper = threading.Thread(target=self._run_helper, daemon=True)
                    helper.start()
                    self._helpers.append(helper)
                with self._changed:
                    self._batches.append(_SharedBatch(batch, done))
                    self._changed.notify()
                given += 1
            if not own and (own := self._withdraw_batch(done)):
                given -= 1
            yield from self._judge_here(own)
            while given and (not own or not done.empty()):
                read, answers = done.get()
                given -= 1
                yield from self._judge_here(read.items) if answers is None else zip(read.items, answers, strict=True)
            if self._receive == before and not given:
                return

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        with self._lock:
            for process in self._processes:
                process.end()
        for helper in self._helpers:
            helper.join()
        self._helpers = []

    def _judge_here(self, items: Iterable[VerifierInput]) -> Iterator[tuple[VerifierInput, FirstAnswer]]:
        for item in items:
            self._receive += 1
            yield item, first_stage(self._verifier, item)

    def _wants_batch(self) -> bool:
        return not self._closed and self._receive >= MIN_ITEMS_FOR_HELPERS and len(self._batches) < self._wanted

    def _next_shared_batch(self) -> _SharedBatch | None:
        with self._changed:
            self._changed.wait_for(lambda: self._batches or self._closed)
            return None if self._closed else self._batches.popleft()

    def _withdraw_batch(self, done: _Done) -> list[VerifierInput]:
        with self._changed:
            while self._batches:
                if (batch := self._batches.popleft()).done is done:
                    return batch.items
        return []

    def _run_helper(self) -> None:
        if (process := self._start_process()) is None:
            return
        with suppress(VerifierError):
            # A process that answers has loaded; until then the caller is faster.
            process.ask([])
            while (batch := self._next_shared_batch()) is not None:
                answers = None
                try:
                    answers = process.ask(batch.items)
                finally:
                    batch.done.put((batch, answers))
        with self._lock:
            self._processes.remove(process)
            process.close()

    def _start_process(self) -> FirstStageProcess | None:
        with self._lock, suppress(VerifierError):
            if not self._closed:
                self._processes.append(FirstStageProcess(self._spec))
                return self._processes[-1]
        return None


# -- Processes for an event loop.


class AsyncFirstStageProcess(asyncio.Protocol):
    """A process that runs the first stage of one verifier, called from an event loop; answers requests in order.

    Attributes:
        long: Number of long items sent to it.

    Raises:
        VerifierError: The process can't start.
    """

    def __init__(self, spec: Spec, niceness: int = 0) -> None:
        self._sock, self._process = _start_process(spec, niceness)
        self._transport: asyncio.Transport | None = None
        self._incoming = bytearray()
        self._asked: deque[tuple[int, asyncio.Future[list[FirstAnswer]]]] = deque()
        self.long = 0

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def lives(self) -> bool:
        ended = self._transport is not None and self._transport.is_closing()
        return not ended and self._process.poll() is None

    async def ask(self, items: Sequence[VerifierInput]) -> list[FirstAnswer]:
        """Return the answer to each item; several calls may be in progress.

        Raises:
            VerifierError: The process has ended, or the items can't be sent.
        """
        self.long += sum(item.characters > LONG_ITEM_CHARACTERS for item in items)
        try:
            asked = pack(_FirstStageRequest(items))
        except ValueError as error:
            raise VerifierError("A text can't be sent to a first-stage worker process.") from error
        loop = asyncio.get_running_loop()
        if self._transport is None:
            await loop.create_unix_connection(lambda: self, sock=self._sock)
        assert self._transport is not None
        if self._transport.is_closing():
            raise VerifierError(_ENDED)
        answer: asyncio.Future[list[FirstAnswer]] = loop.create_future()
        self._asked.append((len(items), answer))
        self._transport.write(asked)
        return await answer

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        if self._transport is None:
            self._sock.close()
        else:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._incoming += data
        while (body := message(self._incoming)) is not None and self._asked:
            count, answer = self._asked.popleft()
            if answer.done():
                continue
            try:
                answer.set_result(_decode_answers(body, count))
            except VerifierError as error:
                answer.set_exception(error)

    def connection_lost(self, exc: Exception | None) -> None:
        while self._asked:
            _, answer = self._asked.popleft()
            if not answer.done():
                answer.set_exception(VerifierError(_ENDED))


class AsyncFirstStagePool:
    """A pool of processes that run the first stage of one verifier, for one event loop.

    Args:
        processes: Maximum number; they start on demand, with a lower priority than the loop.
    """

    def __init__(self, spec: Spec, processes: int) -> None:
        self._spec = spec
        self._most = processes
        self._places = asyncio.Semaphore(processes)
        self._busy = 0
        self._free: list[AsyncFirstStageProcess] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def free(self) -> int:
        return len(self._free)

    @property
    def is_over_capacity(self) -> bool:
        return self._busy > self._most

    def prepare(self, processes: int) -> None:
        """Start processes in the background, up to the maximum; this doesn't wait for them."""
        for _ in range(min(processes, self._most) - self.free - self._busy - len(self._starting)):
            starting = asyncio.ensure_future(self._start())
            self._starting.add(starting)
            starting.add_done_callback(self._starting.discard)

    async def answers(self, items: Sequence[VerifierInput]) -> list[FirstAnswer]:
        """Return `first_stage`'s answer to each item.

        Raises:
            VerifierError: The process ended before it answered.
        """
        async with self.process() as process:
            return await process.ask(items)

    @asynccontextmanager
    async def process(self) -> AsyncIterator[AsyncFirstStageProcess]:
        """Reserve a process for the block; the process is ended if the block fails, or if no caller needs it any more.

        Raises:
            VerifierError: No process can start.
        """
        self._busy += 1
        try:
            async with self._places:
                process = self._take_idle_process() or AsyncFirstStageProcess(self._spec, NICENESS)
                try:
                    yield process
                except BaseException:
                    # The process's result is no longer needed.
                    process.close()
                    raise
                if self._closed or process.long >= _MAX_LONG_ITEMS_PER_PROCESS:
                    process.close()
                else:
                    self._free.append(process)
        finally:
            self._busy -= 1

    async def _start(self) -> None:
        with suppress(VerifierError):
            async with self._places:
                process = AsyncFirstStageProcess(self._spec, NICENESS)
                try:
                    await process.ask([])
                except BaseException:
                    process.close()
                    raise
                self._free.append(process)

    def _take_idle_process(self) -> AsyncFirstStageProcess | None:
        while self._free:
            process = self._free.pop()
            if process.lives:
                return process
            process.close()
        return None

    async def close(self) -> None:
        self._closed = True
        for starting in self._starting:
            starting.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        while self._free:
            self._free.pop().close()
