"""JavaScript, run by Node.js: the runner that shows what one has to say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from workbench.model.code import CodeTest
from workbench.verifiers.execution.runners import Asked, Runner, Split

_CALL: Final = re.compile(r"assert\.(deepStrictEqual|strictEqual)\((.*)\)\s*;?", re.DOTALL)
_MOST_COMMAS: Final = 200

_MAIN: Final = Path(__file__).with_suffix(".cjs")


def _file_of(asked: Asked) -> str:
    # Inside a function's arguments an expression is one value only if it has no comma of its own outside of brackets.
    tests = [
        f"((...values) => values)(\n{test}\n)" if compared else test
        for test, compared in zip(asked.tests, asked.compared, strict=True)
    ]
    job = {"mark": asked.mark, "source": asked.source, "setup": asked.setup, "tests": tests, "compared": asked.compared}
    # In JSON two separators of lines stand for themselves, which end a string of older JavaScript.
    return _MAIN.read_text(encoding="utf-8").replace("JOB", json.dumps(job), 1)


def _split(test: CodeTest) -> Split | None:
    """``assert.deepStrictEqual(expression, literal)`` with a literal that is JSON, else None."""
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
            return Split(arguments[:comma].strip(), literal)
    return None


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(constant: str) -> None:
    raise ValueError(constant)


JAVASCRIPT: Final = Runner(
    name="javascript",
    extensions=(".cjs", ".js", ".mjs"),
    run=("node", "--stack-size=900", "{source}"),
    version=("node", "--version"),
    file_of=_file_of,
    split=_split,
)
