"""The processes behind a worker pool: one server that forks workers, and the workers.

The server imports the heavy modules once and forks a worker for every socket it is sent, so a new worker costs
milliseconds. `multiprocessing`'s fork server is not used: there every worker holds the pipe that keeps the server
alive,
so that the server and a busy worker survive when a run is killed. Here the server ends as soon as its pool's end of the
control socket closes, and the kernel then kills its workers, whatever they are doing.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import signal
import socket
import sys
import time
from importlib.metadata import EntryPoint
from typing import BinaryIO

import msgspec
import psutil
from msgspec import structs

from workbench.core.verdict import Outcome, Verdict
from workbench.verifiers.base import Verifier
from workbench.verifiers.judging import (
    HeavyVerifier,
    failure,
    first_stage,
    judged,
    lift_memory_limit,
    limit_cpu,
    limit_memory,
    peak_kb,
)
from workbench.verifiers.registry import GROUP, build, require_local
from workbench.verifiers.wire import Hello, Loaded, Setup, WorkerAnswer, WorkerTask, pack, read

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_SWEEPS = 10


def serve(setup: Setup) -> None:
    """Fork a worker for every socket that arrives, until the pool closes its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)
    for module in setup.preload:
        with contextlib.suppress(Exception):  # a worker reports it
            importlib.import_module(module)
    gc.freeze()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(fileno=setup.control) as control:
        while (sock := _next_socket(control)) is not None:
            _fork_worker(sock, control, setup)
    _end_descendants()
    os._exit(0)


def _end_descendants() -> None:
    for _ in range(_SWEEPS):
        descendants = psutil.Process().children(recursive=True)
        for process in descendants:
            with contextlib.suppress(psutil.Error):
                process.kill()
        if not descendants:
            return


def _next_socket(control: socket.socket) -> socket.socket | None:
    data, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    return socket.socket(fileno=descriptors[0]) if data else None


def _fork_worker(sock: socket.socket, control: socket.socket, setup: Setup) -> None:
    server = os.getpid()
    with sock:
        if os.fork():
            return
        try:
            control.close()
            _die_with_server(server)
            _run_worker(sock, setup)
        finally:
            os._exit(0)


def _die_with_server(server: int) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(0)


def _discard_output() -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.close(null)


def _run_worker(sock: socket.socket, setup: Setup) -> None:
    sock.sendall(pack(Hello(pid=os.getpid())))
    try:
        for module in setup.preload:
            importlib.import_module(module)
        verifier = require_local(build(EntryPoint(setup.kind, setup.target, GROUP), setup.options))
        if isinstance(verifier, HeavyVerifier):
            verifier.prepare()
    except Exception as error:
        sock.sendall(pack(Loaded(failure=f"{type(error).__name__}: {error}")))
        return
    limit_memory(setup.memory_bytes)
    largest_kb = peak_kb() + setup.memory_bytes // 2048
    sock.sendall(pack(Loaded()))
    _discard_output()
    with sock.makefile("rb") as stream:
        _answer_all(verifier, sock, stream, largest_kb, setup.deadline)


def _answer_all(verifier: Verifier, sock: socket.socket, stream: BinaryIO, largest_kb: int, deadline: float) -> None:
    worker = os.getpid()
    last = False
    while not last and (body := read(stream)) is not None:
        task = msgspec.msgpack.decode(body, type=WorkerTask)
        limit_cpu(deadline * len(task.items))
        started = time.perf_counter()
        try:
            found = [first_stage(verifier, one) if task.first else judged(verifier, one) for one in task.items]
        except MemoryError:
            # Freeing the memory could exceed the deadline: answer at once, and leave that to the kernel.
            lift_memory_limit()
            ended = structs.replace(_OUT_OF_MEMORY, ms=(time.perf_counter() - started) * 1000)
            sock.sendall(pack(WorkerAnswer(found=[ended] * len(task.items), last=True)))
            os._exit(0)
        if os.getpid() != worker:
            # The verifier forked, and this is the child.
            os._exit(0)
        last = peak_kb() > largest_kb
        sock.sendall(_pack_answer(WorkerAnswer(found=found, last=last)))


_OUT_OF_MEMORY = Verdict(outcome=Outcome.ABSTAIN, reason="worker_died", detail="out of memory")


def _pack_answer(answer: WorkerAnswer) -> bytes:
    try:
        packed = pack(answer)
        msgspec.msgpack.decode(memoryview(packed)[8:], type=WorkerAnswer)
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError) as error:
        return pack(structs.replace(answer, found=[failure(f"its verdict can't be sent: {error}")] * len(answer.found)))
    return packed
