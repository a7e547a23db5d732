"""An attack: what it tries, where it is from, its program, and the tests that must not pass."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from workbench.core.code import OUTCOMES, PASS, CodeTest, Execution, Level, Program
from workbench.verifiers.execution.attacks.scene import Scene

_FOLDER: Final = Path(__file__).parent / "corpus"


class Attack(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program that tries to do what a solution must not, and the tests that tell whether it could.

    The program finds `Scene.names` as globals, and ``SECRET`` in a test stands for the text planted where it must not
    read: a test that expects it passes only if the program got hold of it.

    Attributes:
        name: In kebab case, unique.
        tries: What it tries, as in "tries to ...".
        source: Where it is from: a write-up's title, or "our own".
        link: The write-up's address.
        first: It is among the few that are run before a level is used the first time.
        levels: The levels that hold it.
        forges: Its ``statement`` and ``program`` tests may pass, if only they are counted as forgeable.
        seconds: Wall time of a test; short where it would run for ever anyway.
        program: Its code.
        language: Of program and tests; one that nothing here runs is left out.
        entry_point: What the tests are to call; None where nobody has said so.
        setup: Code between it and the tests.
        expressions: Tests compared outside, so that none may pass.
        statements: Tests of any other statements.
        programs: Tests that are one program with it.
        stdio: Texts for standard input with the output that a right program would give.
    """

    name: str
    tries: str
    source: str
    program: str
    language: str = "python"
    entry_point: str | None = None
    setup: str = ""
    link: str | None = None
    first: bool = False
    levels: tuple[Level, ...] = ("L2", "L3")
    forges: bool = False
    seconds: float = 0.3
    expressions: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    stdio: tuple[tuple[str, str], ...] = ()

    def tests(self, scene: Scene) -> tuple[CodeTest, ...]:
        """Its tests, with the planted secret where they expect it."""
        return (
            *(CodeTest(form="expression", source=scene.with_secret(source)) for source in self.expressions),
            *(CodeTest(form="statement", source=scene.with_secret(source)) for source in self.statements),
            *(CodeTest(form="program", source=source) for source in self.programs),
            *(CodeTest(form="stdio", source=given, expected=expected) for given, expected in self.stdio),
        )

    def staged(self, scene: Scene, harness: int) -> Program:
        """The program and its tests, to be run by the process ``harness``."""
        source = f"{scene.names(self.name, harness)}\n{self.program}"
        return Program(
            source=source,
            setup=self.setup,
            tests=self.tests(scene),
            seconds=self.seconds,
            language=self.language,
            entry_point=self.entry_point,
        )

    def passes(self, scene: Scene, execution: Execution) -> list[str]:
        """Which of its tests passed that mustn't, and what is wrong with the outcomes' number or flags."""
        tests = self.tests(scene)
        if len(execution.outcomes) != len(tests):
            return [f"{len(execution.outcomes)} outcomes came of {len(tests)} tests"]
        if unknown := set(execution.outcomes) - set(OUTCOMES) | ({"n"} & set(execution.outcomes)):
            return [f"it chose its outcomes: {''.join(sorted(unknown))!r}"]
        passed = [test for test, outcome in zip(tests, execution.outcomes, strict=True) if outcome == PASS]
        forged = [test for test in passed if test.form in ("statement", "program")]
        wrong = [test for test in passed if not (self.forges and test in forged)]
        found = [f"passed: {test.source.replace(scene.secret, 'the secret')}" for test in wrong]
        if len(forged) > execution.forgeable:
            found.append("a forged pass is not counted as forgeable")
        return found


class AttackResult(Struct, frozen=True, kw_only=True):
    """What came of an attack on a level.

    Attributes:
        name: The attack's.
        level: The level attacked.
        outcomes: The letters of its tests.
        wrong: What it achieved; nothing if the level held.
    """

    name: str
    level: Level
    outcomes: str = ""
    wrong: tuple[str, ...] = ()

    @property
    def held(self) -> bool:
        """Whether the level held."""
        return not self.wrong


class _Theme(Struct, forbid_unknown_fields=True):
    """A file of the corpus; the prelude stands before each program in Python."""

    attacks: list[Attack]
    prelude: str = ""


@cache
def corpus() -> tuple[Attack, ...]:
    """All attacks that can be tried here, in the order of their files."""
    themes = [msgspec.toml.decode(path.read_bytes(), type=_Theme) for path in sorted(_FOLDER.glob("*.toml"))]
    return tuple(
        msgspec.structs.replace(attack, program=_before(theme, attack) + attack.program)
        for theme in themes
        for attack in theme.attacks
        if attack.language == "python" or shutil.which("node")
    )


def _before(theme: _Theme, attack: Attack) -> str:
    return theme.prelude if attack.language == "python" else ""
