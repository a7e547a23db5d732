"""Messages accepted from a page."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.app.web.serve.app_process import Focused, KeysFrame, Pinged, Resized, Size, parse, size_of


@pytest.mark.parametrize(
    ("message", "meaning"),
    [
        (["stdin", "1"], KeysFrame(b"1")),
        (["stdin", "é\x1b[A"], KeysFrame("é\x1b[A".encode())),
        (["resize", {"width": 80, "height": 24}], Resized(Size(80, 24))),
        (["focus"], Focused(True)),
        (["blur"], Focused(False)),
        (["ping", "1700"], Pinged("1700")),
    ],
    ids=["key", "text", "resize", "focus", "blur", "ping"],
)
def test_messages(message: object, meaning: object) -> None:
    assert parse(json.dumps(message)) == meaning


MALFORMED = [
    *("", "x", "null", "{}", "[]", '"stdin"', "[" * 100_000, '["stdin"]', '["stdin", 1]', '["stdin", "a", "b"]'),
    *('["focus", 1]', '["quit"]', '["ping", "' + "x" * 65 + '"]', '["ping", 7]', '["stdin", "\\ud800"]'),
    *('["resize", {"width": 1e9, "height": 24}]', '["resize", {"width": 80}]', '["resize", [80, 24]]'),
    *('["resize", {"width": true, "height": 24}]', '["resize", {"width": 80.5, "height": 24}]'),
    *('["resize", {"width": "80", "height": 24}]', '["resize", {"width": -1, "height": 0}]'),
    '["resize", {"width": 99999999999999999999999999, "height": 24}]',
]


@pytest.mark.parametrize("text", [*MALFORMED, None], ids=lambda text: (text or "no text")[:40])
def test_invalid_messages_are_rejected(text: str | None) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        parse(text)


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_any_other_data_is_rejected_safely(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(parse(text), KeysFrame | Resized | Focused | Pinged)


def test_sizes() -> None:
    assert size_of({"width": "80", "height": "24"}) == Size(80, 24)
    for query in ({}, {"width": "80"}, {"width": "x", "height": "24"}, {"width": "80", "height": "9" * 5_000}):
        with pytest.raises(ValueError):  # noqa: PT011
            size_of(query)
