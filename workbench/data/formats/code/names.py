"""What a statement's syntax tree says of names: which it reads and binds, and whether it asserts anything."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from msgspec import Struct


class Names(Struct, frozen=True):
    """What stands anywhere in a statement.

    Attributes:
        loaded: Names that are read.
        bound: Names that are bound.
        called: Names that are called as functions.
        asserts: There is an ``assert`` in it.
        leaves: A loop or function in it may be left early.
    """

    loaded: frozenset[str]
    bound: frozenset[str]
    called: frozenset[str]
    asserts: bool
    leaves: bool


def names_in(node: ast.AST) -> Names:
    """Look through a tree once."""
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
    """Looks through statements, through each once."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[ast.AST, Names]] = {}

    def __call__(self, node: ast.AST) -> Names:
        """What stands in a statement."""
        # The node is kept too: another one might get its id.
        kept = self._found.get(id(node))
        if kept is None:
            kept = self._found[id(node)] = node, names_in(node)
        return kept[1]

    def loaded(self, nodes: Iterable[ast.AST]) -> set[str]:
        """Names that are read in any of these statements."""
        return {name for node in nodes for name in self(node).loaded}
