"""From where outcomes of tests are looked at: the form that starts a suite, and the one that writes them, filled."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from workbench.app.tui.kit.choices import Choice, ChoiceMenu
from workbench.app.tui.kit.matrix import printable
from workbench.app.tui.screen import WorkbenchScreen
from workbench.coding import problems
from workbench.coding.problems import SuitesToRun
from workbench.core.run import RunInfo
from workbench.core.selection import Condition, Selection
from workbench.core.text.figures import counted
from workbench.data.records.pass_matrix import PassMatrix
from workbench.runs import verifying

if TYPE_CHECKING:
    from workbench.app.tui.app import WorkbenchApp


def start_suite(screen: WorkbenchScreen, suite: str) -> None:
    """Open the form that starts one suite."""
    work = partial(problems.to_run, screen.project, (suite,))
    screen.in_background(work, partial(_fill_in, screen), group="suite-start")


def choose_suite(screen: WorkbenchScreen) -> None:
    """Ask which suite is to be run, where there is more than one; then open the form."""
    screen.in_background(partial(problems.runnable, screen.project), partial(_ask, screen), group="suite-start")


def export_outcomes(app: WorkbenchApp, *conditions: Condition) -> None:
    """Open the form of the export, filled for outcomes of tests: those of items that meet the conditions."""
    path = app.project.path
    file = str(path.with_name(f"{path.stem}-outcomes.jsonl"))
    where = " ".join(shlex.quote(str(one)) for one in conditions)
    app.open_verb("export", file=file, format="jsonl", table="outcomes", where=where)


def run_again(screen: WorkbenchScreen, matrix: PassMatrix, which: Condition) -> None:
    """Take the verdicts of the run that is shown back on some of a problem's solutions, and run these again."""
    if matrix.run is None:
        screen.notify("Nothing has been run yet: a starts the suite.", markup=False)
        return
    name = matrix.run.verifier
    chosen = Selection((Condition("dataset", "=", matrix.dataset), which))
    work = partial(verifying.start, screen.project, name, selection=chosen, ask_again=True)

    def started(info: RunInfo) -> None:
        said = (
            f"{counted(info.selected or 0, 'solution')} run again by {printable(name)}; tests set apart are left out."
        )
        screen.notify(said, markup=False)

    screen.in_background(work, started, group="run-again")


def _ask(screen: WorkbenchScreen, found: Sequence[SuitesToRun]) -> None:
    def chosen(place: str | None) -> None:
        if place is not None:
            _fill_in(screen, found[int(place)])

    if len(found) == 1:
        _fill_in(screen, found[0])
    elif found:
        choices = [Choice(str(place), printable(one.words)) for place, one in enumerate(found)]
        screen.app.push_screen(ChoiceMenu("Run solutions against", choices), chosen)
    else:
        screen.notify("No problem here has tests yet: import a file of problems with tests.", markup=False)


def _fill_in(screen: WorkbenchScreen, suites: SuitesToRun) -> None:
    from workbench.app.tui.screens.runs import RunsScreen
    from workbench.app.tui.screens.start_run import StartOffer

    offer = StartOffer(problems.KIND, {"suite": suites.option, "name": suites.name})
    screen.app.push_screen(RunsScreen(starting=True, offer=offer))
