"""Build requests for tests or rewritten problems, and parse the model's replies. Nothing is executed here."""

from __future__ import annotations

import ast
import builtins
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from workbench.coding.records.evolution import MODES, Mode
from workbench.coding.templates import OURS, Asked, OwnPrompts
from workbench.core.code import CodeTest
from workbench.core.code_tests.assertion import form_of
from workbench.core.code_tests.broken import spelling, tree_of
from workbench.core.final_answer import reply_start
from workbench.llm.records import PromptMessage
from workbench.verifiers.control_tokens import neutralised
from workbench.verifiers.judges.template import BROKEN_NOTICE, delimiter, put_in_fence

_MAX_PROPOSED = 500
_LIST = re.compile(r'"tests"\s*:\s*\[')
_TRIES = 50

# Syntax that makes a test's value depend on more than its text, or reaches beyond the called function.
_REACHING = frozenset(
    {"breakpoint", "compile", "delattr", "eval", "exec", "exit", "globals", "hash", "help", "id", "input", "locals"}
    | {"memoryview", "object", "open", "print", "quit", "setattr", "vars"}
    | {"datetime", "os", "random", "secrets", "socket", "subprocess", "sys", "time", "uuid"}
)


class ReadTests(Struct, frozen=True):
    """Tests that were parsed from a reply.

    Attributes:
        tests: Tests to execute.
        proposed: Number of tests in the reply.
        rejected: Numbers of rejected tests, by code.
    """

    tests: tuple[CodeTest, ...]
    proposed: int
    rejected: Counter[str]


class Rewritten(Struct, frozen=True, kw_only=True):
    """A problem that a model rewrote.

    Attributes:
        question: The problem's text.
        entry_point: The function to write.
        solution: A complete program that solves it; "" if none was requested.
        tests: Sources of the tests, as in the reply.
    """

    question: str
    entry_point: str
    solution: str
    tests: tuple[str, ...]


def executable_tests(reply: str, names: Iterable[str], present: Iterable[str]) -> ReadTests:
    """Return the tests in a reply that may be executed.

    Args:
        reply: The model's reply: JSON with a list ``tests``, complete or truncated, with or without a fence and
            reasoning.
        names: Names that tests may call: the entry point, and its aliases in the problem's setup. If empty, every call
            is accepted.
        present: Sources of existing tests; the same test in another spelling is a duplicate.
    """
    return check_tests(parse_proposed_tests(reply), names, present)


def check_tests(sources: Sequence[str], names: Iterable[str], present: Iterable[str]) -> ReadTests:
    """Return those of the given tests that may be executed; see `executable_tests` for the arguments."""
    called = frozenset(names)
    known = {spelling(source) for source in present}
    rejected: Counter[str] = Counter()
    taken: list[CodeTest] = []
    for source in sources:
        fault = _rejection_code(source, called, known)
        if fault is not None:
            rejected[fault] += 1
            continue
        known.add(spelling(source))
        taken.append(CodeTest(form=form_of(source), source=source))
    return ReadTests(tuple(taken), len(sources), rejected)


def parse_proposed_tests(reply: str) -> list[str]:
    """Return the texts in a reply's list ``tests``; of a truncated list, the texts before its end."""
    text = reply[reply_start(reply) :]
    for value in _json_objects(text):
        if isinstance(value.get("tests"), list):
            return _clean_texts(value["tests"])
    starts = list(_LIST.finditer(text))
    return _clean_texts(_items_before_cut(text, starts[-1].end())) if starts else []


def parse_rewritten(reply: str, *, bare: bool = False) -> Rewritten | None:
    """Return the problem in a reply; None if a part of it is missing.

    Args:
        bare: Whether the reply has only a question and tests, as a paper's prompt requests; the function to write is
            then the one that the tests call.
    """
    for value in _json_objects(reply[reply_start(reply) :]):
        tests = value.get("tests")
        if not isinstance(tests, list):
            continue
        sources = tuple(_clean_texts(tests))
        given = {"entry_point": called_by(sources), "solution": "", **value} if bare else value
        parts = [given.get(name) for name in ("question", "entry_point", "solution")]
        if all(isinstance(part, str) and (part.strip() or bare) for part in parts):
            question, entry_point, solution = (str(part) for part in parts)
            if question.strip() and entry_point.isidentifier():
                return Rewritten(question=question, entry_point=entry_point, solution=solution, tests=sources)
    return None


def called_by(sources: Sequence[str]) -> str:
    """Return the name that most tests call, the first one of several; "" if the tests call none."""
    counts: Counter[str] = Counter()
    for tree in filter(None, map(tree_of, sources)):
        called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
        names = dict.fromkeys(name.id for name in called if isinstance(name, ast.Name))
        counts.update(name for name in names if not hasattr(builtins, name))
    return next((name for name, _ in counts.most_common(1)), "")


def _rejection_code(source: str, called: frozenset[str], known: set[str]) -> str | None:
    tree = tree_of(source)
    if tree is None:
        return "no_python"
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.Assert):
        return "no_assert"
    nodes = list(ast.walk(tree))
    if any(_is_forbidden(node, called) for node in nodes):
        return "reaches_out"
    calls = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    if not (calls & called if called else calls - set(dir(builtins))):
        return "no_call"
    return "duplicate" if spelling(source) in known else None


