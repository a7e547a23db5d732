"""Programs in other languages: how a language is described, and how its programs are run.

A runner names the commands that compile and run a file, and creates that file from a program and its tests. Both
commands run in bubblewrap, under Landlock and seccomp as Python programs do; but they have to execute a file, which a
Python program doesn't, so they require namespaces: only level L3.

An installed package adds a language by an entry point of the group ``workbench.runners``, whose name is the language
and which returns a `LanguageRunner`. Settings files can't: they come with a database, which may be untrusted.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.core.code import CodeTest, Level
from workbench.core.errors import Command, VerifierError, opt
from workbench.verifiers.execution.inside.launch import FOLDER

GROUP: Final = "workbench.runners"
_LONGEST_S: Final = 30


class RunnerTask(Struct, frozen=True, kw_only=True):
    """The content of a generated file, which runs the program, then the tests in order, and reports on each.

    It writes lines to standard output that begin with the mark and a space, followed by a JSON object. When the program
    has run: ``{"started": true}``, or ``{"outcome": ...}`` if it failed, which ends the report. Then for each test:
    ``{"value": ...}`` if its value is compared outside, or ``{"outcome": ...}`` (``p``, ``f``, ``e`` or ``s``) if it is
    decided inside or has no value. ``error``, ``message`` and ``line`` give the reason. The program's time is counted
    from a line ``{"ready": true}`` on, if there is one before it is run.

    Attributes:
        source: The program.
        setup: The code to run between the program and the tests.
        tests: The tests; of a test that is compared outside only the expression, without the expected literal.
        compared: For each test, whether its value is requested.
        mark: A random word that begins each line of the report.
    """

    source: str
    setup: str
    tests: tuple[str, ...]
    compared: tuple[bool, ...]
    mark: str


class ExpressionTest(Struct, frozen=True):
    """A test as an expression and the JSON text that its value must equal.

    Attributes:
        called: The name that the expression calls, which `LanguageRunner.is_tested` has to check; None if it needn't.
    """

    expression: str
    literal: str
    called: str | None = None


class LanguageRunner(Struct, frozen=True, kw_only=True):
    """A language and how to run it.

    In commands ``{source}`` is replaced by the program's file and ``{folder}`` by its folder, where a compiler may
    write; the first word is looked up on PATH.

    Attributes:
        name: The language's name, as in a problem's ``language``.
        extensions: Extensions of its files, with the dot; the first is used.
        run: The command that runs a file.
        file_of: Creates the file of a program and tests.
        compile: The command to run before that, if any; if it fails the program has a syntax error.
        version: The command that prints the version.
        reads: Files and folders that it needs in addition to shared libraries and its commands.
        environment: The environment of its programs.
        split: Splits a test whose value can be compared outside; returns None for others. The expression must be a call
            of the code under test on plain values, and must not compare a program's own objects.
        is_tested: Whether a called name is that of the code under test, by the problem's entry point and setup.
    """

    name: str
    extensions: tuple[str, ...]
    run: tuple[str, ...]
    file_of: Callable[[RunnerTask], str]
    compile: tuple[str, ...] = ()
    version: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    split: Callable[[CodeTest], ExpressionTest | None] = lambda test: None
    is_tested: Callable[[str, str | None, str], bool] = lambda called, entry_point, setup: called == entry_point

    def outside(self, test: CodeTest, entry_point: str | None, setup: str) -> ExpressionTest | None:
        """Split a test whose value is compared outside; for the arguments see `Program`."""
        found = self.split(test) if test.form in ("expression", "statement") else None
        if found is None or found.called is None or self.is_tested(found.called, entry_point, setup):
            return found
        return None

    @property
    def file(self) -> str:
        return f"{FOLDER}/main{self.extensions[0]}"

    def command(self, words: Sequence[str]) -> list[str]:
        """Return a command with the real paths of its program and of the file."""
        if not words:
            return []
        given = [word.replace("{source}", self.file).replace("{folder}", FOLDER) for word in words]
        return [_find_program(given[0], self.name), *given[1:]]


def languages() -> list[str]:
    return sorted({point.name for point in entry_points(group=GROUP)} | {"javascript"})


def runner_of(language: str) -> LanguageRunner:
    """Return the runner of a language.

    Raises:
        VerifierError: The language has no runner, or several.
    """
    if language == "javascript":
        from workbench.verifiers.execution.javascript import JAVASCRIPT

        return JAVASCRIPT
    points = [point for point in entry_points(group=GROUP) if point.name == language]
    if len(points) != 1:
        known = ", ".join(["python", *languages()])
        count = "no" if not points else "more than one"
        raise VerifierError(f"There is {count} runner for the language {language!r}.", f"Known languages: {known}.")
    runner = points[0].load()
    if not isinstance(runner, LanguageRunner):
        raise VerifierError(f"The package installed for the language {language!r} is not a runner: {points[0].value}.")
    return runner


def require_runner(language: str, level: Level, *, scratch: bool = False) -> LanguageRunner:
    """Return the runner of a language whose programs can be run here, at this level.

    Args:
        scratch: Whether programs need a writable folder.

    Raises:
        VerifierError: Programs in the language can't be run here.
    """
    runner = runner_of(language)
    if level != "L3":
        raise VerifierError(
            f"Programs in {language} are run at isolation L3 only, not at {level}: they have to execute a file.",
            f"Install bubblewrap; {Command('doctor DB')} says whether L3 works here.",
        )
    if scratch:
        raise VerifierError(
            f"Programs in {language} have no scratch folder.",
            f"Leave {opt.option:scratch} out, or run them separately.",
        )
    for words in (runner.compile, runner.run):
        runner.command(words)
    return runner


@lru_cache(maxsize=16)
def version_of(language: str) -> str:
    """Return the version of a language's interpreter or compiler.

    Raises:
        VerifierError: The command isn't installed, or prints no version.
    """
    runner = runner_of(language)
    try:
        done = subprocess.run(
            runner.command(runner.version),
            capture_output=True,
            timeout=_LONGEST_S,
            check=True,
            stdin=subprocess.DEVNULL,
            text=True,
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise VerifierError(f"The version of the runner for {language} can't be determined: {error}") from error
    return f"{language} {done.stdout.strip()}"


def _find_program(program: str, language: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise VerifierError(
            f"Programs in {language} need {program!r}, which is not installed here.", f"Install {program}."
        )
    return str(Path(path).resolve())
