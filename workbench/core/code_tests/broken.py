"""Broken tests, which no solution can pass, found by parsing alone: they are excluded and count for no solution.

If tests call the code under test by the name ``candidate``, as HumanEval's do, a statement that defines the name is
added to the setup first.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from msgspec import Struct, structs

from workbench.core.code import CodeTest, Problem
from workbench.core.code_tests.assertion import LONGEST, constant, is_bomb, parsed

Fault = Literal["syntax", "nothing", "constant"]
"""Why a test is broken: it does not parse, uses a name that nothing defines, or is false for every solution."""
FAULTS: Final[dict[Fault, str]] = {
    "syntax": "no Python",
    "nothing": "a name that neither it, the setup, the problem nor its reference solution has",
    "constant": "false whatever a solution does",
}
"""Descriptions of faults."""
CANDIDATE: Final = "candidate"
"""The name of the function under test in HumanEval's tests."""
_BUILTINS: Final = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}
_WORD: Final = re.compile(r"[^\W\d]\w*")
_BINDS_UNSEEN: Final = frozenset(("exec", "eval", "globals", "locals", "vars", "setattr", "__import__"))
_MAX_COMPILED: Final = 1 << 14


class TestFault(NamedTuple):
    """The fault of a broken test, and the error with which every solution fails it, including the
    reference solution.
    """

    fault: Fault
    error: str


class BrokenTest(Struct, frozen=True, kw_only=True):
    """A broken test, which is excluded.

    Attributes:
        position: The test's number in the suite, from 1.
        error: The error with which every solution fails the test, including the reference solution.
    """

    task_id: str
    suite: str
    position: int
    fault: Fault
    error: str

    @property
    def words(self) -> str:
        return f"{self.task_id} {self.suite} {self.position}: {FAULTS[self.fault]} ({self.error})"


def binding(entry_point: str, name: str = CANDIDATE) -> str:
    return f"{name} = {entry_point}"


def with_candidate(problem: Problem) -> Problem:
    """Return the problem with `CANDIDATE` defined as its entry point, if a test calls that name and
    nothing defines it.
    """
    name, calls = problem.entry_point, _calls_candidate(problem)
    if not calls or name is None or not name.isidentifier() or problem.language != "python":
        return problem
    there = _available_names(name, problem.setup, problem.prompt, problem.canonical)
    if there is None or CANDIDATE in there:
        return problem
    return structs.replace(problem, setup="\n".join(filter(None, (problem.setup, binding(name)))))


def _calls_candidate(problem: Problem) -> bool:
    return any(
        CANDIDATE in test.source and (tree := parsed(test.source)) is not None and CANDIDATE in _free_names(tree)
        for tests in problem.suites.values()
        for test in tests
        if test.form in ("expression", "statement")
    )


def broken_tests(
    problem: Problem, tests: Sequence[CodeTest], suite: str | None = None, *, grammar: bool = True
) -> dict[int, TestFault]:
    """Return the faults of broken tests, by index; empty for suites in ``problem.written``.

    Tests in languages other than Python are not parsed; broken ones are found by running them without a solution.

    Args:
        suite: The name of the tests' suite.
        grammar: Whether the interpreter that runs the tests has the grammar of this one; if not, syntax errors don't
            count as faults.
    """
    if problem.language != "python" or suite in problem.written:
        return {}
    there = _available_names(problem.entry_point, problem.setup, problem.prompt, problem.canonical)
    found: dict[int, TestFault] = {}
    for place, test in enumerate(tests):
        if test.form in ("expression", "statement"):
            wrong = _find_fault(test.source, there)
            if wrong is not None and (grammar or wrong.fault != "syntax"):
                found[place] = wrong
    return found


def broken_in(problem: Problem) -> list[BrokenTest]:
    return [
        BrokenTest(task_id=problem.task_id, suite=suite, position=place + 1, fault=wrong.fault, error=wrong.error)
        for suite, tests in problem.suites.items()
        for place, wrong in broken_tests(problem, tests, suite).items()
    ]


