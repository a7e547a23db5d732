"""Reads problems from contests: APPS, TACO, LiveCodeBench, BigCodeBench; starter code, and tests from JSON."""

from __future__ import annotations

import ast
import base64
import binascii
import pickle
import re
import zlib
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Final

import msgspec
from msgspec import Struct

from workbench.core.code import CodeRecord, CodeTest, Problem, ProblemRecord, SolutionRecord
from workbench.core.code_tests.assertion import AS_LIST, AS_LIST_DEFINITION, parsed
from workbench.data.formats.code.literals import arguments, literal
from workbench.data.formats.code.row import (
    CodeRow,
    Tests,
    json_in,
    nonempty_suites,
    nul_error,
    program_suite,
    statement_test,
    statement_tests,
    stdio_test,
)
from workbench.data.formats.lines import RefusedError


def prompt(question: str, starter: str | None) -> str:
    return f"{question.rstrip()}\n\n{starter}" if starter and starter.strip() else question


def candidate_setup(function: str) -> str:
    """Return the code that precedes tests of a function; it may be a method of a class ``Solution``.

    The expected values come from JSON, which has no tuples: a returned tuple equals an expected list.
    """
    return f"candidate = Solution().{function} if 'Solution' in globals() else {function}\n{AS_LIST_DEFINITION}"


def call_test(given: list[Any], wanted: Any, key: str) -> CodeTest:
    """Return a test that calls the function and compares the result.

    Raises:
        RefusedError: A value can't be written as a literal.
    """
    called = f"candidate({arguments(given, key)})"
    left = f"{AS_LIST}({called})" if isinstance(wanted, list) else called
    return statement_test(f"assert {left} == {literal(wanted, key)}")


def io_test(given: Any, wanted: Any, key: str) -> CodeTest:
    """Return a test that runs a program with a text as standard input and compares its output; a list is joined by
    line ends.

    Raises:
        RefusedError: A value is not text.
    """
    return stdio_test(_io_text(given, key), _io_text(wanted, key))


def _io_text(value: Any, key: str) -> str:
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return literal(value, key)
    if not isinstance(value, str):
        raise RefusedError("wrong_type", key, f"An input or output in {key} is not text. Write it as text.")
    return value


# -- APPS and TACO: a question, tests and accepted solutions, the last two as JSON in texts.


_SECONDS: Final = re.compile(r"\s*(\d{1,4}(?:\.\d{1,6})?)\s*(?:s|sec|second)")


def read_apps(row: CodeRow, source: str) -> Iterable[CodeRecord]:
    """Return the problem in a row of APPS, or of TACO, where a hash of the question names it, and the accepted
    solutions.

    Args:
        source: The set's name.

    Raises:
        RefusedError: A field is missing, of another type, or its JSON can't be read.
    """
    name = blake2b(row.text("question").encode(), digest_size=6).hexdigest()
    task_id = f"{source}/{row.identifier('problem_id') if source == 'APPS' else name}"
    solutions = row.document("solutions") or []
    if not isinstance(solutions, list) or not all(isinstance(text, str) for text in solutions):
        raise RefusedError("wrong_type", "solutions", "solutions is not a list of texts. Write it as a JSON list.")
    function, tests = tests_of(row.document("input_output"), "input_output")
    problem = Problem(
        task_id=task_id,
        prompt=prompt(row.text("question"), row.maybe_text("starter_code")),
        canonical=solutions[0] if solutions else "",
        entry_point=function,
        setup=candidate_setup(function) if function else "",
        seconds=_time_limit(row.maybe_text("time_limit")),
        suites=nonempty_suites(base=tests),
    )
    yield ProblemRecord(line=row.line, raw=row.raw, problem=problem, source=f"code/{source}", extra=row.extra())
    for number, text in enumerate(solutions):
        yield SolutionRecord(line=row.line, raw=row.raw, task_id=task_id, solution_id=str(number), code=text, gold=True)


