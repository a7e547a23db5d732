"""Loops over literals, round by round: ``for i, (inp, exp) in enumerate(zip(inputs, results)): …``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from workbench.core.code_tests.sources import Sources
from workbench.data.formats.code.names import NameFinder
from workbench.data.formats.code.tolerance import compared

_Value = ast.expr | int

LONGEST_TOGETHER: Final = 1 << 26
"""Characters that all tests made of one may have, since each repeats what it needs."""


class Round(Struct, frozen=True):
    """One round of a loop.

    Attributes:
        text: Statements that bind the loop's names, and the loop's body.
        values: What those names stand for: an expression, or the number of the round.
        body: The loop's body.
    """

    text: str
    values: dict[str, _Value]
    body: list[ast.stmt]

    def exact(self, sources: Sources) -> str | None:
        """``assert f(1, 2) == 3`` for a body ``assertion(f(*inp), exp, 0)`` whose ``exp`` leaves no tolerance.

        None for any other, or where ``inp`` is no list.
        """
        found = compared(self.body)
        if found is None:
            return None
        given, wanted = self.values.get(found.given), self.values.get(found.wanted)
        if not isinstance(given, ast.List | ast.Tuple) or not isinstance(wanted, ast.expr):
            return None
        if any(isinstance(value, ast.Starred) for value in given.elts) or not found.is_exact(wanted):
            return None
        arguments = ", ".join(map(sources.of, given.elts))
        return f"assert {found.function}({arguments}) == {sources.of(wanted)}"


def unrolled(before: Sequence[ast.stmt], loop: ast.For, sources: Sources, names: NameFinder) -> list[Round] | None:
    """The rounds of a loop over literals, which may be bound to names before it; None for any other loop.

    Args:
        before: Statements that the loop needs; those that bind its literals are not needed by its rounds.
    """
    lists = {
        node.targets[0].id: node
        for node in before
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    }
    columns = _columns(loop.target, loop.iter, lists)
    wanted, used = names.loaded(loop.body), names(loop.iter).loaded
    if columns is None or loop.orelse or names(loop).leaves or used & wanted:
        return None
    shared = [ast.unparse(node) for node in before if not (isinstance(node, ast.Assign) and names(node).bound <= used)]
    body = [sources.of(node) for node in loop.body]
    count = min(map(len, columns.values()))
    if count * sum(map(len, (*shared, *body))) > LONGEST_TOGETHER:
        return None
    rounds = []
    for number in range(count):
        values = {name: column[number] for name, column in columns.items()}
        binding = [f"{name} = {_written(value, sources)}" for name, value in values.items() if name in wanted]
        rounds.append(Round("\n".join((*shared, *binding, *body)), values, loop.body))
    return rounds


def _columns(target: ast.expr, over: ast.expr, lists: dict[str, ast.Assign]) -> dict[str, Sequence[_Value]] | None:
    """Name -> its values round by round; None where that isn't plain to see."""
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and not over.keywords:
        if (
            over.func.id == "enumerate"
            and len(over.args) == 1
            and isinstance(target, ast.Tuple)
            and len(target.elts) == 2
        ):
            inner = _columns(target.elts[1], over.args[0], lists)
            if inner is None or not isinstance(target.elts[0], ast.Name):
                return None
            return {target.elts[0].id: range(min(map(len, inner.values()))), **inner}
        if over.func.id == "zip" and isinstance(target, ast.Tuple) and len(target.elts) == len(over.args):
            parts = [_columns(*pair, lists) for pair in zip(target.elts, over.args, strict=True)]
            found: dict[str, Sequence[_Value]] = {}
            for part in parts:
                if part is None:
                    return None
                found.update(part)
            return found
        return None
    if isinstance(over, ast.Name) and over.id in lists:
        over = lists[over.id].value
    if isinstance(target, ast.Name) and isinstance(over, ast.List | ast.Tuple) and not _has_star(over):
        return {target.id: over.elts}
    return None


def _has_star(node: ast.List | ast.Tuple) -> bool:
    return any(isinstance(element, ast.Starred) for element in node.elts)


def _written(value: _Value, sources: Sources) -> str:
    return str(value) if isinstance(value, int) else sources.of(value)
