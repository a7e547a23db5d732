"""Reads HumanEval, MBPP and EvalPlus' own files, and splits their test code into tests.

The reference solution is not run on import. Each test runs it in the sandbox next to the tested solution and compares
the results. A solution could forge a pass of such a test; it is marked as forgeable, like any test that is more than
one call of the solution.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from workbench.core.code import Problem
from workbench.core.code_tests.assertion import Sources, is_literal, parsed
from workbench.core.code_tests.broken import CANDIDATE, binding
from workbench.data.formats.code import literals
from workbench.data.formats.code.literals import DEFINITION, NAME, NameFinder, arguments, parse_comparison
from workbench.data.formats.code.row import (
    CodeRow,
    Tests,
    nonempty_suites,
    program_suite,
    statement_tests,
    tests_from,
)
from workbench.data.formats.lines import RefusedError

# -- Loops over literals, iteration by iteration: ``for i, (inp, exp) in enumerate(zip(inputs, results)): …``.


_Value = ast.expr | int
LONGEST_TOGETHER: Final = 1 << 26
"""Most characters of all tests made from one loop, since each repeats its setup."""


class Round(Struct, frozen=True):
    """One iteration of an unrolled loop.

    Attributes:
        text: Statements that bind the loop's names, and the loop's body.
        values: The values of the loop's names, by name: an expression, or the number of the iteration.
        body: The loop's body.
    """

    text: str
    values: dict[str, _Value]
    body: list[ast.stmt]

    def exact_assertion(self, sources: Sources) -> str | None:
        """Return ``assert f(1, 2) == 3`` for a body ``assertion(f(*inp), exp, 0)`` whose ``exp`` has no tolerance.

        Return None for any other body, or if ``inp`` is not a list.
        """
        found = parse_comparison(self.body)
        if found is None:
            return None
        given, wanted = self.values.get(found.given), self.values.get(found.wanted)
        if not isinstance(given, ast.List | ast.Tuple) or not isinstance(wanted, ast.expr):
            return None
        if any(isinstance(value, ast.Starred) for value in given.elts) or not found.is_exact(wanted):
            return None
        arguments = ", ".join(map(sources.of, given.elts))
        return f"assert {found.function}({arguments}) == {sources.of(wanted)}"


def unroll(before: Sequence[ast.stmt], loop: ast.For, sources: Sources, names: NameFinder) -> list[Round] | None:
    """Return the iterations of a loop over literals, which may be assigned to names before it; None for other loops.

    Args:
        before: Statements before the loop; the iterations no longer need those that bind its literals.
    """
    lists = {
        node.targets[0].id: node
        for node in before
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    }
    columns = _loop_values(loop.target, loop.iter, lists)
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
        read = ((name, value) for name, value in values.items() if name in wanted)
        binding = [f"{name} = {one if isinstance(one, int) else sources.of(one)}" for name, one in read]
        rounds.append(Round("\n".join((*shared, *binding, *body)), values, loop.body))
    return rounds


def _loop_values(target: ast.expr, over: ast.expr, lists: dict[str, ast.Assign]) -> dict[str, Sequence[_Value]] | None:
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and not over.keywords:
        if (
            over.func.id == "enumerate"
            and len(over.args) == 1
            and isinstance(target, ast.Tuple)
            and len(target.elts) == 2
        ):
            inner = _loop_values(target.elts[1], over.args[0], lists)
            if inner is None or not isinstance(target.elts[0], ast.Name):
                return None
            return {target.elts[0].id: range(min(map(len, inner.values()))), **inner}
        if over.func.id == "zip" and isinstance(target, ast.Tuple) and len(target.elts) == len(over.args):
            parts = [_loop_values(*pair, lists) for pair in zip(target.elts, over.args, strict=True)]
            found: dict[str, Sequence[_Value]] = {}
            for part in parts:
                if part is None:
                    return None
                found.update(part)
            return found
        return None
    if isinstance(over, ast.Name) and over.id in lists:
        over = lists[over.id].value
    if isinstance(target, ast.Name) and isinstance(over, ast.List | ast.Tuple):
        return None if any(isinstance(one, ast.Starred) for one in over.elts) else {target.id: over.elts}
    return None


# -- Splitting the test code of benchmarks into separate tests by its syntax tree, without running
# it.


LONGEST: Final = 4 << 20
"""Most characters of test code to split: its tree needs about 300 bytes for each."""
_DEFINES = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


class SplitSource(Struct, frozen=True):
    """Test code split into tests.

    Attributes:
        tests: One test for each check; empty if it can't be split.
        setup: Code that must run before each test.
    """

    tests: Tests = ()
    setup: str = ""


def split_check(source: str, entry_point: str) -> SplitSource:
    """Split the body of HumanEval's test function, ``def check(candidate): …``, into tests."""
    tree, sources = _parse_statements(source)
    checks = [node for node in tree if isinstance(node, ast.FunctionDef) and node.name == "check"]
    if len(checks) != 1 or len(checks[0].args.args) != 1 or checks[0].decorator_list:
        return SplitSource()
    parameter = checks[0].args.args[0].arg
    around = [node for node in tree if node is not checks[0] and not _is_unneeded(node)]
    return _Splitter(around, sources).split(checks[0].body, binding(entry_point, parameter))


