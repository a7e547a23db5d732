"""Programs that look like solutions of a code question but are none, made from its reference solution and examples."""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

from workbench.verifiers.text import canonical_text

_MAX_PROGRAM_CHARACTERS = 100_000
_FENCE = re.compile(r"\s*```(?:python|py)?[ \t]*\n(.*?)\n?```\s*", re.DOTALL)
_CALL = re.compile(
    r"^[ \t]*(?:>>>[ \t]*|assert[ \t]+)?(?P<call>[A-Za-z_]\w*\(.{0,400}?\))"
    r"[ \t]*(?:==|->|=>|➞|returns)[ \t]*(?P<result>[^\n#]{1,400})",
    re.MULTILINE,
)
_PROMPT = re.compile(
    r"^[ \t]*>>>[ \t]*(?P<call>[A-Za-z_]\w*\(.{0,400}\))[ \t]*\n[ \t]*(?P<result>[^\n>]{1,400})$", re.MULTILINE
)
Function = ast.FunctionDef | ast.AsyncFunctionDef


class PublicExample(NamedTuple):
    """A public example of a question: the function called, the arguments, and the result."""

    function: str
    arguments: tuple[Any, ...]
    result: Any


def program(text: str | None) -> str | None:
    """Return the text's Python program, if it defines a function or a class (possibly in a fence)."""
    if text is None or len(text) > _MAX_PROGRAM_CHARACTERS:
        return None
    fenced = _FENCE.fullmatch(text)
    source = fenced[1] if fenced else text
    return source if _definitions(source) else None


def stub(source: str, body: str = "pass") -> str:
    """Return the program's first function with another body; if the first definition is a class, with ``pass`` as its
    body."""
    definition = _definitions(source)[0]
    if isinstance(definition, ast.ClassDef):
        return f"class {definition.name}:\n    pass"
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    head = "async def" if isinstance(definition, ast.AsyncFunctionDef) else "def"
    return f"{head} {definition.name}({ast.unparse(definition.args)}):\n{lines}"


def dead_program(source: str) -> str:
    """Return the program's first function with the whole program as its docstring and ``pass`` as its only code."""
    return stub(source, f"{source!r}\npass")


def hard_coded_program(examples: list[PublicExample]) -> str:
    """Return a function that knows only the examples' results."""
    name = examples[0].function
    lines = [f"def {name}(*arguments):"]
    for example in examples:
        if example.function == name:
            lines += [f"    if arguments == {example.arguments!r}:", f"        return {example.result!r}"]
    return "\n".join([*lines, "    return None"])


def examples(question: str) -> list[PublicExample]:
    """Find the examples in a question, as in ``f(1) == 2`` or a ``>>>`` session; only examples whose arguments and
    result are literals."""
    found = []
    for pattern in (_CALL, _PROMPT):
        for match in pattern.finditer(question[:_MAX_PROGRAM_CHARACTERS]):
            if (example := _parse_example(match["call"], match["result"].strip())) is not None:
                found.append(example)
    return found


def _parse_example(call: str, result: str) -> PublicExample | None:
    try:
        parsed = ast.parse(call, mode="eval").body
        if not isinstance(parsed, ast.Call) or not isinstance(parsed.func, ast.Name) or parsed.keywords:
            return None
        arguments = tuple(ast.literal_eval(argument) for argument in parsed.args)
        return PublicExample(parsed.func.id, arguments, ast.literal_eval(result))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def _definitions(source: str) -> list[Function | ast.ClassDef]:
    if "def " not in source and "class " not in source:
        return []
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    functions = [node for node in body if isinstance(node, Function)]
    return [*functions, *(node for node in body if isinstance(node, ast.ClassDef))]


# -- Payloads that happen to be right answers to a question: they are no probes there.


_SEPARATOR = re.compile(r"\s*(?:[,;\n&{}()\[\]]|\\\\|\band\b|\bor\b)\s*")
_LISTED = re.compile(r"[\s,;]+")
_MAX_ANSWER_CHARACTERS = 2_000
"""Maximum characters of an answer."""


class RightAnswers:
    """The right answers to a question.

    Args:
        reference: The whole reference.
        final: Its final answer; "" if unknown.
    """

    def __init__(self, reference: str, final: str) -> None:
        members = {_normalise(part) for part in (reference, final, *_SEPARATOR.split(final))}
        self._members = members - {""}
        self._list = _normalise_all(_split_list(final))

    def include(self, text: str) -> bool:
        """Return whether a text is the reference, its final answer, a member of that answer, or a list with the same
        members."""
        return _normalise(text) in self._members or self._is_the_list(text)

    def _is_the_list(self, text: str) -> bool:
        parts = _split_list(text)
        return 1 < len(self._list) == len(parts) and _normalise_all(parts) == self._list


def _split_list(text: str) -> list[str]:
    return [part for part in _LISTED.split(text[:_MAX_ANSWER_CHARACTERS].strip("{}()[]\\$ ")) if part]


def _normalise_all(parts: list[str]) -> list[str]:
    return sorted(map(_normalise, parts))


def _normalise(text: str) -> str:
    return canonical_text(text).casefold() if len(text) <= _MAX_ANSWER_CHARACTERS else text
