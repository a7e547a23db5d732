"""Two solutions to compare: one is marked, the second one brings both on the screen."""

from __future__ import annotations

from workbench.model.pass_matrix import PassMatrix
from workbench.tui.screen import WorkbenchScreen


class Comparing:
    """Shared by the screens of one problem.

    Attributes:
        marked: Row id of the solution that waits for another one.
    """

    def __init__(self) -> None:
        self.marked: int | None = None

    def take(self, solution: int) -> tuple[int, int] | None:
        """Mark a solution, or let the marked one go; on a second one give both, in the order they were named."""
        before = self.marked
        self.marked = solution if before is None else None
        return None if before in (None, solution) else (before, solution)


def compare(screen: WorkbenchScreen, matrix: PassMatrix, comparing: Comparing, solution: int) -> None:
    """What the key does: mark a solution, or open the comparison with the marked one."""
    from workbench.tui.screens.code_diff import CodeDiffScreen

    pair = comparing.take(solution)
    if pair is not None:
        screen.app.push_screen(CodeDiffScreen(matrix, *pair))
    elif comparing.marked is not None:
        screen.notify("Marked; the same key on another solution compares the two.", markup=False)
    else:
        screen.notify("No longer marked.", markup=False)
