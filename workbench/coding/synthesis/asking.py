"""The requests for tests and for solutions. The words are our own; what is asked for is the paper's.

Source: Scoring Verifiers, figures 8, 13 and 14.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, get_args

from workbench.coding.records.synthesis import SolutionKind
from workbench.core.code import Problem
from workbench.llm.records import PromptMessage
from workbench.verifiers.judges.case import JudgeCase
from workbench.verifiers.judges.prompt import Prompt, prompt
from workbench.verifiers.judges.told import told

KINDS: Final[tuple[SolutionKind, ...]] = get_args(SolutionKind)

_HERE: Final = Path(__file__).parent
_TEXTS: Final = frozenset({"question", "solution"})
_TESTS: Final = prompt(_HERE / "tests.txt", "tests", _TEXTS)
_SOLUTIONS: Final = {kind: prompt(_HERE / f"{kind}.txt", kind, frozenset({"question"})) for kind in KINDS}

PROMPTS: Final[dict[str, str]] = {
    "tests": _TESTS.sha256,
    **{kind: one.sha256 for kind, one in _SOLUTIONS.items()},
}
"""sha256 of the words of each request, by what it asks for."""


def request_for_tests(problem: Problem, count: int, secret: bytes, solution: str = "") -> tuple[PromptMessage, ...]:
    """The request for tests of a problem.

    Args:
        count: How many.
        secret: The database's own, for the lines around texts.
        solution: Code that the model is shown; "" for none.
    """
    return _request(_TESTS, problem, secret, {"question": problem.prompt, "solution": solution}, count=str(count))


def request_for_solution(problem: Problem, kind: SolutionKind, secret: bytes) -> tuple[PromptMessage, ...]:
    """The request for a solution; ``secret`` as with `request_for_tests`."""
    return _request(_SOLUTIONS[kind], problem, secret, {"question": problem.prompt})


def _request(
    asked: Prompt, problem: Problem, secret: bytes, texts: dict[str, str], **words: str
) -> tuple[PromptMessage, ...]:
    name = problem.entry_point or ""
    # Only texts have lines around them: what is put in beside them must be a bare name.
    call = told(asked.call, entry_point=name if name.isidentifier() else "", **words)
    if not texts.get("solution"):
        call = told(call, solution="")
    return JudgeCase(item=0, texts=texts, secret=secret, neutralise=True).prepare(call).chat.messages
