"""``workbench transcripts DB --verifier NAME``."""

from __future__ import annotations

import sys
from typing import Annotated

from workbench.app.cli.common import print_line
from workbench.app.cli.verb import verb
from workbench.core.options import Options, Run, option
from workbench.core.project import Project


class TranscriptsOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[str, option("Whose.", metavar="NAME")]
    run: Run = None


@verb(json=False)
def command(project: Project, options: TranscriptsOptions) -> None:
    """Print the requests and responses a verifier's verdicts rest on, one JSON line each.

    They hold the items' texts and no keys. What is printed can be served again: workbench replay FILE.
    """
    from workbench.runs.recording import recorded

    for exchange in recorded(project, options.verifier, options.run):
        print_line(exchange)
    sys.stdout.flush()
