"""LiveCodeBench: public and private tests as JSON; the private ones come compressed in what Python's pickle writes.

A pickle can run anything when it is loaded, so none ever is: its instructions are looked at one by one, and only a
pickle that does nothing but hold a single text is taken.
"""

from __future__ import annotations

import base64
import binascii
import pickle
import zlib
from collections.abc import Collection, Iterable
from typing import Any, Final

import msgspec
from msgspec import Struct

from workbench.core.code import CodeTest, Problem
from workbench.core.code_record import ProblemRecord
from workbench.data.formats.code import contests
from workbench.data.formats.code.row import CodeRow, json_in, nul
from workbench.data.formats.code.suites import Tests, named
from workbench.data.formats.explain import RefusedError

LONGEST: Final = 256 << 20
"""Bytes of decompressed private tests that are taken."""

_SUSPICIOUS: Final = (32 << 20, 300)
"""Bytes beyond which they must not be so many times what they are packed in."""

MOST: Final = 100_000
"""Tests of a problem that are taken."""

_PRIVATE: Final = "private_test_cases"
_TEXTS: Final = {pickle.SHORT_BINUNICODE: 1, pickle.BINUNICODE: 4, pickle.BINUNICODE8: 8}
"""Instructions that hold a text, and how many bytes say its length."""
_IDLE: Final = {pickle.PROTO: 1, pickle.FRAME: 8, pickle.MEMOIZE: 0, pickle.BINPUT: 1, pickle.LONG_BINPUT: 4}
"""Instructions that make nothing, and the bytes of their arguments."""


class _Test(Struct, gc=False):
    """A test as it stands in the file."""

    input: str
    output: str
    testtype: str


def fits(keys: Collection[str]) -> bool:
    """Whether a file with these keys is of this kind."""
    return {"question_content", "question_id", "public_test_cases"} <= set(keys)


def read(row: CodeRow) -> Iterable[ProblemRecord]:
    """The problem in a row: all its tests as ``base``, as the benchmark counts them, the public ones as ``public``.

    Raises:
        RefusedError: A field is missing, of another type, or its tests can't be read.
    """
    metadata = row.document("metadata") or {}
    function = metadata.get("func_name") if isinstance(metadata, dict) else None
    if function is not None and not (isinstance(function, str) and function.isidentifier()):
        raise RefusedError("wrong_type", "metadata", "func_name in metadata is no name of a function.")
    public = _tests("public_test_cases", row.document("public_test_cases"), function)
    private = _tests(_PRIVATE, _private(row), function)
    problem = Problem(
        task_id=row.identifier("question_id"),
        prompt=contests.prompt(row.text("question_content"), row.maybe_text("starter_code")),
        entry_point=function,
        setup=contests.setup(function) if function else "",
        suites=named(base=(*public, *private), public=public),
    )
    yield ProblemRecord(line=row.line, raw=row.raw, problem=problem, source="code/LiveCodeBench", extra=row.extra())


def _private(row: CodeRow) -> Any:
    text = row.maybe_text(_PRIVATE)
    if text is None or not text.strip():
        return None
    plain = text.lstrip().startswith("[")
    return _listed(memoryview(text.encode()) if plain else _only_text(_decompressed(text)))


def _listed(document: memoryview) -> list[dict[str, str]]:
    """The tests of a document; nothing is made of what else may stand in it, which could be far larger than it."""
    try:
        tests = msgspec.json.decode(document, type=list[_Test])
    except msgspec.ValidationError as error:
        raise RefusedError("wrong_type", _PRIVATE, f"{_PRIVATE} is no list of tests: {error}. Mend it.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError("bad_json", _PRIVATE, f"{_PRIVATE} holds no JSON that can be read: {error}.") from None
    if len(tests) > MOST:
        raise _unreadable(f"holds {len(tests):,} tests, more than {MOST:,}. Leave its private tests out.")
    if any("\0" in test.input or "\0" in test.output for test in tests):
        raise nul(_PRIVATE)
    return [msgspec.structs.asdict(test) for test in tests]


def _decompressed(text: str) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        packed = base64.b64decode(text, validate=True)
        free, ratio = _SUSPICIOUS
        most = min(LONGEST, max(free, ratio * len(packed)))
        data = unpacker.decompress(packed, most)
    except (binascii.Error, zlib.error, ValueError):
        raise _unreadable("is neither JSON nor base64 of compressed data. Fetch the file again.") from None
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise _unreadable(f"is damaged, or unpacks to more than {most >> 20} MiB. Leave its private tests out.")
    return data


def _only_text(data: bytes) -> memoryview:
    """The one text in a pickle that holds nothing else, as it stands there; nothing is loaded and nothing copied."""
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
            raise _unreadable("is a pickle of more than one text, which is never loaded. Write it as JSON.")
        if at >= len(data):
            raise _unreadable("is no pickle that can be read. Write it as JSON.")
    if found is None:
        raise _unreadable("is a pickle without a text. Write it as JSON.")
    return found


def _unreadable(fault: str) -> RefusedError:
    return RefusedError("unsupported", _PRIVATE, f"{_PRIVATE} {fault}")


def _tests(key: str, document: Any, function: str | None) -> Tests:
    if document is None:
        return ()
    if not isinstance(document, list) or not all(isinstance(test, dict) for test in document):
        raise RefusedError("wrong_type", key, f"{key} is no list of objects with input, output and testtype.")
    return tuple(_test(key, test, function) for test in document)


def _test(key: str, test: dict[str, Any], function: str | None) -> CodeTest:
    given, wanted, kind = test.get("input"), test.get("output"), test.get("testtype")
    if not isinstance(given, str) or not isinstance(wanted, str):
        raise RefusedError("wrong_type", key, f"A test in {key} has no input or output that is text.")
    if kind == "stdin":
        return contests.exchange(given, wanted, key)
    if kind != "functional" or function is None:
        message = f"A test in {key} is of the type {str(kind)[:40]!r}. Write stdin, or functional with a func_name."
        raise RefusedError("wrong_type", key, message)
    arguments = [json_in(key, line) for line in given.split("\n") if line.strip()]
    return contests.call(arguments, json_in(key, wanted), key)