def tests_of(document: Any, key: str) -> tuple[str | None, Tests]:
    """Return the function that tests call, None for tests of standard input, and the tests.

    Args:
        document: An object of ``inputs``, ``outputs`` and maybe ``fn_name``; None for no tests.
        key: The name of the document's field, for messages.

    Raises:
        RefusedError: The document has another structure.
    """
    if document is None:
        return None, ()
    if not isinstance(document, dict):
        raise RefusedError("wrong_type", key, f"{key} is not an object. Write one with inputs and outputs.")
    inputs, outputs, function = (document.get(name) for name in ("inputs", "outputs", "fn_name"))
    if not isinstance(inputs, list) or not isinstance(outputs, list) or len(inputs) != len(outputs):
        raise RefusedError("wrong_type", key, f"{key} needs as many outputs as inputs. Write two lists.")
    if function is None:
        return None, tuple(io_test(*pair, key) for pair in zip(inputs, outputs, strict=True))
    if not isinstance(function, str) or not function.isidentifier():
        raise RefusedError("wrong_type", key, f"fn_name in {key} is not a valid function name.")
    if not all(isinstance(given, list) for given in inputs):
        raise RefusedError("wrong_type", key, f"An input in {key} is not a list of arguments.")
    # As released, each output of a function is wrapped in a list.
    wrapped = all(isinstance(wanted, list) and len(wanted) == 1 for wanted in outputs)
    values = [wanted[0] for wanted in outputs] if wrapped else outputs
    return function, tuple(call_test(*pair, key) for pair in zip(inputs, values, strict=True))


def _time_limit(limit: str | None) -> float | None:
    found = _SECONDS.match(limit or "")
    return float(found[1]) or None if found else None


# -- LiveCodeBench: public and private tests as JSON; the private ones are compressed and in the format of Python's
# pickle.


LONGEST: Final = 256 << 20
"""Most bytes of decompressed private tests."""
_RATIO_LIMIT: Final = (32 << 20, 300)
"""Bytes from which the compression ratio is checked, and the maximum ratio."""
MOST: Final = 100_000
"""Most tests of a problem."""
_PRIVATE: Final = "private_test_cases"
_TEXTS: Final = {pickle.SHORT_BINUNICODE: 1, pickle.BINUNICODE: 4, pickle.BINUNICODE8: 8}
"""Bytes of the length field, by opcode that holds a text."""
_IDLE: Final = {pickle.PROTO: 1, pickle.FRAME: 8, pickle.MEMOIZE: 0, pickle.BINPUT: 1, pickle.LONG_BINPUT: 4}
"""Bytes of the argument, by opcode that puts nothing on the stack."""


class _LiveCodeBenchTest(Struct, gc=False):
    input: str
    output: str
    testtype: str


def read(row: CodeRow) -> Problem:
    """Return the problem in a row. The suite ``base`` has all tests, as in the benchmark, ``public`` only the public
    ones.

    Raises:
        RefusedError: A field is missing, of another type, or its tests can't be read.
    """
    metadata = row.document("metadata") or {}
    function = metadata.get("func_name") if isinstance(metadata, dict) else None
    if function is not None and not (isinstance(function, str) and function.isidentifier()):
        raise RefusedError("wrong_type", "metadata", "func_name in metadata is not a valid function name.")
    public = _livecodebench_tests("public_test_cases", row.document("public_test_cases"), function)
    private = _livecodebench_tests(_PRIVATE, _private_tests(row), function)
    return Problem(
        task_id=row.identifier("question_id"),
        prompt=prompt(row.text("question_content"), row.maybe_text("starter_code")),
        entry_point=function,
        setup=candidate_setup(function) if function else "",
        suites=nonempty_suites(base=(*public, *private), public=public),
    )


def _private_tests(row: CodeRow) -> Any:
    text = row.maybe_text(_PRIVATE)
    if text is None or not text.strip():
        return None
    plain = text.lstrip().startswith("[")
    return _decode_tests(memoryview(text.encode()) if plain else _text_in_pickle(_decompress(text)))


