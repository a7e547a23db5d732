"""How long to wait before the next attempt, and when to give a call up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from workbench.llm.clock import Clock
from workbench.llm.failures import AttemptFailed

FEWEST_ATTEMPTS = 8
"""No call that may yet succeed is given up before so many attempts ..."""

IDENTICAL = 5
"""... nor unless the last so many failed in the same way ..."""

MOST_ATTEMPTS = 20
"""... or there were so many; rate limits, and servers that aren't ready yet, don't count."""

PATIENCE_S = 3600.0
"""No call takes longer than this from its first attempt, waits included."""

LONGEST_ASKED_S = 1800.0
"""A server that asks for a longer wait has a quota that is spent."""

_FIRST_S = 0.5
_LONGEST_S = 10.0


def asked_wait(headers: Mapping[str, str], date: float) -> float | None:
    """Seconds a server asks to wait: ``retry-after-ms``, or ``Retry-After`` in (decimal) seconds or as a date.

    Args:
        headers: By lower-case name.
        date: Seconds since 1970, now.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - date)
    except (ValueError, OverflowError, TypeError):
        return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


class Patience:
    """One call's: counts its failures."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = self._row_began = clock.now()
        self._attempts = 0
        self._row = 0
        self._last: tuple[str, int | None, bool] | None = None

    @property
    def row_began(self) -> float:
        """When the first of the failures that are all alike was noted, by the clock."""
        return self._row_began

    def wait(self, failure: AttemptFailed) -> float | None:
        """Seconds until the next attempt, never fewer than the server asks for; None to give the call up."""
        if not failure.may_be_repeated:
            return None
        kind = (failure.code, failure.status, failure.unreachable)
        if kind != self._last:
            self._last, self._row, self._row_began = kind, 0, self._clock.now()
        self._row += 1
        limited = failure.code == "rate_limit" or failure.busy
        self._attempts += not limited
        if not limited and self._spent():
            return None
        backoff = self._clock.jitter(min(_LONGEST_S, _FIRST_S * 2.0 ** min(self._row - 1, 10)))
        wait = max(failure.wait or 0.0, backoff)
        return None if self._clock.now() + wait > self._began + PATIENCE_S else wait

    def _spent(self) -> bool:
        enough = self._attempts >= FEWEST_ATTEMPTS and self._row >= IDENTICAL
        return enough or self._attempts >= MOST_ATTEMPTS
