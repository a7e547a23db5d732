"""A child: one process, forked from the server, for one solution.

It reads its job from standard input and, once it is locked in, runs it. The rest of standard input is the program's own
input. Results go to a separate pipe; a hostile program can write there, too, so the reader must trust nothing but "this
process gave this value".
"""

from __future__ import annotations

import json
import marshal
import os
import sys
from collections.abc import Callable
from time import thread_time_ns
from types import CodeType, ModuleType
from typing import Any, NoReturn

from .encoding import encoded, is_plain
from .frames import HEAD, REDUCED, START, VALUE
from .lock import grant_last_words, limit_cpu

RESULTS = 3
"""The descriptor that results are written to."""

SOLUTION = "<solution>"
TEST = "<test>"
_MODES = {"expression": "eval", "plain": "eval", "statement": "exec"}
FAILED = b"\0failed\0"
"""Separates a program's output from the reason of its end, in a job of kind ``stdio``."""

NO_CODE = 3
"""The exit status in a job of kind ``stdio`` for a text that is not a program."""

_MODULE = "solution"
_MESSAGE = 500
REHEARSALS = 20
"""Number of runs after which the interpreter has adapted its code."""
_NO_CODE = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)
"""Errors that ``compile`` raises for a text that is not a program."""

_write = os.write
_exit = os._exit


def work() -> NoReturn:
    rehearse(1)
    size = int.from_bytes(_read(8), "little")
    job = marshal.loads(_read(size))
    job["tests"] = marshal.loads(job["tests"])
    limit_cpu(job["cpu"])
    if job["kind"] == "stdio":
        _run_script(job)
    ran = _run_whole if job["kind"] == "program" else _run_tests
    ran(job)
    os.close(RESULTS)
    _exit(0)


def rehearse(times: int) -> None:
    """Run a sample solution.

    In the server this warms up the interpreter. In a child, which shares all pages with the server until they are
    changed and then copied one by one, it copies most of them before the job arrives.
    """
    for turn in range(times):
        names = _execute(_compile("def f(x):\n    return [x, 'x']\n", SOLUTION), None)
        encoded(eval(_compile("f(1)", TEST, "eval"), names), 100)
        try:
            eval(_compile("f()", TEST, "eval"), names)
        except TypeError as error:
            HEAD.pack(turn, _outcome_letter(error), 0, len(_evidence(error)))
    sys.modules.pop(_MODULE, None)


def _read(size: int) -> bytes:
    parts = []
    while size:
        part = os.read(0, min(size, 1 << 20))
        if not part:
            _exit(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _send(number: int, letter: bytes, since: int, text: bytes = b"") -> None:
    # The clock of the whole process is coarse once processor time is limited.
    took = min((thread_time_ns() - since) // 1000, 0xFFFFFFFF)
    left = memoryview(HEAD.pack(number, letter, took, len(text)) + text)
    while left:
        left = left[_write(RESULTS, left) :]


def _run_tests(job: dict[str, Any]) -> None:
    since = thread_time_ns()
    try:
        code = _compile(job["source"], SOLUTION)
        setup = _compile(job["setup"], TEST) if job["setup"] else None
    except _NO_CODE as error:
        return _send(START, b"s", since, _evidence(error))
    names: dict[str, Any] = {}
    if not job["fresh"]:
        try:
            names = _execute(code, setup)
        except BaseException as error:
            return _send(START, b"e", since, _evidence(error))
    _send(START, b"p", since)
    for number, form, test, most in job["tests"]:
        since = thread_time_ns()
        try:
            asked = test if isinstance(test, CodeType) else _compile(test, TEST, _MODES[form])
        except _NO_CODE as error:
            _send(number, b"s", since, _evidence(error))
            continue
        try:
            if job["fresh"]:
                names = _execute(code, setup)
            found = eval(asked, names)
            letter, text = b"p", b""
            if form != "statement":
                letter = VALUE if form == "expression" or is_plain(found) else REDUCED
                text = encoded(found, most)
        except BaseException as error:
            letter, text = _outcome_letter(error), _evidence(error)
        _send(number, letter, since, text)
    return None


def _run_whole(job: dict[str, Any]) -> None:
    since = thread_time_ns()
    try:
        code = _compile(job["source"], SOLUTION)
    except _NO_CODE as error:
        return _send(START, b"s", since, _evidence(error))
    _send(START, b"p", since)
    since = thread_time_ns()
    (number, *_), *_ = job["tests"]
    try:
        _execute(code, None)
    except BaseException as error:
        return _send(number, _outcome_letter(error), since, _evidence(error))
    return _send(number, b"p", since)


def _run_script(job: dict[str, Any]) -> NoReturn:
    os.dup2(RESULTS, 1)
    os.close(RESULTS)
    try:
        code = _compile(job["source"], SOLUTION)
    except _NO_CODE as error:
        _run_exit_hooks(FAILED + _evidence(error))
        _exit(NO_CODE)
    try:
        try:
            exec(code, _create_module("__main__").__dict__)
        except SystemExit as end:
            if end.code not in (None, 0):
                raise
        _run_exit_hooks()
    except BaseException as error:
        _run_exit_hooks(FAILED + _evidence(error))
        _exit(1)
    _exit(0)


def _run_exit_hooks(last: bytes = b"") -> None:
    if threading := sys.modules.get("threading"):
        threading._shutdown()
    if atexit := sys.modules.get("atexit"):
        atexit._run_exitfuncs()
    if sys.stdout is not None:
        sys.stdout.flush()
    while last:
        last = last[_write(1, last) :]


def _compile(source: str, name: str, mode: str = "exec") -> CodeType:
    return compile(source, name, mode, dont_inherit=True)


def _create_module(name: str) -> ModuleType:
    module = sys.modules[name] = ModuleType(name)
    return module


def _execute(code: CodeType, setup: CodeType | None) -> dict[str, Any]:
    names = _create_module(_MODULE).__dict__
    exec(code, names)
    if setup is not None:
        exec(setup, names)
    return names


def _outcome_letter(error: BaseException) -> bytes:
    return b"f" if isinstance(error, AssertionError) else b"e"


def _evidence(error: BaseException) -> bytes:
    if isinstance(error, MemoryError):
        grant_last_words()
    return _dumps([type(error).__name__[:100], _error_text(error), _error_line(error)]).encode("ascii")


_dumps: Callable[[Any], str] = json.JSONEncoder().encode


def _error_text(error: BaseException) -> str:
    try:
        return str(error)[:_MESSAGE]
    except BaseException:
        return ""


def _error_line(error: BaseException) -> int | None:
    if isinstance(error, SyntaxError) and error.filename == SOLUTION:
        return error.lineno
    line, step = None, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == SOLUTION:
            line = step.tb_lineno
        step = step.tb_next
    return line
