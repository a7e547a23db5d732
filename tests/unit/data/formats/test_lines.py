"""Lines end only at LF, and no line is held in memory beyond its limit."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.item import KEPT_RAW
from workbench.data.formats import lines as module
from workbench.data.formats.lines import BLOCK, read_lines


class _Drops:
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self._data = io.BytesIO(data)
        self._size = size

    def read(self, size: int, /) -> bytes:
        return self._data.read(min(size, self._size))


@given(st.lists(st.binary(max_size=40).filter(lambda raw: b"\n" not in raw)), st.integers(1, 60))
def test_lines_round_trip(lines: list[bytes], size: int) -> None:
    stream = _Drops(b"".join(line + b"\n" for line in lines), size)
    read = list(read_lines(stream))
    assert [line.raw for line in read] == lines
    assert [line.number for line in read] == list(range(1, len(lines) + 1))
    assert all(line.fault is None for line in read)


@given(st.integers(1, 200), st.integers(1, 60))
def test_a_long_line_is_cut_and_the_next_one_is_whole(length: int, size: int) -> None:
    stream = _Drops(b"a\n" + b"x" * length + b"\nb\n", size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_LINE_BYTES", 50)
        read = list(read_lines(stream))
    assert [line.number for line in read] == [1, 2, 3]
    assert read[1].fault == ("too_long" if length > 50 else None)
    assert (read[0].raw, read[2].raw) == (b"a", b"b")


def test_a_long_line_keeps_its_first_64_kib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LINE_BYTES", BLOCK)
    stream = io.BytesIO(b"x" * (3 * BLOCK) + b"\nnext\n")
    first, second = read_lines(stream)
    assert (first.fault, first.raw) == ("too_long", b"x" * KEPT_RAW)
    assert (second.number, second.raw) == (2, b"next")


def test_other_line_separators_are_data() -> None:
    text = "a\u0085b\u2028c\x0bd\x0ce\x1cf\rg"
    (line,) = read_lines(io.BytesIO(text.encode() + b"\n"))
    assert line.raw.decode() == text


def test_a_last_line_without_its_end_is_marked() -> None:
    assert [line.fault for line in read_lines(io.BytesIO(b"a\nb"))] == [None, "unterminated"]
