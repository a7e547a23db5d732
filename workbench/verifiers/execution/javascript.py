"""JavaScript, run by Node.js: the example of a language runner."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from workbench.core.code import CodeTest
from workbench.verifiers.execution.runners import ExpressionTest, LanguageRunner, RunnerTask

_CALL: Final = re.compile(r"assert\.(deepStrictEqual|strictEqual)\((.*)\)\s*;?", re.DOTALL)
_MOST_COMMAS: Final = 200

_DIRECT: Final = re.compile(r"([A-Za-z_$][\w$]*)\s*\((.*)\)", re.DOTALL)
_PLAIN: Final = re.compile(
    r"""(?: \s+ | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | `(?:[^`\\$]|\\.)*`
      | (?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?n? (?![\w$])
      | (?:true|false|null|undefined|NaN|Infinity) (?![\w$]) | [A-Za-z_$][\w$]*\s*: | [-+,:\[\]{}] )*+""",
    re.VERBOSE | re.DOTALL,
)
"""Arguments without calls, names and comparison operators: a program's own objects can't be in them."""

_OWN: Final = frozenset(
    """Array BigInt Boolean Date Function JSON Map Math Number Object Promise Proxy Reflect RegExp Set String Symbol
    assert decodeURI encodeURI eval import isFinite isNaN parseFloat parseInt require structuredClone super""".split()  # noqa: SIM905
)
"""Names that JavaScript itself defines: a call of one doesn't test the program."""

_ALIAS: Final = re.compile(r"\s*(?:(?:const|let|var)\s+)?([\w$]+)\s*=\s*([\w$]+)\s*;?\s*")
_ASSERT: Final = re.compile(
    r"^\s*(?:const|let|var)\s+assert\s*=\s*require\(\s*(['\"])(?:node:)?assert\1\s*\)\s*;?\s*$", re.MULTILINE
)
_WORD: Final = re.compile(r"[\w$]+")
_OBSCURE: Final = frozenset(("eval", "Function", "globalThis", "global", "this", "require", "import", "with", "module"))

_MAIN: Final = Path(__file__).with_suffix(".cjs")


def _file_content(asked: RunnerTask) -> str:
    # Inside a function's arguments, an expression is a single value only if it has no comma outside brackets.
    tests = [
        f"((...values) => values)(\n{test}\n)" if compared else test
        for test, compared in zip(asked.tests, asked.compared, strict=True)
    ]
    job = {"mark": asked.mark, "source": asked.source, "setup": asked.setup, "tests": tests, "compared": asked.compared}
    # JSON strings may contain two line separators that end a string in older JavaScript.
    return _MAIN.read_text(encoding="utf-8").replace("JOB", json.dumps(job), 1)


def _split_assertion(test: CodeTest) -> ExpressionTest | None:
    """Split ``assert.deepStrictEqual(f(1), literal)``; None unless it has a call on plain values and a JSON literal."""
    found = _CALL.fullmatch(test.source.strip())
    if found is None:
        return None
    name, arguments = found.groups()
    comma = len(arguments)
    for _ in range(_MOST_COMMAS):
        comma = arguments.rfind(",", 0, comma)
        if comma < 0:
            return None
        literal = arguments[comma + 1 :].strip()
        if _is_json(literal) and (name == "deepStrictEqual" or literal[:1] not in ("[", "{")):
            return _test_of_call(arguments[:comma].strip(), literal)
    return None


def _test_of_call(expression: str, literal: str) -> ExpressionTest | None:
    call = _DIRECT.fullmatch(expression)
    if call is None or _PLAIN.fullmatch(call[2]) is None:
        return None
    return ExpressionTest(expression, literal, call[1])


def _is_tested(called: str, entry_point: str | None, setup: str) -> bool:
    """Return whether a name is the entry point, or an alias that the setup, a single assignment, gives it.

    Any other setup that mentions the entry point may have wrapped it.
    """
    rest = _ASSERT.sub("", setup)
    alias = _ALIAS.fullmatch(rest)
    if alias is not None and alias[1] == called:
        called, rest = alias[2], ""
    words = set(_WORD.findall(rest))
    if called in words or words & _OBSCURE:
        return False
    return called == entry_point if entry_point is not None else called not in _OWN


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_reject_constant, object_pairs_hook=_require_plain_keys)
    except (ValueError, RecursionError):
        return False
    return True


def _require_plain_keys(pairs: list[tuple[str, object]]) -> None:
    if any(key == "__proto__" for key, _ in pairs):
        raise ValueError("__proto__")


def _reject_constant(constant: str) -> None:
    raise ValueError(constant)


JAVASCRIPT: Final = LanguageRunner(
    name="javascript",
    extensions=(".cjs", ".js", ".mjs"),
    run=("node", "--stack-size=900", "{source}"),
    version=("node", "--version"),
    file_of=_file_content,
    split=_split_assertion,
    is_tested=_is_tested,
)
