"""One solution in the sandbox: the next batch to run, and the outcome of each test."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal

from msgspec import Struct

from workbench.core.code import BROKEN, NOT_RUN, PASS, Execution, Failure, Level, Program
from workbench.core.code_tests.assertion import AS_LIST, ISCLOSE, Via
from workbench.verifiers.execution.compare import (
    MalformedOutputError,
    decoded,
    equal,
    format_value,
    same_output,
    scalar,
    shortened,
    split_tag,
)
from workbench.verifiers.execution.inside.child import FAILED, NO_CODE
from workbench.verifiers.execution.inside.frames import HEAD, LONGEST_EVIDENCE, REDUCED, VALUE
from workbench.verifiers.execution.settings import PoolSettings
from workbench.verifiers.execution.suite import OutcomeFrame, PreparedTest, job_message, packed, prepare_suite
from workbench.verifiers.meter import ProcessUsage, describe_timeout

# -- Conversions that a test applies to its call's value before comparing; done outside on plain values.


_SCALARS: Final = (str, int, float, bool, type(None))
_MEMBERS: Final = ("set", "frozenset", "dict")
_OF_MEMBERS: Final[dict[str, Callable[..., Any]]] = {"list": list, "tuple": tuple, "sorted": sorted, "len": len}
_OF_VALUES: Final[dict[str, Callable[..., Any]]] = {
    **_OF_MEMBERS,
    "str": str,
    "repr": repr,
    "int": int,
    "float": float,
    "bool": bool,
    "abs": abs,
    "round": round,
    AS_LIST: lambda found: list(found) if isinstance(found, tuple) else found,
}


class NotPlainError(ValueError):
    """The value can't be converted outside."""


class Raised(Exception):
    """The conversion raised an error, as it would have done inside."""


def satisfies(via: Via, expected: object, value: Any) -> bool:
    """Return whether a value in tagged JSON, after conversion, is the one a test expects.

    Args:
        expected: The expected value; for comparisons of numbers, true.
        value: The value as returned by `compare.decoded`.

    Raises:
        NotPlainError: The value isn't plain.
        Raised: The conversion fails on it.
        MalformedOutputError: The value is not tagged JSON.
    """
    try:
        if via.name in ("set", "frozenset"):
            return _is_same_set(expected, _members(value))
        return bool(_convert(via, value) == expected)
    except (TypeError, ValueError, ArithmeticError) as error:
        if isinstance(error, NotPlainError | MalformedOutputError):
            raise
        raise Raised(type(error).__name__, str(error)) from error


def _convert(via: Via, value: Any) -> Any:
    if via.name in ("<", "<="):
        found, (wanted, most) = _require_number(value), via.given
        return abs(found - wanted) < most if via.name == "<" else abs(found - wanted) <= most
    if via.name == ISCLOSE:
        wanted, relative, absolute = via.given
        return math.isclose(_require_number(value), wanted, rel_tol=relative, abs_tol=absolute)
    if via.name == "sorted":
        return sorted(_members(value), reverse=bool(via.given))
    if via.name in _OF_MEMBERS and _is_container(value):
        return _OF_MEMBERS[via.name](_members(value))
    return _OF_VALUES[via.name](_plain_value(value), *via.given)


def _require_number(value: Any) -> Any:
    found = _plain_value(value)
    if not isinstance(found, int | float):
        raise TypeError(f"a {type(found).__name__} instead of a number")
    return found


def _plain_value(value: Any) -> Any:
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, list):
        return [*map(_plain_value, value)]
    tag, held = split_tag(value)
    if tag == "tuple" and isinstance(held, list):
        return tuple(map(_plain_value, held))
    if tag in ("int", "bytes", "complex"):
        return scalar(tag, held)
    raise NotPlainError


def _is_container(value: Any) -> bool:
    return isinstance(value, dict) and not value.keys().isdisjoint(_MEMBERS)


