"""A program in another language in the sandbox: one process for as many of its tests as it survives."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from glob import glob
from typing import Any, BinaryIO, Final, Literal

import msgspec
from msgspec import Struct

from workbench.core.code import BROKEN, NOT_RUN, PASS, Execution, Failure, Level, Program
from workbench.verifiers.execution.box import FLAGS, HOME, namespaces, unused_user_id
from workbench.verifiers.execution.case import describe_exit
from workbench.verifiers.execution.compare import same_output, shortened
from workbench.verifiers.execution.inside.launch import FOLDER, UNCOMPILED
from workbench.verifiers.execution.interpreter import interpreter
from workbench.verifiers.execution.runners import LanguageRunner, RunnerTask, require_runner
from workbench.verifiers.execution.running import POLL_S
from workbench.verifiers.execution.settings import PoolSettings
from workbench.verifiers.meter import Meter, ProcessUsage, describe_timeout

# -- The report of a program in another language: lines on its standard output, which may contain anything.


_CHUNK: Final = 1 << 16
_HEED_S: Final = 0.1
_NEAR_S: Final = 0.05
"""Tests within this time are measured together: measuring all processes takes a while."""


Cut = tuple[str, str]
"""Why a process had to be ended: the outcome, and a description."""


class ReportLine(Struct):
    ready: bool = False
    started: bool = False
    outcome: Literal["p", "f", "e", "s"] | None = None
    value: msgspec.Raw = msgspec.Raw()
    error: str | None = None
    message: str | None = None
    line: int | None = None


def _exceeded_limit(spent: ProcessUsage, limit: float, left: float) -> Cut | None:
    if cause := spent.over(limit):
        return "t", describe_timeout(cause, limit)
    return ("t", "timeout: all tests together took more than they may") if spent.own >= left else None


class OutputListener:
    def __init__(self, process: subprocess.Popen[bytes], mark: str, count: int, most: int) -> None:
        assert process.stdout is not None
        self._process = process
        self._meter = Meter(process.pid, tree=True)
        self._restarted = time.monotonic()
        self._descriptor = process.stdout.fileno()
        self._mark = mark.encode()
        self._count = count
        self._most = most
        self._place = 0
        self.output = bytearray()
        self.lines: list[ReportLine] = []
        self.own = self.cpu = 0.0

    def listen(self, seconds: float, start_s: float, left: float, stopped: threading.Event) -> Cut | None:
        """Read to the end, or until all is reported; return the outcome and reason if the process has to end.

        Args:
            seconds: Processor time for a test.
            start_s: Additional seconds for the first test.
            left: Remaining seconds for all tests, see `ProcessUsage.own`.
        """
        poller = select.poll()
        poller.register(self._descriptor, select.POLLIN)
        limit = seconds + start_s
        next_look = time.monotonic() + min(limit, left)
        while not self._count or len(self.lines) < self._count:
            if stopped.is_set():
                return "t", "it was stopped"
            now = time.monotonic()
            if now >= next_look:
                spent = self._meter.spent()
                if cut := _exceeded_limit(spent, limit, left - self.own):
                    return cut
                next_look = now + spent.left(limit)
            if not poller.poll(min(next_look - now, _HEED_S) * 1000 + 1):
                continue
            data = os.read(self._descriptor, _CHUNK)
            if not data:
                return None
            self.output += data
            if len(self.output) > self._most:
                return "x", "it wrote more than it may"
            if self._count and self._read_lines():
                limit, next_look = seconds, self._restart_meter(seconds)
        return None

    def wait_for_end(self, seconds: float) -> Cut | None:
        limit = seconds + self._meter.spent().cpu
        while not (cut := self._meter.spent().over(limit)):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_HEED_S)
                return None
        return "t", describe_timeout(cut, seconds)

    def stop(self) -> None:
        self._add_usage()
        self._meter.close()

    def _restart_meter(self, seconds: float) -> float:
        now = time.monotonic()
        if now - self._restarted >= min(_NEAR_S, seconds / 20):
            self._add_usage()
            self._meter.restart()
            self._restarted = now
        return self._restarted + seconds

    def _add_usage(self) -> None:
        spent = self._meter.spent()
        self.own, self.cpu = self.own + spent.own, self.cpu + spent.cpu

    def _read_lines(self) -> bool:
        heard = False
        while (end := self.output.find(b"\n", self._place)) >= 0:
            text = bytes(self.output[self._place : end])
            self._place = end + 1
            if text.startswith(self._mark):
                heard = True
                line = _parse_line(text[len(self._mark) :])
                if not line.ready:
                    self.lines.append(line)
        return heard


def _parse_line(text: bytes) -> ReportLine:
    try:
        return msgspec.json.decode(text, type=ReportLine)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ReportLine()


_BOOT: Final = (
    "import sys, json; config = json.loads(sys.argv[1]); sys.path[0] = config['home']; "
    "from inside import launch; launch.main(config)"
)
_START_S: Final = 3.0
_COMPILE_S: Final = 30.0
"""Processor time for starting the sandbox and the interpreter, and for a compiler in addition."""
_FOLDER_BYTES: Final = 1 << 26
_PROCESSES: Final = 64
_FAILURES: Final = 5
_CPU_SLACK_S: Final = 10
_LOADERS: Final = tuple(sorted(glob("/lib*/ld-*")))
"""The dynamic loaders, which start any program that uses shared libraries."""


class _ProcessResult(Struct):
    """The result of one process.

    Attributes:
        lines: The lines of its report.
        output: Its whole output.
        cut: Why it was ended: outcome and description; None if it ended itself or had reported everything.
        status: Its status as ``os.wait`` returns it.
    """

    lines: list[ReportLine]
    output: bytes
    cut: Cut | None
    status: int


class LaunchedProgram:
    """Runs a program in another language against its tests, in a separate thread.

    Attributes:
        next_look: Monotonic time at which `look` is due.

    Raises:
        VerifierError: Programs in its language can't be run here, or not at this level.
    """

    def __init__(self, program: Program, level: Level, settings: PoolSettings) -> None:
        self.next_look = 0.0
        self._stopped = threading.Event()
        runner = require_runner(program.language, level, scratch=settings.scratch_bytes > 0)
        launch = _TestInProgress(program, runner, level, settings, self._stopped)
        self._executor = ThreadPoolExecutor(1)
        self._future = self._executor.submit(launch.execution)

    def look(self) -> Execution | None:
        if not self._future.done():
            self.next_look = time.monotonic() + POLL_S
            return None
        self._executor.shutdown()
        return self._future.result()

    def end(self) -> None:
        """End the program; no process that it started survives."""
        self._stopped.set()
        self._executor.shutdown()


class _TestInProgress:
    def __init__(
        self, program: Program, runner: LanguageRunner, level: Level, settings: PoolSettings, stopped: threading.Event
    ) -> None:
        self._stopped = stopped
        self._program = program
        self._runner = runner
        self._level: Level = level
        self._settings = settings
        self._splits = [runner.outside(test, program.entry_point, program.setup) for test in program.tests]
        self._letters = dict.fromkeys(program.broken, BROKEN)
        self._failures: dict[int, Failure] = {}
        self._seconds = 0.0
        self._left = settings.seconds_total

    def execution(self) -> Execution:
        tests = self._program.tests
        while left := [place for place in range(len(tests)) if place not in self._letters]:
            if self._stopped.is_set() or self._decided or self._left <= 0:
                self._letters |= dict.fromkeys(left, NOT_RUN)
            elif tests[left[0]].form == "stdio":
                self._run_script(left[0])
            else:
                self._run_tests(self._together(left))
        letters = [self._letters[place] for place in range(len(tests))]
        ran = sum(letter not in (NOT_RUN, BROKEN) for letter in letters)
        forgeable = (
            letter == PASS and split is None and test.form != "stdio"
            for letter, split, test in zip(letters, self._splits, tests, strict=True)
        )
        failures = [failure for _, failure in sorted(self._failures.items())]
        return Execution(
            outcomes="".join(letters),
            level=self._level,
            forgeable=sum(forgeable),
            ms=self._seconds * 1000 / ran if ran else 0.0,
            failures=tuple(failures[:_FAILURES]),
        )

    @property
    def _decided(self) -> bool:
        return self._settings.stop_early and any(letter not in (PASS, BROKEN) for letter in self._letters.values())

    def _together(self, left: list[int]) -> list[int]:
        """Return the tests that share a process with the first one; a whole program has a separate process.

        The file contains the expected values of tests that are compared inside, so these never share a process with
        tests that are compared outside.
        """
        first, tests = left[0], self._program.tests
        if self._settings.fresh_per_test or tests[first].form == "program":
            return [first]
        outside = self._splits[first] is not None
        return [
            place
            for place in left
            if tests[place].form not in ("program", "stdio") and (self._splits[place] is not None) == outside
        ]

    def _run_script(self, place: int) -> None:
        test = self._program.tests[place]
        result = self._read_result(self._program.source, test.source, "", 0)
        if result.cut:
            self._give(place, *result.cut)
        elif result.status:
            self._give(place, "x" if result.status & 0x7F else "e", describe_exit(result.status))
        else:
            got, wanted = result.output.decode("utf-8", "replace"), test.expected or ""
            if same_output(wanted, got):
                self._give(place, PASS)
            else:
                self._give(place, "f", got=shortened(got), expected=shortened(wanted))

    def _run_tests(self, places: list[int]) -> None:
        splits = [self._splits[place] for place in places]
        sources = [self._program.tests[place].source for place in places]
        asked = RunnerTask(
            source=self._program.source,
            setup=self._program.setup,
            tests=tuple(s.expression if s else source for s, source in zip(splits, sources, strict=True)),
            compared=tuple(split is not None for split in splits),
            mark=secrets.token_hex(8),
        )
        result = self._read_result(self._runner.file_of(asked), "", asked.mark, 1 + len(places))
        start, *lines = result.lines or [ReportLine()]
        if not start.started:
            self._give_all(places, result, start)
            return
        for place, line in zip(places, lines, strict=False):
            self._take(place, line)
            if self._decided:
                break
        else:
            if len(lines) < len(places):
                self._give(places[len(lines)], *(result.cut or _describe_ending(result.status, self._program.seconds)))
        self._mark_broken([place for place in places if self._letters.get(place) == "s"])

    def _give_all(self, places: list[int], heard: _ProcessResult, start: ReportLine) -> None:
        for place in places:
            if heard.status == UNCOMPILED << 8:
                self._give(place, "s", "it doesn't compile")
            elif start.outcome not in (PASS, None):
                self._tell(place, start.outcome, start)
            else:
                self._give(place, *(heard.cut or _describe_ending(heard.status, self._program.seconds)))

    def _take(self, place: int, line: ReportLine) -> None:
        split = self._splits[place]
        if split is None:
            self._tell(place, line.outcome or "x", line)
        elif not bytes(line.value):
            self._tell(place, "x" if line.outcome in (PASS, None) else line.outcome, line)
        elif _is_same_json(bytes(line.value), split.literal.encode()):
            self._give(place, PASS)
        else:
            self._give(place, "f", got=_value_text(line.value), expected=shortened(split.literal))

    def _mark_broken(self, places: list[int]) -> None:
        """Mark tests as broken that are reported as no code and fail even without the program.

        A program may report that of any test, so its report alone doesn't count.
        """
        places = [place for place in places if self._program.tests[place].form != "program"]
        if not places or self._runner.compile:
            return
        sources = tuple(self._program.tests[place].source for place in places)
        none = (False,) * len(places)
        asked = RunnerTask(source="", setup="", tests=sources, compared=none, mark=secrets.token_hex(8))
        result = self._read_result(self._runner.file_of(asked), "", asked.mark, 1 + len(places))
        for place, line in zip(places, result.lines[1:], strict=False):
            if line.outcome == "s":
                self._letters[place] = BROKEN
                self._failures.pop(place, None)

    def _tell(self, place: int, letter: str, line: ReportLine) -> None:
        known = line.line is not None and 1 <= line.line <= self._program.source.count("\n") + 1
        error = None if line.error is None else shortened(line.error)
        message = shortened(line.message) if line.message else None
        self._give(place, letter, message, error=error, line=line.line if known else None)

    def _give(self, place: int, letter: str, message: str | None = None, **told: Any) -> None:
        self._letters[place] = letter
        if letter != PASS:
            self._failures[place] = Failure(position=place, outcome=letter, message=message, **told)

    def _read_result(self, text: str, given: str, mark: str, count: int) -> _ProcessResult:
        with _process(self._runner, text, given, self._settings) as process:
            listener = OutputListener(process, mark, count, self._settings.output_bytes)
            start_s = _COMPILE_S if self._runner.compile else _START_S
            cut = listener.listen(self._program.seconds, start_s, self._left, self._stopped)
            if cut is None and (not count or len(listener.lines) < count):
                cut = listener.wait_for_end(self._program.seconds)
            listener.stop()
        code = process.returncode
        self._left -= listener.own
        self._seconds += listener.cpu
        # The launcher reports a program ended by a signal as 128 plus its number.
        status = code - 128 if code > 128 else code << 8
        return _ProcessResult(listener.lines, bytes(listener.output), cut, status)


def _describe_ending(status: int, seconds: float) -> Cut:
    if status & 0x7F == signal.SIGXCPU:
        return "t", describe_timeout("cpu", seconds)
    return "x", describe_exit(status)


def _value_text(value: msgspec.Raw) -> str:
    return shortened(bytes(value).decode("utf-8", "replace"))


def _is_same_json(value: bytes, literal: bytes) -> bool:
    try:
        return bool(
            _tag_booleans(json.loads(value, parse_int=float)) == _tag_booleans(json.loads(literal, parse_int=float))
        )
    except (ValueError, RecursionError):
        return False


def _tag_booleans(value: Any) -> Any:
    """Return a JSON value in which ``true`` doesn't equal 1."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, list):
        return [_tag_booleans(one) for one in value]
    if isinstance(value, dict):
        return {name: _tag_booleans(one) for name, one in value.items()}
    return value


