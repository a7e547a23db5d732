"""Tests whose value can be compared outside the sandbox, found by parsing alone: no test is run here.

Such a test is an assertion about one call of the code under test, ``assert f(1) == literal``. The call may be inside a
conversion (``sorted(f(1)) == …``) or a comparison of numbers (``abs(f(1) - 2.5) < 1e-6``), which are evaluated outside
the sandbox on the plain value. In tests of any other form the comparison runs inside the sandbox, where an object made
by the solution can pretend to be equal.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from workbench.core.code import Form

# -- Texts for which Python's parser needs quadratic time and memory.


_SHORT: Final = 1 << 12
_MAX_SCANNED: Final = 1 << 28
"""Maximum number of characters that the parser may copy or scan in addition to the text."""
_STRING: Final = re.compile(
    r"#[^\n]*|(?P<prefix>[bBfFrRuU]{0,2})(?P<quote>'''|\"\"\"|'|\")(?:[^\\]|\\.)*?(?P=quote)", re.DOTALL
)
"""A string, or a comment, which may contain quotes."""
_LINE: Final = re.compile(r"(?:[^\n;\\]|\\.)+", re.DOTALL)
_IMPORT: Final = re.compile(r"\b(?:import|from)\b")


def is_bomb(source: str) -> bool:
    """Return whether a text could take Python's parser far longer than other texts of the same length.

    For each dot in the name of an imported module the parser copies the text before it, and up to Python 3.11 it scans
    an f-string from its start for each of its fields.
    """
    if len(source) <= _SHORT or len(source) * max(source.count("{"), source.count(".")) <= _MAX_SCANNED:
        return False
    if any("f" in found["prefix"].lower() and _is_quadratic(found[0], "{") for found in _long_prefixed_strings(source)):
        return True
    lines = (line for line in _LINE.findall(_STRING.sub("", source)) if len(line) > _SHORT)
    return any(_is_quadratic(line, ".") for line in lines if _IMPORT.search(line))


def _long_prefixed_strings(source: str) -> list[re.Match[str]]:
    return [found for found in _STRING.finditer(source) if found["prefix"] and len(found[0]) > _SHORT]


def _is_quadratic(text: str, counted: str) -> bool:
    return text.count(counted) * len(text) > _MAX_SCANNED


# -- Values in tests: literals, and expressions of them; nothing that could take long is evaluated.


_MAX_NESTING: Final = 100
"""Maximum nesting of an evaluated literal, far below the limit of the interpreter's stack."""
_MAX_KEYS: Final = 5_000
"""Most keys of an evaluated dictionary or set: if all hashes are equal, the time is quadratic."""
_MAX_INTEGER: Final = 10**300
"""Largest integer in sums and products."""
_CONTAINERS: Final[dict[str, Callable[[Any], Any]]] = {
    "list": list,
    "tuple": tuple,
    "sorted": sorted,
    "set": set,
    "frozenset": set,
}
"""Built-ins that may convert a literal in an expected value; a frozen set equals a set with the same members."""
_SUMS: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def constant(node: ast.expr) -> tuple[Any, frozenset[str]]:
    """Return the value of an expression of literals, and the names of the built-ins in it.

    Accepted are literals, ``set([1, 2])`` and similar, sums and products of numbers, and tuples or lists of these.

    Raises:
        ValueError: The expression is anything else.
    """
    if not _is_modest(node):
        raise ValueError("nested too deeply, or of too many keys")
    return _evaluate_constant(node)


def constant_of(source: str) -> Any:
    """Return the value of an expression given as text, as `constant` does.

    Raises:
        ValueError: The text is not such an expression.
    """
    # Brackets allow an expression over several lines.
    return constant(ast.parse(f"(\n{source}\n)", mode="eval").body)[0]


def is_literal(node: ast.expr) -> bool:
    """Return whether an expression is a Python literal, not nested too deeply and without too many keys."""
    if not _is_modest(node):
        return False
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _evaluate_constant(node: ast.expr) -> tuple[Any, frozenset[str]]:
    try:
        return ast.literal_eval(node), frozenset()
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        pass
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            found = [_evaluate_constant(part) for part in parts]
            values = [value for value, _ in found]
            used = frozenset[str]().union(*(names for _, names in found))
            return (tuple(values) if isinstance(node, ast.Tuple) else values), used
        case ast.Call(func=ast.Name(id=name), args=[held], keywords=[]) if name in _CONTAINERS:
            value, used = _evaluate_constant(held)
            return _make_container(name, value), used | {name}
        case ast.BinOp(left=one, op=sign, right=other) if type(sign) in _SUMS:
            (left, used), (right, more) = _evaluate_constant(one), _evaluate_constant(other)
            return _combine_numbers(_SUMS[type(sign)], left, right), used | more
        case ast.UnaryOp(op=ast.USub(), operand=held):
            value, used = _evaluate_constant(held)
            return _combine_numbers(operator.sub, 0, value), used
    raise ValueError("no constant")


