"""Converts JSON values to Python literals."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, Final

from msgspec import Struct

from workbench.core.code_tests.assertion import is_literal
from workbench.data.formats.lines import RefusedError


def literal(value: Any, key: str) -> str:
    """Return a JSON value as a Python literal; floats keep their exact value.

    Args:
        key: Field of the value, for messages.

    Raises:
        RefusedError: The value is nested too deeply, or a number is beyond Python's limits.
    """
    try:
        return repr(value)
    except RecursionError:
        raise RefusedError("wrong_type", key, f"A value in {key} is nested too deeply. Flatten it.") from None
    except ValueError as error:
        raise RefusedError("wrong_type", key, f"A number in {key} is too long: {error}. Leave the test out.") from None


def arguments(values: list[Any], key: str) -> str:
    """Return the arguments of a call, such as ``[1, 2], 'a'``.

    Raises:
        RefusedError: See `literal`.
    """
    return ", ".join(literal(value, key) for value in values)


# -- Names that a statement reads and binds, and whether it contains an assertion.


class Names(Struct, frozen=True):
    """The names that a statement reads and binds.

    Attributes:
        loaded: Names that are read.
        bound: Names that are bound.
        called: Names that are called as functions.
        asserts: Whether it contains an ``assert``.
        leaves: Whether it contains ``return``, ``break`` or the like, which may end a loop or function early.
    """

    loaded: frozenset[str]
    bound: frozenset[str]
    called: frozenset[str]
    asserts: bool
    leaves: bool


def names_in(node: ast.AST) -> Names:
    loaded, bound, called = set[str](), set[str](), set[str]()
    asserts = leaves = False
    for part in ast.walk(node):
        if isinstance(part, ast.Constant):
            continue
        if isinstance(part, ast.Name):
            (loaded if isinstance(part.ctx, ast.Load) else bound).add(part.id)
        elif isinstance(part, ast.Call):
            if isinstance(part.func, ast.Name):
                called.add(part.func.id)
        elif isinstance(part, ast.FunctionDef | ast.ClassDef):
            bound.add(part.name)
        elif isinstance(part, ast.Import | ast.ImportFrom):
            bound.update((alias.asname or alias.name).partition(".")[0] for alias in part.names)
        asserts = asserts or isinstance(part, ast.Assert)
        leaves = leaves or isinstance(part, ast.Break | ast.Continue | ast.Return)
    return Names(frozenset(loaded), frozenset(bound), frozenset(called), asserts, leaves)


class NameFinder:
    def __init__(self) -> None:
        self._found: dict[int, tuple[ast.AST, Names]] = {}

    def __call__(self, node: ast.AST) -> Names:
        # Keep the node too: another one might get its id.
        kept = self._found.get(id(node))
        if kept is None:
            kept = self._found[id(node)] = node, names_in(node)
        return kept[1]

    def loaded(self, nodes: Iterable[ast.AST]) -> set[str]:
        return {name for node in nodes for name in self(node).loaded}


# -- EvalPlus' comparison of floats, ``assertion(out, exp, atol)``, recognised and written without numpy.


NAME: Final = "assertion"
_KNOWN: Final = {
    NAME: "98ef7e0b265a2e3fa2507d23d7d03b5823440de3581a7e869ba5743e17a60ebd",
    "is_floats": "fe69f80aa3d5f149d18d905a976056a516b302088d99f763fe48774744b18da5",
}
"""sha256 of the source (by `ast.unparse`) of EvalPlus' comparison functions, by name."""
DEFINITION: Final = """\
def assertion(out, exp, atol):
    def floats(x):
        return isinstance(x, float) or (isinstance(x, (list, tuple)) and all(isinstance(i, float) for i in x))
    def near(a, b, atol):
        if isinstance(a, (list, tuple)) or isinstance(b, (list, tuple)):
            both = isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b)
            return both and all(near(x, y, atol) for x, y in zip(a, b))
        return a == b or (a != a and b != b) or abs(a - b) <= atol + 1e-07 * abs(b)
    if atol == 0 and floats(exp):
        atol = 1e-06
    assert out == exp or (atol != 0 and near(out, exp, atol)), f'{out!r} is not {exp!r}'
"""
"""EvalPlus' comparison, rewritten without numpy; unlike there, shapes are not broadcast."""


class ToleranceLoop(Struct, frozen=True):
    """The parts of a loop's body of the form ``assertion(function(*given), wanted, atol)``.

    Attributes:
        function: The name of the function called.
        given: The name of the variable with the arguments.
        wanted: The name of the variable with the expected value.
        atol: The absolute tolerance.
    """

    function: str
    given: str
    wanted: str
    atol: float

    def is_exact(self, wanted: ast.expr) -> bool:
        return self.atol == 0 and is_literal(wanted) and not _is_float_value(ast.literal_eval(wanted))


def is_known(around: Sequence[ast.stmt]) -> bool:
    there = {node.name: _hash(node) for node in around if isinstance(node, ast.FunctionDef) and node.name in _KNOWN}
    return there == _KNOWN


def preamble(around: Sequence[ast.stmt], *, needed: bool) -> list[str]:
    """Return the statements before the tests; EvalPlus' comparison function is replaced by one without numpy.

    Args:
        needed: Whether a test calls the comparison.
    """
    texts = [ast.unparse(node) for node in around if not _belongs_to_comparison(node)]
    return [*texts, DEFINITION] if needed else texts


def parse_comparison(body: Sequence[ast.stmt]) -> ToleranceLoop | None:
    if len(body) != 1 or not isinstance(body[0], ast.Expr) or not isinstance(body[0].value, ast.Call):
        return None
    match body[0].value:
        case ast.Call(
            func=ast.Name(id="assertion"),
            args=[
                ast.Call(func=ast.Name(id=function), args=[ast.Starred(value=ast.Name(id=given))], keywords=[]),
                ast.Name(id=wanted),
                ast.Constant(value=int() | float() as atol),
            ],
            keywords=[],
        ):
            return ToleranceLoop(function, given, wanted, float(atol))
    return None


def _is_float_value(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(isinstance(part, float) for part in value)
    return isinstance(value, float)


def _belongs_to_comparison(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name == "numpy" for alias in node.names)
    return isinstance(node, ast.FunctionDef) and node.name in _KNOWN


def _hash(node: ast.FunctionDef) -> str:
    return sha256(ast.unparse(node).encode()).hexdigest()
