"""The first stage for long texts, in processes of its own: a megabyte would hold up everyone else for a second.

Messages are those of `workbench.verifiers.wire`, over the process's standard streams. A process ends when its input
does, so none outlives the one that started it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process

import msgspec
from msgspec import Struct

from workbench.core.errors import VerifierError
from workbench.core.verdict import Verdict, VerifierInput
from workbench.runs.executor import NICENESS
from workbench.runs.local import Deferred, first_stage
from workbench.verifiers.registry import Registry
from workbench.verifiers.wire import LENGTH, pack, read

_ITEMS_A_PROCESS = 500
"""Then another takes its place: what long texts leave behind in its memory goes with it."""

_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from workbench.runs import long_texts; long_texts.serve(*json.loads(sys.argv[2]))"
)


class _Said(Struct, frozen=True):
    """What the first stage said: one of both."""

    verdict: Verdict | None = None
    deferred: Deferred | None = None


class LongTexts:
    """A few processes that make the first stage of one verifier; used from one event loop.

    Args:
        spec: The verifier's kind and options.
        processes: How many; they start when they are needed.
    """

    def __init__(self, spec: tuple[str, dict[str, str]], processes: int) -> None:
        self._spec = spec
        self._places = asyncio.Semaphore(processes)
        self._free: list[_ReaderProcess] = []

    async def first(self, item: VerifierInput) -> Verdict | Deferred:
        """What `first_stage` says.

        Raises:
            VerifierError: The process ended before it said anything.
        """
        async with self._places:
            reader = self._free.pop() if self._free else await _ReaderProcess.started(self._spec)
            try:
                said = await reader.ask(item)
            except (OSError, asyncio.IncompleteReadError, msgspec.MsgspecError) as error:
                raise VerifierError("A process that reads long texts has ended.") from error
            else:
                if reader.asked < _ITEMS_A_PROCESS:
                    self._free.append(reader)
            finally:
                # One that was left in the middle would give its answer to somebody else.
                if reader not in self._free:
                    await reader.end()
        answer = said.deferred or said.verdict
        assert answer is not None
        return answer

    async def close(self) -> None:
        """End the processes that nobody waits for."""
        while self._free:
            await self._free.pop().end()


class _ReaderProcess:
    """A process that reads long replies, one at a time."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.asked = 0

    @classmethod
    async def started(cls, spec: tuple[str, dict[str, str]]) -> _ReaderProcess:
        command = [sys.executable, "-c", _BOOT, json.dumps(sys.path), json.dumps(spec)]
        # A session of its own: no key press reaches it, and it may finish what was accepted.
        return cls(await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, start_new_session=True))

    async def ask(self, item: VerifierInput) -> _Said:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.asked += 1
        self._process.stdin.write(pack(item))
        await self._process.stdin.drain()
        (length,) = LENGTH.unpack(await self._process.stdout.readexactly(LENGTH.size))
        return msgspec.msgpack.decode(await self._process.stdout.readexactly(length), type=_Said)

    async def end(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


def serve(kind: str, options: dict[str, str]) -> None:
    """Be such a process: answer until the input ends."""
    os.nice(NICENESS)
    # What a verifier prints must not stand between two answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    verifier = Registry().local(kind, options)
    while (body := read(sys.stdin.buffer)) is not None:
        said = first_stage(verifier, msgspec.msgpack.decode(body, type=VerifierInput))
        answers.write(pack(_Said(deferred=said) if isinstance(said, Deferred) else _Said(said)))
        answers.flush()
