"""The clock, and the rate limits and waits in a server's headers and messages."""

from __future__ import annotations

import asyncio
import math
import random
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final


class Clock:
    """Real time and randomness; tests replace it by one that they control."""

    def now(self) -> float:
        """Return the seconds of a monotonic clock."""
        return time.monotonic()

    def date(self) -> float:
        """Return seconds since 1970, to compare with dates that servers send."""
        return time.time()

    def jitter(self, longest: float) -> float:
        """Return a random waiting time of at most ``longest`` seconds."""
        return random.uniform(0.0, longest)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART: Final = re.compile(
    r"(\d{1,12}(?:\.\d{1,12})?)\s*(ms|milli\w*|s|m|h|d|sec\w*|min\w*|hour\w*|days?)(?![a-z])\s*", re.IGNORECASE
)
_IN_WORDS: Final = re.compile(
    rf"\b(?:try again|retry|retrying|wait|resets?|cleared|available again|allowed|cool-?down)\D{{0,40}}?"
    rf"((?:{_PART.pattern})+)",
    re.IGNORECASE,
)
_EPOCH: Final = 1e9
"""Larger numbers of seconds are dates."""
_WINDOWS: Final = (
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
    ("ratelimitbysize-remaining", "ratelimitbysize-reset"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
    ("ratelimit-remaining", "ratelimit-reset"),
)
"""Headers of the remainder of a limit, and of the time until its reset."""
_LIMIT: Final = re.compile(r"[0-9]{1,12}")
_MAX_MINUTE_RESET_S: Final = 120.0
"""A limit with a longer time until its reset is not per minute."""


def requested_wait(headers: Mapping[str, str], date: float) -> float | None:
    """Return the seconds a server asks to wait: ``retry-after-ms``, or ``Retry-After`` in seconds or as a date.

    Args:
        headers: Headers by lower-case name.
        date: The current time in seconds since 1970.
    """
    milliseconds = _parse_number(headers.get("retry-after-ms"))
    return _seconds_until(headers.get("retry-after", ""), date) if milliseconds is None else milliseconds / 1000


def reset_wait(headers: Mapping[str, str], date: float) -> float | None:
    """Return the seconds until the used-up limits are reset, which may be longer than needed.

    Accepted formats: durations (``6m0s``, ``20ms``), RFC 3339, and seconds or milliseconds since 1970.
    """
    resets = (_seconds_until(headers.get(reset, ""), date) for left, reset in _WINDOWS if headers.get(left) == "0")
    return max((one for one in resets if one is not None), default=None)


def wait_in_words(words: str) -> float | None:
    """Return the seconds that an error message asks to wait ("Please try again in 7m12s")."""
    found = _IN_WORDS.search(words)
    return None if found is None else duration(found[1])


def duration(text: str) -> float | None:
    """Parse a duration such as ``1m30s``, ``500ms``, ``37.5s`` or "20 seconds" into seconds."""
    parts = list(_PART.finditer(text))
    if not parts or "".join(part[0] for part in parts).strip() != text.strip():
        return None
    units = ((float(part[1]), part[2].lower()) for part in parts)
    return sum(number * _UNITS["ms" if name.startswith(("ms", "milli")) else name[0]] for number, name in units)


def _seconds_until(text: str, date: float) -> float | None:
    number = _parse_number(text)
    if number is not None:
        since_1970 = number / 1000 if number >= _EPOCH * 1000 else number
        return max(0.0, since_1970 - date) if since_1970 >= _EPOCH else number
    if (found := duration(text)) is not None:
        return found
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = read(text)
            # A date without a time zone is in Greenwich time (RFC 9110, 5.6.7), not in this machine's.
            return max(0.0, (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - date)
        except (ValueError, OverflowError, TypeError):
            continue
    return None


def _parse_number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def minute_limit(headers: Mapping[str, str], what: str) -> float | None:
    """Return how many ``requests`` or ``tokens`` a server allows a minute; None if it doesn't report that.

    ``x-ratelimit-limit-requests`` may be per day (Groq): the time until used capacity is restored shows which.
    """
    anthropic = headers.get(f"anthropic-ratelimit-{what}-limit", "")
    if _LIMIT.fullmatch(anthropic):
        return float(anthropic)
    value = headers.get(f"x-ratelimit-limit-{what}", "")
    if not _LIMIT.fullmatch(value) or not (limit := float(value)):
        return None
    reset = headers.get(f"x-ratelimit-reset-{what}")
    if reset is None:
        return limit
    used = limit - (_parse_number(headers.get(f"x-ratelimit-remaining-{what}")) or 0.0)
    seconds = _seconds_until(reset, 0.0)
    if seconds is None or used <= 0 or seconds * limit / used > _MAX_MINUTE_RESET_S:
        return None
    return limit
