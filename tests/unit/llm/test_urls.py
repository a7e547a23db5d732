"""Addresses of servers."""

from __future__ import annotations

import pytest

from tests.unit.llm.calling import caller_of
from workbench.core.errors import UsageError


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8000/v1", "https://a-b.example.:443/x/v1?api-version=1", "http://[::1]:8000", "http://my_host"],
)
def test_an_address_is_used_unchanged(url: str) -> None:
    caller_of(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://x/v1",
        "localhost:8000",
        "http://",
        "http://user:pw@x/v1",
        "http://x/v1?key=abc",
        "http://x/#a",
        "http://[x/v1",
        "http://x/\x1b[2J",
        "http://a..b/",
        "http://x\\y/v1",
        "http://\u202ex/",
        "http://x/" + "a" * 70_000,
    ],
)
def test_a_wrong_address_is_rejected_without_being_repeated(url: str) -> None:
    with pytest.raises(UsageError, match="base_url") as caught:
        caller_of(url)
    assert "pw" not in str(caught.value)
    assert "abc" not in str(caught.value)
