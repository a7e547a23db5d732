"""Check a custom prompt of a code command before any model is called."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from workbench.coding.evolution import refining
from workbench.coding.synthesis import solutions, tests
from workbench.coding.templates import Asked, read_prompt
from workbench.core.errors import opt
from workbench.llm.records import Sampling
from workbench.runs.own_templates import CheckedCall, CheckedTemplate


class _PromptUser(NamedTuple):
    """The command that uses a prompt.

    Attributes:
        usual: The default sampling.
        parser: Describes what is extracted from a reply.
    """

    command: str
    usual: Sampling
    parser: str


_SOLUTION: Final = _PromptUser("code write-solutions DB", solutions.USUAL, "the code of the reply, in the sandbox")
_ANEW: Final = _PromptUser("code refine DB", refining.USUAL, "JSON with question and tests")
_HARDER: Final = _PromptUser("code evolve DB", refining.USUAL, "JSON with a list of tests")
_READERS: Final[dict[Asked, _PromptUser]] = {
    "tests": _PromptUser("code write-tests DB", tests.USUAL, "tests between <assertion> and </assertion>"),
    "correct": _SOLUTION,
    "incorrect": _SOLUTION,
    "with-reference": _ANEW,
    "without-reference": _ANEW,
    "adversarial": _HARDER,
    "discriminative": _HARDER,
}


def checked_prompt(path: Path, asked: Asked) -> CheckedTemplate:
    """Check a file as the command that uses it would; raises as `templates.read_prompt` does."""
    prompt, reader = read_prompt(path, asked), _READERS[asked]
    texts = tuple(sorted(prompt.texts))
    call = CheckedCall(
        name=asked, roles=("user",), placeholders=texts, optional=(), sampling=msgspec.to_builtins(reader.usual)
    )
    seen = f"{opt.with_solution} " if asked == "tests" and "solution" in texts else ""
    return CheckedTemplate(
        file=str(path),
        kind="prompt for code",
        id=asked,
        version=1,
        sha256=prompt.sha256,
        standing=None,
        calls=(call,),
        fence=False,
        parser=reader.parser,
        lacks=(),
        command=reader.command,
        option=f"{seen}{opt.template:{'' if asked == 'tests' else f'{asked}='}{path}}",
    )
