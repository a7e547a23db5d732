"""The verdict of a verifier that asks model servers, whatever becomes of its calls."""

from __future__ import annotations

import time

import msgspec
from msgspec import structs

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.llm.records import Ask, CallFailed, Halt
from workbench.verifiers.base import Judged, ServedVerifier
from workbench.verifiers.judging import failure, trimmed


async def judged_by_server(verifier: ServedVerifier, item: VerifierInput, ask: Ask, secret: bytes) -> Judged:
    """The verdict with its time; a call that failed for good is the verdict "error" with its code as reason.

    Whatever else the verifier raises, or returns instead of a verdict, is the error "internal".

    Raises:
        Halt: No call of the run can succeed now.
        MemoryError: The verifier ran out of memory.
    """
    started = time.perf_counter()
    try:
        answer = _require_plain(await verifier.judge(item, ask, secret))
    except CallFailed as failed:
        answer = Judged(verdict=Verdict(outcome=Outcome.ERROR, reason=failed.code, detail=failed.detail))
    except (Halt, MemoryError):
        raise
    except Exception as error:
        answer = Judged(verdict=failure(f"{type(error).__name__}: {error}"))
    ms = (time.perf_counter() - started) * 1000
    return structs.replace(
        answer,
        verdict=trimmed(answer.verdict, item, ms),
        votes=tuple(trimmed(vote, item, 0.0) for vote in answer.votes),
    )


def _require_plain(answer: object) -> Judged:
    """What a verifier returned, if a database can hold it; else the verdict "error" that says what is wrong.

    Raises:
        Exception: It holds what is no plain data, or of the wrong type.
    """
    if not isinstance(answer, Judged):
        return Judged(verdict=failure(f"the verifier returned a {type(answer).__name__} instead of a Judged"))
    return msgspec.json.decode(msgspec.json.encode(answer), type=Judged)
