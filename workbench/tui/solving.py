"""From an item to the code problem it is to solve."""

from __future__ import annotations

from functools import partial

from workbench.services.coding.problems import problem_of
from workbench.tui.screen import WorkbenchScreen


def open_problem(screen: WorkbenchScreen, completion: int) -> None:
    """Open the pass matrix at a solution; an item that is none is told so."""
    screen.in_background(
        partial(problem_of, screen.project, completion), partial(_open, screen, completion), group="code"
    )


def _open(screen: WorkbenchScreen, completion: int, question: int | None) -> None:
    from workbench.tui.screens.code_problem import CodeProblemScreen

    if question is None:
        screen.notify("This item is no solution of a code problem.", markup=False)
    else:
        screen.app.push_screen(CodeProblemScreen(question, solution=completion))
