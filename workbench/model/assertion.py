"""Tests of the form ``assert L == literal``, found by parsing alone: nothing of a test is run here."""

from __future__ import annotations

import ast
import warnings
from typing import Final

from msgspec import Struct

from workbench.model.bombs import is_bomb
from workbench.model.code import Form
from workbench.model.sources import Sources

LONGEST: Final = 1 << 20
"""Characters of a test that are looked at; a longer one is run as it stands."""

_CHECKED: Final = 100
"""Nesting up to which a literal is evaluated: far below where the interpreter's own stack ends."""

_MOST_KEYS: Final = 5_000
"""Keys of a dictionary or set that is evaluated: they may all hash alike, and then take time with their square."""


class Assertion(Struct, frozen=True):
    """The two sides of ``assert left == literal``.

    Attributes:
        left: Source of the expression that is evaluated in the sandbox.
        right: Source of the literal, as the test has it.
        message: Source of the message where that is computed, and so may raise an error of its own; else None.
    """

    left: str
    right: str
    message: str | None = None


def form_of(source: str) -> Form:
    """``expression`` for one ``assert L == literal``, else ``statement``."""
    return "statement" if assertion_of(source) is None else "expression"


def assertion_of(source: str) -> Assertion | None:
    """The sides of a test that is one ``assert L == literal``, with a message or without; None for any other.

    A literal is what `ast.literal_eval` takes, ``set()`` among it. An expression whose value depends on where it
    stands (a name bound by ``:=``, ``await``, ``yield``) is none.
    """
    tree = parsed(source)
    if tree is None or len(tree.body) != 1 or not isinstance(tree.body[0], ast.Assert):
        return None
    test = tree.body[0].test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return None
    left, right = test.left, test.comparators[0]
    if any(isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for node in ast.walk(left)):
        return None
    if not is_literal(right):
        return None
    sources = Sources(source)
    message = tree.body[0].msg
    computed = None if message is None or is_literal(message) else sources.of(message)
    return Assertion(sources.of(left), sources.of(right), computed)


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is a Python literal that is neither nested too deeply nor of too many keys."""
    if not _is_modest(node):
        return False
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def parsed(source: str, longest: int = LONGEST) -> ast.Module | None:
    """The syntax tree of a text; None where it is no Python, or takes too long or is too deep to tell.

    Args:
        longest: Characters of a text that is looked at.
    """
    if len(source) > longest or is_bomb(source):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _is_modest(node: ast.AST) -> bool:
    """Whether a tree can be evaluated, seen without recursion; ends as soon as it can't."""
    level: list[ast.AST] = [node]
    for _ in range(_CHECKED + 1):
        if any(isinstance(parent, ast.Dict | ast.Set) and _keys(parent) > _MOST_KEYS for parent in level):
            return False
        level = [child for parent in level for child in ast.iter_child_nodes(parent)]
        if not level:
            return True
    return False


def _keys(node: ast.Dict | ast.Set) -> int:
    return len(node.keys if isinstance(node, ast.Dict) else node.elts)