def split_module(source: str, entry_point: str | None) -> SplitSource:
    tree, sources = _parse_statements(source)
    splitter = _Splitter([node for node in tree if isinstance(node, _DEFINES)], sources)
    body = [node for node in tree if not isinstance(node, _DEFINES)]
    called = entry_point is not None and CANDIDATE in splitter.names.loaded(body)
    return splitter.split(body, binding(entry_point) if entry_point and called else "")


def _parse_statements(source: str) -> tuple[list[ast.stmt], Sources]:
    text = source.replace("\r\n", "\n").replace("\r", "\n")
    tree = parsed(text, LONGEST)
    return [] if tree is None else tree.body, Sources(text)


class _CheckWithSetup(Struct, frozen=True):
    before: list[ast.stmt]
    check: ast.stmt


class _Splitter:
    """Splits the checks of one file.

    Args:
        around: Statements outside the function with the checks.
        sources: The source text.
    """

    def __init__(self, around: Sequence[ast.stmt], sources: Sources) -> None:
        self.names = NameFinder()
        self._around = around
        self._sources = sources
        self._helpers = {node.name for node in around if isinstance(node, ast.FunctionDef) and self.names(node).asserts}

    def split(self, body: Sequence[ast.stmt], binding: str) -> SplitSource:
        """Return the checks of a body as tests.

        Args:
            binding: Code that binds the name by which the checks call the function under test.
        """
        try:
            return self._split(body, binding)
        except RecursionError:
            # The code is nested too deeply for `ast.unparse`.
            return SplitSource()

    def _split(self, body: Sequence[ast.stmt], binding: str) -> SplitSource:
        pieces = list(self._pieces(body))
        if not pieces or any(
            not isinstance(node, _DEFINES) and not self._is_side_effect_free(node) for node in self._around
        ):
            return SplitSource()
        if not self._are_independent(pieces):
            return SplitSource()
        known = literals.is_known(self._around)
        tests: list[str] = []
        room = LONGEST_TOGETHER
        for test in (test for piece in pieces for test in self._tests(piece, known)):
            room -= len(test)
            if room < 0:
                return SplitSource()
            tests.append(test)
        if known:
            preamble = literals.preamble(self._around, needed=any(f"{literals.NAME}(" in test for test in tests))
        else:
            preamble = [ast.unparse(node) for node in self._around]
        return SplitSource(statement_tests(tests), "\n".join(part for part in (*preamble, binding) if part))

    def _pieces(self, body: Sequence[ast.stmt]) -> Iterator[_CheckWithSetup]:
        before: list[ast.stmt] = []
        found: list[_CheckWithSetup] = []
        for node in body:
            if _is_no_op(node):
                continue
            if self._is_check(node):
                found.append(_CheckWithSetup(self._needed_setup(before, node), node))
                understood = isinstance(node, ast.Assert | ast.For | ast.Expr)
            else:
                before.append(node)
                understood = isinstance(node, ast.Assign | ast.Import | ast.ImportFrom | ast.FunctionDef)
            if not understood:
                return
        unchecked = (
            found
            and before
            and before[-1].lineno > found[-1].check.lineno
            and not self._is_side_effect_free(before[-1])
        )
        yield from [] if unchecked else found

    def _is_check(self, node: ast.stmt) -> bool:
        names = self.names(node)
        return names.asserts or not self._helpers.isdisjoint(names.called)

    def _is_side_effect_free(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.Assign):
            return not self.names(node).loaded and is_literal(node.value)
        return isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef)

    def _needed_setup(self, before: Sequence[ast.stmt], check: ast.stmt) -> list[ast.stmt]:
        kept: list[ast.stmt] = []
        wanted = set(self.names(check).loaded)
        for node in reversed(before):
            names = self.names(node)
            if names.bound & wanted or not self._is_side_effect_free(node):
                kept.append(node)
                wanted |= names.loaded
        return kept[::-1]

    def _are_independent(self, pieces: Sequence[_CheckWithSetup]) -> bool:
        users: dict[str, int] = {}
        later: set[str] = set()
        for number, piece in reversed(list(enumerate(pieces))):
            names = self.names(piece.check)
            if not isinstance(piece.check, ast.Assert) and names.bound & later:
                return False
            later |= names.loaded
            read = names.loaded | self.names.loaded(piece.before)
            changeable = {
                name for node in piece.before if not _is_constant_binding(node) for name in self.names(node).bound
            }
            if any(users.setdefault(name, number) != number for name in changeable & read):
                return False
        return True

    def _tests(self, piece: _CheckWithSetup, known: bool) -> Iterator[str]:
        rounds = None
        if isinstance(piece.check, ast.For):
            rounds = unroll(piece.before, piece.check, self._sources, self.names)
        if rounds is None:
            yield "\n".join((*map(ast.unparse, piece.before), self._sources.of(piece.check)))
            return
        for each in rounds:
            exact = each.exact_assertion(self._sources) if known else None
            yield exact or each.text


