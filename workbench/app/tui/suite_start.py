"""Prefilled forms for starting a suite of tests, and for exporting outcomes."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial

from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import Choice, ChoiceMenu, choose
from workbench.app.tui.screen import WorkbenchScreen
from workbench.coding import problems
from workbench.coding.problems import SuitesToRun
from workbench.core.run import RunInfo
from workbench.core.selection import Condition, Selection
from workbench.core.text.figures import counted
from workbench.data.records import PassMatrix
from workbench.runs import verifying


def start_suite(screen: WorkbenchScreen, suite: str, *which: Condition) -> None:
    work = partial(problems.suites_to_run, screen.project, (suite,))
    screen.in_background(work, partial(_fill_in, screen, _line(which)), group="suite-start")


def choose_suite(screen: WorkbenchScreen, *which: Condition) -> None:
    """Ask which suite to run, if there are several; then open the form."""
    work = partial(problems.runnable_suites, screen.project)
    screen.in_background(work, partial(_ask, screen, _line(which)), group="suite-start")


def _line(conditions: Sequence[Condition]) -> str:
    return " ".join(shlex.quote(str(one)) for one in conditions)


def export_outcomes(screen: WorkbenchScreen, *conditions: Condition) -> None:
    """Open the form that exports test outcomes, of the matching items; the file's suffix decides the format."""
    path = screen.project.path.absolute()
    file = str(path.with_name(f"{path.stem}-outcomes.csv"))
    screen.workbench.open_verb("export", file=file, table="outcomes", where=_line(conditions))


def run_again(screen: WorkbenchScreen, matrix: PassMatrix, which: Condition) -> None:
    """Delete the shown run's verdicts on some of a problem's solutions, and run these again."""
    if matrix.run is None:
        screen.notify("Nothing has been run yet: start a suite of tests first.")
        return
    name = matrix.run.verifier
    chosen = Selection((Condition("dataset", "=", matrix.dataset), which))
    work = partial(verifying.start, screen.project, name, selection=chosen, ask_again=True)

    def started(info: RunInfo) -> None:
        said = f"{counted(info.selected or 0, 'solution')} run again by {printable(name)}; excluded tests are left out."
        screen.notify(said)

    screen.in_background(work, started, group="run-again")


def _ask(screen: WorkbenchScreen, where: str, found: Sequence[SuitesToRun]) -> None:
    if len(found) == 1:
        _fill_in(screen, where, found[0])
    elif found:
        menu = ChoiceMenu("Run solutions on", [Choice(one, printable(one.words)) for one in found])
        choose(screen, menu, partial(_fill_in, screen, where))
    else:
        screen.notify("No problem here has tests yet: import a file of problems with tests.")


def _fill_in(screen: WorkbenchScreen, where: str, suites: SuitesToRun) -> None:
    from workbench.app.tui.screens.runs import RunsScreen
    from workbench.app.tui.screens.start_run import StartOffer

    offer = StartOffer(problems.KIND, {"suite": suites.option, "name": suites.name, "items": where})
    screen.app.push_screen(RunsScreen(starting=True, offer=offer))
