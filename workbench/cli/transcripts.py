"""``workbench transcripts DB --verifier NAME``."""

from __future__ import annotations

import sys
from typing import Annotated

from workbench.cli.common import print_line
from workbench.cli.verb import verb
from workbench.model.options import Options, Run, option
from workbench.services.project import Project


class TranscriptsOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[str, option("Whose.", metavar="NAME")]
    run: Run = None


@verb(json=False)
def command(project: Project, options: TranscriptsOptions) -> None:
    """Print the requests and responses a verifier's verdicts rest on, one JSON line each.

    They hold the items' texts and no keys. What is printed can be served again: workbench replay FILE.
    """
    from workbench.services.running.recording import recorded

    for exchange in recorded(project, options.verifier, options.run):
        print_line(exchange)
    sys.stdout.flush()
