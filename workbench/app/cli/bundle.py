"""``workbench bundle DB FILE --for NAME``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from workbench.app.cli.common import selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Force, Options, Where, Whole, argument, option
from workbench.core.project import Project


class BundleOptions(Options, frozen=True, kw_only=True):
    file: Annotated[Path, argument(output="file")]
    annotator: Annotated[str, option("Whose items: one person's.", "--for", metavar="NAME")]
    where: Where = ()
    limit: Annotated[Whole, option("At most so many items.")] = 200
    days: Annotated[int, option("How long the items wait for the person.", ge=1, le=365)] = 14
    force: Force = False


@verb
def command(project: Project, options: BundleOptions) -> Output:
    """Write a person's next items into a small database of its own, to be labelled anywhere.

    It holds texts, the guidelines and the assignment: no gold, models, verdicts or labels of others. There:
    workbench open FILE --as NAME. When it comes back: workbench merge DB FILE. Until then, for --days, nobody else
    is given the items.
    """
    from workbench.labelling.bundling import bundle

    done = bundle(
        project,
        options.file,
        annotator=options.annotator,
        selection=selection_of(options.where),
        limit=options.limit,
        days=options.days,
        force=options.force,
    )
    return Output(
        done,
        lambda done: [
            f"{done.written} items for {done.annotator}, {done.types} of them with the answer type, "
            f"written to {done.file}",
            f"They wait for {done.annotator} until {done.until}.",
        ],
    )