def _is_forbidden(node: ast.AST, called: frozenset[str]) -> bool:
    if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
        return True
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name not in called and (name.startswith("__") or (isinstance(node, ast.Name) and name in _REACHING))


def _json_objects(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder(strict=False)
    place = text.find("{")
    for _ in range(_TRIES):
        if place < 0:
            return
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            place += 1
        else:
            if isinstance(value, dict):
                yield value
        place = text.find("{", place)


def _items_before_cut(text: str, place: int) -> list[Any]:
    decoder = json.JSONDecoder(strict=False)
    found: list[Any] = []
    while len(found) < _MAX_PROPOSED:
        while place < len(text) and text[place] in ", \t\r\n":
            place += 1
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        found.append(value)
    return found


def _clean_texts(values: list[Any]) -> list[str]:
    texts = [value for value in values if isinstance(value, str)][:_MAX_PROPOSED]
    return [text.encode("utf-8", "replace").decode().strip() for text in texts]


# -- Prompts: for tests that the best solutions fail, tests that split equivalent solutions, or a new problem.


def _prompt(name: str) -> str:
    return (Path(__file__).parent / "prompts" / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")


_SYSTEM: Final = _prompt("system")
_AIMS: Final[dict[Mode, str]] = {mode: _prompt(mode) for mode in MODES}
_RULES: Final = _prompt("rules")
_REFINE, _REFINE_ALONE = (f"{_prompt(name)} {_prompt('problem')}" for name in ("with-reference", "without-reference"))
PROMPTS: Final = blake2b("\0".join((_SYSTEM, *_AIMS.values(), _RULES, _REFINE)).encode(), digest_size=6).hexdigest()
"""Digest of the prompts above: a reply is only reused for the same prompts."""


class ShownProblem(Struct, frozen=True, kw_only=True):
    """The part of a problem that a model is shown.

    Attributes:
        question: The problem's text.
        entry_point: The function that the tests call, if the data names it.
        programs: Code of the solutions to show.
        tests: The tests to show.
        vectors: One pass vector for each program, over these tests.
    """

    question: str
    entry_point: str | None
    programs: Sequence[str]
    tests: Sequence[CodeTest]
    vectors: Sequence[str]


def request_for_step(
    mode: Mode, shown: ShownProblem, count: int, secret: bytes, own: OwnPrompts = OURS
) -> tuple[PromptMessage, ...]:
    """Return the request of one step of a round.

    Args:
        count: Number of requested tests.
        secret: The database's secret, for the delimiters around texts.
        own: Custom prompts that replace the built-in ones.
    """
    if mode in own:
        return own[mode].messages(_shown_texts(shown, count))
    # Only texts have delimiters: other inserted values must be bare names.
    called = shown.entry_point or ""
    name = f"`{called}`" if called.isidentifier() else "what the problem asks for"
    programs = [(f"program {number}", text) for number, text in enumerate(shown.programs, 1)]
    tests = "\n".join(f"{number}. {test.source}" for number, test in enumerate(shown.tests, 1))
    results = "\n".join(
        f"program {number}: {' '.join('pass' if mark == '1' else 'fail' for mark in vector)}"
        for number, vector in enumerate(shown.vectors, 1)
    )
    words = f"{_AIMS[mode].format(count=count)}\n\n{_RULES.format(name=name)}"
    return _messages(
        words,
        [("problem", shown.question), *programs, ("tests", tests), ("results, a word for each test", results)],
        secret,
    )


def _shown_texts(shown: ShownProblem, count: int) -> dict[str, str]:
    rows = [str([mark == "1" for mark in vector]) for vector in shown.vectors]
    return {
        "question": shown.question,
        "count": str(count),
        "tests": _list_text([test.source for test in shown.tests]),
        "eval_tests": _list_text(rows),
        **{f"program{number}": text for number, text in enumerate(shown.programs, 1)},
    }


def _list_text(lines: Sequence[str]) -> str:
    return "\n".join(["[", *(f"    {line}," for line in lines), "]"])


def request_kind(solution: str) -> Asked:
    return "with-reference" if solution else "without-reference"


def request_for_rewriting(
    question: str, solution: str, count: int, secret: bytes, own: OwnPrompts = OURS
) -> tuple[PromptMessage, ...]:
    """Return the request to rewrite a problem of standard input, with a function to write and about ``count`` tests.

    Args:
        solution: The reference solution; "" without one.
        own: Custom prompts that replace the built-in ones.
    """
    if (asked := request_kind(solution)) in own:
        return own[asked].messages({"question": question, "solution": solution, "count": str(count)})
    if solution:
        return _messages(_REFINE.format(count=count), [("problem", question), ("program", solution)], secret)
    return _messages(_REFINE_ALONE.format(count=count), [("problem", question)], secret)


def _messages(words: str, parts: Sequence[tuple[str, str]], secret: bytes) -> tuple[PromptMessage, ...]:
    texts = [neutralised(text) for _, text in parts]
    line = delimiter(secret, texts)
    system = _SYSTEM.format(line=line)
    if any(text != given for text, (_, given) in zip(texts, parts, strict=True)):
        system = f"{system} {BROKEN_NOTICE.strip()}"
    blocks = [f"{name}:\n{put_in_fence(text, line)}" for (name, _), text in zip(parts, texts, strict=True)]
    return (PromptMessage("system", system), PromptMessage("user", "\n\n".join([words, *blocks])))
