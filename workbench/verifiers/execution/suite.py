"""Tests prepared for the sandbox, once for all solutions of a problem."""

from __future__ import annotations

import importlib.util
import marshal
import os
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, Final

from msgspec import Struct, structs

from workbench.core.code import CodeTest, Form
from workbench.core.code_tests.assertion import Assertion, Via, constant_of
from workbench.core.code_tests.callees import Callees, callees
from workbench.verifiers.execution.compare import MalformedOutputError, decoded, equal
from workbench.verifiers.execution.inside.encoding import encoded
from workbench.verifiers.execution.inside.frames import HEAD

TEST: Final = "<test>"
_MAGIC: Final = importlib.util.MAGIC_NUMBER.hex()
_MARSHAL: Final = 4
"""The format of plain values, readable from Python 3.4 on; code is only valid for interpreters with the same `_MAGIC`.
"""
_LEAST_ROOM: Final = 1 << 16
_BYTES_PER_CHARACTER: Final = 64
"""Maximum bytes of a value in tagged JSON for each character of the test: ``1e300`` equals an integer of 301 digits."""
_LONGEST_COMPILED: Final = 1 << 14
_DOUBLED: Final = "finally"
"""The compiler duplicates the code after this keyword, and so doubles it for each level of nesting."""


class PreparedTest(Struct, frozen=True):
    """One test.

    Attributes:
        form: The actual form: ``statement`` for a test that only claims to be an ``expression``.
        sent: Its code or, for another interpreter, its text; without the parts that must not be known inside.
        expected: The value that an ``expression`` must equal.
        likely: The most likely encoding of the expected value: an equal result passes without being decoded.
        via: The conversion applied outside, if any.
        whole: The unchanged test, which is run inside if the value can't be converted outside.
        wanted: The expected value as written in the test, or the expected output of a ``stdio`` program.
        message: A statement that raises the assertion's error, if its message is computed; it is run only if the value
            is wrong, and decides between a failure and an error.
    """

    form: Form
    sent: str | CodeType
    expected: object = None
    likely: bytes = b""
    via: Via | None = None
    whole: str | CodeType = ""
    wanted: str | None = None
    message: str | CodeType | None = None


Sent = tuple[int, str, str | CodeType, int]
"""A test as a child gets it: its index in the suite, form, code and maximum size of the value.

The form is ``expression``, ``plain`` for one whose value must consist of plain values, or ``statement``.

"""


class Suite(Struct, frozen=True):
    """The tests of a problem.

    Attributes:
        tests: The tests in their order.
        together: Indices of tests that share a process, by form. A statement contains its expected value, so it never
            shares a process with expressions whose value it might reveal.
        packed: The tests, encoded for a child.
        room: Maximum bytes of an encoded value; a larger one can't equal the literal. A child learns this number, so it
            is the same for all tests and reveals almost nothing about each.
    """

    tests: tuple[PreparedTest, ...]
    together: dict[Form, tuple[int, ...]]
    packed: dict[Form, bytes]
    room: int

    def sent(self, place: int) -> Sent:
        test = self.tests[place]
        return place, "plain" if test.via else test.form, test.sent, self.room


@lru_cache(maxsize=256)
def prepare_suite(tests: tuple[CodeTest, ...], magic: str, entry_point: str | None = None, setup: str = "") -> Suite:
    """Prepare tests: compiled if the interpreter inside accepts code compiled by the current one, else as text.

    Args:
        tests: The tests; they are parsed and compiled, never run.
        magic: The magic number of the inner interpreter's compiled code.
        entry_point: The function under test; None if unspecified.
        setup: Code between the program and the tests.
    """
    known = callees(entry_point, setup)
    ready = tuple(_prepare_test(test, known, compiles=magic == _MAGIC) for test in tests)
    forms: tuple[Form, ...] = ("expression", "statement")
    together = {form: tuple(place for place, test in enumerate(ready) if test.form == form) for form in forms}
    outside = (len(one.source) for one, test in zip(tests, ready, strict=True) if test.form == "expression")
    longest = max(outside, default=0)
    suite = Suite(ready, together, {}, 1 << (max(_LEAST_ROOM, _BYTES_PER_CHARACTER * longest) - 1).bit_length())
    return structs.replace(suite, packed={form: packed(map(suite.sent, together[form])) for form in forms})


def packed(tests: Iterable[Sent]) -> bytes:
    return marshal.dumps(list(tests), _MARSHAL)