def _make_container(name: str, value: Any) -> Any:
    if not isinstance(value, list | tuple | set | dict | str) or len(value) > _MAX_KEYS:
        raise ValueError("nothing to be held")
    try:
        return _CONTAINERS[name](value)
    except TypeError as error:
        raise ValueError("these can't be combined") from error


def _combine_numbers(combined: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    for part in (left, right):
        if type(part) not in (int, float) or (type(part) is int and abs(part) > _MAX_INTEGER):
            raise ValueError("no number")
    try:
        return combined(left, right)
    except ArithmeticError as error:
        raise ValueError("no sum") from error


def _is_modest(node: ast.AST) -> bool:
    level: list[ast.AST] = [node]
    for _ in range(_MAX_NESTING + 1):
        if any(
            isinstance(parent, ast.Dict | ast.Set)
            and len(parent.keys if isinstance(parent, ast.Dict) else parent.elts) > _MAX_KEYS
            for parent in level
        ):
            return False
        level = [child for parent in level for child in ast.iter_child_nodes(parent)]
        if not level:
            return True
    return False


# -- Source texts of nodes, in time independent of the length of the surrounding text.


_SOURCE_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
"""A line with its end, as Python's parser counts lines; form feeds and other separators don't end one."""


class Sources:
    """Returns the source text of nodes; `ast.get_source_segment` would take half a minute for a text of a megabyte.

    Args:
        text: The text that was parsed.
    """

    def __init__(self, text: str) -> None:
        self._lines: list[bytes] = _SOURCE_LINE.findall(text.encode("utf-8", "surrogatepass"))

    def of(self, node: ast.stmt | ast.expr) -> str:
        """Return the node's source; a compound statement is unparsed, without its indentation."""
        if isinstance(node, ast.For | ast.While | ast.If | ast.With | ast.Try | ast.FunctionDef | ast.ClassDef):
            return ast.unparse(node)
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        lines = self._lines[first : last + 1]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return b"".join(lines).decode("utf-8", "surrogatepass")


LONGEST: Final = 1 << 20
"""Maximum characters of a test that is parsed; a longer test is run unchanged."""
AS_LIST: Final = "as_list"
AS_LIST_DEFINITION: Final = f"""\
def {AS_LIST}(found):
    return list(found) if isinstance(found, tuple) else found
"""
"""The conversion that contest files apply to a call, since JSON has no tuples."""
ISCLOSE: Final = "isclose"
NEAR: Final = {ast.Lt: "<", ast.LtE: "<="}
_CONVERSIONS: Final = frozenset(
    ("list", "tuple", "sorted", "set", "frozenset", "len", "str", "repr", "int", "float", "bool", "abs", AS_LIST)
)
_MAX_DIGITS: Final = 50
_FLIPPED: Final = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_ARGUMENTS_USE: Final = frozenset(
    """abs all any bin bool bytearray bytes chr complex dict divmod enumerate filter float frozenset hex int iter len
    list map max min oct ord pow range repr reversed round set slice sorted str sum tuple zip""".split()  # noqa: SIM905
)
"""Built-ins that arguments of a call may use; none of them gives access to the running program."""
_HIDDEN: Final = ("_", "f_", "gi_", "cr_", "ag_", "tb_", "co_")
"""Prefixes of attributes that give access to frames, code and globals."""


class Via(Struct, frozen=True):
    """A conversion or comparison that is applied to the value of a call outside the sandbox.

    Attributes:
        name: A conversion, ``<`` or ``<=`` for ``abs(value - wanted) < most``, or ``isclose``.
        given: Its arguments after the call's value.
    """

    name: str
    given: tuple[Any, ...] = ()


class Assertion(Struct, frozen=True):
    """An assertion about one call.

    Attributes:
        left: Source of the call, which is evaluated in the sandbox.
        right: Source of the expected value, as in the test.
        called: The name called.
        message: Source of the assertion's message if it is an expression that could itself raise an error; else None.
        via: What is applied to the call's value before it is compared; None if nothing is.
        needs: Names that the arguments use, except built-ins.
        outside: Names of built-ins that are applied outside the sandbox; the test means something else if the program
            redefines one.
    """

    left: str
    right: str
    called: str
    message: str | None = None
    via: Via | None = None
    needs: frozenset[str] = frozenset()
    outside: frozenset[str] = frozenset()


class _Expectation(Struct, frozen=True):
    call: ast.Call
    via: Via | None = None
    right: ast.expr | None = None
    outside: frozenset[str] = frozenset()


def form_of(source: str) -> Form:
    """Return ``expression`` for an assertion about one call, else ``statement``."""
    return "statement" if assertion_of(source) is None else "expression"


def assertion_of(source: str) -> Assertion | None:
    """Parse a test that is an assertion about one call by name; return None for any other test.

    `callees.Callees` decides whether the name is that of the code under test.
    """
    tree = parsed(source)
    if tree is None or len(tree.body) != 1 or not isinstance(tree.body[0], ast.Assert):
        return None
    asked = _expectation(tree.body[0].test)
    if asked is None or not isinstance(asked.call.func, ast.Name):
        return None
    needs = _names_in_arguments(asked.call)
    if needs is None:
        return None
    sources = Sources(source)
    message = tree.body[0].msg
    return Assertion(
        left=sources.of(asked.call),
        right="True" if asked.right is None else sources.of(asked.right),
        called=asked.call.func.id,
        message=None if message is None or is_literal(message) else sources.of(message),
        via=asked.via,
        needs=needs,
        outside=asked.outside,
    )


def parsed(source: str, longest: int = LONGEST) -> ast.Module | None:
    """Return the syntax tree of a text; None if it is not Python, or takes too long or nests too deeply to parse.

    Args:
        longest: Maximum length of a text to parse, in characters.
    """
    if len(source) > longest or is_bomb(source):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _expectation(test: ast.expr) -> _Expectation | None:
    if isinstance(test, ast.Call):
        return _parse_isclose(test)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    (operator,), (right,) = map(type, test.ops), test.comparators
    if operator is not ast.Eq:
        return _parse_tolerance(test.left, operator, right)
    try:
        _, used = constant(right)
    except ValueError:
        return None
    if not isinstance(test.left, ast.Call):
        return None
    return _parse_conversion(test.left, right, used) or _Expectation(test.left, right=right, outside=used)


def _parse_conversion(call: ast.Call, right: ast.expr, used: frozenset[str]) -> _Expectation | None:
    """Parse a call in a conversion, such as ``sorted(f(1), reverse=True)`` and ``round(f(1), 6)``."""
    match call:
        case ast.Call(func=ast.Name(id=name), args=[ast.Call(func=ast.Name()) as inner], keywords=[]):
            if name in _CONVERSIONS or name == "round":
                return _Expectation(inner, Via(name), right, used | {name})
        case ast.Call(
            func=ast.Name(id="sorted" as name),
            args=[ast.Call(func=ast.Name()) as inner],
            keywords=[ast.keyword(arg="reverse", value=ast.Constant(value=bool(backwards)))],
        ):
            return _Expectation(inner, Via(name, (backwards,)), right, used | {name})
        case ast.Call(
            func=ast.Name(id="round" as name),
            args=[ast.Call(func=ast.Name()) as inner, ast.Constant(value=int(digits))],
            keywords=[],
        ):
            if not isinstance(digits, bool) and digits <= _MAX_DIGITS:
                return _Expectation(inner, Via(name, (digits,)), right, used | {name})
    return None


def _parse_tolerance(left: ast.expr, operator: type[ast.cmpop], right: ast.expr) -> _Expectation | None:
    """Parse ``abs(f(1) - 2.5) < 1e-6`` and similar; the call may be on either side of the minus."""
    if operator in _FLIPPED:
        left, operator, right = right, _FLIPPED[operator], left
    most = _constant_number(right)
    match left:
        case ast.Call(func=ast.Name(id="abs"), args=[ast.BinOp(left=one, op=ast.Sub(), right=other)], keywords=[]):
            call, wanted = (
                (one, _constant_number(other)) if isinstance(one, ast.Call) else (other, _constant_number(one))
            )
            if isinstance(call, ast.Call) and wanted is not None and most is not None and operator in NEAR:
                return _Expectation(call, Via(NEAR[operator], (wanted, most)), outside=frozenset(("abs",)))
    return None


def _parse_isclose(test: ast.Call) -> _Expectation | None:
    """Parse ``math.isclose(f(1), 2.5, rel_tol=1e-9)``; the call is the first or the second argument."""
    match test.func:
        case ast.Name(id="isclose") | ast.Attribute(value=ast.Name(id="math"), attr="isclose"):
            pass
        case _:
            return None
    if len(test.args) != 2 or any(known.arg not in ("rel_tol", "abs_tol") for known in test.keywords):
        return None
    call, other = test.args if isinstance(test.args[0], ast.Call) else reversed(test.args)
    wanted = _constant_number(other)
    given = {str(known.arg): _constant_number(known.value) for known in test.keywords}
    if not isinstance(call, ast.Call) or wanted is None or len(given) < len(test.keywords):
        return None
    relative, absolute = given.get("rel_tol", 1e-9), given.get("abs_tol", 0.0)
    if relative is None or absolute is None or relative < 0 or absolute < 0:
        return None
    name = "math" if isinstance(test.func, ast.Attribute) else ISCLOSE
    return _Expectation(call, Via(ISCLOSE, (wanted, relative, absolute)), outside=frozenset((name,)))


def _constant_number(node: ast.expr) -> float | None:
    try:
        value, _ = constant(node)
    except ValueError:
        return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _names_in_arguments(call: ast.Call) -> frozenset[str] | None:
    loaded, bound = set[str](), set[str]()
    for part in (node for given in (*call.args, *call.keywords) for node in ast.walk(given)):
        if isinstance(part, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            return None
        if isinstance(part, ast.Attribute) and part.attr.startswith(_HIDDEN):
            return None
        if isinstance(part, ast.Name):
            (loaded if isinstance(part.ctx, ast.Load) else bound).add(part.id)
        elif isinstance(part, ast.arg):
            bound.add(part.arg)
    return frozenset(loaded - bound - _ARGUMENTS_USE)
