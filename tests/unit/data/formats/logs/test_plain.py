"""JSON as written by Python."""

from __future__ import annotations

import pytest

from workbench.data.formats.lines import RefusedError
from workbench.data.formats.logs.prompts import parse_lenient, plain_object


def test_numbers_that_json_lacks_are_none_and_long_ones_stay_numbers() -> None:
    found = plain_object(b'{"a": [NaN, Infinity, -Infinity], "b": 1e999, "c": 12345678901234567890123, "d": 7}')
    assert found == {"a": [None, None, None], "b": float("inf"), "c": 1.2345678901234568e22, "d": 7}
    assert plain_object(b'{"n": ' + b"1" * 6_000 + b', "x": NaN}') == {"n": float("inf"), "x": None}


@pytest.mark.parametrize("text", [b"{", b"[1]", b"", b"\xff", b'{"a": "\\ud800"}', b"7", "{}".encode("utf-16")])
def test_what_is_no_object_is_rejected(text: bytes) -> None:
    with pytest.raises(RefusedError):
        plain_object(text)


def test_lone_surrogates_are_kept() -> None:
    assert parse_lenient(b'{"a": "\\ud800"}') == {"a": "\ud800"}
    assert parse_lenient(b"{") is None
