"""``workbench report DB -o FILE``."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import click

from workbench.app.cli.common import say, selection_of
from workbench.app.cli.verb import Output, ToStdout, verb
from workbench.app.cli.writing import shown
from workbench.core.options import Force, Gold, Options, Protocol, Verifiers, Where, option
from workbench.core.project import Project


class ReportOptions(Options, frozen=True, kw_only=True):
    file: Annotated[
        Path, option("Where to write it; - is standard output.", "-o", "--output", metavar="FILE", output="stream")
    ]
    format: Annotated[
        Literal["html", "markdown"] | None,
        option("By default what the file's name says: .md is Markdown, all else HTML."),
    ] = None
    verifiers: Verifiers = ()
    protocol: Protocol = "forced"
    gold: Gold = "final"
    where: Where = ()
    examples: Annotated[
        int, option("Examples of each kind of error of each verifier, at most.", metavar="N", ge=0, le=50)
    ] = 3
    force: Force = False


@verb(to_stdout=ToStdout("file"))
def command(project: Project, options: ReportOptions) -> Output:
    """Write one self-contained page: data card, tables, plots, confusion matrices, comparisons, examples, methods.

    The page needs no network and no script, and runs nothing of what the data holds. It shows questions, final
    answers and the ends of completions as examples; --examples 0 leaves them out. Apart from its date the same
    database gives the same bytes.
    """
    from workbench.measuring.report.writing import write_report

    size = write_report(
        project,
        options.file,
        format=options.format or ("markdown" if options.file.suffix == ".md" else "html"),
        verifiers=options.verifiers,
        selection=selection_of(options.where),
        protocol=options.protocol,
        gold=options.gold,
        examples=options.examples,
        generated_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        force=options.force,
    )
    return Output(
        {"written": click.format_filename(options.file), "bytes": size},
        lambda _: say(f"{shown(options.file)}: {size:,} bytes"),
    )
