"""Waiting times requested by servers, and limits per minute."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.llm.waits import duration, minute_limit, reset_wait, wait_in_words

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6m0s", 360.0),
        ("1s", 1.0),
        ("20ms", 0.02),
        ("9h36m0s", 34_560.0),
        ("2m59.56s", 179.56),
        ("37.5s", 37.5),
        ("20 seconds", 20.0),
        ("2 minutes", 120.0),
        ("1 day", 86_400.0),
        ("500 milliseconds", 0.5),
        ("soon", None),
        ("5", None),
        ("1s later", None),
        ("", None),
    ],
)
def test_durations(text: str, seconds: float | None) -> None:
    assert duration(text) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Please try again in 7m12s. Visit https://platform.openai.com", 432.0),
        ("Please try again in 9m38.016s.", 578.016),
        ("Please retry in 25.465784708s.", 25.465784708),
        ("Please retry after 27 seconds.", 27.0),
        ("Please wait 41216 seconds before retrying.", 41216.0),
        ("Rate limit is exceeded. Try again in 60 seconds.", 60.0),
        ("please try again after 1 seconds", 1.0),
        ("Your limit resets in 3 hours", 10_800.0),
        ("Please retry your requests after 60 seconds", 60.0),
        ("Rate limit will be reset after 12 seconds", 12.0),
        ("It is available again in 15 minutes.", 900.0),
        ("please wait a moment and try again", None),
        ("40000 tokens a minute are allowed, 50000 were asked for", None),
        ("Limit 30000, Used 29500, Requested 1200.", None),
        ("Please try again later. See error 429", None),
    ],
)
def test_waits_in_words(words: str, seconds: float | None) -> None:
    assert wait_in_words(words) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m26.4s"}, 86.4),
        ({"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "1m26.4s"}, None),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "6m0s",
            },
            360.0,
        ),
        (
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2027-01-15T08:00:48Z",
            },
            48.0,
        ),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000039000"}, 39.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000039"}, 39.0),
        ({"ratelimit-remaining": "0", "ratelimit-reset": "7"}, 7.0),
        ({"ratelimitbysize-remaining": "0", "ratelimitbysize-reset": "7"}, 7.0),
        *(
            (
                {
                    "anthropic-ratelimit-requests-remaining": "5",
                    f"anthropic-ratelimit-{what}tokens-remaining": "0",
                    f"anthropic-ratelimit-{what}tokens-reset": "2027-01-15T08:00:48Z",
                },
                48.0,
            )
            for what in ("", "input-", "output-")
        ),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "never"}, None),
        ({}, None),
    ],
)
def test_exhausted_limits_have_a_reset_time(headers: dict[str, str], seconds: float | None) -> None:
    assert reset_wait(headers, NOW) == (None if seconds is None else pytest.approx(seconds))


def rate_limit_headers(limit: str, left: str, reset: str) -> dict[str, str]:
    return {
        "x-ratelimit-limit-requests": limit,
        "x-ratelimit-remaining-requests": left,
        "x-ratelimit-reset-requests": reset,
    }


@pytest.mark.parametrize(
    ("headers", "limit"),
    [
        (rate_limit_headers("5000", "4999", "12ms"), 5000.0),
        (rate_limit_headers("60", "59", "1s"), 60.0),
        (rate_limit_headers("14400", "14370", "2m59.56s"), None),
        (rate_limit_headers("1000", "999", "1m26.4s"), None),
        (rate_limit_headers("200", "199", "7m12s"), None),
        (rate_limit_headers("5000", "5000", "0s"), None),
        ({"x-ratelimit-limit-requests": "600"}, 600.0),
        ({"anthropic-ratelimit-requests-limit": "50"}, 50.0),
        ({"x-ratelimit-limit-requests": "0"}, None),
        ({"x-ratelimit-limit-requests": "-1"}, None),
        ({}, None),
    ],
)
def test_a_daily_limit_is_not_mistaken_for_one_per_minute(headers: dict[str, str], limit: float | None) -> None:
    assert minute_limit(headers, "requests") == limit


@given(st.text(max_size=40), st.text(max_size=20), st.text(max_size=20))
def test_any_header_is_a_time_or_nothing(reset: str, limit: str, left: str) -> None:
    headers = rate_limit_headers(limit, left, reset)
    for wait in (reset_wait({**headers, "x-ratelimit-remaining-requests": "0"}, NOW), wait_in_words(reset)):
        assert wait is None or wait >= 0
    assert (minute_limit(headers, "requests") or 1.0) > 0
