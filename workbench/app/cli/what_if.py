"""``workbench what-if``."""

from __future__ import annotations

from typing import Annotated

from msgspec import structs

from workbench.app.cli.common import REFUSED_SOME, say, trusting
from workbench.app.cli.verb import Output, verb
from workbench.core.options import TableForm, option
from workbench.core.project import Project
from workbench.measuring.what_if import NAMED, WhatIfOptions, save, what_if


class WhatIfCommandOptions(WhatIfOptions, frozen=True, kw_only=True):
    limit: Annotated[int, option("Maximum number of changed verdicts to list.", ge=0)] = NAMED
    form: TableForm = TableForm()


@verb
def what_if_command(project: Project, options: WhatIfCommandOptions) -> Output:
    """Show which verdicts other options of a verifier would change.

    No calls are made. If replies are missing, the command estimates their cost; try --sample 20 --ask first. Exit code
    3: it ended before every item was judged.
    """
    from workbench.measuring.what_if_tables import what_if_as

    found = trusting(lambda yes: what_if(project, structs.replace(options, trust=yes)), options.trust)
    if options.save is not None:
        run = trusting(lambda yes: save(project, options, trust=yes), options.trust)
        say(f"Run {run.run} of {run.verifier} is {run.state}: workbench runs DB show {run.run}")
    report = found.named(options.limit)
    code = REFUSED_SOME if report.trouble else 0
    return Output(report, lambda report: what_if_as(report, options.form), code=code)