def _is_no_op(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assert):
        return isinstance(node.test, ast.Constant) and bool(node.test.value)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_constant_binding(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef):
        return True
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)


def _is_unneeded(node: ast.stmt) -> bool:
    """Return whether a statement is a call of ``check``, a bare string, or HumanEval's unused ``METADATA``."""
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)] == ["METADATA"]
    names = (part.id for part in ast.walk(node) if isinstance(part, ast.Name))
    return _is_no_op(node) or (isinstance(node, ast.Expr | ast.Assert) and "check" in names)


_MBPP: Final = "Mbpp/"
REFERENCE: Final = "reference"
_ORACLES: Final = ("find_zero", "are_equivalent", "sum_div", "surface_Area", "digit_distance_nums")
"""Functions whose results EvalPlus checks by special rules, not by comparison."""


def read(row: CodeRow) -> Problem:
    """Return the problem in a row: the suite ``base`` has the original inputs, ``plus`` the inputs that EvalPlus added.

    Raises:
        RefusedError: A field is missing or of another type, or the meaning of the inputs isn't in the file.
    """
    task_id, entry_point = row.identifier("task_id"), row.text("entry_point")
    prompt = row.text("prompt")
    canonical = prompt + row.text("canonical_solution")
    refused = unsupported(entry_point)
    if refused is not None:
        raise refused
    base, plus = input_tests(row, task_id, entry_point)
    return Problem(
        task_id=task_id,
        prompt=prompt,
        canonical=canonical,
        entry_point=entry_point,
        setup=setup(entry_point, canonical),
        suites=nonempty_suites(base=base, plus=plus),
    )