def job_message(kind: str, source: str, setup: str, tests: bytes, *, fresh: bool, cpu: float) -> bytes:
    """Return a child's job as the message it reads.

    Args:
        kind: ``tests``, ``program`` or ``stdio``.
        tests: The result of `pack_tests`.
        fresh: Whether the program is executed again before each test.
        cpu: Seconds of computing after which the kernel ends the child.
    """
    job: dict[str, Any] = {"kind": kind, "source": source, "setup": setup, "tests": tests, "fresh": fresh, "cpu": cpu}
    body = marshal.dumps(job, _MARSHAL)
    return len(body).to_bytes(8, "little") + body


def _prepare_test(test: CodeTest, known: Callees, *, compiles: bool) -> PreparedTest:
    if test.form == "stdio":
        return PreparedTest("stdio", "", wanted=test.expected or "")
    if test.form == "program":
        return PreparedTest("program", "")
    # The form is determined by the test's text, not by the stored form.
    sides = known.assertion_outside(test.source)
    whole = _compile_source(test.source, "exec", compiles=compiles)
    if sides is None:
        return PreparedTest("statement", whole)
    # Brackets let an expression span several lines, as it may in its source.
    raised = sides.message and f"raise AssertionError((\n{sides.message}\n))"
    expected: object = constant_of(sides.right)
    return PreparedTest(
        "expression",
        _compile_source(f"(\n{sides.left}\n)", "eval", compiles=compiles),
        expected,
        b"" if sides.via else _likely_encoding(expected, _BYTES_PER_CHARACTER * len(test.source)),
        sides.via,
        whole if sides.via else "",
        _expected_text(sides),
        raised and _compile_source(raised, "exec", compiles=compiles),
    )


def _expected_text(sides: Assertion) -> str:
    if sides.via is None:
        return sides.right
    match sides.via.name, sides.via.given:
        case ("<" | "<=") as sign, (wanted, most):
            return f"{wanted!r}, off by {sign} {most!r}"
        case "isclose", (wanted, *_):
            return f"{wanted!r}, or close to it"
        case name, given:
            return f"{sides.right} after {name}({', '.join(('…', *map(repr, given)))})"


def _likely_encoding(expected: object, room: int) -> bytes:
    text = encoded(expected, room)
    return text if equal(expected, decoded(text)) else b""


def _compile_source(source: str, mode: str, *, compiles: bool) -> str | CodeType:
    if not compiles or len(source) > _LONGEST_COMPILED or _DOUBLED in source:
        return source
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(source, TEST, mode, dont_inherit=True)
        # Code may be nested more deeply than the format supports.
        marshal.dumps([(0, "", code)], _MARSHAL)
        return code
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return source


# -- A child's output, parsed; it may be anything.


_CHUNK = 1 << 20


class OutcomeFrame(Struct, frozen=True):
    """A report on one test.

    Attributes:
        number: The test's index, or `inside.frames.START` for the program itself.
        letter: An outcome, or ``v`` for a value.
        micros: Processor time of its thread in microseconds, as reported by the child.
        text: The value, or the evidence.
    """

    number: int
    letter: str
    micros: int
    text: bytes


class Results:
    """The reading end of a child's pipe.

    Args:
        descriptor: A non-blocking descriptor.
        most: Maximum bytes that a child may write.
        longest: Maximum bytes of text in one frame.
    """

    def __init__(self, descriptor: int, most: int, longest: int) -> None:
        self._descriptor = descriptor
        self._left = most
        self._longest = longest
        self._data = bytearray()
        self.ended = False

    def read(self) -> None:
        """Read the available bytes, at most one frame at a time, and detect the end.

        Raises:
            MalformedOutputError: The output is larger than permitted.
        """
        while not self.ended and len(self._data) <= HEAD.size + self._longest:
            try:
                data = os.read(self._descriptor, _CHUNK)
            except BlockingIOError:
                return
            self.ended = not data
            self._left -= len(data)
            if self._left < 0:
                raise MalformedOutputError
            self._data += data

    def frames(self) -> Iterator[OutcomeFrame]:
        """Yield the complete frames, and remove them.

        Raises:
            MalformedOutputError: A frame is longer than permitted.
        """
        data = self._data
        while len(data) >= HEAD.size:
            number, letter, micros, length = HEAD.unpack_from(data)
            if length > self._longest:
                raise MalformedOutputError
            end = HEAD.size + length
            if len(data) < end:
                return
            yield OutcomeFrame(number, letter.decode("latin-1"), micros, bytes(data[HEAD.size : end]))
            del data[:end]

    def output(self) -> bytes:
        return bytes(self._data)