@contextlib.contextmanager
def _process(
    runner: LanguageRunner, text: str, given: str, settings: PoolSettings
) -> Iterator[subprocess.Popen[bytes]]:
    with ExitStack() as stack:
        file, given_file = (stack.enter_context(_open_read_only(content)) for content in (text, given))
        lifeline, own_end = (
            stack.enter_context(os.fdopen(end, mode)) for end, mode in zip(os.pipe(), "rw", strict=True)
        )
        process = subprocess.Popen(
            _command(runner, settings, file.fileno(), lifeline.fileno()),
            pass_fds=[file.fileno(), lifeline.fileno()],
            stdin=given_file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,
        )
        stack.enter_context(process)
        # Process 1 inside the sandbox ends when this end of its pipe closes.
        stack.callback(own_end.close)
        yield process


def _open_read_only(content: str) -> BinaryIO:
    with tempfile.TemporaryFile() as file:
        file.write(content.encode("utf-8", "surrogatepass"))
        file.flush()
        return open(f"/proc/self/fd/{file.fileno()}", "rb")


def _command(runner: LanguageRunner, settings: PoolSettings, file: int, lifeline: int) -> list[str]:
    known = interpreter(settings.python)
    root = os.geteuid() == 0
    commands = [runner.command(words) for words in (runner.compile, runner.run)]
    own = [command[0] for command in commands if command]
    config = {
        "home": HOME,
        "lifeline": lifeline,
        "user": unused_user_id(),
        "read": [*known.readable(with_packages=False), *runner.reads],
        "list": runner.reads,
        "runnable": [*own, *_LOADERS],
        "compile": commands[0],
        "run": commands[1],
        "memory": settings.memory_bytes,
        "processes": _PROCESSES if root else None,
        "cpu": settings.seconds_total + _CPU_SLACK_S,
        "environment": runner.environment,
    }
    places = [*dict.fromkeys((*own, *runner.reads))]
    folders = sorted({os.path.dirname(path) for path in places} - {"/"})
    more = [word for folder in folders for word in ("--perms", "0755", "--dir", folder)]
    more += [word for path in places for word in ("--ro-bind", path, path)]
    more += ["--perms", "0755", "--size", str(_FOLDER_BYTES), "--tmpfs", FOLDER]
    more += ["--perms", "0644", "--ro-bind-data", str(file), runner.file]
    walls = namespaces(known, root=root, with_packages=False, more=more)
    return [*walls, known.program, *FLAGS, "-c", _BOOT, json.dumps(config)]