def _decode_tests(document: memoryview) -> list[dict[str, str]]:
    try:
        tests = msgspec.json.decode(document, type=list[_LiveCodeBenchTest])
    except msgspec.ValidationError as error:
        raise RefusedError("wrong_type", _PRIVATE, f"{_PRIVATE} is not a list of tests: {error}. Fix it.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError("bad_json", _PRIVATE, f"{_PRIVATE} holds no JSON that can be read: {error}.") from None
    if len(tests) > MOST:
        raise _unreadable_error(f"holds {len(tests):,} tests, more than {MOST:,}. Leave its private tests out.")
    if any("\0" in test.input or "\0" in test.output for test in tests):
        raise nul_error(_PRIVATE)
    return [msgspec.structs.asdict(test) for test in tests]


def _decompress(text: str) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        packed = base64.b64decode(text, validate=True)
        free, ratio = _RATIO_LIMIT
        most = min(LONGEST, max(free, ratio * len(packed)))
        data = unpacker.decompress(packed, most)
    except (binascii.Error, zlib.error, ValueError):
        raise _unreadable_error("is neither JSON nor base64 of compressed data. Fetch the file again.") from None
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise _unreadable_error(f"is damaged, or unpacks to more than {most >> 20} MiB. Leave its private tests out.")
    return data


def _text_in_pickle(data: bytes) -> memoryview:
    found, at = None, 0
    while (operation := data[at : at + 1]) != pickle.STOP:
        at += 1
        if operation in _TEXTS and found is None:
            size = int.from_bytes(data[at : at + _TEXTS[operation]], "little")
            at += _TEXTS[operation]
            found = memoryview(data)[at : at + size]
            at += size
        elif operation in _IDLE:
            at += _IDLE[operation]
        elif operation:
            raise _unreadable_error("is a pickle of more than one text, which is never loaded. Write it as JSON.")
        if at >= len(data):
            raise _unreadable_error("is not a pickle that can be read. Write it as JSON.")
    if found is None:
        raise _unreadable_error("is a pickle without a text. Write it as JSON.")
    return found


def _unreadable_error(fault: str) -> RefusedError:
    return RefusedError("unsupported", _PRIVATE, f"{_PRIVATE} {fault}")


def _livecodebench_tests(key: str, document: Any, function: str | None) -> Tests:
    if document is None:
        return ()
    if not isinstance(document, list) or not all(isinstance(test, dict) for test in document):
        raise RefusedError("wrong_type", key, f"{key} is not a list of objects with input, output and testtype.")
    return tuple(_livecodebench_test(key, test, function) for test in document)


def _livecodebench_test(key: str, test: dict[str, Any], function: str | None) -> CodeTest:
    given, wanted, kind = test.get("input"), test.get("output"), test.get("testtype")
    if not isinstance(given, str) or not isinstance(wanted, str):
        raise RefusedError("wrong_type", key, f"A test in {key} has no input or output that is text.")
    if kind == "stdin":
        return io_test(given, wanted, key)
    if kind != "functional" or function is None:
        message = f"A test in {key} is of the type {str(kind)[:40]!r}. Write stdin, or functional with a func_name."
        raise RefusedError("wrong_type", key, message)
    arguments = [json_in(key, line) for line in given.split("\n") if line.strip()]
    return call_test(arguments, json_in(key, wanted), key)


# -- BigCodeBench: a prompt, its continuation, and a class of unit tests; most problems need installed
# packages.


_CASES: Final = "TestCases"
_RUN_ONE: Final = """\
def run_case(name):
    import unittest
    result = unittest.TestResult()
    unittest.TestSuite([TestCases(name)]).run(result)
    for _, text in result.failures:
        raise AssertionError(text)
    for _, text in result.errors:
        raise RuntimeError(text)
"""
_RUN_ALL: Final = """\
import unittest
result = unittest.TestResult()
unittest.defaultTestLoader.loadTestsFromTestCase(TestCases).run(result)
assert not result.failures, result.failures[0][1]
assert result.wasSuccessful(), result.errors[0][1]
"""


def read_bigcodebench(row: CodeRow) -> Problem:
    """Return the problem in a row: each test method is a test of ``base``; all together are ``whole``.

    Raises:
        RefusedError: A field is missing or of another type.
    """
    task_id, prompt, test = row.identifier("task_id"), row.text("complete_prompt"), row.text("test").rstrip()
    code_prompt = row.maybe_text("code_prompt")
    whole = program_suite(f"{test}\n\n{_RUN_ALL}")
    cases = _unit_tests(test)
    return Problem(
        task_id=task_id,
        prompt=prompt,
        canonical=(prompt if code_prompt is None else code_prompt) + row.text("canonical_solution"),
        entry_point=row.text("entry_point"),
        setup=f"{test}\n\n{_RUN_ONE}" if cases else "",
        suites=nonempty_suites(base=cases or whole, whole=whole),
    )


def _unit_tests(test: str) -> Tests:
    tree = parsed(test)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)] if tree is not None else []
    if len(classes) != 1 or classes[0].name != _CASES:
        return ()
    names = [node.name for node in classes[0].body if isinstance(node, ast.FunctionDef)]
    return statement_tests(f"run_case({name!r})" for name in sorted(set(names)) if name.startswith("test"))
