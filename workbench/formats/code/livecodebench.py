"""LiveCodeBench: public and private tests as JSON; the private ones come compressed in what Python's pickle writes.

A pickle can run anything when it is loaded, so none ever is: its instructions are listed (`pickletools`), and only one
that does nothing but hold a single text is taken.
"""

from __future__ import annotations

import base64
import binascii
import io
import pickletools
import zlib
from collections.abc import Collection, Iterable
from typing import Any, Final

from workbench.formats.code import contests
from workbench.formats.code.row import CodeRow, json_in
from workbench.formats.code.suites import Tests, named
from workbench.formats.explain import RefusedError
from workbench.model.code import CodeTest, Problem
from workbench.model.code_record import ProblemRecord

LONGEST: Final = 256 << 20
"""Bytes of decompressed private tests that are taken."""

_TEXTS: Final = {"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"}
_IDLE: Final = {"PROTO", "FRAME", "MEMOIZE", "BINPUT", "LONG_BINPUT", "STOP"}


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
    private = _tests("private_test_cases", _private(row), function)
    problem = Problem(
        task_id=row.identifier("question_id"),
        prompt=contests.prompt(row.text("question_content"), row.maybe_text("starter_code")),
        entry_point=function,
        setup=contests.setup(function) if function else "",
        suites=named(base=(*public, *private), public=public),
    )
    yield ProblemRecord(line=row.line, raw=row.raw, problem=problem, source="code/LiveCodeBench", extra=row.extra())


def _private(row: CodeRow) -> Any:
    key = "private_test_cases"
    text = row.maybe_text(key)
    if text is None or not text.strip():
        return None
    return json_in(key, text if text.lstrip().startswith("[") else _decompressed(text))


def _decompressed(text: str) -> str:
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(base64.b64decode(text, validate=True), LONGEST)
    except (binascii.Error, zlib.error, ValueError):
        raise _unreadable("is neither JSON nor base64 of compressed data. Fetch the file again.") from None
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise _unreadable(f"is damaged, or longer than {LONGEST >> 20} MiB. Leave its private tests out.")
    return _only_text(data)


def _only_text(data: bytes) -> str:
    """The one text in a pickle that holds nothing else; nothing is loaded."""
    found: list[str] = []
    try:
        for operation, argument, _ in pickletools.genops(io.BytesIO(data)):
            if operation.name in _TEXTS and not found and isinstance(argument, str):
                found.append(argument)
            elif operation.name not in _IDLE:
                raise _unreadable("is a pickle of more than one text, which is never loaded. Write it as JSON.")
    except (ValueError, IndexError, UnicodeDecodeError):
        raise _unreadable("is no pickle that can be read. Write it as JSON.") from None
    if not found:
        raise _unreadable("is a pickle without a text. Write it as JSON.")
    return found[0]


def _unreadable(fault: str) -> RefusedError:
    return RefusedError("unsupported", "private_test_cases", f"private_test_cases {fault}")


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