@lru_cache(maxsize=1 << 13)
def _find_fault(source: str, there: frozenset[str] | None) -> TestFault | None:
    if error := _syntax_error(source):
        return TestFault("syntax", error)
    tree = parsed(source)
    if tree is None:
        return None
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.Assert) and _is_false(tree.body[0].test):
        return TestFault("constant", "AssertionError")
    unbound = [] if there is None else sorted(_free_names(tree) - there)
    return TestFault("nothing", f"NameError: name {unbound[0]!r} is not defined") if unbound else None


def _syntax_error(source: str) -> str:
    if len(source) > LONGEST or is_bomb(source):
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if len(source) > _MAX_COMPILED or "finally" in source:
                ast.parse(source)
            else:
                compile(source, "<test>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"{type(error).__name__}: {error.msg}"
    except ValueError as error:
        return f"SyntaxError: {error}"
    except (RecursionError, MemoryError, OverflowError):
        return ""
    return ""


def _is_false(test: ast.expr) -> bool:
    try:
        match test:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                return bool(constant(left)[0] != constant(right)[0])
            case _:
                return not constant(test)[0]
    except ValueError:
        return False


def _free_names(tree: ast.Module) -> set[str]:
    loaded, bound = _loaded_and_bound(tree)
    return loaded - bound - _BUILTINS if _BINDS_UNSEEN.isdisjoint(loaded) else set()


@lru_cache(maxsize=512)
def _available_names(entry_point: str | None, setup: str, prompt: str, canonical: str) -> frozenset[str] | None:
    """Return all names that a test can use; None if that can't be determined.

    Solutions may define any word of the problem's texts as a name.
    """
    tree = parsed(setup)
    if entry_point is None or tree is None:
        return None
    loaded, bound = _loaded_and_bound(tree)
    if "*" in bound or not _BINDS_UNSEEN.isdisjoint(loaded):
        return None
    return frozenset((entry_point, "Solution", *bound, *_WORD.findall(prompt), *_WORD.findall(canonical)))


def _loaded_and_bound(tree: ast.AST) -> tuple[set[str], set[str]]:
    loaded, bound = set[str](), set[str]()
    for part in ast.walk(tree):
        match part:
            case ast.Name(id=name, ctx=ast.Load()):
                loaded.add(name)
            case ast.Name(id=name) | ast.arg(arg=name):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case ast.alias(name=name, asname=other):
                bound.add((other or name).partition(".")[0])
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound.add(name)
            case ast.MatchMapping(rest=str(name)):
                bound.add(name)
    return loaded, bound


# -- A canonical spelling of tests that differ only in whitespace, quotes or brackets; no test is run here.


LONGEST_TEST: Final = 20_000
"""Most characters of a test written by a model."""
_MAX_NODES: Final = 20_000
_MAX_DEPTH: Final = 60


def tree_of(source: str) -> ast.Module | None:
    """Return the syntax tree of a test; None if it is not Python, or too long or nested too deeply."""
    tree = parsed(source) if len(source) <= LONGEST_TEST else None
    return tree if tree is not None and _is_small(tree) else None


def spelling(source: str) -> str:
    """Return a test in canonical spelling, unparsed from its syntax tree; unchanged if it doesn't parse.

    The message of an assert is left out: it doesn't change what is tested.
    """
    tree = tree_of(source)
    if tree is None:
        return source.strip()
    for node in tree.body:
        if isinstance(node, ast.Assert):
            node.msg = None
    return ast.unparse(tree)


def bound_names(setup: str) -> list[str]:
    tree = tree_of(setup)
    if tree is None:
        return []
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def _is_small(tree: ast.AST) -> bool:
    level: list[ast.AST] = [tree]
    count = 0
    for _ in range(_MAX_DEPTH):
        count += len(level)
        if not level or count > _MAX_NODES:
            break
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return not level and count <= _MAX_NODES
