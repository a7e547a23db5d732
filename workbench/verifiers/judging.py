"""Judge one item: with its time, bounded results, and never with an exception."""

from __future__ import annotations

import math
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

import msgspec
from msgspec import Struct, structs

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.llm.records import Ask, CallFailed, Halt
from workbench.verifiers.base import Judged, Pending, ServedVerifier, StagedVerifier, Verifier

_LONGEST_REASON = 100
_LONGEST_TEXT = 20_000


def judged(verifier: Verifier, item: VerifierInput) -> Verdict:
    """Return the verdict on an item, with the time taken; an exception or an invalid result becomes the verdict
    "error".

    Raises:
        MemoryError: The verifier ran out of memory.
    """
    answer, ms = _measure(verifier.verify, item)
    return trim_verdict(_require_verdict(answer), item, ms)


def first_stage(verifier: Verifier, item: VerifierInput) -> Verdict | Pending:
    """Judge an item with code that can neither hang nor crash, or defer it; if all code may, every item is deferred.

    Errors become verdicts as in `judged`.

    Raises:
        MemoryError: The verifier ran out of memory.
    """
    if verifier.isolation == "process":
        return Pending()
    if verifier.isolation != "staged":
        return judged(verifier, item)
    answer, ms = _measure(cast("StagedVerifier", verifier).quick, item)
    if isinstance(answer, Pending) and isinstance(answer.key, bytes):
        return Pending(answer.key, trim_verdict(_require_verdict(answer.verdict), item, ms))
    return trim_verdict(_require_verdict(answer), item, ms)


def _measure(ask: Callable[[VerifierInput], object], item: VerifierInput) -> tuple[object, float]:
    started = time.perf_counter()
    try:
        answer = ask(item)
    except MemoryError:
        raise
    except Exception as error:
        answer = failure(f"{type(error).__name__}: {error}")
    return answer, (time.perf_counter() - started) * 1000


def _require_verdict(answer: object) -> Verdict:
    if isinstance(answer, Verdict):
        return answer
    return failure(f"the verifier returned a {type(answer).__name__} instead of a Verdict")


def trim_verdict(verdict: Verdict, item: VerifierInput, ms: float) -> Verdict:
    """Return the verdict with its texts shortened and without offsets outside their text."""
    return structs.replace(
        verdict,
        reason=_truncate(verdict.reason, _LONGEST_REASON),
        rule=_truncate(verdict.rule, _LONGEST_REASON),
        reference_final=_truncate(verdict.reference_final, _LONGEST_TEXT),
        candidate_final=_truncate(verdict.candidate_final, _LONGEST_TEXT),
        reference_span=_valid_span(verdict.reference_span, item.reference),
        candidate_span=_valid_span(verdict.candidate_span, item.completion),
        detail=_truncate(verdict.detail, _LONGEST_TEXT),
        ms=ms,
    )


def failure(detail: str) -> Verdict:
    return Verdict(outcome=Outcome.ERROR, reason="internal", detail=detail)


def _truncate(text: str | None, length: int) -> str | None:
    # A plug-in may return anything here; data that is not text is rejected when it is sent or stored.
    return text[:length] if isinstance(text, str) else text


def _valid_span(span: tuple[int, int] | None, text: str) -> tuple[int, int] | None:
    match span:
        case (int(start), int(end)) if 0 <= start <= end <= len(text):
            return start, end
    return None


# -- The verdict of a verifier that calls model servers, whatever the outcome of its calls.


async def judged_by_server(verifier: ServedVerifier, item: VerifierInput, ask: Ask, secret: bytes) -> Judged:
    """Return the verdict on an item, with the time taken; a call that failed for good is the verdict "error" with its
    code as reason.

    Any other exception of the verifier, or a result that is not a verdict, is the error "internal".

    Raises:
        Halt: No call of the run can succeed now.
        MemoryError: The verifier ran out of memory.
    """
    started = time.perf_counter()
    try:
        answer = _storable_result(await verifier.judge(item, ask, secret))
    except CallFailed as failed:
        answer = Judged(verdict=Verdict(outcome=Outcome.ERROR, reason=failed.code, detail=failed.detail))
    except (Halt, MemoryError):
        raise
    except Exception as error:
        answer = Judged(verdict=failure(f"{type(error).__name__}: {error}"))
    ms = (time.perf_counter() - started) * 1000
    return structs.replace(
        answer,
        verdict=trim_verdict(answer.verdict, item, ms),
        votes=tuple(trim_verdict(vote, item, 0.0) for vote in answer.votes),
    )


def _storable_result(answer: object) -> Judged:
    """Return a verifier's result if it can be stored; else the verdict "error" with the reason.

    Raises:
        Exception: The result has data that is not plain, or of the wrong type.
    """
    if not isinstance(answer, Judged):
        return Judged(verdict=failure(f"the verifier returned a {type(answer).__name__} instead of a Judged"))
    return msgspec.json.decode(msgspec.json.encode(answer), type=Judged)


# -- Limits of one worker process, enforced by the kernel.


CPU_SLACK_S = 10
"""Seconds beyond its deadline after which the kernel ends a worker, in case its pool doesn't."""


class Allowance(Struct, frozen=True, kw_only=True):
    """A verifier's limits in a worker process.

    Attributes:
        start_s: Seconds it may take to load, without waits for a processor if the kernel reports them.
        deadline_s: Seconds of processor time an item may take, including the time to send it; ten times as much wall
            time is allowed
            (`meter.WALL_TIME_FACTOR`).
        memory_bytes: Resident memory a worker may use in addition to that after loading.
    """

    start_s: float = 60.0
    deadline_s: float = 1.0
    memory_bytes: int = 2**30


@runtime_checkable
class HeavyVerifier(Protocol):
    """Additional members of a verifier that loads a lot or is slow.

    Attributes:
        allowance: The limits in a worker process.
    """

    allowance: Allowance

    def prepare(self) -> None:
        """Load what ``verify`` needs; called once in each worker process, before its limits apply.

        Raises:
            WorkbenchError: The verifier can't be loaded; no worker will start.
        """
        ...


def peak_kb() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "linux" else peak // 1024


def peak_of_process(pid: int) -> int:
    """Return the peak resident memory of another process, in bytes; 0 if the kernel doesn't report it."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def limit_memory(resident_bytes: int) -> None:
    """Limit the address space so that resident memory stays below the limit; write no core files.

    Libraries reserve address space that they never use (some numpy builds hundreds of MB); memory that is reserved but
    not resident now is added to the limit.
    """
    statm = Path("/proc/self/statm")
    if statm.exists():
        size, resident = (int(pages) * resource.getpagesize() for pages in statm.read_text().split()[:2])
        _lower(resource.RLIMIT_AS, resident_bytes + size - resident)
    _lower(resource.RLIMIT_CORE, 0)


def lift_memory_limit() -> None:
    _lower(resource.RLIMIT_AS, resource.getrlimit(resource.RLIMIT_AS)[1])


def limit_cpu(seconds: float) -> None:
    """Have the kernel end this process soon after ``seconds`` more of computing."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _lower(resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime + seconds) + CPU_SLACK_S)


def _lower(limit: int, value: int) -> None:
    _, hard = resource.getrlimit(limit)
    resource.setrlimit(limit, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
