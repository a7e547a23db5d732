"""Names by which tests call the code under test; this decides which tests can be compared outside the sandbox.

A name is trusted only if the setup can't have redefined it, so that the call reaches the solution itself.
"""

from __future__ import annotations

import ast
import builtins
from functools import lru_cache
from typing import Final

from workbench.core.code_tests.assertion import AS_LIST, AS_LIST_DEFINITION, ISCLOSE, Assertion, assertion_of, parsed

_BUILTINS: Final = frozenset(dir(builtins))

_OBSCURE: Final = frozenset(
    """eval exec compile globals locals vars setattr delattr getattr __import__ __builtins__ builtins sys inspect gc
    importlib solution __main__""".split()  # noqa: SIM905
)
"""Names by which a setup could define other names without mentioning them."""

_AS_LIST: Final = ast.dump(ast.parse(AS_LIST_DEFINITION))


class Callees:
    """The names by which tests of a problem may call the code under test.

    Args:
        entry_point: The function or class that tests call; if None, every name counts that only a solution can have
            defined.
        setup: Code between the solution and its tests. If it could redefine names indirectly, no name is trusted.
    """

    def __init__(self, entry_point: str | None, setup: str) -> None:
        self._entry_point = entry_point
        tree = parsed(setup)
        body = [] if tree is None else tree.body
        self._bound = [name for node in body for name in _bound(node)]
        self._imported = _imported(body)
        self._aliases = {name for node in body if (name := self._alias_of_tested(node)) is not None}
        self._clear = tree is not None and all(
            _is_transparent(node) or self._alias_of_tested(node) is not None for node in body
        )
        self._helpers = self._self_contained_names(body)
        self._lists = any(ast.dump(ast.Module([node], [])) == _AS_LIST for node in body)

    def assertion_outside(self, source: str) -> Assertion | None:
        """Return the assertion of a test that can be compared outside the sandbox; None for any other test."""
        found = assertion_of(source)
        if found is None or not self._clear or not self._calls_tested_code(found.called):
            return None
        if not found.needs <= self._helpers or not all(map(self._is_unchanged, found.outside)):
            return None
        return found

    def _calls_tested_code(self, name: str) -> bool:
        if name in self._aliases:
            return self._bound.count(name) == 1
        return self._is_tested(name)

    def _is_tested(self, name: str) -> bool:
        if name in self._bound:
            return False
        return name not in _BUILTINS if self._entry_point is None else name == self._entry_point

    def _is_unchanged(self, name: str) -> bool:
        if name == AS_LIST:
            return self._lists and self._bound.count(name) == 1
        if name in ("math", ISCLOSE):
            wanted = name if name == "math" else f"math.{name}"
            return self._imported.get(name) == wanted and self._bound.count(name) == 1
        return name not in self._bound and name != self._entry_point

    def _alias_of_tested(self, node: ast.stmt) -> str | None:
        """Return the name in ``candidate = f``, ``candidate = Solution().f`` and a choice between such."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._refers_to_tested(value):
                return name
        return None

    def _refers_to_tested(self, value: ast.expr) -> bool:
        match value:
            case ast.Name(id=name):
                return self._is_tested(name)
            case ast.Attribute(
                value=ast.Name(id="Solution") | ast.Call(func=ast.Name(id="Solution"), args=[], keywords=[]), attr=name
            ):
                return "Solution" not in self._bound and self._is_tested(name)
            case ast.IfExp(
                test=ast.Compare(left=ast.Constant(), ops=[ast.In()], comparators=[ast.Call() as there]),
                body=one,
                orelse=other,
            ):
                return (
                    ast.unparse(there) == "globals()" and self._refers_to_tested(one) and self._refers_to_tested(other)
                )
        return False

    def _self_contained_names(self, body: list[ast.stmt]) -> frozenset[str]:
        found = set[str]()
        for node in body:
            names = set(_bound(node))
            nodes = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
            if {part.id for part in nodes if isinstance(part.ctx, ast.Load)} <= found | names | _local_names(
                node
            ) | _BUILTINS:
                found |= names
        return frozenset(name for name in found if self._bound.count(name) == 1)


@lru_cache(maxsize=512)
def callees(entry_point: str | None, setup: str) -> Callees:
    return Callees(entry_point, setup)


def _bound(node: ast.AST) -> list[str]:
    found: list[str] = []
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        inner = (part for part in ast.walk(node) if isinstance(part, ast.Global))
        return [node.name, *(name for part in inner for name in part.names)]
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            found.append(part.id)
        elif isinstance(part, ast.Import | ast.ImportFrom):
            found += [(alias.asname or alias.name).partition(".")[0] for alias in part.names]
    return found


def _local_names(node: ast.AST) -> set[str]:
    parts = list(ast.walk(node))
    stored = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    inner = {part.name for part in parts if isinstance(part, ast.FunctionDef | ast.ClassDef)}
    return stored | inner | {part.arg for part in parts if isinstance(part, ast.arg)}


def _imported(body: list[ast.stmt]) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in body:
        if isinstance(node, ast.Import):
            found |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _is_transparent(node: ast.stmt) -> bool:
    parts = list(ast.walk(node))
    if any(isinstance(part, ast.Name) and part.id in _OBSCURE for part in parts):
        return False
    if any(isinstance(part, ast.Attribute) and part.attr.startswith("__") for part in parts):
        return False
    match node:
        case ast.ImportFrom():
            return all(alias.name != "*" for alias in node.names)
        case ast.Import():
            return _OBSCURE.isdisjoint(alias.name.partition(".")[0] for alias in node.names)
        case ast.FunctionDef() | ast.ClassDef():
            return not node.decorator_list
        case ast.Assign(targets=targets):
            return all(isinstance(part, ast.Name | ast.Tuple) for part in targets)
        case ast.Expr(value=value):
            return isinstance(value, ast.Constant)
    return isinstance(node, ast.Pass | ast.AnnAssign)
