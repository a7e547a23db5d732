"""``workbench demo [DB]``."""

from __future__ import annotations

import sys
from typing import Annotated

from workbench.app.cli.common import project_at, say
from workbench.app.cli.following import shown
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Options, argument
from workbench.core.run import RunInfo

DEFAULT = "workbench-demo.db"


class DemoOptions(Options, frozen=True, kw_only=True):
    database: Annotated[str, argument("[DB]", names_file=True)] = DEFAULT


@verb
def command(options: DemoOptions, as_json: bool) -> Output | None:
    """Load the sample data into DB, run the rule verifiers, and open the app on it.

    Without a terminal, or with --json, the accuracy table by answer subtype is printed instead.
    """
    from workbench.app.demo import VERIFIERS, load_sample, verify_sample
    from workbench.measuring.accuracy import accuracy
    from workbench.measuring.tables import accuracy_text

    terminal = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    with project_at(options.database, create=True) as project:
        say(f"Loading the sample data into {options.database}")
        load_sample(project)
        ended = verify_sample(project, _narrate, shown())
        if terminal:
            from workbench.app.tui.app import run
            from workbench.config.services_recent import remember
            from workbench.config.services_settings import settings_of

            remember(project.path, None)
            run(project, None, settings_of(project))
            return None
        report = accuracy(project, verifiers=VERIFIERS, by="subtype")
    return Output(report, accuracy_text, code=0 if all(one.state == "complete" for one in ended) else 1)


def _narrate(run: RunInfo) -> None:
    detail = f": {run.message}" if run.message else ""
    say(f"  {run.verifier}: {run.done} verdicts, {run.state}{detail}")