def unsupported(entry_point: str) -> RefusedError | None:
    """Return why tests can't be made from a problem's inputs; None if they can."""
    if entry_point in _ORACLES:
        message = f"EvalPlus checks {entry_point} by a special rule. Import the form with test instead."
        return RefusedError("unsupported", "entry_point", message)
    return None


def input_tests(row: CodeRow, task_id: str, entry_point: str) -> tuple[Tests, Tests]:
    """Return tests of a row's ``base_input`` and ``plus_input``, which compare floats within ``atol``. The types of
    MBPP+'s inputs are restored.

    Raises:
        RefusedError: The inputs are not lists of arguments.
    """
    atol = row.number("atol") or 0.0
    task = task_id if task_id.startswith(_MBPP) else None
    return _tests(row, "base_input", atol, task, entry_point), _tests(row, "plus_input", atol, task, entry_point)


def setup(entry_point: str, canonical: str) -> str:
    return (
        f"{binding(entry_point)}\n{REFERENCE} = {{}}\nexec({canonical!r}, {REFERENCE})\n"
        f"{REFERENCE} = {REFERENCE}[{entry_point!r}]\n{DEFINITION}"
    )


def _tests(row: CodeRow, key: str, atol: float, task: str | None, entry_point: str) -> Tests:
    found: list[Any] = row.value(key, list[list[Any]], "a list of lists of arguments") or []
    calls = (arguments(given, key) if task is None else _call_arguments(task, given) for given in found)
    return statement_tests(_comparison(call, atol, entry_point if task else "") for call in calls)


def _comparison(call: str, atol: float, entry_point: str) -> str:
    got, wanted = f"{CANDIDATE}({call})", f"{REFERENCE}({call})"
    if entry_point in _SETS:
        return f"assert set({got}) == set({wanted})"
    if entry_point in _FOUND:
        return f"assert (lambda got: got if isinstance(got, bool) else got is not None)({got}) == {wanted}"
    return f"{NAME}({got}, {wanted}, {atol!r})"


# -- HumanEval, and HumanEval+ in its format: a prompt, its continuation, and a function ``check(candidate)``.


_EXTENDED: Final = re.compile(r"^    inputs = \[", re.MULTILINE)
"""How the check function of HumanEval+ begins, which lists all original and added inputs."""


def read_humaneval(row: CodeRow) -> Problem:
    """Return the problem in a row: the suite ``base`` has its checks; for HumanEval+, ``plus`` has base and added
    checks.

    Raises:
        RefusedError: A field is missing or of another type.
    """
    task_id, entry_point = row.identifier("task_id"), row.text("entry_point")
    prompt, test = row.text("prompt"), row.text("test")
    split = split_check(test, entry_point)
    whole = program_suite(f"{test.rstrip()}\n\ncheck({entry_point})\n")
    tests = split.tests or whole
    extended = _EXTENDED.search(test) is not None
    suites = nonempty_suites(plus=tests, plus_whole=whole) if extended else nonempty_suites(base=tests, whole=whole)
    return Problem(
        task_id=task_id,
        prompt=prompt,
        canonical=prompt + row.text("canonical_solution"),
        entry_point=entry_point,
        setup=split.setup,
        suites=suites,
    )


# -- MBPP, its sanitized part, and MBPP+ in their format: assertions as texts, and for MBPP+ a loop over inputs.


SOURCE = "code/MBPP"


def read_mbpp(row: CodeRow) -> Problem:
    """Return the problem in a row.

    Raises:
        RefusedError: A field is missing or of another type.
    """
    code, base = row.text("code"), tests_from(row, "test_list")
    entry_point = called_function(code, [test.source for test in base])
    plus = row.maybe_text("test")
    split = split_module(plus, entry_point) if plus is not None else SplitSource()
    before = [row.maybe_text("test_setup_code") or "", *row.texts("test_imports")]
    whole = _join_nonempty([*before, *(test.source for test in base)])
    return Problem(
        task_id=row.identifier("task_id"),
        prompt=row.text("prompt", "text"),
        canonical=code,
        entry_point=entry_point,
        setup=_join_nonempty([*before, split.setup]),
        suites=nonempty_suites(
            base=base, plus=split.tests, challenge=tests_from(row, "challenge_test_list"), whole=program_suite(whole)
        ),
    )


