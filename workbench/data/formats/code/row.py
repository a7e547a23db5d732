"""Reads one row of a code file; the cells that no reader asks for are its extra keys."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from workbench.core.code import CodeTest, TestLine
from workbench.core.code_tests.assertion import form_of
from workbench.data.formats.documents import SourceDocument, without_nan
from workbench.data.formats.lines import (
    RefusedError,
    bad_utf8_error,
    explain_document,
    is_no_text,
    json_kind,
    no_text_error,
    refuse_constant,
)
from workbench.data.formats.rows import extra_text, gold_of

_MAX_ID: Final = 500
_tokens = msgspec.json.Decoder(dict[str, msgspec.Raw])


class CodeRow:
    """A row's cells.

    Raises:
        RefusedError: The row is not a JSON object.
    """

    def __init__(self, row: SourceDocument) -> None:
        self.line, self.raw = row.line, row.raw
        document = without_nan(row.json)
        try:
            self.cells: Mapping[str, msgspec.Raw] = _tokens.decode(document)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise explain_document(document) from None
        self._taken: set[str] = set()

    def text(self, *keys: str) -> str:
        """Return the text of the first of these cells that is present.

        Raises:
            RefusedError: No cell is present, or it is not text.
        """
        found = self.maybe_text(*keys)
        if found is None:
            raise missing_field_error(*keys)
        if is_no_text(found):
            raise no_text_error(next(key for key in keys if key in self.cells), found)
        return found

    def maybe_text(self, *keys: str) -> str | None:
        """Return the text of the first of these cells that is present and not null.

        Raises:
            RefusedError: The cell is not text.
        """
        for key in keys:
            found: str | None = self.value(key, str, "text, in quotes")
            if found is not None:
                return found
        return None

    def texts(self, key: str) -> list[str]:
        """Return the list of texts in a cell; empty if missing.

        Raises:
            RefusedError: The cell is not a list of texts.
        """
        found: list[str] | None = self.value(key, list[str], "a list of texts")
        return found or []

    def number(self, key: str) -> float | None:
        """Return a number, or None if it is missing.

        Raises:
            RefusedError: The cell is not a number.
        """
        found: float | None = self.value(key, float, "a number")
        return found

    def seconds(self, key: str) -> float | None:
        """Return a time limit in seconds, or None if it is missing.

        Raises:
            RefusedError: The cell is not a number above 0.
        """
        found = self.number(key)
        if found is not None and not found > 0:
            raise RefusedError("wrong_type", key, f"{key} is {found}. Write a number of seconds above 0.")
        return found

    def identifier(self, *keys: str) -> str:
        """Return an id: text, or an integer.

        Raises:
            RefusedError: The id is missing, empty, too long or of another type.
        """
        found = self.maybe_identifier(*keys)
        if found is None:
            raise missing_field_error(*keys)
        return found

    def maybe_identifier(self, *keys: str) -> str | None:
        """Return an id, or None if it is missing.

        Raises:
            RefusedError: See `identifier`.
        """
        for key in keys:
            value = self.value(key, str | int, "text, in quotes, or a whole number")
            if value is None:
                continue
            if not str(value).strip():
                raise RefusedError("missing_field", key, f"{key} is empty. Give every row an id.")
            if len(str(value)) > _MAX_ID:
                raise RefusedError("wrong_type", key, f"{key} is longer than {_MAX_ID} characters. Shorten it.")
            return str(value)
        return None

    def truth_value(self, *keys: str) -> bool | None:
        """Return the truth value of the first of these cells that is present: true, false, 1, 0, or a word for one of
        them.

        Raises:
            RefusedError: The cell has another value.
        """
        for key in keys:
            value = self.value(key, bool | int | str, "true or false (or 1 or 0)")
            if (passed := gold_of(key, value)) is not None:
                return passed
        return None

    def document(self, key: str) -> Any:
        """Return the value of a cell that holds JSON, plain or as text; None if it is missing or empty.

        Raises:
            RefusedError: The text is not JSON, or nested too deeply.
        """
        value = self.value(key, Any, "JSON")
        if not isinstance(value, str):
            return value
        return json_in(key, value) if value.strip() else None

    def value(self, key: str, kind: Any, wanted: str) -> Any:
        """Return the value of a cell as the given type; None if it is missing or null.

        Args:
            kind: The type, for msgspec.
            wanted: The type in words, for messages.

        Raises:
            RefusedError: The value has another type.
        """
        token = self.cells.get(key)
        if token is None:
            return None
        self._taken.add(key)
        try:
            found = msgspec.json.decode(token, type=kind if kind is Any else kind | None)
            if b"u0000" in bytes(token) and _has_nul(found):
                raise nul_error(key)
        except UnicodeDecodeError as error:
            raise bad_utf8_error(key, error) from None
        except RecursionError:
            raise RefusedError("bad_json", key, f"{key} is nested too deeply. Flatten it.") from None
        except (msgspec.MsgspecError, ValueError):
            there = json_kind(bytes(token))
            fault = "holds something else" if there in ("a list", "an object") else f"is {there}"
            raise RefusedError("wrong_type", key, f"{key} {fault}. Write it as {wanted}.") from None
        return found

    def mark_read(self, *keys: str) -> None:
        self._taken.update(keys)

    def extra(self) -> str | None:
        """Return a JSON object of the cells that were not read, unchanged and in order; None if all were read.

        Raises:
            RefusedError: A cell is not UTF-8.
        """
        rest = [key for key in self.cells if key not in self._taken]
        if not rest:
            return None
        return extra_text(self.cells, [(key, json.dumps(key, ensure_ascii=False).encode() + b": ") for key in rest])


def missing_field_error(*keys: str) -> RefusedError:
    return RefusedError("missing_field", keys[0], f"{' or '.join(keys)} is missing. Add it.")


def json_in(key: str, text: str) -> Any:
    """Parse a text that holds JSON.

    Args:
        key: Field of the text, for messages.

    Raises:
        RefusedError: The text is not JSON, nested too deeply, or holds a NUL character or a number beyond Python's
            limits.
    """
    try:
        found = json.loads(text, parse_constant=refuse_constant)
        if "u0000" in text and _has_nul(found):
            raise nul_error(key)
        if "\\ud" in text.lower():
            json.dumps(found, ensure_ascii=False).encode()
    except RecursionError:
        raise RefusedError("bad_json", key, f"The JSON in {key} is nested too deeply. Flatten it.") from None
    except UnicodeEncodeError:
        raise RefusedError("bad_utf8", key, f"{key} holds half a character (\\ud800 to \\udfff). Remove it.") from None
    except ValueError as error:
        raise RefusedError("bad_json", key, f"{key} holds no JSON that can be read: {error}. Fix it.") from None
    return found


def nul_error(key: str) -> RefusedError:
    return RefusedError("nul", key, f"{key} contains a NUL character. Remove it.")


def _has_nul(value: object) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, Struct):
        return any(_has_nul(getattr(value, name)) for name in value.__struct_fields__)
    if isinstance(value, dict):
        return any(_has_nul(part) for pair in value.items() for part in pair)
    return isinstance(value, list) and any(map(_has_nul, value))


# -- Tests of a row as suites.


Tests = tuple[CodeTest, ...]


WANTED: Final = "a list of tests: texts, or objects with input and output"


def tests_from(row: CodeRow, key: str) -> Tests:
    """Return the tests in a cell, which is a list of tests.

    Raises:
        RefusedError: The cell is not a list of tests, or a test is empty.
    """
    return convert_tests(key, row.value(key, list[TestLine], WANTED) or [])


def convert_tests(key: str, tests: Sequence[TestLine]) -> Tests:
    """Convert tests of a file to `CodeTest`.

    Args:
        key: Field of the tests, for messages.

    Raises:
        RefusedError: A test is empty.
    """
    for number, test in enumerate(tests, 1):
        if isinstance(test, str) and not test.strip():
            raise RefusedError("wrong_type", key, f"Test {number} in {key} is empty. Remove it.")
    return tuple(
        statement_test(test) if isinstance(test, str) else stdio_test(test.input, test.output) for test in tests
    )


def statement_tests(sources: Iterable[str]) -> Tests:
    return tuple(map(statement_test, sources))


def statement_test(source: str) -> CodeTest:
    return CodeTest(form=form_of(source), source=source)


def stdio_test(given: str, wanted: str) -> CodeTest:
    return CodeTest(form="stdio", source=given, expected=wanted)


def program_suite(source: str | None) -> Tests:
    """Return a suite of one test: a program that runs after the solution; empty if there is no text."""
    return (CodeTest(form="program", source=source),) if source and source.strip() else ()


def nonempty_suites(**suites: Tests) -> dict[str, Tests]:
    return {name: tests for name, tests in suites.items() if tests}


def source_of(task_id: str) -> str | None:
    """Return the source that a task id names: ``code/HumanEval`` for ``HumanEval/12``; None if it names none."""
    name, slash, _ = task_id.partition("/")
    return f"code/{name}" if slash and name.strip() else None