def _members(value: Any) -> list[Any]:
    if _is_container(value):
        tag, held = split_tag(value)
        if not isinstance(held, list) or (tag == "dict" and not all(isinstance(one, list) and one for one in held)):
            raise MalformedOutputError
        return [_plain_value(one[0] if tag == "dict" else one) for one in held]
    found = _plain_value(value)
    if not isinstance(found, Iterable):
        raise TypeError(f"{type(found).__name__!r} object is not iterable")
    return list(found)


def _is_same_set(expected: object, members: list[Any]) -> bool:
    if any(isinstance(member, list) for member in members):
        raise TypeError("unhashable type: 'list'")
    if not isinstance(expected, set):
        return False
    return all(member in expected for member in members) and len({*members}) == len(expected)


_MAX_FAILURES: Final = 5
"""Maximum failures reported in detail; the outcome letters cover all tests."""
_FROM_INSIDE: Final = frozenset("pfes")
_CPU_SLACK_S: Final = 10.0
_REST_SHARE: Final = 0.25
_MIN_REST_S: Final = 0.5


class Batch(Struct, frozen=True):
    """The work of one child.

    Attributes:
        kind: ``tests`` in one process, a whole ``program``, or a program that reads its input (``stdio``).
        places: Indices in the suite of the tests it runs, in order.
        job: The message to the child, and for ``stdio`` its input.
    """

    kind: Literal["tests", "program", "stdio"]
    places: tuple[int, ...]
    job: bytes


