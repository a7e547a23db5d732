"""The interpreter that runs programs: its packages, and the files it needs."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import distributions
from itertools import accumulate
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, structs

from workbench.core.code import CodeTest, Problem, Program, SolutionForm
from workbench.core.code_tests.assertion import parsed
from workbench.core.code_tests.broken import broken_tests
from workbench.core.errors import VerifierError
from workbench.core.final_answer import reply_start

_LONGEST_S = 30
_INSTALLED = ("site-packages", "dist-packages")
_ASK = """
import importlib.util, json, os, platform, site, sys, sysconfig
lib = sysconfig.get_config_var
print(json.dumps({
    "program": os.path.realpath(sys.executable),
    "stdlib": list(dict.fromkeys(os.path.realpath(path) for path in (
        sysconfig.get_path("stdlib"),
        sysconfig.get_path("platstdlib", vars={"platbase": sys.base_exec_prefix}),
    ))),
    "packages": list(dict.fromkeys(os.path.realpath(path) for path in site.getsitepackages() if os.path.isdir(path))),
    "libraries": lib("LIBDIR") or "",
    "multiarch": lib("MULTIARCH") or "",
    "magic": importlib.util.MAGIC_NUMBER.hex(),
    "name": f"{platform.python_implementation()} {platform.python_version()} ({sys.platform}, {platform.machine()})",
}))
"""


class Interpreter(Struct, frozen=True, kw_only=True):
    """Properties of an interpreter.

    Attributes:
        program: The real path of its executable.
        stdlib: Folders of its standard library.
        packages: Folders of installed packages.
        libraries: The folder of its shared library, if it has one.
        multiarch: The machine's name in paths of shared libraries, if the system has one.
        magic: The magic number of its compiled code, in hexadecimal: code is valid for interpreters that share it.
        name: The description, such as ``"CPython 3.11.7 (linux, x86_64)"``.
    """

    program: str
    stdlib: tuple[str, ...]
    packages: tuple[str, ...]
    libraries: str
    multiarch: str
    magic: str
    name: str

    def search_path(self, *, with_packages: bool) -> list[str]:
        dynamic = [f"{folder}/lib-dynload" for folder in self.stdlib]
        return [*self.stdlib, *dynamic, *(self.packages if with_packages else ())]

    def readable(self, *, with_packages: bool) -> list[str]:
        """Return the files and folders it reads: the standard library without its packages, shared libraries."""
        entries = [entry for folder in self.stdlib for entry in sorted(Path(folder).iterdir())]
        library = [str(entry) for entry in entries if entry.name not in _INSTALLED]
        return [self.program, *library, *_libraries(self), *(self.packages if with_packages else ())]

    def mounted(self, *, with_packages: bool) -> list[str]:
        """Return what `readable` returns, as few whole folders; packages within the standard library must be
        `hidden`."""
        return [self.program, *self.stdlib, *_libraries(self), *(self.packages if with_packages else ())]

    def hidden(self, *, with_packages: bool) -> list[str]:
        """Return folders within the standard library that contain installed packages."""
        found = [f"{folder}/{name}" for folder in self.stdlib for name in _INSTALLED]
        return [path for path in found if Path(path).is_dir() and not with_packages]


@lru_cache(maxsize=16)
def interpreter(path: str | None) -> Interpreter:
    """Return the properties of the interpreter at a path; None is the current one.

    Raises:
        VerifierError: The interpreter doesn't start.
    """
    command = [path or sys.executable, "-I", "-c", _ASK]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_LONGEST_S, check=True, stdin=subprocess.DEVNULL)
        return msgspec.json.decode(done.stdout, type=Interpreter)
    except (OSError, subprocess.SubprocessError, msgspec.MsgspecError) as error:
        raise VerifierError(f"The Python interpreter {command[0]!r} can't be used: {error}") from error


def packages_hash(folders: tuple[str, ...]) -> str:
    """Return the sha256 over names and versions of packages installed in these folders."""
    found = sorted(f"{package.name}=={package.version}" for package in distributions(path=list(folders)))
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()


def _libraries(known: Interpreter) -> list[str]:
    own = [str(file) for file in sorted(Path(known.libraries).glob("libpython*"))] if known.libraries else []
    places = [f"{root}/{known.multiarch}" for root in ("/lib", "/usr/lib")] if known.multiarch else []
    if not any(Path(place).is_dir() for place in places):
        places = ["/lib", "/usr/lib"]
    loaders = [str(file) for file in sorted(Path("/lib").glob("ld-*"))]
    system = [*places, "/lib64", "/usr/lib64", *loaders, "/etc/ld.so.cache", "/usr/share/zoneinfo"]
    return [path for path in dict.fromkeys([*own, *system]) if Path(path).exists()]


# -- Extracting the program from a solution's text.


DEFAULT_SECONDS: Final = 3.0
"""Default wall time of a test in seconds (Scoring Verifiers, and the paper's released code)."""
_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n]*\n", re.MULTILINE)
_NAMES: Final = {"python": ("", "python", "py", "python3"), "javascript": ("", "javascript", "js", "node")}
_MAX_PARSES: Final = 4_000
"""Maximum ranges of lines that are parsed: their number grows as the square of the lines."""


