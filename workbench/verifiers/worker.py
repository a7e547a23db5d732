"""The processes behind a worker pool: one server that forks workers, and the workers.

The server imports the heavy modules once and forks a worker for every socket it is sent, so a new worker
costs milliseconds. It is not `multiprocessing`'s fork server, because there every worker holds the pipe
that keeps the server alive: when a run is killed, the server and a worker deep in a computation stay.
Here the server ends as soon as its pool's end of the control socket closes, and the kernel then kills its
workers, whatever they are doing.
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
from msgspec import structs

from workbench.model.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import GROUP, Verifier, build
from workbench.verifiers.limits import limit_cpu, limit_memory, peak_kb
from workbench.verifiers.wire import Answer, Hello, Loaded, Setup, pack, read

_PR_SET_PDEATHSIG = 1


def serve(setup: Setup) -> None:
    """Fork a worker for every socket that arrives, until the pool closes its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)
    for module in setup.preload:
        with contextlib.suppress(Exception):  # a worker reports it
            importlib.import_module(module)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(fileno=setup.control) as control:
        while (sock := _next_socket(control)) is not None:
            _fork(sock, control, setup)
    os._exit(0)


def _next_socket(control: socket.socket) -> socket.socket | None:
    data, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    return socket.socket(fileno=descriptors[0]) if data else None


def _fork(sock: socket.socket, control: socket.socket, setup: Setup) -> None:
    server = os.getpid()
    with sock:
        if os.fork():
            return
        try:
            control.close()
            _die_with(server)
            _work(sock, setup)
        finally:
            os._exit(0)


def _die_with(server: int) -> None:
    """Have the kernel kill this process when the server ends; lead a process group of its own."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(0)


def _work(sock: socket.socket, setup: Setup) -> None:
    sock.sendall(pack(Hello(pid=os.getpid())))
    try:
        for module in setup.preload:
            importlib.import_module(module)
        verifier = build(EntryPoint(setup.kind, setup.target, GROUP), setup.options)
    except Exception as error:
        sock.sendall(pack(Loaded(failure=f"{type(error).__name__}: {error}")))
        return
    limit_memory(setup.memory_bytes)
    largest_kb = peak_kb() + setup.memory_bytes // 2048
    sock.sendall(pack(Loaded()))
    with sock.makefile("rb") as stream:
        _answer_all(verifier, sock, stream, largest_kb, setup.deadline)


def _answer_all(verifier: Verifier, sock: socket.socket, stream: BinaryIO, largest_kb: int, deadline: float) -> None:
    """Answer items until the pool closes its end or this process has grown too large."""
    last = False
    while not last and (body := read(stream)) is not None:
        limit_cpu(deadline)
        verdict, broken = _verdict(verifier, msgspec.msgpack.decode(body, type=VerifierInput))
        last = broken or peak_kb() > largest_kb
        sock.sendall(_packed(Answer(verdict=verdict, last=last)))


def _verdict(verifier: Verifier, item: VerifierInput) -> tuple[Verdict, bool]:
    """The verdict with its time, and whether this process is no longer to be trusted."""
    started = time.perf_counter()
    broken = False
    try:
        verdict: object = verifier.verify(item)
    except MemoryError:
        broken = True
        verdict = Verdict(outcome=Outcome.ABSTAIN, reason="worker_died", detail="out of memory")
    except Exception as error:
        verdict = _failure(f"{type(error).__name__}: {error}")
    if not isinstance(verdict, Verdict):
        verdict = _failure(f"the verifier returned a {type(verdict).__name__} instead of a Verdict")
    return structs.replace(verdict, ms=(time.perf_counter() - started) * 1000), broken


def _packed(answer: Answer) -> bytes:
    """The answer as bytes; one with fields of a wrong type or unencodable text becomes an error."""
    try:
        packed = pack(answer)
        msgspec.msgpack.decode(memoryview(packed)[8:], type=Answer)
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError) as error:
        return pack(Answer(verdict=_failure(f"its verdict can't be sent: {error}"), last=answer.last))
    return packed


def _failure(detail: str) -> Verdict:
    return Verdict(outcome=Outcome.ERROR, reason="internal", detail=detail[:2000])