class SolutionProgress:
    """A solution and its outcomes so far.

    Args:
        magic: The magic number of the inner interpreter's compiled code.
    """

    def __init__(self, program: Program, level: Level, settings: PoolSettings, magic: str) -> None:
        self.program = program
        self._left = settings.seconds_total
        self._timed_out = False
        self._level = level
        self._settings = settings
        self._suite = prepare_suite(program.tests, magic, program.entry_point, program.setup)
        self._letters = dict.fromkeys(program.broken, BROKEN)
        self._inside: set[int] = set()
        self._missed = False
        self._doubtful: set[int] = set()
        self._failures: list[Failure] = []
        self._micros = 0
        self._harness_killed = False

    def most_bytes(self, batch: Batch) -> int:
        if batch.kind == "stdio":
            return self.longest(batch)
        return (1 + len(batch.places)) * (HEAD.size + self.longest(batch))

    def longest(self, batch: Batch) -> int:
        """Return the maximum bytes of one report of a child: on a test, or of a program whose output is the result."""
        return LONGEST_EVIDENCE + (self._settings.output_bytes if batch.kind == "stdio" else self._suite.room)

    @property
    def decided(self) -> bool:
        return self._settings.stop_early and self._missed

    @property
    def done(self) -> bool:
        """Return whether every test has its outcome, or needs none because the time is up or the verdict is decided."""
        if self._left <= 0 or (self.decided and not self._doubtful):
            return True
        return len(self._letters) == len(self._suite.tests) and not self._doubtful

    def late(self, test: ProcessUsage, others: float) -> str | None:
        """Describe why a test has timed out; None while it has time.

        Args:
            test: The test's usage.
            others: Seconds that its process has used for other tests.
        """
        if cause := test.over(self.program.seconds):
            return describe_timeout(cause, self.program.seconds)
        if self._left > others + test.own:
            return None
        if self._timed_out:
            return f"timeout: after a test over its time, the others took more than {self._rest:g} s"
        return f"timeout: all tests together took more than {self._settings.seconds_total:g} s"

    @property
    def _rest(self) -> float:
        """Return the seconds for all tests after one over its limit: others of a looping solution loop, too."""
        return max(_REST_SHARE * self.program.seconds, _MIN_REST_S)

    def charge(self, seconds: float) -> None:
        self._left -= seconds
        if self._timed_out:
            self._left = min(self._left, self._rest)

    def batch(self) -> Batch:
        left = [place for place in range(len(self._suite.tests)) if place not in self._letters]
        if self._doubtful and (self.decided or not left):
            return self._batch_of_failure_messages()
        if not (first := [place for place in left if place not in self._inside]):
            return self._batch_compared_inside(left)
        # A statement contains its expected value: tests that are compared outside must not run after it.
        left = [place for place in first if self._suite.tests[place].form == "expression"] or first
        if self._suite.tests[left[0]].form in ("program", "stdio"):
            return self._batch_of_one_test(left[0])
        if self._settings.fresh_per_test:
            return self._batch_in_one_process(left[:1])
        form = self._suite.tests[left[0]].form
        return self._batch_in_one_process([place for place in left if self._suite.tests[place].form == form])

    def _batch_in_one_process(self, places: list[int]) -> Batch:
        suite, form = self._suite, self._suite.tests[places[0]].form
        there = len(places) == len(suite.together[form])
        tests = suite.packed[form] if there else packed(map(suite.sent, places))
        return Batch("tests", tuple(places), self._job_message("tests", self.program.source, self.program.setup, tests))

    def _batch_of_failure_messages(self) -> Batch:
        places = sorted(self._doubtful)
        tests = packed((place, "statement", self._suite.tests[place].message or "", 0) for place in places)
        return Batch("tests", tuple(places), self._job_message("tests", self.program.source, self.program.setup, tests))

    def _batch_compared_inside(self, places: list[int]) -> Batch:
        some = places[:1] if self._settings.fresh_per_test else places
        tests = packed((place, "statement", self._suite.tests[place].whole, 0) for place in some)
        return Batch("tests", tuple(some), self._job_message("tests", self.program.source, self.program.setup, tests))

    def _batch_of_one_test(self, place: int) -> Batch:
        form, source = self._suite.tests[place].form, self.program.source
        given, tests = self.program.tests[place].source, packed([self._suite.sent(place)])
        if form == "stdio":
            job = self._job_message("stdio", source, "", tests)
            return Batch("stdio", (place,), job + given.encode("utf-8", "surrogateescape"))
        whole = "\n".join(part for part in (source, self.program.setup, given) if part)
        return Batch("program", (place,), self._job_message("program", whole, "", tests))

    def _job_message(self, kind: str, source: str, setup: str, tests: bytes) -> bytes:
        cpu = self._settings.seconds_total + _CPU_SLACK_S
        return job_message(kind, source, setup, tests, fresh=self._settings.fresh_namespace, cpu=cpu)

    def take(self, place: int, frame: OutcomeFrame) -> None:
        """Record a child's report on a test.

        Raises:
            MalformedOutputError: The report can't come from an honest child.
        """
        test, letter = self._suite.tests[place], frame.letter
        if place in self._doubtful:
            return self._record_failure_message(place, letter, frame.text)
        self._micros += frame.micros
        if frame.micros > self.program.seconds * 1e6:
            return self.set_outcome(place, "t", message=describe_timeout("cpu", self.program.seconds))
        outside = test.form == "expression" and place not in self._inside
        if letter == VALUE.decode() and outside:
            return self._record_value(place, test, frame.text)
        if letter == REDUCED.decode() and outside and test.via:
            self._inside.add(place)
            return None
        if letter not in _FROM_INSIDE or (letter == PASS and outside):
            raise MalformedOutputError
        return self._record_evidence(place, letter, frame.text)

    def take_output(self, place: int, output: bytes, status: int, micros: int) -> None:
        """Record a program's output, and how its process ended as ``os.wait`` returns it."""
        self._micros += micros
        if micros > self.program.seconds * 1e6:
            return self.set_outcome(place, "t", message=describe_timeout("cpu", self.program.seconds))
        printed, _, said = output.partition(FAILED) if status else (output, b"", b"")
        if said:
            with contextlib.suppress(MalformedOutputError):
                return self._record_evidence(place, "s" if status >> 8 == NO_CODE else "e", said)
        if status:
            return self.set_outcome(place, "x" if status & 0x7F else "e", message=describe_exit(status))
        got, wanted = printed.decode("utf-8", "replace"), self._suite.tests[place].wanted or ""
        if same_output(wanted, got):
            return self.set_outcome(place, PASS)
        return self.set_outcome(place, "f", got=shortened(got), expected=shortened(wanted))

    def start_failed(self, places: tuple[int, ...], frame: OutcomeFrame) -> None:
        for place in places:
            self._record_evidence(place, frame.letter, frame.text)

    def set_outcome(self, place: int, letter: str, **told: Any) -> None:
        """Set a test's outcome, replacing any earlier one.

        Args:
            told: Fields of `Failure`, for a test that doesn't pass.
        """
        self._letters[place] = letter
        self._doubtful.discard(place)
        if letter == PASS:
            return
        self._missed = True
        self._timed_out |= letter == "t"
        others = [known for known in self._failures if known.position != place]
        failures = [*others, Failure(position=place, outcome=letter, **told)]
        self._failures = sorted(failures, key=lambda failure: failure.position)[:_MAX_FAILURES]

    def lose(self) -> None:
        """Record that the harness died over this solution: it counts as not run, since outcomes may be missing."""
        self._harness_killed = True
        self._failures.clear()
        self._doubtful.clear()
        places = range(len(self._suite.tests))
        self._letters = dict.fromkeys(places, NOT_RUN) | dict.fromkeys(self.program.broken, BROKEN)

    def execution(self) -> Execution:
        letters = [self._letters.get(place, NOT_RUN) for place in range(len(self._suite.tests))]
        ran = sum(letter not in (NOT_RUN, BROKEN) for letter in letters)
        inside = sum(
            letters[place] == PASS and (test.form in ("statement", "program") or place in self._inside)
            for place, test in enumerate(self._suite.tests)
        )
        return Execution(
            outcomes="".join(letters),
            level=self._level,
            forgeable=inside,
            ms=self._micros / 1000 / ran if ran else 0.0,
            failures=tuple(self._failures),
            harness_killed=self._harness_killed,
        )

    def _record_value(self, place: int, test: PreparedTest, text: bytes) -> None:
        if text == test.likely:
            return self.set_outcome(place, PASS)
        value = decoded(text)
        try:
            if equal(test.expected, value) if test.via is None else satisfies(test.via, test.expected, value):
                return self.set_outcome(place, PASS)
            self.set_outcome(place, "f", got=format_value(value), expected=shortened(test.wanted or ""))
            if test.message is not None:
                self._doubtful.add(place)
        except NotPlainError:
            self._inside.add(place)
        except Raised as raised:
            name, message = raised.args
            self.set_outcome(place, "e", error=name, message=shortened(message))
        except (RecursionError, TypeError, ValueError, ArithmeticError) as error:
            # A number that can't be hashed, for example; only a forged frame contains one.
            raise MalformedOutputError from error

    def _record_failure_message(self, place: int, letter: str, text: bytes) -> None:
        self._doubtful.discard(place)
        if letter == "e":
            self._record_evidence(place, letter, text)

    def _record_evidence(self, place: int, letter: str, text: bytes) -> None:
        if letter == PASS:
            self.set_outcome(place, PASS)
            return
        fields = decoded(text)
        if not isinstance(fields, list) or len(fields) != 3:
            raise MalformedOutputError
        error, message, line = fields
        if not (isinstance(error, str) and isinstance(message, str) and (line is None or isinstance(line, int))):
            raise MalformedOutputError
        lines = self.program.source.count("\n") + 1
        if line is not None and not 1 <= line <= lines:
            line = None
        self.set_outcome(place, letter, error=shortened(error), message=shortened(message) or None, line=line)


def describe_exit(status: int) -> str:
    if signal := status & 0x7F:
        return f"the process was ended by signal {signal}"
    return f"the process ended itself with status {status >> 8}"
