"""Two small code problems with solutions, and stored outcomes of their tests, without a sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.coding import make_code_project
from tests.tui.stage import add_run
from workbench.core.code import BROKEN, PASS, CodeTest, Execution, Failure, Problem
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import Outcome, Verdict
from workbench.runs.store import runs, verdicts
from workbench.runs.store.verdicts import TestResult

HOSTILE = "\x1b[31m[bold]\u202e"
"""A control sequence, markup and a character that reverses the direction of text."""

BASE = (
    *(CodeTest(form="expression", source=f"assert clip({number}) == {number}") for number in (1, 2)),
    CodeTest(form="expression", source="assert clip(-1) == 0"),
    CodeTest(form="statement", source="try:\n    clip(None)\nexcept TypeError:\n    pass"),
    CodeTest(form="expression", source="assert clip(99) == 9"),
)
PLUS = tuple(CodeTest(form="expression", source=f"assert clip({number}) == 9") for number in range(10, 40))

CLIP = Problem(
    task_id="own/clip",
    prompt="Limit a number to 0 … 9.",
    canonical="def clip(x):\n    return max(0, min(9, x))\n",
    entry_point="clip",
    suites={"base": BASE, "plus": PLUS},
)
DOUBLE = Problem(
    task_id="own/double",
    entry_point="double",
    suites={"base": (CodeTest(form="expression", source="assert double(4) == 8"),)},
)

UNBOUND = "NameError: name 'klip' is not defined"
"""Errors that break a test of `klip`."""

OUTCOMES = {1: "ppppp", 2: "ppfpf", 3: "ppfpf", 4: "ppppf", 5: "sssss", 6: "ppfef"}
"""Outcomes of the solutions of `CLIP` on `BASE`, by row id; the last solution has not been run."""

_CODE = {
    1: "def clip(x):\n    return max(0, min(9, x))\n",
    2: "def clip(x):\n    return x\n",
    3: "def clip(x):\n    y = x\n    return y\n",
    4: "def clip(x):\n    return max(0, x)\n",
    5: f"def clip(x:\n    # {HOSTILE}\n",
    6: "def clip(x):\n    if x is None:\n        raise ValueError('none')\n    return x\n",
    7: "def clip(x):\n    return min(9, x)\n",
}


def solved_project(folder: Path) -> Project:
    """Create the problems, a complete run on base, an unfinished one with plus, and a judge."""
    clips = [{"completion": text, "gold": number == 1, "model": f"m/{number}"} for number, text in _CODE.items()]
    doubles = [{"completion": "def double(a):\n    return 2 * a\n", "gold": True}]
    project = make_code_project(folder, {"own/clip": clips, "own/double": doubles}, CLIP, DOUBLE)
    add_outcomes(project, "execution", "base", {**OUTCOMES, 8: "p"})
    add_outcomes(project, "plus", "plus", {1: PASS * 30, 2: "f" * 30}, complete=False)
    add_run(project, "judge", dict.fromkeys((1, 2, 3), Outcome.CORRECT) | dict.fromkeys(range(4, 9), Outcome.INCORRECT))
    return project


def add_outcomes(project: Project, name: str, suite: str, letters: Mapping[int, str], *, complete: bool = True) -> int:
    """Store a run of an executing verifier, with these outcomes by row id and synthetic reasons."""
    with project.database.write() as connection:
        config = {"suites": [suite], "extractor": "fence-1"}
        verifier = runs.add_verifier(
            connection, name=name, kind="execution", options={"suite": suite}, config=config, config_hash=name
        )
        run = runs.add(connection, verifier, "1")
        runs.queue(connection, run, Selection(), len(letters), 1)
        results = [TestResult(item, suite, _execution(one)) for item, one in letters.items()]
        verdicts.put_outcomes(connection, run, results)
        verdicts.put(connection, run, [(item, _verdict(one)) for item, one in letters.items()])
        if complete:
            runs.complete(connection, run, len(letters))
        else:
            runs.end_run(connection, run, "paused")
    return run


def _execution(letters: str) -> Execution:
    failed = [place for place, letter in enumerate(letters) if letter not in (PASS, BROKEN)][:2]
    return Execution(
        outcomes=letters,
        level="L2",
        forgeable=int(len(letters) == len(BASE) and letters[3] == PASS),
        ms=1.5,
        failures=tuple(_failure(letters[place], place) for place in failed),
    )


def _failure(letter: str, place: int) -> Failure:
    if letter == "f":
        return Failure(position=place, outcome="f", got=f"'got {place}'", expected="0")
    if letter == "e":
        return Failure(position=place, outcome="e", error="ValueError", message=HOSTILE, line=3)
    return Failure(position=place, outcome=letter, error="SyntaxError", message="invalid syntax", line=1)


def _verdict(letters: str) -> Verdict:
    if set(letters) == {BROKEN}:
        return Verdict(outcome=Outcome.ABSTAIN, reason="broken_tests", detail=UNBOUND, ms=0.0)
    right = set(letters) == {PASS}
    score = letters.count(PASS) / len(letters)
    return Verdict(outcome=Outcome.CORRECT if right else Outcome.INCORRECT, score=score, reason="assertion", ms=1.0)
