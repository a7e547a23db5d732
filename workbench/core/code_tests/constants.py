"""Values that a test writes down, as literals or computed of such; nothing that could take long is computed."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, Final

_CHECKED: Final = 100
"""Nesting up to which a literal is evaluated: far below where the interpreter's own stack ends."""

_MOST_KEYS: Final = 5_000
"""Keys of a dictionary or set that is evaluated: they may all hash alike, and then take time with their square."""

_LARGEST: Final = 10**300
"""Whole numbers in sums and products."""

_CONTAINERS: Final[dict[str, Callable[[Any], Any]]] = {
    "list": list,
    "tuple": tuple,
    "sorted": sorted,
    "set": set,
    "frozenset": set,
}
"""Built-ins around a literal; a frozen set equals the set of the same members."""

_SUMS: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def constant(node: ast.expr) -> tuple[Any, frozenset[str]]:
    """The value that an expression of literals has, and the names of the built-ins in it.

    It is a literal, ``set([1, 2])`` and its like, a sum or product of numbers, or a tuple or list of such.

    Raises:
        ValueError: It is none of these.
    """
    if not _is_modest(node):
        raise ValueError("nested too deeply, or of too many keys")
    return _constant(node)


def constant_of(source: str) -> Any:
    """The value of an expression's text, as with `constant`.

    Raises:
        ValueError: It has none.
    """
    # Brackets let an expression go over several lines, as it may where it comes from.
    return constant(ast.parse(f"(\n{source}\n)", mode="eval").body)[0]


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is a Python literal that is neither nested too deeply nor of too many keys."""
    if not _is_modest(node):
        return False
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _constant(node: ast.expr) -> tuple[Any, frozenset[str]]:
    try:
        return ast.literal_eval(node), frozenset()
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        pass
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            found = [_constant(part) for part in parts]
            values = [value for value, _ in found]
            used = frozenset[str]().union(*(names for _, names in found))
            return (tuple(values) if isinstance(node, ast.Tuple) else values), used
        case ast.Call(func=ast.Name(id=name), args=[held], keywords=[]) if name in _CONTAINERS:
            value, used = _constant(held)
            return _contained(name, value), used | {name}
        case ast.BinOp(left=one, op=sign, right=other) if type(sign) in _SUMS:
            (left, used), (right, more) = _constant(one), _constant(other)
            return _sum(_SUMS[type(sign)], left, right), used | more
        case ast.UnaryOp(op=ast.USub(), operand=held):
            value, used = _constant(held)
            return _sum(operator.sub, 0, value), used
    raise ValueError("no constant")


def _contained(name: str, value: Any) -> Any:
    if not isinstance(value, list | tuple | set | dict | str) or len(value) > _MOST_KEYS:
        raise ValueError("nothing to be held")
    try:
        return _CONTAINERS[name](value)
    except TypeError as error:
        raise ValueError("these don't go together") from error


def _sum(combined: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    for part in (left, right):
        if type(part) not in (int, float) or (type(part) is int and abs(part) > _LARGEST):
            raise ValueError("no number")
    try:
        return combined(left, right)
    except ArithmeticError as error:
        raise ValueError("no sum") from error


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
