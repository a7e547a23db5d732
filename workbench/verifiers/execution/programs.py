"""From a solution's text to a program: what is prompt, what is prose, and where in the text the code stands."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import accumulate
from typing import Final

from msgspec import Struct

from workbench.core.code import CodeTest, Problem, Program, SolutionForm
from workbench.core.code_tests.assertion import parsed
from workbench.core.code_tests.broken import broken_tests
from workbench.core.final_answer import reply_start

DEFAULT_SECONDS: Final = 3.0
"""Wall time of a test (Scoring Verifiers, and the paper's released code)."""

_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n]*\n", re.MULTILINE)
_NAMES: Final = {"python": ("", "python", "py", "python3"), "javascript": ("", "javascript", "js", "node")}
_MOST_TRIES: Final = 4_000
"""Ranges of lines that are parsed at most: there are as many as the square of the lines."""


class Code(Struct, frozen=True):
    """Code found in a text.

    Attributes:
        source: The code.
        first_line: The line of the text at which it begins, from 0; negative where the prompt stands before it.
    """

    source: str
    first_line: int = 0


class Extractor(Struct, frozen=True):
    """A way to take code from a reply.

    Attributes:
        find: Called with the reply, the problem's language and its entry point.
    """

    name: str
    version: int
    about: str
    find: Callable[[str, str, str | None], Code]

    def __str__(self) -> str:
        return f"{self.name}-{self.version}"


def program_of(
    problem: Problem,
    suite: str,
    text: str,
    form: SolutionForm | None,
    extractor: str = "fence",
    *,
    seconds: float | None = None,
    grammar: bool = True,
) -> Program:
    """A solution as it is run against a suite of its problem.

    Args:
        suite: One of the problem's suites; without it the program has no tests.
        text: The stored solution.
        form: What the text is; None where nobody has said so.
        extractor: How code is taken from a reply: a key of `EXTRACTORS`.
        seconds: Wall time of a test; the problem's own by default, else `DEFAULT_SECONDS`.
        grammar: As with `broken.broken_tests`.
    """
    source = code_of(problem, text, form, extractor).source
    return program_with(problem, source, problem.suites.get(suite, ()), seconds=seconds, grammar=grammar)


def program_with(
    problem: Problem,
    source: str,
    tests: tuple[CodeTest, ...],
    *,
    seconds: float | None = None,
    grammar: bool = True,
) -> Program:
    """Code that solves a problem, as it is run against some tests; other arguments as with `program_of`."""
    return Program(
        source=source,
        setup=problem.setup,
        tests=tests,
        language=problem.language,
        seconds=seconds or problem.seconds or DEFAULT_SECONDS,
        entry_point=problem.entry_point,
        broken=tuple(broken_tests(problem, tests, grammar=grammar)),
    )


def code_of(problem: Problem, text: str, form: SolutionForm | None, extractor: str = "fence") -> Code:
    """The code of a solution, and where it stands in the text; arguments as with `program_of`."""
    match form or form_of(text, problem.language):
        case "continuation":
            return Code(problem.prompt + text, -problem.prompt.count("\n"))
        case "program":
            return Code(text)
        case "reply":
            return EXTRACTORS[extractor].find(text, problem.language, problem.entry_point)


def form_of(text: str, language: str = "python") -> SolutionForm:
    """What a text is whose import didn't say: a program where it is one, or has nothing of a reply about it."""
    if language == "python" and parsed(text) is not None:
        return "program"
    return "reply" if "</think>" in text or _FENCE.search(text) else "program"


def fenced(text: str, language: str, entry_point: str | None) -> Code:
    """The last fenced block behind the thinking that defines the entry point, else the last one of the language.

    A block that is never closed goes on to the end; a reply without fences is all code. Of an indented fence, as in a
    list, each line loses that much indentation (CommonMark 4.5).
    """
    start = reply_start(text)
    found = _blocks(text, start, language)
    if not found:
        return Code(text[start:], text.count("\n", 0, start))
    defining = [block for block in found if entry_point and _defines(block.source, entry_point)]
    return (defining or found)[-1]


def longest_lines(text: str, language: str, entry_point: str | None) -> Code:
    """The longest range of lines that parses, behind the first ``</think>``, as EvolveCoder's checker takes it.

    Long is measured in lines with something in them, and of equal ranges the first is taken. All of the text where
    nothing parses or is no Python. After 4,000 ranges the longest one so far is taken.
    """
    start = text.find("</think>")
    start = 0 if start < 0 else start + len("</think>")
    lines = text[start:].split("\n")
    first, end = _longest_range(lines) if language == "python" else (0, len(lines))
    return Code("\n".join(lines[first:end]), text.count("\n", 0, start) + first)


def _longest_range(lines: list[str]) -> tuple[int, int]:
    filled = [0, *accumulate(bool(line.strip()) for line in lines)]
    best, most, tries = (0, len(lines)), 0, 0
    for first in range(len(lines)):
        for end in range(len(lines), first, -1):
            if filled[end] - filled[first] <= most:
                break
            tries += 1
            if tries > _MOST_TRIES:
                return best
            if parsed("\n".join(lines[first:end])) is not None:
                best, most = (first, end), filled[end] - filled[first]
                break
    return best


EXTRACTORS: Final[dict[str, Extractor]] = {
    one.name: one
    for one in (
        Extractor("fence", 1, "the last fenced block that defines the entry point", fenced),
        Extractor("lines", 1, "the longest range of lines that parses (EvolveCoder)", longest_lines),
    )
}
"""Ways to take code from a reply, by name."""


def _blocks(text: str, start: int, language: str) -> list[Code]:
    """Fenced blocks of a language, or without one, behind a place."""
    names = _NAMES.get(language, ("", language))
    found = []
    at = start
    while (opened := _FENCE.search(text, at)) is not None:
        close = re.compile(rf"^[ \t]*{opened[2][0]}{{{len(opened[2])},}}[ \t]*$", re.MULTILINE)
        closed = close.search(text, opened.end())
        end = len(text) if closed is None else closed.start()
        if opened[3].lower() in names:
            indented = re.compile(rf"^[ \t]{{0,{len(opened[1])}}}", re.MULTILINE)
            source = indented.sub("", text[opened.end() : end])
            found.append(Code(source, text.count("\n", 0, opened.end())))
        if closed is None:
            break
        at = closed.end()
    return found


def _defines(source: str, name: str) -> bool:
    defined = rf"^[ \t]*(?:async[ \t]+)?(?:def|class|function)[ \t]+{re.escape(name)}\b"
    return re.search(defined, source, re.MULTILINE) is not None
