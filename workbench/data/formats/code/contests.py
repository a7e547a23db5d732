"""What problems from contests share: starter code, and tests of texts or of calls with arguments from JSON."""

from __future__ import annotations

from typing import Any, Final

from workbench.core.code import CodeTest
from workbench.data.formats.code.literals import arguments, literal
from workbench.data.formats.code.suites import statement, stdio
from workbench.data.formats.explain import RefusedError

AS_LIST: Final = "as_list"

_DEFINITION: Final = f"""\
def {AS_LIST}(found):
    return list(found) if isinstance(found, tuple) else found
"""


def prompt(question: str, starter: str | None) -> str:
    """The question with the code to start from behind it, if there is any."""
    return f"{question.rstrip()}\n\n{starter}" if starter and starter.strip() else question


def setup(function: str) -> str:
    """Code before tests that call a function, or the method of that name of a class ``Solution``.

    The values come from JSON, which has no tuples: a tuple is taken for the list it stands for.
    """
    return f"candidate = Solution().{function} if 'Solution' in globals() else {function}\n{_DEFINITION}"


def call(given: list[Any], wanted: Any, key: str) -> CodeTest:
    """A test that calls the function and compares what it returns.

    Raises:
        RefusedError: A value can't be written as a literal.
    """
    called = f"candidate({arguments(given, key)})"
    left = f"{AS_LIST}({called})" if isinstance(wanted, list) else called
    return statement(f"assert {left} == {literal(wanted, key)}")


def exchange(given: Any, wanted: Any, key: str) -> CodeTest:
    """A test that gives a program a text and compares what it writes; a list of texts stands for its lines.

    Raises:
        RefusedError: One is no text.
    """
    return stdio(_text(given, key), _text(wanted, key))


def _text(value: Any, key: str) -> str:
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return literal(value, key)
    if not isinstance(value, str):
        raise RefusedError("wrong_type", key, f"An input or output in {key} is no text. Write it as text.")
    return value
