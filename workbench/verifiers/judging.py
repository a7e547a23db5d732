"""Having a verifier judge one item: with its time, within bounds, and never with an exception."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec import structs

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import Pending, StagedVerifier, Verifier

_LONGEST_REASON = 100
_LONGEST_TEXT = 20_000


def judged(verifier: Verifier, item: VerifierInput) -> Verdict:
    """The verdict with its time; whatever the verifier raises or returns instead of one is the verdict "error".

    Raises:
        MemoryError: The verifier ran out of memory.
    """
    answer, ms = _asked(verifier.verify, item)
    return trimmed(_require_verdict(answer), item, ms)


def quickly_judged(verifier: StagedVerifier, item: VerifierInput) -> Verdict | Pending:
    """The first stage's verdict with its time, or what it leaves to a worker; failures as with `judged`.

    Raises:
        MemoryError: The verifier ran out of memory.
    """
    answer, ms = _asked(verifier.quick, item)
    if isinstance(answer, Pending) and isinstance(answer.key, bytes):
        return Pending(key=answer.key, verdict=trimmed(_require_verdict(answer.verdict), item, ms))
    return trimmed(_require_verdict(answer), item, ms)


def _asked(ask: Callable[[VerifierInput], object], item: VerifierInput) -> tuple[object, float]:
    """What a verifier answers, and the milliseconds that took."""
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


def trimmed(verdict: Verdict, item: VerifierInput, ms: float) -> Verdict:
    """The verdict with bounded texts and without offsets that lie outside their text."""
    return structs.replace(
        verdict,
        reason=_cut(verdict.reason, _LONGEST_REASON),
        rule=_cut(verdict.rule, _LONGEST_REASON),
        reference_final=_cut(verdict.reference_final, _LONGEST_TEXT),
        candidate_final=_cut(verdict.candidate_final, _LONGEST_TEXT),
        reference_span=_within(verdict.reference_span, item.reference),
        candidate_span=_within(verdict.candidate_span, item.completion),
        detail=_cut(verdict.detail, _LONGEST_TEXT),
        ms=ms,
    )


def failure(detail: str) -> Verdict:
    """The verdict "error" on an item that the verifier failed on."""
    return Verdict(outcome=Outcome.ERROR, reason="internal", detail=detail)


def _cut(text: str | None, length: int) -> str | None:
    # A plug-in may have put anything there; what is no text is refused when it is sent or stored.
    return text[:length] if isinstance(text, str) else text


def _within(span: tuple[int, int] | None, text: str) -> tuple[int, int] | None:
    """The span if it is one of the text, else None: a plug-in may have put anything there."""
    match span:
        case (int(start), int(end)) if 0 <= start <= end <= len(text):
            return start, end
    return None