def _join_nonempty(parts: Sequence[str]) -> str:
    return "\n".join(part for part in parts if part.strip())


def called_function(code: str, tests: Sequence[str]) -> str | None:
    """Return the name of the solution's function that all tests call; None if there is not exactly one."""
    tree = parsed(code)
    if tree is None:
        return None
    there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    names = (_names_used(test) & there for test in tests)
    shared = set.intersection(*names) if tests else set()
    return shared.pop() if len(shared) == 1 else None


def _names_used(test: str) -> set[str]:
    tree = parsed(test)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} if tree is not None else set()


# -- The inputs of MBPP+, whose tuples and sets are lists in EvalPlus' JSON; the files don't say in which tasks. Source
# of the task numbers: EvalPlus, MBPP+ v0.2.0, and the copy of its table in Scoring Verifiers' released code.


Arguments = list[Any]
_SETS: Final = (
    *("similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly"),
    *("larg_nnum", "intersection_array", "find_dissimilar", "Diff"),
)
"""Functions whose lists are compared as sets."""
_FOUND: Final = ("check_str", "text_match_three", "text_starta_endb")
"""Search functions, of which only success is compared."""


def _call_arguments(task_id: str, given: Arguments) -> str:
    """Return the arguments of one call as source text, with the types that the task expects: ``(1, 2), 'a'``.

    Raises:
        RefusedError: The arguments have another structure than the task expects, or are nested too deeply.
    """
    number = task_id.rpartition("/")[2]
    convert = _BY_TASK.get(int(number)) if number.isdecimal() and len(number) < 10 else None
    try:
        return ", ".join(map(_argument_source, given if convert is None else convert(given)))
    except (TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        message = f"An input of {task_id} has another shape than MBPP+ v0.2.0 gives it: {error}."
        raise RefusedError("unsupported", "base_input", message) from None


def _argument_source(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_argument_source, value))}]"
    if isinstance(value, set):
        return f"{{{', '.join(sorted(map(repr, value)))}}}"
    return repr(value)


def _as_tuples(given: Any) -> list[Any]:
    return [tuple(one) for one in given]


def _as_nested_tuples(given: Any) -> Any:
    return tuple(map(_as_nested_tuples, given)) if isinstance(given, list) else given


_CONVERTERS: Final[tuple[tuple[Callable[[Arguments], Arguments], tuple[int, ...]], ...]] = (
    (_as_tuples, (2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424)),
    (_as_tuples, (429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809)),
    (
        lambda given: list(map(_as_tuples, given)),
        (63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780),
    ),
    (lambda given: [_as_tuples(given[0]), given[1]], (75, 413, 444, 753)),
    (lambda given: [given[0], tuple(given[1])], (106, 750)),
    # An empty list becomes a dict, as in EvalPlus.
    (lambda given: [[set(one) if isinstance(one, list) and one else {} for one in given[0]]], (115,)),
    (lambda given: [float(given[0]), complex(given[1])], (124,)),
    (lambda given: [tuple(given[0]), given[1]], (250, 405, 446, 617, 720, 763, 808)),
    (lambda given: [tuple(_as_tuples(one)) for one in given], (259, 401, 445)),
    (lambda given: [tuple(tuple(one) if isinstance(one, list) else one for one in given[0])], (278,)),
    (lambda given: [tuple(given[0]), given[1], given[2]], (307,)),
    (lambda given: [{key: tuple(one) for key, one in given[0].items()}, *given[1:]], (722,)),
    (lambda given: [complex(given[0])], (252,)),
    (lambda given: list(map(_as_nested_tuples, given)), (580, 615, 791)),
)
_BY_TASK: Final = {number: convert for convert, numbers in _CONVERTERS for number in numbers}
