"""Tests sent into the sandbox and frames read from it."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from types import CodeType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.code import CodeTest
from workbench.verifiers.execution.compare import MalformedOutputError
from workbench.verifiers.execution.inside.frames import HEAD
from workbench.verifiers.execution.suite import Results, packed, prepare_suite

MAGIC = importlib.util.MAGIC_NUMBER.hex()
TESTS = tuple(
    CodeTest(form="expression", source=source)
    for source in ("assert f(1) == 987654", "assert f(2) == 'hidden', f(3)", "assert (f(4,\n1)) == (1,\n2)")
)


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    os.set_blocking(ends[0], False)
    yield ends
    for end in ends:
        os.close(end)


def test_expected_values_never_enter_the_sandbox() -> None:
    suite = prepare_suite(TESTS, MAGIC)
    for secret in (b"987654", b"hidden", (987654).to_bytes(4, "little")):
        assert secret not in suite.packed["expression"]
    assert [test.expected for test in suite.tests] == [987654, "hidden", (1, 2)]
    assert suite.together == {"expression": (0, 1, 2), "statement": ()}


def test_code_is_compiled_for_the_same_interpreter_only() -> None:
    assert all(isinstance(test.sent, CodeType) for test in prepare_suite(TESTS, MAGIC).tests)
    sent = [test.sent for test in prepare_suite(TESTS, "another").tests]
    assert sent == ["(\nf(1)\n)", "(\nf(2)\n)", "(\nf(4,\n1)\n)"]


@pytest.mark.parametrize("literal", ["True", "False", "'a longer one'"])
def test_the_value_limit_does_not_reveal_the_literal_length(literal: str) -> None:
    known = CodeTest(form="expression", source=f"assert f({'x' * 3000!r}) == {literal}")
    other = CodeTest(form="expression", source="assert f(1) == 2")
    suite = prepare_suite((known, other), MAGIC)
    assert {suite.sent(place)[3] for place in suite.together["expression"]} == {1 << 18}


def test_slow_compilation_happens_inside() -> None:
    body = "x = f(1, 2, 3)"
    for _ in range(14):
        body = "try:\n pass\nfinally:\n" + "\n".join(f" {line}" for line in body.split("\n"))
    long = f"assert f({'+ 1' * 10_000})"
    for source in (body, long):
        (test,) = prepare_suite((CodeTest(form="statement", source=source),), MAGIC).tests
        assert test.sent == source


@pytest.mark.parametrize("source", ["x = {}", "assert f({}) == 3"])
def test_code_too_deep_to_marshal_is_sent_as_text(source: str) -> None:
    """Compiled code of 998 nested lambdas is deeper than marshal supports."""
    test = CodeTest(form="statement", source=source.format("lambda:" * 1_000 + "2"))
    (ready,) = prepare_suite((test,), MAGIC).tests
    assert isinstance(ready.sent, str)
    assert packed([(0, ready.form, ready.sent, 1)])


def test_tests_are_prepared_once() -> None:
    assert prepare_suite(TESTS, MAGIC) is prepare_suite((*TESTS,), MAGIC)


@pytest.mark.parametrize("source", ["x = (", "(" * 5000, "\0", "", "-" * 200_000 + "1", "1+" * 100_000 + "1"])
def test_invalid_python_is_sent_unchanged(source: str) -> None:
    (test,) = prepare_suite((CodeTest(form="expression", source=source),), MAGIC).tests
    assert test.form == "statement"
    assert packed([(0, test.form, test.sent, 0)])


@given(st.lists(st.tuples(st.integers(0, 99), st.sampled_from("pfesv"), st.binary(max_size=20))), st.integers(1, 40))
def test_frames_are_reassembled(frames: list[tuple[int, str, bytes]], size: int) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream, os.fdopen(writing, "wb", 0) as sink:
        os.set_blocking(stream.fileno(), False)
        results = Results(stream.fileno(), 1 << 20, 20)
        data = b"".join(HEAD.pack(n, letter.encode(), 7, len(text)) + text for n, letter, text in frames)
        found = []
        for start in range(0, len(data), size):
            sink.write(data[start : start + size])
            results.read()
            found += [(frame.number, frame.letter, frame.text) for frame in results.frames()]
        assert found == frames
        assert not results.ended


def test_a_child_that_writes_too_much_is_cut_off(pipe: tuple[int, int]) -> None:
    results = Results(pipe[0], 10, 10)
    os.write(pipe[1], b"x" * 10)
    results.read()
    os.write(pipe[1], b"x")
    with pytest.raises(MalformedOutputError):
        results.read()


def test_a_frame_is_limited_by_its_test(pipe: tuple[int, int]) -> None:
    results = Results(pipe[0], 1 << 30, 1000)
    os.write(pipe[1], HEAD.pack(0, b"v", 0, 1001))
    results.read()
    with pytest.raises(MalformedOutputError):
        next(results.frames())


def test_no_more_than_one_frame_is_read_ahead(pipe: tuple[int, int]) -> None:
    results = Results(pipe[0], 1 << 30, 1000)
    os.write(pipe[1], b"x" * 2000)
    results.read()
    os.write(pipe[1], b"x" * 2000)
    results.read()
    assert len(results.output()) == 2000
