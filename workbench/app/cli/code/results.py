"""``workbench code results DB``."""

from __future__ import annotations

import sys
from typing import Annotated

from workbench.app.cli.common import print_line, say_without_tests
from workbench.app.cli.verb import verb
from workbench.core.options import Options, Run, Where, option
from workbench.core.project import Project
from workbench.core.selection import selection_of


class CodeResultsOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[
        str | None, option("Whose outcomes; by default every verifier's that ran solutions.", metavar="NAME")
    ] = None
    run: Run = None
    suite: Annotated[str | None, option("Only this suite of tests.", metavar="NAME")] = None
    where: Where = ()


@verb(json=False)
def results_command(project: Project, options: CodeResultsOptions) -> None:
    """Print what came of every solution, one JSON line a solution and suite, in the order of import.

    A letter a test: p passed, f assertion failed, e another error, t took too long, s syntax error, x killed or never
    reported, n not run (yet).
    """
    from workbench.coding.problems import results

    selection = selection_of(options.where) if options.where else None
    found = results(project, options.verifier, options.run, options.suite, selection)
    for line in found:
        print_line(line)
    sys.stdout.flush()
    say_without_tests(found.without_tests)
