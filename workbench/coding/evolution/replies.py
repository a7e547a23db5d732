"""What a model's reply holds: tests, or a problem written anew. Everything here is read, nothing is run."""

from __future__ import annotations

import ast
import builtins
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from workbench.core.code import CodeTest
from workbench.core.code_tests.assertion import form_of
from workbench.core.code_tests.spelling import spelling, tree_of
from workbench.core.final_answer import reply_start

_MOST_PROPOSED = 500
_LIST = re.compile(r'"tests"\s*:\s*\[')
_TRIES = 50

# What makes a test's value depend on more than its text, or lets it reach beyond the function it calls.
_REACHING = frozenset(
    {"breakpoint", "compile", "delattr", "eval", "exec", "exit", "globals", "hash", "help", "id", "input", "locals"}
    | {"memoryview", "object", "open", "print", "quit", "setattr", "vars"}
    | {"datetime", "os", "random", "secrets", "socket", "subprocess", "sys", "time", "uuid"}
)


class Taken(Struct, frozen=True):
    """Tests that were read from a reply.

    Attributes:
        tests: Those to be executed.
        proposed: How many the reply holds.
        rejected: How many are not to be executed, by code.
    """

    tests: tuple[CodeTest, ...]
    proposed: int
    rejected: Counter[str]


class Rewritten(Struct, frozen=True, kw_only=True):
    """A problem that a model wrote anew.

    Attributes:
        question: Its text.
        entry_point: The function to write.
        solution: A complete program that solves it.
        tests: Sources, as the reply has them.
    """

    question: str
    entry_point: str
    solution: str
    tests: tuple[str, ...]


def taken_of(reply: str, names: Iterable[str], present: Iterable[str]) -> Taken:
    """The tests in a reply that may be executed.

    Args:
        reply: The model's words: JSON with a list ``tests``, whole or cut short, with or without a fence and thinking.
        names: What tests call: the entry point, and names that the problem's setup gives it. Without any, every call
            counts.
        present: Sources of the tests that there are; the same test in another spelling is a duplicate.
    """
    return checked(proposed(reply), names, present)


def checked(sources: Sequence[str], names: Iterable[str], present: Iterable[str]) -> Taken:
    """Those of some tests that may be executed; arguments as with `taken_of`."""
    called = frozenset(names)
    known = {spelling(source) for source in present}
    rejected: Counter[str] = Counter()
    taken: list[CodeTest] = []
    for source in sources:
        fault = _fault(source, called, known)
        if fault is not None:
            rejected[fault] += 1
            continue
        known.add(spelling(source))
        taken.append(CodeTest(form=form_of(source), source=source))
    return Taken(tuple(taken), len(sources), rejected)


def proposed(reply: str) -> list[str]:
    """The texts in a reply's list ``tests``; a list that is cut short gives those before the cut."""
    said = reply[reply_start(reply) :]
    for value in _objects(said):
        if isinstance(value.get("tests"), list):
            return _texts(value["tests"])
    starts = list(_LIST.finditer(said))
    return _texts(_until_cut(said, starts[-1].end())) if starts else []


def rewritten_of(reply: str) -> Rewritten | None:
    """The problem in a reply; None where a part of it is missing."""
    for value in _objects(reply[reply_start(reply) :]):
        parts = [value.get(name) for name in ("question", "entry_point", "solution")]
        tests = value.get("tests")
        if isinstance(tests, list) and all(isinstance(part, str) and part.strip() for part in parts):
            question, entry_point, solution = (str(part) for part in parts)
            if entry_point.isidentifier():
                return Rewritten(
                    question=question, entry_point=entry_point, solution=solution, tests=tuple(_texts(tests))
                )
    return None


def _fault(source: str, called: frozenset[str], known: set[str]) -> str | None:
    """Why a test is not to be executed, as a code of `REJECTIONS`; None if it is."""
    tree = tree_of(source)
    if tree is None:
        return "no_python"
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.Assert):
        return "no_assert"
    nodes = list(ast.walk(tree))
    if any(_reaches_out(node, called) for node in nodes):
        return "reaches_out"
    calls = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    if not (calls & called if called else calls - set(dir(builtins))):
        return "no_call"
    return "duplicate" if spelling(source) in known else None


def _reaches_out(node: ast.AST, called: frozenset[str]) -> bool:
    if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
        return True
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name not in called and (name.startswith("__") or (isinstance(node, ast.Name) and name in _REACHING))


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text, outermost ones only."""
    decoder = json.JSONDecoder(strict=False)
    place = text.find("{")
    for _ in range(_TRIES):
        if place < 0:
            return
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            place += 1
        else:
            if isinstance(value, dict):
                yield value
        place = text.find("{", place)


def _until_cut(text: str, place: int) -> list[Any]:
    """The values of a JSON list, as far as it goes."""
    decoder = json.JSONDecoder(strict=False)
    found: list[Any] = []
    while len(found) < _MOST_PROPOSED:
        while place < len(text) and text[place] in ", \t\r\n":
            place += 1
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        found.append(value)
    return found


def _texts(values: list[Any]) -> list[str]:
    """The texts among some values, without halves of characters."""
    texts = [value for value in values if isinstance(value, str)][:_MOST_PROPOSED]
    return [text.encode("utf-8", "replace").decode().strip() for text in texts]