class Code(Struct, frozen=True):
    """Code found in a text.

    Attributes:
        source: The code.
        first_line: The line of the text at which the code begins, from 0; negative if the prompt precedes it.
    """

    source: str
    first_line: int = 0


class Extractor(Struct, frozen=True):
    """A way to extract code from a reply.

    Attributes:
        find: Function of the reply, the problem's language and its entry point.
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
    """Return the program that runs a solution against a suite of its problem.

    Args:
        suite: The suite's name; if the problem has no such suite, the program has no tests.
        text: The stored solution.
        form: The form of the text; None if unspecified.
        extractor: How code is extracted from a reply: a key of `EXTRACTORS`.
        seconds: Wall time of a test in seconds; by default the problem's, else `DEFAULT_SECONDS`.
        grammar: See `broken.broken_tests`.
    """
    source = code_of(problem, text, form, extractor).source
    made = program_with(problem, source, problem.suites.get(suite, ()), suite, seconds=seconds, grammar=grammar)
    excluded = problem.apart.get(suite, {}).keys()
    return structs.replace(made, broken=tuple(sorted({*made.broken, *excluded}))) if excluded else made


def program_with(
    problem: Problem,
    source: str,
    tests: tuple[CodeTest, ...],
    suite: str | None = None,
    *,
    seconds: float | None = None,
    grammar: bool = True,
) -> Program:
    """Return the program that runs code against some tests; see `program_of` for the other arguments."""
    return Program(
        source=source,
        setup=problem.setup,
        tests=tests,
        language=problem.language,
        seconds=seconds or problem.seconds or DEFAULT_SECONDS,
        entry_point=problem.entry_point,
        broken=tuple(broken_tests(problem, tests, suite, grammar=grammar)),
    )


def code_of(problem: Problem, text: str, form: SolutionForm | None, extractor: str = "fence") -> Code:
    """Return the code of a solution, and its position in the text; see `program_of` for the arguments."""
    match form or form_of(text, problem.language):
        case "continuation":
            return Code(problem.prompt + text, -problem.prompt.count("\n"))
        case "program":
            return Code(text)
        case "reply":
            return EXTRACTORS[extractor].find(text, problem.language, problem.entry_point)


def form_of(text: str, language: str = "python") -> SolutionForm:
    """Detect the form of a text: a program if it is valid Python or has no sign of a reply, such as a fence."""
    if language == "python" and parsed(text) is not None:
        return "program"
    return "reply" if "</think>" in text or _FENCE.search(text) else "program"


def extract_fenced(text: str, language: str, entry_point: str | None) -> Code:
    """Return the last fenced block after the reasoning that defines the entry point, else the last one of the language.

    A block that is never closed extends to the end; a reply without fences is all code. Each line in an indented fence,
    as in a list, loses that much indentation (CommonMark 4.5).
    """
    start = reply_start(text)
    found = _fenced_blocks(text, start, language)
    if not found:
        return Code(text[start:], text.count("\n", 0, start))
    defining = [block for block in found if entry_point and _defines(block.source, entry_point)]
    return (defining or found)[-1]


def longest_lines(text: str, language: str, entry_point: str | None) -> Code:
    """Return the longest range of lines that parses, after the first ``</think>``, as EvolveCoder's checker does.

    Length counts non-empty lines; of equal ranges the first is used. The result is the whole text if no range parses or
    the language is not Python. After 4,000 ranges the longest so far is used.
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
            if tries > _MAX_PARSES:
                return best
            if parsed("\n".join(lines[first:end])) is not None:
                best, most = (first, end), filled[end] - filled[first]
                break
    return best


EXTRACTORS: Final[dict[str, Extractor]] = {
    one.name: one
    for one in (
        Extractor("fence", 1, "the last fenced block that defines the entry point", extract_fenced),
        Extractor("lines", 1, "the longest range of lines that parses (EvolveCoder)", longest_lines),
    )
}
"""Methods of extracting code from a reply, by name."""


def _fenced_blocks(text: str, start: int, language: str) -> list[Code]:
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
