"""Tests read out of a model's reply, and which of them are kept. Everything here is read, nothing is run."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection
from typing import Final

from msgspec import Struct

from workbench.core.code import CodeTest, Problem
from workbench.core.code_tests.assertion import form_of
from workbench.core.code_tests.spelling import bound_names, spelling, tree_of
from workbench.core.final_answer import reply_start

EXTRACTOR: Final = "assertion-tags-1"
"""How tests are taken from a reply: name and version, which goes up when the same reply would be read differently."""

FILTERS: Final[dict[str, str]] = {
    "no_python": "no Python, too long or nested too deeply",
    "no_assert": "no assert statement in it",
    "no_call": "doesn't name what is to be tested",
    "duplicate": "there already, in the same spelling or another",
}
"""Why a test may be left out, by code."""

SURPLUS: Final = "surplus"
"""The code of tests behind the first n."""

MOST_FOUND: Final = 1_000
"""Tests of a reply that are looked at."""

_OPEN, _CLOSE = "<assertion>", "</assertion>"


class ReplyReading(Struct, frozen=True, kw_only=True):
    """How replies are read.

    Attributes:
        count: Tests that are kept of each, the first ones.
        strip: Whether blanks around a test are taken off. Scoring Verifiers leave them, so that a test with a blank
            before it is no Python; which changes scores.
        filters: Codes of `FILTERS` that are in force. Scoring Verifiers have none.
    """

    count: int = 10
    strip: bool = False
    filters: frozenset[str] = frozenset(FILTERS)


class ParsedTests(Struct, frozen=True):
    """The tests of a reply.

    Attributes:
        tests: Those kept.
        found: How many the reply holds.
        dropped: How many are left out, by code.
    """

    tests: tuple[CodeTest, ...]
    found: int
    dropped: Counter[str]


def read_tests(reply: str, problem: Problem, reading: ReplyReading) -> ParsedTests:
    """The tests that a reply holds.

    They stand between ``<assertion>`` and ``</assertion>`` behind the last ``</think>``; one whose end is missing is
    lost, and so is what follows an end within a test's own text. Source: the released code of Scoring Verifiers.
    """
    found = extracted(reply)
    faults = _faults(problem, reading.filters)
    kept: dict[str, CodeTest] = {}
    dropped: Counter[str] = Counter()
    for place, source in enumerate(found):
        text = source.strip() if reading.strip else source
        key = spelling(text) if "duplicate" in reading.filters else str(place)
        tree = tree_of(text)
        fault = next((code for code, has in faults.items() if has(tree)), "duplicate" if key in kept else None)
        if fault is None and len(kept) == reading.count:
            fault = SURPLUS
        if fault is None:
            kept[key] = CodeTest(form=form_of(text), source=text)
        else:
            dropped[fault] += 1
    return ParsedTests(tuple(kept.values()), len(found), dropped)


def extracted(reply: str) -> list[str]:
    """The texts between the tags, in their order, as they are; without halves of characters."""
    at, found = reply_start(reply), list[str]()
    while len(found) < MOST_FOUND and (opened := reply.find(_OPEN, at)) >= 0:
        start = opened + len(_OPEN)
        end = reply.find(_CLOSE, start)
        if end < 0:
            break
        found.append(reply[start:end].encode("utf-8", "replace").decode())
        at = end + len(_CLOSE)
    return found


def _faults(problem: Problem, filters: Collection[str]) -> dict[str, Callable[[ast.Module | None], bool]]:
    """Whether a test has a fault, by the fault's code, in the order they are looked for; without a tree it has one."""
    names = frozenset(filter(None, (problem.entry_point, *bound_names(problem.setup))))
    checks: dict[str, Callable[[ast.Module | None], bool]] = {
        "no_python": lambda tree: tree is None,
        "no_assert": lambda tree: tree is not None and not any(isinstance(node, ast.Assert) for node in ast.walk(tree)),
        "no_call": lambda tree: tree is not None and bool(names) and not names & _named(tree),
    }
    return {code: check for code, check in checks.items() if code in filters}


def _named(tree: ast.Module) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
